// Texts, errors and shapes in std::format, where the standard library has it.

#include "support/results.hpp"  // IWYU pragma: keep

#include <gpu/interop/format.hpp>  // IWYU pragma: keep

#if defined(__cpp_lib_format)

#  include <format>
#  include <string>

namespace format_test { namespace {

TEST_CASE("texts, errors and shapes are formatted", "[interop][format]") {
  CHECK(std::format("<{:>6}>", gpu::text("[1 2]")) == "< [1 2]>");
  CHECK(std::format("{}", gpu::text()).empty());
  CHECK(std::format("{} {} {}", gpu::shape{3, 4}, gpu::shape{5}, gpu::shape<0>()) ==
        "(3, 4) (5,) ()");
  CHECK(std::format("{:9}|", gpu::shape{1, 2}) == "(1, 2)   |");
  const auto missing = gpu::device::get(1000);
  REQUIRE_FALSE(missing.has_value());
  CHECK(std::format("{}", missing.error()) == std::string(missing.error().message().c_str()));
}

}}  // namespace format_test

#endif

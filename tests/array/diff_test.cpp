// Differences along an axis, against NumPy.

#include "array/array_fixture.hpp"
#include "support/cpu_driver.hpp"

#include <gpu/array/creation.hpp>
#include <gpu/array/diff.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/testing/cpu_driver_options.hpp>

#include <cstdint>
#include <limits>

namespace diff_test { namespace {

using namespace array_test;

[[maybe_unused]] constexpr float nan = std::numeric_limits<float>::quiet_NaN();
[[maybe_unused]] constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("differences along an axis are those of NumPy", "[array][diff]") {
  const operands f;
  const auto& a = f.a;
  const auto& e = f.e;
#include "array/diff_reference.inc"
}

TEST_CASE("differences along no axis are refused", "[array][diff]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::diff(f.stream, f.a, 3)), "gpu::diff", "axis 3"));
  CHECK(test::says(test::error_of(gpu::diff(f.stream, f.a(2))), "gpu::diff", "index 2"));
}

TEST_CASE("many differences take the memory of two", "[array][diff][cpu]") {
  test::cpu_driver driver{
      {.memory_per_device = std::uint64_t{32} << 20, .mode = gpu::testing::execution::eager}};
  gpu::driver::scoped_entry_points in_force{driver.entry_points()};
  const gpu::device device = test::value_of(gpu::device::get(0));
  const gpu::stream stream = test::value_of(gpu::stream::create(device));
  const auto a = test::value_of(gpu::arange<int>(stream, 1 << 18));  // 1 MiB
  const auto found = test::value_of(gpu::diff(stream, a, 0, 40));
  CHECK(found.size() == (1 << 18) - 40);
  CHECK(test::value_of(gpu::item(stream, found(0))) == 0);
}

}}  // namespace diff_test

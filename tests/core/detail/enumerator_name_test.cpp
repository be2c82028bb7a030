#include <gpu/core/detail/enumerator_name.hpp>

#include "support/catch.hpp"

#include <string_view>

namespace enumerator_name_test {

enum class answer : signed char { no = -1, yes = 7 };

constexpr const char* name(answer value) {
  using enum answer;
  return gpu::detail::find_name(value, {{no, "no"}, {yes, "yes"}});
}

TEST_CASE("an enumerator's name is that in the list, and other values have none", "[core]") {
  CHECK(name(answer::no) == std::string_view("no"));
  CHECK(name(answer::yes) == std::string_view("yes"));
  CHECK(name(answer{0}) == nullptr);
  static_assert(name(answer{8}) == nullptr);
}

}  // namespace enumerator_name_test

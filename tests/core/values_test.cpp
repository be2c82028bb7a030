// The small words of core/: unique_handle, flags, dims.

#include "support/catch.hpp"

#include <gpu/core/dims.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/unique_handle.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace values_test { namespace {

std::vector<int>& destroyed() {
  static std::vector<int> all;
  return all;
}
struct note_destroyed {
  void operator()(int handle) const noexcept { destroyed().push_back(handle); }
};
using handle = gpu::unique_handle<int, note_destroyed>;

enum class colors : unsigned { none = 0, red = 1, green = 2, blue = 4 };
enum class plain : unsigned { a = 1, b = 2 };

template <class Enum>
concept has_or = requires(Enum e) { e | e; };

}}  // namespace values_test

template <> inline constexpr bool gpu::is_flag_set<values_test::colors> = true;

namespace values_test {

namespace gpu_flags_test {
using gpu::operator|;
using gpu::operator&;
using gpu::operator|=;
}  // namespace gpu_flags_test

static_assert(sizeof(handle) == sizeof(int));
static_assert(!std::is_copy_constructible_v<handle>);
static_assert(std::is_nothrow_move_constructible_v<handle>);
static_assert(std::is_nothrow_move_assignable_v<handle>);

TEST_CASE("unique_handle: destroys once, at the end", "[core][unique_handle]") {
  destroyed().clear();
  {
    handle a(1);
    handle b = std::move(a);
    CHECK(!a);
    CHECK(b.get() == 1);
    CHECK(destroyed().empty());
  }
  CHECK(destroyed() == std::vector<int>{1});
}

TEST_CASE("unique_handle: assigning destroys what was there", "[core][unique_handle]") {
  destroyed().clear();
  handle a(1), b(2);
  a = std::move(b);
  CHECK(destroyed() == std::vector<int>{1});
  CHECK(a.get() == 2);
  handle& self = a;
  a = std::move(self);
  CHECK(a.get() == 2);
  CHECK(destroyed().size() == 1);
  a.reset(3);
  CHECK(destroyed() == std::vector<int>{1, 2});
  CHECK(a.release() == 3);
  CHECK(!a);
  a.reset();
  CHECK(destroyed().size() == 2);
}

TEST_CASE("unique_handle: an empty one destroys nothing", "[core][unique_handle]") {
  destroyed().clear();
  {
    const handle a;
  }
  {
    const handle zero(0);
  }
  CHECK(destroyed().empty());
}

TEST_CASE("flags: combine and ask", "[core][flags]") {
  using namespace gpu_flags_test;
  colors set = colors::red | colors::blue;
  CHECK(static_cast<unsigned>(set) == 5);
  CHECK(gpu::has(set, colors::red));
  CHECK(!gpu::has(set, colors::green));
  CHECK(!gpu::has(set, colors::red | colors::green));
  CHECK((set & colors::blue) == colors::blue);
  set |= colors::green;
  CHECK(gpu::has(set, colors::green));
  STATIC_REQUIRE(!has_or<plain>);
}

TEST_CASE("dims: a grid or a block", "[core][dims]") {
  STATIC_REQUIRE(gpu::dims().volume() == 1);
  STATIC_REQUIRE(gpu::dims(7) == gpu::dims(7, 1, 1));
  STATIC_REQUIRE(gpu::dims(2, 3, 4).volume() == 24);
  STATIC_REQUIRE(gpu::dims(2, 0, 4).volume() == 0);
  STATIC_REQUIRE(gpu::dims(2, 3, 0).volume() == 0);
  constexpr std::uint32_t most = 0xffffffff;
  STATIC_REQUIRE(gpu::dims(most, most, 1).volume() == std::uint64_t{most} * most);
  STATIC_REQUIRE(gpu::dims(most, most, most).volume() == ~std::uint64_t{0});
  // 2^63 - 1 is the largest plane that can be there twice.
  STATIC_REQUIRE(gpu::dims(2281422937, 4042815511, 2).volume() == ~std::uint64_t{1});
  STATIC_REQUIRE(gpu::dims(1u << 31, most, 2).volume() == std::uint64_t{most} << 32);
  STATIC_REQUIRE(gpu::dims(1u << 31, 1u << 31, 4).volume() == ~std::uint64_t{0});
  const gpu::dims from_integer = 5;
  CHECK(from_integer.x == 5);
  CHECK(from_integer != gpu::dims(5, 2));
}

}  // namespace values_test

/// The library's own traits say what their namesakes in the standard library say. It passes by
/// compiling.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/detail/utility.hpp>
#include <gpu/core/flags.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace traits_test {

namespace traits_test {

struct own_swap {
  own_swap(const own_swap&) = delete;
  friend void swap(own_swap&, own_swap&) noexcept;
};
struct throwing_swap {
  friend void swap(throwing_swap&, throwing_swap&);
};
struct no_swap {
  friend void swap(no_swap&, no_swap&) = delete;
};

}  // namespace traits_test

using namespace traits_test;

namespace {

namespace own = gpu::detail;

struct empty {};
struct aggregate {
  int a;
  const int b;
};
struct virtual_one {
  virtual ~virtual_one() = default;
};
struct derived : virtual_one {};
struct from_int {
  from_int(int) {}  // may throw
};
struct explicitly_from_int {
  explicit explicitly_from_int(int) noexcept {}
};
struct move_only {
  move_only() = default;
  move_only(move_only&&) noexcept = default;
  move_only& operator=(move_only&&) noexcept = default;
};
struct immovable {
  immovable() = default;
  immovable(const immovable&) = delete;
  immovable& operator=(const immovable&) = delete;
};
struct indestructible {
  ~indestructible() = delete;
};
class privately_destroyed {
  ~privately_destroyed() = default;
};
struct converts_to_int {
  operator int() const;
};
struct throwing_move {
  throwing_move(throwing_move&&) {}
  throwing_move& operator=(throwing_move&&) { return *this; }
};
struct incomplete;
union either {
  int i;
  float f;
};
enum unscoped { zero };
enum class scoped : unsigned char { one = 1 };

template <class... T> struct list {};

template <class T> constexpr bool same_kind() {
  static_assert(own::is_const<T> == std::is_const_v<T>);
  static_assert(own::is_volatile<T> == std::is_volatile_v<T>);
  static_assert(own::is_reference<T> == std::is_reference_v<T>);
  static_assert(own::is_lvalue_reference<T> == std::is_lvalue_reference_v<T>);
  static_assert(own::is_void<T> == std::is_void_v<T>);
  static_assert(own::is_null_pointer<T> == std::is_null_pointer_v<T>);
  static_assert(own::is_object<T> == std::is_object_v<T>);
  static_assert(own::is_function<T> == std::is_function_v<T>);
  static_assert(own::is_enum<T> == std::is_enum_v<T>);
  static_assert(own::is_pointer<T> == std::is_pointer_v<T>);
  static_assert(own::is_array<T> == std::is_array_v<T>);
  static_assert(own::extent<T> == std::extent_v<T>);
  static_assert(own::is_member_pointer<T> == std::is_member_pointer_v<T>);
  static_assert(own::is_integral<T> == std::is_integral_v<T>);
  static_assert(own::is_floating_point<T> == std::is_floating_point_v<T>);
  static_assert(own::is_arithmetic<T> == std::is_arithmetic_v<T>);
  static_assert(own::is_signed<T> == std::is_signed_v<T>);
  static_assert(std::is_same_v<own::remove_reference_t<T>, std::remove_reference_t<T>>);
  static_assert(std::is_same_v<own::remove_extent_t<T>, std::remove_extent_t<T>>);
  static_assert(std::is_same_v<own::conditional_t<std::is_const_v<T>, int, T>,
                               std::conditional_t<std::is_const_v<T>, int, T>>);
  static_assert(std::is_same_v<own::remove_const_t<T>, std::remove_const_t<T>>);
  static_assert(std::is_same_v<own::remove_cv_t<T>, std::remove_cv_t<T>>);
  static_assert(std::is_same_v<own::remove_cvref_t<T>, std::remove_cvref_t<T>>);
  static_assert(std::is_same_v<own::remove_pointer_t<T>, std::remove_pointer_t<T>>);
  return true;
}

// Of types that can be a member, which is what the library asks about.
template <class T> constexpr bool same_properties() {
  static_assert(own::trivially_copyable<T> == std::is_trivially_copyable_v<T>);
  static_assert(own::trivially_destructible<T> == std::is_trivially_destructible_v<T>);
  static_assert(own::constructible<T> == std::is_default_constructible_v<T>);
  static_assert(own::constructible<T, T> == std::is_move_constructible_v<T>);
  static_assert(own::constructible<T, const T&> == std::is_copy_constructible_v<T>);
  static_assert(own::constructible<T, int> == std::is_constructible_v<T, int>);
  static_assert(own::nothrow_constructible<T, T> == std::is_nothrow_move_constructible_v<T>);
  static_assert(own::nothrow_constructible<T, int> == std::is_nothrow_constructible_v<T, int>);
  static_assert(own::assignable<T&, T> == std::is_move_assignable_v<T>);
  static_assert(own::assignable<T&, const T&> == std::is_copy_assignable_v<T>);
  static_assert(std::is_same_v<decltype(own::declval<T>()), decltype(std::declval<T>())>);
  return true;
}

template <class T> constexpr bool same_kind_with_qualifiers() {
  return same_kind<T>() && same_kind<const T>() && same_kind<volatile T>() &&
         same_kind<const volatile T>();
}
template <class T> constexpr bool same_kind_and_references() {
  return same_kind_with_qualifiers<T>() && same_kind<T&>() && same_kind<T&&>() &&
         same_kind<const T&>() && same_kind<const volatile T&&>();
}
template <class... T> constexpr bool same_kinds(list<T...>) {
  return (same_kind_and_references<T>() && ...);
}
template <class... T> constexpr bool same_properties_of_all(list<T...>) {
  return ((same_properties<T>() && same_properties<const T>()) && ...);
}
template <class From, class... To> constexpr bool same_conversions_from(list<To...>) {
  return ((own::same<From, To> == std::is_same_v<From, To> &&
           own::convertible<From, To> == std::is_convertible_v<From, To> &&
           own::convertible<From&, To> == std::is_convertible_v<From&, To> &&
           own::convertible<From, const To&> == std::is_convertible_v<From, const To&> &&
           own::convertible<const From&, To&> == std::is_convertible_v<const From&, To&>) &&
          ...);
}
template <class... From> constexpr bool same_conversions(list<From...> all) {
  return (same_conversions_from<From>(all) && ...);
}

using numbers =
    list<bool, char, signed char, unsigned char, char8_t, char16_t, char32_t, wchar_t, short,
         unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long, float,
         double, long double, std::size_t, std::ptrdiff_t, std::uint8_t, std::int64_t>;
using objects =
    list<int, double, void*, const int*, int**, int (*)(), int (*)() noexcept, std::nullptr_t,
         int empty::*, int (empty::*)(), int (empty::*)() const&, int (*empty::*)(), empty,
         aggregate, virtual_one, derived, derived*, virtual_one*, from_int, explicitly_from_int,
         move_only, immovable, converts_to_int, own_swap, throwing_swap, no_swap, throwing_move,
         either, unscoped, scoped, std::byte, std::string, std::unique_ptr<int>,
         std::pair<int, std::string>>;
using others = list<int[], int[3], const int[2], int[2][3], empty[], incomplete, incomplete*,
                    indestructible, privately_destroyed>;

static_assert(same_kinds(numbers{}));
static_assert(same_kinds(objects{}));
static_assert(same_kinds(others{}));
static_assert(same_kind_with_qualifiers<void>());
static_assert(same_kind<int()>() && same_kind<int() const>() && same_kind<void(int) noexcept>());
static_assert(same_kind<int (&)()>() && same_kind<int (&&)(...)>());

static_assert(same_properties_of_all(numbers{}));
static_assert(same_properties_of_all(objects{}));
static_assert(own::trivially_destructible<indestructible> ==
              std::is_trivially_destructible_v<indestructible>);
static_assert(own::trivially_destructible<privately_destroyed> ==
              std::is_trivially_destructible_v<privately_destroyed>);

static_assert(same_conversions(numbers{}));
static_assert(same_conversions(objects{}));
static_assert(own::convertible<int (*)[], const int (*)[]> ==
              std::is_convertible_v<int (*)[], const int (*)[]>);
static_assert(own::convertible<const int (*)[], int (*)[]> ==
              std::is_convertible_v<const int (*)[], int (*)[]>);
static_assert(own::convertible<int[3], int*> == std::is_convertible_v<int[3], int*>);
static_assert(own::one_of<int, char, int> && !own::one_of<int, char, const int> &&
              !own::one_of<int>);

static_assert(std::is_same_v<own::underlying_type_t<scoped>, unsigned char>);
static_assert(std::is_same_v<own::underlying_type_t<unscoped>, std::underlying_type_t<unscoped>>);

static_assert(std::is_same_v<decltype(own::move(std::declval<int&>())), int&&>);
static_assert(std::is_same_v<own::underlying_type_t<scoped>, unsigned char>);
static_assert(std::is_same_v<own::underlying_type_t<unscoped>, std::underlying_type_t<unscoped>>);

static_assert(std::is_same_v<decltype(own::move(std::declval<const int&>())), const int&&>);
static_assert(std::is_same_v<decltype(own::forward<int&>(std::declval<int&>())), int&>);
static_assert(std::is_same_v<decltype(own::forward<int>(std::declval<int&>())), int&&>);
static_assert(std::is_same_v<decltype(own::forward<int>(std::declval<int>())), int&&>);

}  // namespace

TEST_CASE("exchange and swap_values move", "[core][traits]") {
  auto a = std::make_unique<int>(1), b = std::make_unique<int>(2);
  own::swap_values(a, b);
  CHECK((*a == 2 && *b == 1));
  const std::unique_ptr<int> old = own::exchange(a, own::move(b));
  CHECK((*old == 2 && *a == 1 && b == nullptr));
}

}  // namespace traits_test

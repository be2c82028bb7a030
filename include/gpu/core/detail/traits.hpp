#pragma once
/// \file
/// The type traits of which the standard's are too expensive: these concepts are the compiler's
/// builtins, and cost a fifteenth of `std::is_constructible_v` and its relatives for each new type,
/// with the same meaning. For all others use <type_traits>.

#include <type_traits>
#include <utility>

namespace gpu::inline v0::detail {

template <class T, class U>
concept same = __is_same(T, U);
template <class T, class... List>
concept one_of = (__is_same(T, List) || ...);

using std::conditional_t;
using std::declval;
using std::forward;
using std::move;
using std::remove_const_t;
using std::remove_cv_t;
using std::remove_cvref_t;
using std::remove_extent_t;
using std::remove_pointer_t;
using std::remove_reference_t;
using std::underlying_type_t;

template <class T> using pointer_to = T*;

template <class T> inline constexpr bool is_lvalue_reference = false;
template <class T> inline constexpr bool is_lvalue_reference<T&> = true;
template <class T> inline constexpr bool is_reference = false;
template <class T> inline constexpr bool is_reference<T&> = true;
template <class T> inline constexpr bool is_reference<T&&> = true;
template <class T> inline constexpr bool is_const = false;
template <class T> inline constexpr bool is_const<const T> = true;
template <class T> inline constexpr bool is_volatile = false;
template <class T> inline constexpr bool is_volatile<volatile T> = true;

template <class T>
concept is_void = same<const volatile T, const volatile void>;
template <class T>
concept is_null_pointer = same<const volatile T, decltype(nullptr) const volatile>;
template <class T>
concept is_object = is_const<const T> && !is_void<T>;  // no reference or function is ever const
template <class T>
concept is_function = !is_const<const T> && !is_reference<T>;
template <class T>
concept is_enum = __is_enum(T);
template <class T>
concept is_pointer = is_object<T> && !same<T, remove_pointer_t<T>>;

template <class T> inline constexpr bool is_array = false;
template <class T> inline constexpr bool is_array<T[]> = true;
template <class T, decltype(sizeof 0) N> inline constexpr bool is_array<T[N]> = true;
template <class T> inline constexpr decltype(sizeof 0) extent = 0;
template <class T, decltype(sizeof 0) N> inline constexpr decltype(sizeof 0) extent<T[N]> = N;

template <class T> struct without_class : std::type_identity<T> {};
template <class T, class C> struct without_class<T C::*> : std::type_identity<T> {};
template <class T> using pointed_member_t = typename without_class<remove_cv_t<T>>::type;
template <class T>
concept is_member_pointer = !same<pointed_member_t<T>, remove_cv_t<T>>;
template <class T>
concept is_member_function_pointer = is_member_pointer<T> && is_function<pointed_member_t<T>>;

template <class T>
concept is_integral = one_of<remove_cv_t<T>, bool, char, signed char, unsigned char, char8_t,
                             char16_t, char32_t, wchar_t, short, unsigned short, int, unsigned int,
                             long, unsigned long, long long, unsigned long long>;
template <class T>
concept is_floating_point = one_of<remove_cv_t<T>, float, double, long double>;
template <class T>
concept is_arithmetic = is_integral<T> || is_floating_point<T>;
template <class T>
concept is_signed = is_arithmetic<T> && static_cast<remove_cv_t<T>>(-1) < remove_cv_t<T>{};

template <class T, class... Args>
concept constructible = __is_constructible(T, Args...);
template <class T, class... Args>
concept nothrow_constructible = __is_nothrow_constructible(T, Args...);
template <class T, class From>
concept assignable = __is_assignable(T, From);
template <class T>
concept trivially_copyable = __is_trivially_copyable(T);
// GCC had a builtin with the standard's meaning only after 14; its older one takes a deleted
// destructor for trivial, hence the second condition.
#if __has_builtin(__is_trivially_destructible)
template <class T>
concept trivially_destructible = __is_trivially_destructible(T);
#else
template <class T>
concept trivially_destructible =
    __has_trivial_destructor(T) && requires(T& object) { object.~T(); };
#endif
/// Of object and reference types, as the others; what `std` says about `void` and functions is not
/// repeated here.
template <class From, class To>
concept convertible = requires(void (*take)(To), From && (*give)()) { take(give()); };

}  // namespace gpu::inline v0::detail

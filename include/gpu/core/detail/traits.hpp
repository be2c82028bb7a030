#pragma once
/// \file
/// The type traits that the library uses, with the meaning and mostly the names of the standard's.
/// <type_traits> alone costs more than half of what cuda.h does, and its `is_constructible_v` and
/// relatives cost fifteen times what the compiler's builtins do for each new type.

namespace gpu { inline namespace v1 { namespace detail {

template <class T, class U>
concept same = __is_same(T, U);
template <class T, class... List>
concept one_of = (__is_same(T, List) || ...);

template <class T> struct type_identity {
  using type = T;
};

template <bool Condition, class Then, class Else> struct conditional : type_identity<Then> {};
template <class Then, class Else> struct conditional<false, Then, Else> : type_identity<Else> {};
template <bool Condition, class Then, class Else>
using conditional_t = typename conditional<Condition, Then, Else>::type;

/// False for every T, for a `static_assert` that fails only where it is used.
template <class...> inline constexpr bool always_false = false;

template <class T> struct remove_const : type_identity<T> {};
template <class T> struct remove_const<const T> : type_identity<T> {};
template <class T> using remove_const_t = typename remove_const<T>::type;

template <class T> struct remove_cv : type_identity<T> {};
template <class T> struct remove_cv<const T> : type_identity<T> {};
template <class T> struct remove_cv<volatile T> : type_identity<T> {};
template <class T> struct remove_cv<const volatile T> : type_identity<T> {};
template <class T> using remove_cv_t = typename remove_cv<T>::type;

template <class T> struct remove_reference : type_identity<T> {};
template <class T> struct remove_reference<T&> : type_identity<T> {};
template <class T> struct remove_reference<T&&> : type_identity<T> {};
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;

template <class T> struct remove_extent : type_identity<T> {};
template <class T> struct remove_extent<T[]> : type_identity<T> {};
template <class T, decltype(sizeof 0) N> struct remove_extent<T[N]> : type_identity<T> {};
template <class T> using remove_extent_t = typename remove_extent<T>::type;

template <class T> struct remove_pointer : type_identity<T> {};
template <class T> struct remove_pointer<T*> : type_identity<T> {};
template <class T> struct remove_pointer<T* const> : type_identity<T> {};
template <class T> struct remove_pointer<T* volatile> : type_identity<T> {};
template <class T> struct remove_pointer<T* const volatile> : type_identity<T> {};
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;

template <class T> using underlying_type_t = __underlying_type(T);

// <utility>, which has these in the standard, costs more than cuda.h.
template <class T> T&& declval() noexcept;  // only for operands that are not evaluated
template <class T> [[nodiscard]] constexpr remove_reference_t<T>&& move(T&& object) noexcept {
  return static_cast<remove_reference_t<T>&&>(object);
}
template <class T> [[nodiscard]] constexpr T&& forward(remove_reference_t<T>& object) noexcept {
  return static_cast<T&&>(object);
}
template <class T> [[nodiscard]] constexpr T&& forward(remove_reference_t<T>&& object) noexcept {
  return static_cast<T&&>(object);
}

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

template <class T> struct without_class : type_identity<T> {};
template <class T, class C> struct without_class<T C::*> : type_identity<T> {};
template <class T> using pointed_member_t = typename without_class<remove_cv_t<T>>::type;
template <class T>
concept is_member_pointer = !same<pointed_member_t<T>, remove_cv_t<T>>;

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

}}}  // namespace gpu::v1::detail

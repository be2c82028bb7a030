#pragma once
/// \file
/// The few type traits that the lower layers use, with the names and the meaning that they have in
/// the standard library.
///
/// `<type_traits>` costs half of what `cuda.h` does, because it defines over a hundred of them as
/// classes. These are the compiler's builtins, or partial specialisations of variables where GCC 12
/// or Clang 14 has no builtin. A test compares each with its namesake in `std`.

namespace gpu::inline v0::detail {

template <class T, class U>
concept same = __is_same(T, U);
template <class T, class... List>
concept one_of = (__is_same(T, List) || ...);

template <class T> struct type_is {
  using type = T;
};

template <class T> struct without_reference : type_is<T> {};
template <class T> struct without_reference<T&> : type_is<T> {};
template <class T> struct without_reference<T&&> : type_is<T> {};
template <class T> using remove_reference_t = typename without_reference<T>::type;

template <class T> struct without_const : type_is<T> {};
template <class T> struct without_const<const T> : type_is<T> {};
template <class T> using remove_const_t = typename without_const<T>::type;

template <class T> struct without_cv : type_is<T> {};
template <class T> struct without_cv<const T> : type_is<T> {};
template <class T> struct without_cv<volatile T> : type_is<T> {};
template <class T> struct without_cv<const volatile T> : type_is<T> {};
template <class T> using remove_cv_t = typename without_cv<T>::type;
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;

template <class T> struct without_pointer : type_is<T> {};
template <class T> struct without_pointer<T*> : type_is<T> {};
template <class T> struct without_pointer<T* const> : type_is<T> {};
template <class T> struct without_pointer<T* volatile> : type_is<T> {};
template <class T> struct without_pointer<T* const volatile> : type_is<T> {};
template <class T> using remove_pointer_t = typename without_pointer<T>::type;
template <class T> using pointer_to = T*;

template <bool, class Then, class> struct either : type_is<Then> {};
template <class Then, class Else> struct either<false, Then, Else> : type_is<Else> {};
template <bool Condition, class Then, class Else>
using conditional_t = typename either<Condition, Then, Else>::type;

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
template <class T> using underlying_type_t = __underlying_type(T);
template <class T>
concept is_pointer = is_object<T> && !same<T, remove_pointer_t<T>>;

template <class T> inline constexpr bool is_array = false;
template <class T> inline constexpr bool is_array<T[]> = true;
template <class T, decltype(sizeof 0) N> inline constexpr bool is_array<T[N]> = true;
template <class T> inline constexpr decltype(sizeof 0) extent = 0;
template <class T, decltype(sizeof 0) N> inline constexpr decltype(sizeof 0) extent<T[N]> = N;
template <class T> struct without_extent : type_is<T> {};
template <class T> struct without_extent<T[]> : type_is<T> {};
template <class T, decltype(sizeof 0) N> struct without_extent<T[N]> : type_is<T> {};
template <class T> using remove_extent_t = typename without_extent<T>::type;

template <class T> struct without_class : type_is<T> {};
template <class T, class C> struct without_class<T C::*> : type_is<T> {};
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

/// As `std::declval`: for operands that are never evaluated.
template <class T> T&& declval() noexcept;

/// As `std::move` and `std::forward`, which in libstdc++ come with all of `<type_traits>`.
template <class T> [[nodiscard]] constexpr remove_reference_t<T>&& move(T&& object) noexcept {
  return static_cast<remove_reference_t<T>&&>(object);
}
template <class T> [[nodiscard]] constexpr T&& forward(remove_reference_t<T>& object) noexcept {
  return static_cast<T&&>(object);
}
template <class T> [[nodiscard]] constexpr T&& forward(remove_reference_t<T>&& object) noexcept {
  return static_cast<T&&>(object);
}

}  // namespace gpu::inline v0::detail

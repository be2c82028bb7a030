#pragma once
/// \file
/// The C++ names of types and values at compile time, for messages and for the names of template
/// instances. All compilers and standard libraries yield the same names.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/value_name.hpp>
#include <gpu/core/string_ref.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Says what a type is called in device code, where that is not what it is called on the host. The
/// primary template says nothing; specialize it with a member `value`, a string:
///
///     template <> struct gpu::device_name<my::vec3> {
///       static constexpr const char* value = "float3";
///     };
///     template <class T> struct gpu::device_name<my::matrix<T>> {
///       static constexpr auto value = gpu::instance<T>("device::matrix");
///     };
///
/// Kernels that are generated from snippets know a structure if its `device_name` has a
/// `definition` as well, the text that defines it in device code:
///
///     template <> struct gpu::device_name<range> {
///       static constexpr const char* value = "range";
///       static constexpr const char* definition = "struct range { float low, high; };";
///     };
template <class T> struct device_name {};

/// A value in a list of types, as in `instance<gpu::value<4>, float>`; see `instance`.
template <auto V> struct value {};

namespace detail {

template <class T>
concept has_device_name = requires { string_ref(device_name<T>::value); };

/// Return the compiler's name of this function, which contains `T` or `V`.
template <class T> constexpr string_ref printed_function() noexcept {
  return {__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1};
}
template <auto V> constexpr string_ref printed_value() noexcept {
  return {__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1};
}

/// The text around the type in that name, found with a type that all compilers print in the same
/// way.
struct printed_frame {
  std::size_t before = 0, after = 0;
};
constexpr printed_frame find_frame() noexcept {
  constexpr string_ref whole = printed_function<int>();
  std::size_t at = whole.size() - 3;
  while (!occurs_at(whole, at, "int")) --at;
  return {at, whole.size() - at - 3};
}

/// Returns `T` as the compiler prints it.
template <class T> constexpr string_ref printed_type() noexcept {
  constexpr printed_frame frame = find_frame();
  constexpr string_ref whole = printed_function<T>();
  return whole.substring(frame.before, whole.size() - frame.before - frame.after);
}

/// Clang prints local types without their function, but not their members.
template <class T> constexpr name_fault hidden_fault() noexcept {
#if defined(__clang__)
  if constexpr (std::is_enum_v<T>) {
    return fault_in(printed_value<T{}>());
  } else if constexpr (requires { static_cast<T& (T::*)(const T&)>(&T::operator=); }) {
    constexpr string_ref whole = printed_value<static_cast<T& (T::*)(const T&)>(&T::operator=)>();
    std::size_t first = whole.size();
    while (first != 0 && whole[first - 1] != '&') --first;
    return fault_in(whole.substring(first, whole.size() - first));
  }
#endif
  return name_fault::none;
}

template <class T> constexpr void write_before(name_writer& out) noexcept;
template <class T> constexpr void write_after(name_writer& out) noexcept;
template <class T> constexpr void write_type(name_writer& out) noexcept {
  write_before<T>(out);
  write_after<T>(out);
}

/// Writes one template argument: `V` for `value<V>`.
template <class T> struct template_argument {
  static constexpr void write(name_writer& out) noexcept { write_type<T>(out); }
};
template <auto V> struct template_argument<value<V>> {
  static constexpr void write(name_writer& out) noexcept {
    if constexpr (has_device_name<value<V>>) {
      out.put(string_ref(device_name<value<V>>::value));
    } else {
      write_value<V>(out);
    }
  }
};

/// Writes `A, B, C`.
template <class... T> constexpr void write_list(name_writer& out) noexcept {
  [[maybe_unused]] const char* separator = "";
  ((out.put(separator), separator = ", ", template_argument<T>::write(out)), ...);
}

/// Writes `<A, B, C>`.
template <class... T> constexpr void write_arguments(name_writer& out) noexcept {
  out.put('<');
  write_list<T...>(out);
  out.put('>');
}

/// The arguments of a class template, if its parameters are of a kind that can be matched here.
/// Other templates are written as the compiler prints them.
template <class T> struct template_parts {
  static constexpr bool known = false;
};
template <class... A> struct known_template_parts {
  static constexpr bool known = true;
  static constexpr void write(name_writer& out) noexcept { write_arguments<A...>(out); }
};
template <template <class...> class C, class... A>
struct template_parts<C<A...>> : known_template_parts<A...> {};
template <template <auto...> class C, auto... V>
struct template_parts<C<V...>> : known_template_parts<value<V>...> {};
#if defined(__cpp_template_template_args)
template <template <class, auto> class C, class A, auto V>
struct template_parts<C<A, V>> : known_template_parts<A, value<V>> {};
template <template <class, auto, auto> class C, class A, auto V, auto W>
struct template_parts<C<A, V, W>> : known_template_parts<A, value<V>, value<W>> {};
template <template <class, class, auto> class C, class A, class B, auto V>
struct template_parts<C<A, B, V>> : known_template_parts<A, B, value<V>> {};
template <template <auto, class> class C, auto V, class A>
struct template_parts<C<V, A>> : known_template_parts<value<V>, A> {};
#else
template <template <class, int> class C, class A, int V>
struct template_parts<C<A, V>> : known_template_parts<A, value<V>> {};
template <template <class, unsigned> class C, class A, unsigned V>
struct template_parts<C<A, V>> : known_template_parts<A, value<V>> {};
template <template <class, std::size_t> class C, class A, std::size_t V>
struct template_parts<C<A, V>> : known_template_parts<A, value<V>> {};
#endif

/// The template arguments that a reader wants to see, if the compiler prints too many. Specialize
/// it for a type with `known_template_parts`.
template <class T> struct readable_parts {
  static constexpr bool known = false;
};

template <class T> struct function_parts {
  static constexpr bool known = false;
};
template <class R, class... A> struct known_function_parts {
  static constexpr bool known = true;
  using result = R;
  static constexpr void write(name_writer& out, const char* end) noexcept {
    out.put('(');
    write_list<A...>(out);
    out.put(end);
  }
};
template <class R, class... A> struct function_parts<R(A...)> : known_function_parts<R, A...> {
  static constexpr const char* end = ")";
};
template <class R, class... A>
struct function_parts<R(A...) noexcept> : known_function_parts<R, A...> {
  static constexpr const char* end = ") noexcept";
};
template <class R, class... A> struct function_parts<R(A..., ...)> : known_function_parts<R, A...> {
  static constexpr const char* end = ", ...)";
};

/// Returns whether a pointer to `T` needs parentheses around its `*`.
template <class T>
inline constexpr bool binds_tighter = std::is_array_v<T> || function_parts<T>::known;

template <class T> constexpr void write_qualifiers(name_writer& out, bool in_front) noexcept {
  if (std::is_const_v<T>) out.put(in_front ? "const " : " const");
  if (std::is_volatile_v<T>) out.put(in_front ? "volatile " : " volatile");
}

/// Writes the part before the name in a declaration of a variable of type `T`.
template <class T> constexpr void write_before(name_writer& out) noexcept {
  if constexpr (std::is_pointer_v<T> || std::is_reference_v<T>) {
    using pointed_at = std::conditional_t<std::is_pointer_v<T>, std::remove_pointer_t<T>,
                                          std::remove_reference_t<T>>;
    write_before<pointed_at>(out);
    if (binds_tighter<pointed_at>) out.put('(');
    out.put(std::is_pointer_v<T> ? "*" : std::is_lvalue_reference_v<T> ? "&" : "&&");
    write_qualifiers<T>(out, false);
  } else if constexpr (std::is_array_v<T>) {
    write_before<std::remove_extent_t<T>>(out);
  } else if constexpr (function_parts<T>::known) {
    write_before<typename function_parts<T>::result>(out);
  } else if constexpr (!std::same_as<T, std::remove_cv_t<T>>) {
    const bool behind = std::is_member_pointer_v<T>;
    if (!behind) write_qualifiers<T>(out, true);
    write_before<std::remove_cv_t<T>>(out);
    if (behind) write_qualifiers<T>(out, false);
  } else if constexpr (std::is_null_pointer_v<T>) {
    out.put("decltype(nullptr)");
  } else {
    if constexpr (has_device_name<T>) {
      if (out.for_device) return out.put(string_ref(device_name<T>::value));
    }
    constexpr string_ref printed = printed_type<T>();
    if (out.for_device) {
      if (std::same_as<T, long double>) out.blame(name_fault::long_double);
      // Faults of arguments that are written one by one are found there.
      constexpr std::size_t start = start_of_arguments(printed);
      out.blame(fault_in(template_parts<T>::known ? printed.substring(0, start) : printed));
      if constexpr (start == printed.size()) out.blame(hidden_fault<T>());
    }
    using parts =
        std::conditional_t<readable_parts<T>::known, readable_parts<T>, template_parts<T>>;
    if constexpr (parts::known) {
      // A reader does not need the default arguments, which the compiler leaves out.
      if (out.for_device || readable_parts<T>::known) {
        write_canonical(out, printed.substring(0, start_of_arguments(printed)));
        return parts::write(out);
      }
    }
    write_canonical(out, printed);
  }
}

/// Writes the part after the name.
template <class T> constexpr void write_after(name_writer& out) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    if (binds_tighter<std::remove_pointer_t<T>>) out.put(')');
    write_after<std::remove_pointer_t<T>>(out);
  } else if constexpr (std::is_reference_v<T>) {
    if (binds_tighter<std::remove_reference_t<T>>) out.put(')');
    write_after<std::remove_reference_t<T>>(out);
  } else if constexpr (std::is_array_v<T>) {
    out.put('[');
    if (std::extent_v<T> != 0) out.put_decimal(std::extent_v<T>);
    out.put(']');
    write_after<std::remove_extent_t<T>>(out);
  } else if constexpr (function_parts<T>::known) {
    function_parts<T>::write(out, function_parts<T>::end);
    write_after<typename function_parts<T>::result>(out);
  }
}

/// Characters that are constant at compile time.
template <std::size_t Size> struct fixed_name {
  char characters[Size + 1] = {};
  name_fault fault = name_fault::none;
};

/// The characters that `write(writer)` writes.
template <class Write> constexpr name_writer measure_name(Write write, bool for_device) noexcept {
  name_writer out;
  out.for_device = for_device;
  write(out);
  return out;
}
template <std::size_t Size, class Write>
constexpr fixed_name<Size> make_name(Write write, bool for_device) noexcept {
  fixed_name<Size> made;
  name_writer out{made.characters, 0, for_device};
  write(out);
  made.fault = out.fault;
  return made;
}

template <class T>
inline constexpr auto name_of_type =
    make_name<measure_name(write_type<T>, false).size>(write_type<T>, false);

/// The name of `T` for messages.
template <class T> constexpr string_ref type_name_of() noexcept {
  return {name_of_type<T>.characters, sizeof name_of_type<T>.characters - 1};
}

}  // namespace detail
}}  // namespace gpu::v1

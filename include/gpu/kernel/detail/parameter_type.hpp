#pragma once
/// \file
/// `parameter_type`: the type of an argument, or of a parameter as the kernel's mangled name states
/// it, as far as it matters for comparing the two.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/fwd.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

enum class passed_kind : unsigned char { unknown, anything, integer, floating };

/// A number, or a pointer to numbers or to anything (`void`). Spans count as pointers: their size
/// says which they are.
struct parameter_type {
  passed_kind kind = passed_kind::unknown;
  unsigned char size = 0;      ///< of the number
  unsigned char pointers = 0;  ///< how many times it has to be dereferenced
};

/// The elements that a kernel reaches through a parameter: a pointer, a span or a view.
template <class P> struct reached_element {
  static constexpr bool known = false;
};
template <class T> struct reached_element<T*> {
  static constexpr bool known = true;
  using type = T;
};
template <class T, std::size_t Extent>
struct reached_element<device_span<T, Extent>> : reached_element<T*> {};
template <class T, int Rank> struct reached_element<array_view<T, Rank>> : reached_element<T*> {};

/// Returns what is known of a type of C++.
template <class P> constexpr parameter_type parameter_type_of() noexcept {
  using bare = std::remove_cv_t<P>;
  if constexpr (reached_element<bare>::known) {
    parameter_type made = parameter_type_of<typename reached_element<bare>::type>();
    ++made.pointers;
    return made;
  } else if constexpr (std::same_as<bare, void>) {
    return {passed_kind::anything, 0, 0};
  } else if constexpr (word_integer<bare>) {
    return {passed_kind::integer, sizeof(bare), 0};
  } else if constexpr (standard_float<bare>) {
    return {passed_kind::floating, sizeof(bare), 0};
  } else {
    return {};
  }
}

/// Returns what is known of a type from its text, such as `const float*`.
inline parameter_type parameter_type_named(string_ref type) noexcept {
  constexpr string_ref span("gpu::device_span<"), const_word("const ");
  if (starts_with(type, const_word)) type = without_front(type, const_word.size());
  unsigned char pointers = 0;
  if (starts_with(type, span) && type[type.size() - 1] == '>') {
    pointers = 1;
    type = type.substring(span.size(), type.size() - span.size() - 1);
    type = type.substring(0, find_outside(type, 0, ","));
    if (starts_with(type, const_word)) type = without_front(type, const_word.size());
  }
  for (; !type.empty() && type[type.size() - 1] == '*'; ++pointers) {
    type = type.substring(0, type.size() - 1);
  }
  struct number {
    const char* name;
    passed_kind kind;
    unsigned char size;
  };
  constexpr auto integer = passed_kind::integer, floating = passed_kind::floating;
  constexpr number numbers[] = {
      {"void", passed_kind::anything, 0},
      {"float", floating, sizeof(float)},
      {"double", floating, sizeof(double)},
      {"int", integer, sizeof(int)},
      {"unsigned int", integer, sizeof(int)},
      {"long", integer, sizeof(long)},
      {"unsigned long", integer, sizeof(long)},
      {"long long", integer, sizeof(long long)},
      {"unsigned long long", integer, sizeof(long long)},
      {"short", integer, sizeof(short)},
      {"unsigned short", integer, sizeof(short)},
      {"char", integer, 1},
      {"signed char", integer, 1},
      {"unsigned char", integer, 1},
      {"bool", integer, 1},
  };
  for (const number& each : numbers) {
    if (type == each.name) return {each.kind, each.size, pointers};
  }
  return {};
}

/// Returns whether an argument may be passed for a parameter of the same size: not a number for one
/// of another kind, nor a pointer to other numbers. An integer passes for a pointer, since
/// `CUdeviceptr` is one, and a pointer for an integer; of unknown types the size has to do.
constexpr bool may_pass(const parameter_type& argument, const parameter_type& parameter) noexcept {
  constexpr auto unknown = passed_kind::unknown, anything = passed_kind::anything;
  if (argument.kind == unknown || parameter.kind == unknown) return true;
  if (argument.pointers == 0 || parameter.pointers == 0) {
    const bool numbers = argument.pointers == 0 && parameter.pointers == 0;
    if (numbers) return argument.kind == parameter.kind;
    const parameter_type& number = argument.pointers == 0 ? argument : parameter;
    return number.kind == passed_kind::integer;
  }
  if (argument.kind == anything || parameter.kind == anything) return true;
  return argument.pointers == parameter.pointers && argument.kind == parameter.kind &&
         argument.size == parameter.size;
}

}}}  // namespace gpu::v1::detail

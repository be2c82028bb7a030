#pragma once
/// \file
/// `find_name`: the name of an enumerator, from a list of all of them.

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

template <class Enum> struct named_enumerator {
  Enum value;
  const char* name;
};

/// Returns the name of `value`; null if it is not in the list.
template <class Enum, std::size_t N>
constexpr const char* find_name(Enum value, const named_enumerator<Enum> (&list)[N]) noexcept {
  for (const named_enumerator<Enum>& each : list) {
    if (each.value == value) return each.name;
  }
  return nullptr;
}

}}}  // namespace gpu::v1::detail

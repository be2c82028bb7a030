#pragma once
/// \file
/// `type_name_of`: what a type is called in C++, known at compile time, for messages.

#include <gpu/core/string_ref.hpp>

namespace gpu::detail {

/// The name of `T`, as the compiler writes it.
template <class T> constexpr string_ref type_name_of() noexcept {
  // GCC: "... type_name_of() [with T = float]"; Clang: "... type_name_of() [T = float]". What may
  // follow after "; " explains aliases.
  constexpr string_ref whole{__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1};
  constexpr const char key[] = "T = ";
  std::size_t first = 0;
  for (std::size_t i = 0; i + 4 <= whole.size(); ++i) {
    if (whole[i] == key[0] && whole[i + 1] == key[1] && whole[i + 2] == key[2] &&
        whole[i + 3] == key[3] && (whole[i - 1] == '[' || whole[i - 1] == ' ')) {
      first = i + 4;
      break;
    }
  }
  std::size_t last = first;
  while (last + 1 < whole.size() && whole[last] != ';') ++last;
  return whole.substring(first, last - first);
}

}  // namespace gpu::detail

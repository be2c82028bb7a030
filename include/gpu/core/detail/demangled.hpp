#pragma once
/// \file
/// Demangles names: the kernel as the source declares it.

#include <gpu/core/string_ref.hpp>

#include <cxxabi.h>
#include <cstdlib>

namespace gpu::inline v0::detail {

/// Returns `void axpy<float>(float, float*)` for `_Z4axpyIfEvT_PS0_`, or an empty text if the name
/// is not mangled.
inline text demangled(const char* name) noexcept {
  if (name[0] != '_' || name[1] != 'Z') return {};
  int status = 0;
  char* const readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  text made(readable);
  std::free(readable);
  return made;
}

}  // namespace gpu::inline v0::detail

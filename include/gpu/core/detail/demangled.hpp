#pragma once
/// \file
/// Demangles names: the kernel as the source declares it.

#include <gpu/core/text.hpp>

#include <cxxabi.h>
#include <cstdlib>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns `void axpy<float>(float, float*)` for `_Z4axpyIfEvT_PS0_`, or an empty text if the name
/// is not mangled. The text is `lost()` if memory runs out.
inline text demangled(const char* name) noexcept {
  if (name[0] != '_' || name[1] != 'Z') return {};
  int status = 0;
  char* const readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  constexpr int out_of_memory = -1;
  text_builder made;
  if (status == out_of_memory) made.lose();
  made << static_cast<const char*>(readable);
  std::free(readable);
  return made.finish();
}

}}}  // namespace gpu::v1::detail

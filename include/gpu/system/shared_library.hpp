#pragma once
/// \file
/// Shared libraries that are loaded at run time.

#include <dlfcn.h>

namespace gpu { inline namespace v1 { namespace detail {

/// Opens a library, which stays open until the process ends; returns null on failure.
inline void* open_library(const char* name) noexcept {
  return ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/// Returns the reason why the last `open_library` of this thread failed.
inline const char* open_library_failure() noexcept {
  const char* reason = ::dlerror();
  return reason != nullptr ? reason : "unknown reason";
}

template <class Function> Function find_symbol(void* library, const char* name) noexcept {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

/// Keeps the shared library that holds `function` in memory until the process ends, so that
/// handlers which point into it stay valid and dlclose does not run its exit handlers early.
template <class Function> void pin_library_of(Function* function) noexcept {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<void*>(function), &found) != 0 && found.dli_fname != nullptr) {
    ::dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}}}  // namespace gpu::v1::detail

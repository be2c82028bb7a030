#pragma once
/// \file
/// All that depends on the operating system: shared libraries, fork and exit, and memory that every
/// shared library of the process finds. Linux is what is tested.

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// <link.h> would bring in the ELF headers for this one function, and its struct is only passed on.
extern "C" int dl_iterate_phdr(int (*)(struct dl_phdr_info*, std::size_t, void*), void*);

namespace gpu::detail {

/// A library that stays open until the process ends, or null.
inline void* open_library(const char* name) noexcept {
  return ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/// Why the last `open_library` of this thread failed.
inline const char* open_library_failure() noexcept {
  const char* reason = ::dlerror();
  return reason != nullptr ? reason : "unknown reason";
}

template <class Function> Function find_symbol(void* library, const char* name) noexcept {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

inline void on_fork_in_child(void (*handler)()) noexcept {
  ::pthread_atfork(nullptr, nullptr, handler);
}
inline void on_process_exit(void (*handler)()) noexcept { std::atexit(handler); }
/// Keeps the shared library that holds `function` in memory until the process ends, so that
/// handlers which point into it stay valid and dlclose does not run its exit handlers early.
inline void pin_library_of(void (*function)()) noexcept {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(function), &info) != 0 && info.dli_fname != nullptr) {
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

inline const char* environment_variable(const char* name) noexcept { return std::getenv(name); }

/// The start of the mapping named `name` in this process, or null.
inline void* find_named_memory(const char* name) noexcept {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return nullptr;
  char line[512];
  void* found = nullptr;
  while (found == nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::strstr(line, name) != nullptr) {
      found =
          reinterpret_cast<void*>(static_cast<std::uintptr_t>(std::strtoull(line, nullptr, 16)));
    }
  }
  std::fclose(maps);
  return found;
}

struct named_memory_request {
  const char* name;
  std::size_t bytes;
  void* memory;
};

inline int find_or_make_named_memory(struct dl_phdr_info*, std::size_t, void* data) noexcept {
  auto* request = static_cast<named_memory_request*>(data);
  char mapped_name[128];
  std::snprintf(mapped_name, sizeof mapped_name, "/memfd:%s ", request->name);
  request->memory = find_named_memory(mapped_name);
  if (request->memory != nullptr) return 1;
  const int file = ::memfd_create(request->name, MFD_CLOEXEC);
  if (file < 0) return 1;
  if (::ftruncate(file, static_cast<off_t>(request->bytes)) == 0) {
    void* memory = ::mmap(nullptr, request->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) request->memory = memory;
  }
  ::close(file);
  return 1;
}

/// Zeroed memory that is the same for every caller in the process that asks for `name`, whichever
/// shared library it sits in and however that was built and loaded; null where the system has no
/// /proc or no memfd.
///
/// An inline variable does not give that: hidden visibility, RTLD_LOCAL and an executable that does
/// not export its symbols each make a second copy. A mapping's name is seen by the whole process.
/// The dynamic linker's lock, held while dl_iterate_phdr calls back, keeps two libraries from
/// making the mapping at once. `MAP_PRIVATE` keeps a forked child's copy apart from its parent's.
inline void* process_wide_memory(const char* name, std::size_t bytes) noexcept {
  named_memory_request request{name, bytes, nullptr};
  ::dl_iterate_phdr(find_or_make_named_memory, &request);
  return request.memory;
}

}  // namespace gpu::detail

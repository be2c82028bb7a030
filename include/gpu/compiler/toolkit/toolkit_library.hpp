#pragma once
/// \file
/// Finds a library of the CUDA toolkit: where the system's loader finds it, in a toolkit, or in
/// NVIDIA's Python wheels.

#include <gpu/system/operating_system.hpp>

#include <glob.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace gpu::inline v0::detail {

/// A message put together in memory that someone else owns; what does not fit is left out.
struct message_buffer {
  char* characters;
  std::size_t capacity;
  std::size_t size = 0;

  void clear() noexcept {
    size = 0;
    characters[0] = '\0';
  }
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const int written = std::vsnprintf(characters + size, capacity - size, format, arguments);
    va_end(arguments);
    if (written > 0) size += static_cast<std::size_t>(written);
    if (size >= capacity) size = capacity - 1;
  }
};

/// One library of the toolkit, by what sets it apart from the others.
struct toolkit_library {
  const char* override_variable;  ///< names the library's file, and then nothing else is tried
  const char* file_names[3];      ///< newest first
  const char* wheel_folder;       ///< of CUDA 12's Python wheels, which are beside each other
};

/// Opens a library in one folder, where `*` may stand for part of a name; null where it is not
/// there.
inline void* open_toolkit_library_in(const char* folder, const toolkit_library& which,
                                     message_buffer& log) noexcept {
  log.add("%s%s", log.size == 0 ? "" : ", ", folder);
  for (const char* name : which.file_names) {
    char pattern[1024];
    std::snprintf(pattern, sizeof pattern, "%s/%s", folder, name);
    glob_t found{};
    void* library = nullptr;
    if (::glob(pattern, 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc && library == nullptr; ++i) {
        library = open_library(found.gl_pathv[i]);
        if (library == nullptr) log.add(" (%s)", open_library_failure());
      }
    }
    ::globfree(&found);
    if (library != nullptr) return library;
  }
  return nullptr;
}

/// Calls `visit(folder)` for each place where a library is looked for, in order, until one returns
/// true: the toolkit that CUDA_PATH, CUDA_HOME or CUDAToolkit_ROOT names; where the system's loader
/// looks, for which `folder` is null; /usr/local/cuda; the wheels of an active Python environment,
/// with a `*` in the folder's name.
template <class Visit>
void for_each_toolkit_folder(const toolkit_library& which, Visit visit) noexcept {
  // A toolkit has lib64 or lib; the wheels of CUDA 13 look like a toolkit.
  const char* const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "nvidia/cu13/lib",
                                 which.wheel_folder};
  char folder[768];
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME", "CUDAToolkit_ROOT"}) {
    const char* root = environment_variable(variable);
    if (root == nullptr || *root == '\0') continue;
    for (const char* below : folders) {
      std::snprintf(folder, sizeof folder, "%s/%s", root, below);
      if (visit(folder)) return;
    }
  }
  if (visit(static_cast<const char*>(nullptr))) return;
  for (const char* fixed : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"}) {
    if (visit(fixed)) return;
  }
  const char* environment = environment_variable("VIRTUAL_ENV");
  if (environment == nullptr) return;
  for (const char* below : {"nvidia/cu13/lib", which.wheel_folder}) {
    std::snprintf(folder, sizeof folder, "%s/lib/python3*/site-packages/%s", environment, below);
    if (visit(folder)) return;
  }
}

/// Opens a library: at the path in its own variable, and nowhere else where that is set; otherwise
/// in the first place of `for_each_toolkit_folder` that has it. On failure `log` says where it
/// looked.
inline void* open_toolkit_library(const toolkit_library& which, message_buffer& log) noexcept {
  void* library = nullptr;
  const char* path = environment_variable(which.override_variable);
  if (path != nullptr && *path != '\0') {
    library = open_library(path);
    if (library == nullptr) log.add("%s (%s)", which.override_variable, open_library_failure());
    return library;
  }
  for_each_toolkit_folder(which, [&](const char* folder) {
    if (folder != nullptr) {
      library = open_toolkit_library_in(folder, which, log);
    } else {
      for (const char* name : which.file_names) {
        if (library == nullptr) library = open_library(name);
      }
      if (library == nullptr) log.add("%sthe system's library path", log.size == 0 ? "" : ", ");
    }
    return library != nullptr;
  });
  return library;
}

}  // namespace gpu::inline v0::detail

#pragma once
/// \file
/// Finds a shared library of the CUDA toolkit: through the dynamic loader, in a toolkit, or in
/// NVIDIA's Python wheels.

#include <gpu/core/error.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/library_errors.hpp>  // IWYU pragma: export
#include <gpu/system/environment.hpp>
#include <gpu/system/processor.hpp>
#include <gpu/system/shared_library.hpp>

#include <glob.h>

#include <cstdio>
#include <initializer_list>

namespace gpu { inline namespace v1 { namespace detail {

/// Folders with a processor's name, which a toolkit that supports several platforms has.
inline constexpr const char* toolkit_target_libraries =
    is_arm ? "targets/sbsa-linux/lib" : "targets/x86_64-linux/lib";
inline constexpr const char* toolkit_target_headers =
    is_arm ? "targets/sbsa-linux/include" : "targets/x86_64-linux/include";

/// One library of the toolkit: the names of its file and of the folders that only it has.
struct toolkit_library {
  const char* override_variable;  ///< the file to open; if it is set, nothing else is tried
  const char* file_names[3];      ///< newest first
  const char* wheel_folder;       ///< in the wheels of CUDA 12, which have a folder each
};

/// Opens a library in one folder, whose path may contain `*`. Returns null if it is not there.
inline void* open_toolkit_library_in(const char* folder, const toolkit_library& which,
                                     text_builder& looked_in) noexcept {
  looked_in << (looked_in.size() == 0 ? "" : ", ") << folder;
  for (const char* name : which.file_names) {
    char pattern[1024];
    std::snprintf(pattern, sizeof pattern, "%s/%s", folder, name);
    glob_t found{};
    void* library = nullptr;
    if (::glob(pattern, 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc && library == nullptr; ++i) {
        library = open_library(found.gl_pathv[i]);
        if (library == nullptr) looked_in << " (" << open_library_failure() << ')';
      }
    }
    ::globfree(&found);
    if (library != nullptr) return library;
  }
  return nullptr;
}

/// Calls `visit(folder)` for each folder to search, in order, until it returns true: the toolkit
/// that CUDA_PATH, CUDA_HOME or CUDAToolkit_ROOT names; a null `folder`, which stands for the
/// search path of the dynamic loader; /usr/local/cuda; the wheels of an active Python environment,
/// whose path contains a `*`.
template <class Visit>
void for_each_toolkit_folder(const toolkit_library& which, Visit visit) noexcept {
  // A toolkit has lib64 or lib; the wheels of CUDA 13 look like a toolkit.
  const char* const folders[] = {"lib64", "lib", toolkit_target_libraries, "nvidia/cu13/lib",
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
  constexpr const char* search_path_of_loader = nullptr;
  if (visit(search_path_of_loader)) return;
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

/// Opens a library: the file that its override variable names, or else the first that
/// `for_each_toolkit_folder` leads to. On failure returns null and writes to `looked_in`.
inline void* open_toolkit_library(const toolkit_library& which, text_builder& looked_in) noexcept {
  const char* path = environment_variable(which.override_variable);
  if (path != nullptr && *path != '\0') {
    void* library = open_library(path);
    if (library == nullptr) {
      looked_in << which.override_variable << " (" << open_library_failure() << ')';
    }
    return library;
  }
  void* library = nullptr;
  for_each_toolkit_folder(which, [&](const char* folder) {
    if (folder != nullptr) {
      library = open_toolkit_library_in(folder, which, looked_in);
      return library != nullptr;
    }
    for (const char* name : which.file_names) {
      if (library == nullptr) library = open_library(name);
    }
    if (library != nullptr) return true;
    looked_in << (looked_in.size() == 0 ? "" : ", ") << "the system's library path";
    return false;
  });
  return library;
}

/// The part that descriptions of libraries share. `Library` derives from it, and has `files`.
template <class Library> struct run_time_library {
  static constexpr errc absent = errc::no_library, too_old = errc::library_too_old;

  static void* open(text_builder& looked_in) noexcept {
    return open_toolkit_library(Library::files, looked_in);
  }
  static void* find_function(void* opened, const char* function) noexcept {
    return find_symbol<void*>(opened, function);
  }
};

/// Returns whether a library is at least of this version, or says in `reason` which one it is.
/// `get_property` is null if the library lacks more than one function, and told so elsewhere.
inline bool has_version(int (*get_property)(int property, int* value), const char* name,
                        int least_major, int least_minor, text_builder& reason) noexcept {
  if (get_property == nullptr) return true;
  int major = 0, minor = 0;
  get_property(0, &major);
  get_property(1, &minor);
  if (major > least_major || (major == least_major && minor >= least_minor)) return true;
  reason << "this is " << name << ' ' << major << '.' << minor;
  return false;
}

}}}  // namespace gpu::v1::detail

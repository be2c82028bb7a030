#pragma once
/// \file
/// Finds the folders with the toolkit's headers, libcu++ among them: beside NVRTC, in the toolkit
/// that the environment names, beside nvcc, in the usual folders, in NVIDIA's Python wheels.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/system/made_once.hpp>
#include <gpu/system/read_file.hpp>

#include <glob.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <cstdlib>
#include <initializer_list>

namespace gpu { inline namespace v1 { namespace detail {

enum class path_kind : unsigned char { missing, file, folder };

inline path_kind kind_of_path(const char* path) noexcept {
  struct stat status{};
  if (::stat(path, &status) != 0) return path_kind::missing;
  return S_ISDIR(status.st_mode) ? path_kind::folder : path_kind::file;
}

/// Returns the path of `name` in `folder`.
inline text path_in(string_ref folder, string_ref name) {
  text_builder path;
  path << folder << '/' << name;
  return required(path.finish());
}

/// The paths that match a pattern.
struct found_paths {
  glob_t all = {};
  explicit found_paths(const text& pattern) noexcept {
    if (::glob(pattern.c_str(), 0, nullptr, &all) != 0) all.gl_pathc = 0;
  }
  found_paths(const found_paths&) = delete;
  found_paths& operator=(const found_paths&) = delete;
  ~found_paths() { ::globfree(&all); }
};

/// Searches for the headers of one toolkit, and keeps what it found and where it looked.
class header_search {
 public:
  /// The include folders: the toolkit's, and that of libcu++ if it is another one.
  sequence<text> folders;
  /// The folders that were searched, in order, until both were found.
  sequence<text> looked_in;

  bool has_toolkit() const noexcept { return toolkit_; }
  bool has_libcuxx() const noexcept { return libcuxx_; }

  /// Searches until both are found. `library` is the path of NVRTC, or null.
  void run(const char* library) {
    if (library != nullptr) beside_library(library);
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME", "CUDAToolkit_ROOT"}) {
      const char* root = environment_variable(variable);
      if (root != nullptr && *root != '\0') in_root(root);
    }
    beside_nvcc();
    in_root("/usr/local/cuda");
    in_root("/opt/cuda");
    if (const char* root = environment_variable("CONDA_PREFIX"); root != nullptr && *root != '\0') {
      in_root(root);
    }
    if (const char* root = environment_variable("VIRTUAL_ENV"); root != nullptr && *root != '\0') {
      const found_paths found(path_in(root, "lib/python3*/site-packages"));
      for (std::size_t i = 0; i < found.all.gl_pathc; ++i) in_root(found.all.gl_pathv[i]);
    }
  }

 private:
  /// NVRTC is in lib or lib64 of a toolkit, or in a wheel beside the wheels with the headers.
  void beside_library(const char* library) {
    char* const resolved = ::realpath(library, nullptr);
    if (resolved == nullptr) return;
    const text path = required(text(resolved));
    std::free(resolved);
    std::size_t size = path.size();
    for (int levels = 0; levels < 4; ++levels) {
      while (size > 0 && path.data()[size - 1] != '/') --size;
      if (size <= 1) return;
      --size;
      if (levels != 0) in_root(string_ref(path).substring(0, size));
    }
  }

  void beside_nvcc() {
    string_ref path = environment_variable("PATH");
    while (!path.empty() && !(toolkit_ && libcuxx_)) {
      const std::size_t size = position_of(":", path);
      if (size != 0) beside_library(path_in(path.substring(0, size), "nvcc").c_str());
      path = without_front(path, size < path.size() ? size + 1 : size);
    }
  }

  /// A toolkit has its headers in include, or in targets if it supports several platforms; the
  /// wheels of CUDA 13 are a toolkit in the folder nvidia, and those of CUDA 12 a folder each.
  void in_root(string_ref root) {
    for (const char* below : {"include", toolkit_target_headers, "cu13/include",
                              "cuda_runtime/include", "cuda_cccl/include", "nvidia/cu13/include",
                              "nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include"}) {
      if (toolkit_ && libcuxx_) return;
      const text folder = path_in(root, below);
      if (kind_of_path(folder.c_str()) == path_kind::folder) {
        in_folder(folder);
      } else if (string_ref(below) == "include") {
        looked_in.push_back(folder);
      }
    }
  }

  void in_folder(const text& folder) {
    for (const text& before : looked_in) {
      if (before == folder) return;
    }
    looked_in.push_back(folder);
    const auto has_file = [&](const char* name) {
      return kind_of_path(path_in(folder, name).c_str()) == path_kind::file;
    };
    // Not all wheels of CUDA have cuda_fp16.h, but the one with the headers for device code does.
    const bool has_toolkit = !toolkit_ && has_file("cuda_fp16.h");
    const bool has_libcuxx = !libcuxx_ && has_file("cuda/std/type_traits");
    if (has_toolkit) toolkit_ = true;
    if (has_libcuxx) libcuxx_ = true;
    if (has_toolkit || has_libcuxx) folders.push_back(folder);
    if (!libcuxx_ && has_file("cccl/cuda/std/type_traits")) {
      libcuxx_ = true;
      folders.push_back(path_in(folder, "cccl"));
    }
  }

  bool toolkit_ = false;
  bool libcuxx_ = false;
};

/// Returns the CUDA version of the toolkit's headers in a folder, as in 13000, or 0.
inline std::size_t version_of_headers(string_ref folder) {
  text contents;
  if (!read_file("gpu::compile", path_in(folder, "cuda_runtime_api.h"), contents, {}).has_value()) {
    return 0;
  }
  constexpr string_ref definition("#define CUDART_VERSION");
  const string_ref whole = contents;
  string_ref rest = without_front(whole, position_of(definition, whole));
  if (rest.empty()) return 0;
  rest = without_blanks(without_front(rest, definition.size()));
  std::size_t number = 0;
  for (std::size_t i = 0; i < rest.size() && i < 9 && is_digit(rest[i]); ++i) {
    number = number * 10 + static_cast<std::size_t>(rest[i] - '0');
  }
  return number;
}

/// Returns the headers that go with the NVRTC in use, whose file is `library`. Searches once per
/// process.
inline const header_search& found_headers(const text& library) {
  static const header_search* found = nullptr;
  return *made_once(found, [&]() -> const header_search* {
    auto* const search = new header_search;
    search->run(library.empty() ? nullptr : library.c_str());
    return search;
  });
}

}}}  // namespace gpu::v1::detail

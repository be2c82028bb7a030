#pragma once
/// \file
/// Finds the folders of the toolkit's headers, libcu++ among them: beside NVRTC, where the
/// environment says, beside nvcc, in the usual places, in NVIDIA's Python wheels.

#include <gpu/compiler/toolkit/nvrtc_entry_points.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/system/made_once.hpp>
#include <gpu/system/read_file.hpp>

#include <glob.h>
#include <sys/stat.h>

#include <climits>
#include <gpu/core/sequence.hpp>

namespace gpu::inline v0::detail {

enum class path_kind : unsigned char { missing, file, folder };

inline path_kind kind_of_path(const char* path) noexcept {
  struct stat status{};
  if (::stat(path, &status) != 0) return path_kind::missing;
  return S_ISDIR(status.st_mode) ? path_kind::folder : path_kind::file;
}

/// The paths that a pattern stands for, none where it stands for nothing.
struct found_paths {
  glob_t all = {};
  explicit found_paths(const char* pattern) noexcept {
    if (::glob(pattern, 0, nullptr, &all) != 0) all.gl_pathc = 0;
  }
  found_paths(const found_paths&) = delete;
  found_paths& operator=(const found_paths&) = delete;
  ~found_paths() { ::globfree(&all); }
};

/// Looks for the headers of one toolkit, and keeps what it found and where it looked.
class header_search {
 public:
  /// Where `#include` is to look: the toolkit's folder, and that of libcu++ where it is another.
  sequence<text> folders;
  /// Where the toolkit and libcu++ were looked for, in this order, as far as it took to find both.
  sequence<text> looked_in;

  bool has_toolkit() const noexcept { return toolkit_; }
  bool has_libcuxx() const noexcept { return libcuxx_; }

  /// Looks in all the places, until both are found. `library` is the path of NVRTC, or null.
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
      char pattern[PATH_MAX];
      format_into(pattern, sizeof pattern, "%s/lib/python3*/site-packages", root);
      const found_paths found(pattern);
      for (std::size_t i = 0; i < found.all.gl_pathc; ++i) in_root(found.all.gl_pathv[i]);
    }
  }

 private:
  // Not inlined, so that no frame of the stack has more than one of the paths.

  /// NVRTC is in lib or lib64 of a toolkit, or in a wheel beside those with the headers.
  [[gnu::noinline]] void beside_library(const char* library) {
    char path[PATH_MAX];
    if (::realpath(library, path) == nullptr) return;
    for (int levels = 0; levels < 4; ++levels) {
      char* slash = __builtin_strrchr(path, '/');
      if (slash == nullptr || slash == path) return;
      *slash = '\0';
      if (levels != 0) in_root(path);
    }
  }

  [[gnu::noinline]] void beside_nvcc() {
    const char* path = environment_variable("PATH");
    while (path != nullptr && *path != '\0' && !(toolkit_ && libcuxx_)) {
      const char* end = __builtin_strchr(path, ':');
      const auto size =
          end != nullptr ? static_cast<int>(end - path) : static_cast<int>(__builtin_strlen(path));
      char nvcc[PATH_MAX];
      format_into(nvcc, sizeof nvcc, "%.*s/nvcc", size, path);
      if (size != 0) beside_library(nvcc);
      path = end != nullptr ? end + 1 : nullptr;
    }
  }

  /// A toolkit has its headers in include, or for one platform of several in targets; the wheels of
  /// CUDA 13 are a toolkit in the folder nvidia, and those of CUDA 12 a folder each.
  [[gnu::noinline]] void in_root(const char* root) {
    for (const char* below :
         {"include", "targets/x86_64-linux/include", "targets/sbsa-linux/include", "cu13/include",
          "cuda_runtime/include", "cuda_cccl/include", "nvidia/cu13/include",
          "nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include"}) {
      if (toolkit_ && libcuxx_) return;
      char folder[PATH_MAX];
      format_into(folder, sizeof folder, "%s/%s", root, below);
      if (kind_of_path(folder) == path_kind::folder)
        in_folder(folder);
      else if (string_ref(below) == "include")
        looked_in.push_back(required(text(folder)));
    }
  }

  void in_folder(const char* folder) {
    const string_ref name(folder);
    for (const text& before : looked_in) {
      if (string_ref(before) == name) return;
    }
    looked_in.push_back(required(text(folder)));
    char path[PATH_MAX];
    bool useful = false;
    if (!toolkit_) {
      // Not all wheels of CUDA have this, but the one with the headers for device code has.
      format_into(path, sizeof path, "%s/cuda_fp16.h", folder);
      toolkit_ = useful = kind_of_path(path) == path_kind::file;
    }
    if (!libcuxx_) {
      format_into(path, sizeof path, "%s/cuda/std/type_traits", folder);
      if (kind_of_path(path) == path_kind::file) libcuxx_ = useful = true;
    }
    if (useful) folders.push_back(required(text(folder)));
    if (libcuxx_) return;
    format_into(path, sizeof path, "%s/cccl/cuda/std/type_traits", folder);
    if (kind_of_path(path) != path_kind::file) return;
    libcuxx_ = true;
    format_into(path, sizeof path, "%s/cccl", folder);
    folders.push_back(required(text(path)));
  }

  bool toolkit_ = false;
  bool libcuxx_ = false;
};

/// The CUDA version of the toolkit's headers in a folder, as in 13000, or 0.
inline std::size_t version_of_headers(string_ref folder) noexcept {
  text_builder path;
  path << folder << "/cuda_runtime_api.h";
  text contents;
  if (!read_file("gpu::compile", path.finish(), contents, {}).has_value()) return 0;
  constexpr string_ref definition("#define CUDART_VERSION");
  const string_ref whole = contents;
  string_ref rest = without_front(whole, position_of(definition, whole));
  if (rest.empty()) return 0;
  rest = without_front(rest, definition.size());
  rest = without_blanks(rest);
  std::size_t number = 0;
  for (std::size_t i = 0; i < rest.size() && i < 9 && is_digit(rest[i]); ++i) {
    number = number * 10 + static_cast<std::size_t>(rest[i] - '0');
  }
  return number;
}

/// The headers that go with the NVRTC in use, whose file is `library`. Looked for once: what is
/// installed meanwhile counts for the next process.
inline const header_search& found_headers(const text& library) {
  static const header_search* found = nullptr;
  return *made_once(found, [&]() -> const header_search* {
    auto* const search = new header_search;
    search->run(library.empty() ? nullptr : library.c_str());
    return search;
  });
}

}  // namespace gpu::inline v0::detail

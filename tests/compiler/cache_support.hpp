#pragma once
/// \file
/// Folders and compilations for the tests of the cache.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/result.hpp>

#include "support/catch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <stdlib.h>
#include <time.h>

namespace test {

/// A folder that goes with the object.
class temporary_folder {
 public:
  temporary_folder() { REQUIRE(::mkdtemp(path_) != nullptr); }
  /// In memory, where the system has a file system there: for very many files.
  static temporary_folder in_memory() { return temporary_folder("/dev/shm"); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    const std::string command = std::string("chmod -R u+rwx ") + path_ + "; rm -rf " + path_;
    if (std::system(command.c_str()) != 0) std::perror(path_);
  }

  std::string path() const { return path_; }
  std::string operator/(const std::string& name) const { return path() + '/' + name; }
  std::string make_folder(const std::string& name) const {
    ::mkdir((*this / name).c_str(), 0755);
    return *this / name;
  }

 private:
  explicit temporary_folder(const char* base) {
    if (::access(base, W_OK) == 0) std::snprintf(path_, sizeof path_, "%s/gpu_test_XXXXXX", base);
    REQUIRE(::mkdtemp(path_) != nullptr);
  }

  char path_[32] = "/tmp/gpu_cache_test_XXXXXX";
};

/// Goes back to the working folder that was in force when it was made.
class scoped_working_folder {
 public:
  scoped_working_folder() = default;
  scoped_working_folder(const scoped_working_folder&) = delete;
  scoped_working_folder& operator=(const scoped_working_folder&) = delete;
  ~scoped_working_folder() {
    if (::fchdir(before_) != 0) std::perror("fchdir");
    ::close(before_);
  }

 private:
  int before_ = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
};

inline void write_file(const std::string& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << contents;
  REQUIRE(file.flush().good());
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The names in a folder that end so.
inline std::vector<std::string> names_in(const std::string& folder, const std::string& end = "") {
  std::vector<std::string> names;
  DIR* list = ::opendir(folder.c_str());
  if (list == nullptr) return names;
  while (const dirent* found = ::readdir(list)) {
    const std::string name = found->d_name;
    if (name == "." || name == ".." || name.size() < end.size()) continue;
    if (name.compare(name.size() - end.size(), end.size(), end) == 0) names.push_back(name);
  }
  ::closedir(list);
  return names;
}

/// The files with programs: 64 digits, a dot, a digit.
inline std::vector<std::string> programs_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& name : names_in(folder)) {
    if (name.size() == 66 && name[65] >= '0' && name[65] <= '9') names.push_back(name);
  }
  return names;
}

/// Sets a file's times, in seconds from now.
inline void set_age(const std::string& path, long seconds_ago) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec -= seconds_ago;
  const timespec both[] = {now, now};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), both, AT_SYMLINK_NOFOLLOW) == 0);
}

/// Compiles for sm_90 with a cache of its own on `folder`, as a new process would; returns the
/// program.
inline gpu::compiled_program compile_fresh(const std::string& folder, const gpu::program& source,
                                           gpu::compile_options options = {}) {
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
  options.architecture = gpu::architecture::sm(90);
  options.cache = &cache;
  gpu::result<gpu::compiled_program> made = gpu::compile(source, options);
  if (!made.has_value()) FAIL(made.error().message().c_str());
  return *std::move(made);
}

/// Where that came from, in words.
inline std::string origin_of(const std::string& folder, const gpu::program& source,
                             const gpu::compile_options& options = {}) {
  return compile_fresh(folder, source, options).origin().message().c_str();
}

}  // namespace test

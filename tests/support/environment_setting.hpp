#pragma once
/// \file
/// Variables of the environment, and a home directory, for the scope of a test.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <stdlib.h>
#include <unistd.h>

namespace test {

/// Sets a variable of the environment for a scope.
class environment_setting {
 public:
  environment_setting(const char* name, const std::string& value) : name_(name) {
    const char* set = std::getenv(name);
    if (set != nullptr) before_ = set;
    was_set_ = set != nullptr;
    ::setenv(name, value.c_str(), 1);
  }
  environment_setting(const environment_setting&) = delete;
  environment_setting& operator=(const environment_setting&) = delete;
  ~environment_setting() {
    if (was_set_) {
      ::setenv(name_, before_.c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

/// An empty home directory for a scope, with files in it.
class temporary_home {
 public:
  temporary_home() { std::filesystem::create_directories(folder_); }
  temporary_home(const temporary_home&) = delete;
  temporary_home& operator=(const temporary_home&) = delete;
  ~temporary_home() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void write(const char* name, const char* contents) const {
    std::FILE* file = std::fopen((folder_ + '/' + name).c_str(), "w");
    if (file == nullptr) return;
    std::fputs(contents, file);
    std::fclose(file);
  }
  /// Puts a folder in the place of a file.
  void make_folder(const char* name) const {
    std::filesystem::remove(folder_ + '/' + name);
    std::filesystem::create_directory(folder_ + '/' + name);
  }

 private:
  static std::string unused_folder() {
    static int number = 0;
    return std::filesystem::temp_directory_path().string() + "/gpu-home-" +
           std::to_string(::getpid()) + '-' + std::to_string(number++);
  }

  std::string folder_ = unused_folder();
  environment_setting home_{"HOME", folder_};
};

}  // namespace test

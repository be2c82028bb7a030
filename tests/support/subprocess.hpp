#pragma once
/// \file
/// Runs programs, above all this test program itself for one hidden test case: for what ends a
/// process or spoils it (exit, fork, sticky faults, static destruction).

#include "support/drivers.hpp"

#include <fcntl.h>  // IWYU pragma: keep
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// Variables that a program sees besides those of this process.
using environment = std::vector<std::pair<std::string, std::string>>;

struct program_outcome {
  int exit_code = -1;      ///< -1 where a signal ended it
  int signal = 0;          ///< the signal that ended it, or 0
  bool timed_out = false;  ///< it was killed for taking too long
  std::string output;      ///< what it wrote to stdout and stderr

  bool succeeded() const { return exit_code == 0 && !timed_out; }
};

namespace detail {

inline std::vector<std::string> merged_environment(const environment& extra) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    bool replaced = false;
    for (const auto& variable : extra) replaced = replaced || variable.first == name;
    if (!replaced) merged.emplace_back(*entry);
  }
  for (const auto& [name, value] : extra) merged.push_back(name + '=' + value);
  return merged;
}

inline std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Reads until the other end is closed or the time is up; tells which.
inline bool read_to_end(int file, std::string& output, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (char buffer[4096];;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{file, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t size = ::read(file, buffer, sizeof buffer);
    if (size <= 0) return true;
    output.append(buffer, static_cast<std::size_t>(size));
  }
}

}  // namespace detail

/// Runs `arguments[0]`, found as the shell finds it, and waits for its end.
inline program_outcome run_program(std::vector<std::string> arguments,
                                   const environment& extra = {},
                                   std::chrono::milliseconds limit = std::chrono::seconds(120)) {
  program_outcome outcome;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    outcome.output = "pipe2 failed";
    return outcome;
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<std::string> variables = detail::merged_environment(extra);
  pid_t child = -1;
  const int refused =
      ::posix_spawnp(&child, arguments[0].c_str(), &actions, nullptr,
                     detail::pointers_to(arguments).data(), detail::pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (refused != 0) {
    outcome.output = arguments[0] + ": " + std::strerror(refused);
  } else {
    outcome.timed_out = !detail::read_to_end(ends[0], outcome.output, limit);
    if (outcome.timed_out) ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  }
  ::close(ends[0]);
  return outcome;
}

/// Runs the test case `name` of this program, tagged [.child], alone in a new process on the same
/// kind of driver. Exit code 0 says that it passed; code in the child may call std::exit itself.
/// `before` are words that a command line begins with which ends in this program's.
inline program_outcome run_child(const std::string& name, environment extra = {},
                                 std::chrono::milliseconds limit = std::chrono::seconds(120),
                                 std::vector<std::string> before = {}) {
  std::string pattern;
  for (const char c : name) {
    if (c == ',' || c == '[' || c == '\\' || c == '"') pattern += '\\';
    pattern += c;
  }
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) return {};
  extra.emplace_back("GPU_TEST_DRIVER", driver_name());
  before.insert(before.end(), {self, pattern});
  return run_program(std::move(before), extra, limit);
}

}  // namespace test

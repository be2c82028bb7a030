#pragma once
/// \file
/// `count_instructions`: the instructions of pieces of work, exactly, by stepping through a
/// process.

#include <sched.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace benchmark {

/// Begins what `count_instructions` counts, in the child.
inline void begin_counting() {
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  std::raise(SIGUSR1);
}

/// Runs `work` in a child process, which ignores SIGUSR1, calls `begin_counting`, raises SIGUSR1 at
/// the end of each of `count` pieces of work, and returns whether all went well. Returns the number
/// of instructions of each piece; empty if stepping is not allowed. Ends the program if the child
/// failed.
template <class Work> std::vector<long> count_instructions(std::size_t count, Work work) {
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(work() ? 0 : 1);
  std::vector<long> pieces;
  long steps = 0;
  int status = 0;
  while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    if (WSTOPSIG(status) == SIGUSR1) {
      pieces.push_back(steps);
      steps = 0;
    } else {
      ++steps;
    }
    if (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) return {};
  }
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (good && pieces.empty()) return {};
  if (!good || pieces.size() != 1 + count) {
    std::fprintf(stderr, "the process whose instructions are counted failed\n");
    std::exit(2);
  }
  pieces.erase(pieces.begin());
  return pieces;
}

}  // namespace benchmark

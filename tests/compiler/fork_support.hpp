#pragma once
/// \file
/// Forked children that do a piece of work.

#include "support/sanitizers.hpp"

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {

inline constexpr bool malloc_survives_fork = !address_sanitizer;

/// Whether a child that was forked beside other threads can start one.
inline constexpr bool threads_start_after_fork = malloc_survives_fork && !thread_sanitizer;

/// The exit code of a forked child that does `work`, or -1.
template <class Work> int exit_code_of_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace test

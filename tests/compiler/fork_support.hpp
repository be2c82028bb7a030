#pragma once
/// \file
/// Forked children that do a piece of work.

#include <sys/wait.h>
#include <unistd.h>

namespace test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool malloc_survives_fork = false;
#elif defined(__has_feature)
inline constexpr bool malloc_survives_fork = !__has_feature(address_sanitizer);
#else
inline constexpr bool malloc_survives_fork = true;
#endif

/// Whether a child that was forked beside other threads can start one.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool threads_start_after_fork = false;
#elif defined(__has_feature)
inline constexpr bool threads_start_after_fork =
    malloc_survives_fork && !__has_feature(thread_sanitizer);
#else
inline constexpr bool threads_start_after_fork = malloc_survives_fork;
#endif

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

#pragma once
/// \file
/// Functions that are called when the process forks or ends.

#include <pthread.h>

#include <cstdlib>

namespace gpu { inline namespace v1 { namespace detail {

inline void on_fork_in_child(void (*handler)()) noexcept {
  ::pthread_atfork(nullptr, nullptr, handler);
}

inline void on_process_exit(void (*handler)()) noexcept { std::atexit(handler); }

}}}  // namespace gpu::v1::detail

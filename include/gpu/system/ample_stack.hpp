#pragma once
/// \file
/// `on_ample_stack`: does work that needs much of the stack, on a thread of its own if little of
/// the calling thread's is left.

#include <pthread.h>
#include <signal.h>
#include <gpu/system/no_cancellation.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace gpu { inline namespace v1 { namespace detail {

/// NVRTC 13 needs 128 KiB of stack for a kernel of one line, 192 KiB for a sort of CUB, and up to 2
/// MiB for deeply nested templates and expressions. Main threads usually have 8 MiB.
inline constexpr std::size_t enough_stack = std::size_t{4} << 20;
inline constexpr std::size_t ample_stack = std::size_t{8} << 20;

/// Returns how many bytes of the calling thread's stack are left; 0 if that is not known, as in a
/// coroutine, which has a stack that the system knows nothing of.
inline std::size_t stack_left() noexcept {
  pthread_attr_t about;
  if (::pthread_getattr_np(::pthread_self(), &about) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool known = ::pthread_attr_getstack(&about, &lowest, &size) == 0;
  ::pthread_attr_destroy(&about);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uintptr_t left = here - reinterpret_cast<std::uintptr_t>(lowest);
  return known && left < size ? left : 0;
}

/// Starts a thread with an ample stack that calls `run(work)`, and waits for it. Signals that are
/// sent to the process go to the program's threads.
/// Returns 0, or the error number for which no thread could be started.
inline int run_on_new_thread(void* (*run)(void*), void* work) noexcept {
  const no_cancellation uncancelled;  // the thread uses what is on this one's stack
  pthread_attr_t attributes;
  if (const int failure = ::pthread_attr_init(&attributes); failure != 0) return failure;
  sigset_t others, before;
  ::sigfillset(&others);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    ::sigdelset(&others, fault);
  pthread_t thread;
  int failure = ::pthread_attr_setstacksize(&attributes, ample_stack);
  if (failure == 0) {
    ::pthread_sigmask(SIG_SETMASK, &others, &before);
    failure = ::pthread_create(&thread, &attributes, run, work);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ::pthread_attr_destroy(&attributes);
  return failure != 0 ? failure : ::pthread_join(thread, nullptr);
}

/// Calls `work()`, which must not throw, where it has enough of a stack.
/// Returns 0, or the error number for which no thread could be started; then `work` was not called.
template <class Work> int on_ample_stack(Work& work) noexcept {
  if (stack_left() >= enough_stack) {
    work();
    return 0;
  }
  const auto run = [](void* of) -> void* {
    (*static_cast<Work*>(of))();
    return nullptr;
  };
  return run_on_new_thread(run, &work);
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `process_wide`: state that all shared libraries of a process share, and what is called when the
/// process forks or ends.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/version.hpp>
#include <gpu/system/named_memory.hpp>
#include <gpu/system/shared_library.hpp>

#include <pthread.h>

#include <cstdlib>

namespace gpu { inline namespace v1 { namespace detail {

inline void on_fork_in_child(void (*handler)()) noexcept {
  ::pthread_atfork(nullptr, nullptr, handler);
}

inline void on_process_exit(void (*handler)()) noexcept { std::atexit(handler); }

/// The one `State` of the process: the same object in all its shared libraries that were built with
/// this ABI number. It begins as zeroed bytes. `State` has
/// - `name`: a string that no other state has;
/// - `after_fork()`: called in a forked child, where other threads may have left the state half
///   changed and its locks taken.
template <class State> class process_wide {
 public:
  static State& get() noexcept {
    State* const state = if_known();
    return state != nullptr ? *state : find();
  }

  /// Returns null before the first call of `get` in this shared library.
  static State* if_known() noexcept { return atomic_load<memory_order::acquire>(known_); }

 private:
  /// Several threads may be here at once and find the same state. None waits for another, as it
  /// would for the guard of a local static variable: a child that is forked meanwhile would wait
  /// forever.
  [[gnu::noinline]] static State& find() noexcept {
    static State private_state;  // zeroed, since it is static
    char name[64];
    format_into(name, sizeof name, "gpu-abi-%d-%s-%zu", abi_number, State::name, sizeof(State));
    auto* const shared = static_cast<State*>(named_memory(name, sizeof(State)));
    State* const found = shared != nullptr ? shared : &private_state;
    pin_library_of(&in_forked_child);
    on_fork_in_child(&in_forked_child);
    atomic_store<memory_order::release>(known_, found);
    return *found;
  }

  static void in_forked_child() noexcept {
    if (State* const state = if_known()) state->after_fork();
  }

  inline static constinit State* known_ = nullptr;
};

}}}  // namespace gpu::v1::detail

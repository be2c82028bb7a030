#pragma once
/// \file
/// `thread_key`: a pointer of each thread's own, with a function that is called when the thread
/// ends.

#include <gpu/core/detail/atomic.hpp>

#include <pthread.h>

namespace gpu { inline namespace v1 { namespace detail {

/// A pointer of each thread's own, null at first. When a thread ends, `destroy` is called with its
/// pointer unless that is null.
///
/// A `thread_local` variable with a destructor would do the same. But for each thread the C library
/// allocates memory to register the destructor, and in a library that was loaded by dlopen also for
/// the variable, and aborts the process if the allocation fails. Here, `set` returns false.
///
/// For static objects only. The object is destroyed when the process exits or its shared library is
/// closed. `destroy` is called then for the current thread, and not for other threads when they
/// end: the code of `destroy` may be unloaded.
class thread_key {
 public:
  constexpr explicit thread_key(void (*destroy)(void*)) noexcept : destroy_{destroy} {}
  thread_key(const thread_key&) = delete;
  thread_key& operator=(const thread_key&) = delete;
  ~thread_key() {
    void* const own = get();
    const unsigned last = atomic_exchange<memory_order::acq_rel>(key_, destroyed);
    if (last < first_key) return;
    if (own != nullptr) destroy_(own);
    ::pthread_key_delete(last - first_key);
  }

  void* get() const noexcept {
    const unsigned known = atomic_load<memory_order::acquire>(key_);
    return known >= first_key ? ::pthread_getspecific(known - first_key) : nullptr;
  }
  /// Sets the pointer of the current thread. Returns false and leaves the pointer as it was if the
  /// system has no key or no memory left, or the object was destroyed. Cannot fail for lack of
  /// memory in a thread whose pointer is not null.
  bool set(void* own) noexcept {
    const unsigned known = made_key();
    return known >= first_key && ::pthread_setspecific(known - first_key, own) == 0;
  }

 private:
  static constexpr unsigned none = 0, destroyed = 1, first_key = 2;

  unsigned made_key() noexcept {
    unsigned known = atomic_load<memory_order::acquire>(key_);
    pthread_key_t made = 0;
    if (known != none || ::pthread_key_create(&made, destroy_) != 0) return known;
    if (atomic_compare_exchange_strong<memory_order::acq_rel, memory_order::acquire>(
            key_, known, made + first_key)) {
      return made + first_key;
    }
    ::pthread_key_delete(made);  // another thread was first
    return known;
  }

  void (*destroy_)(void*);
  unsigned key_ = none;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `made_once`: makes an object on first use and keeps it until the process ends.

#include <gpu/core/detail/atomic.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the object that `slot` points to. If it is null, sets it to what `make()` returns, which
/// may be null. Several threads may make an object at the same time; one of them is kept. No thread
/// waits for another, as it would for a local static variable: a child that is forked meanwhile
/// would wait forever. For the same reason the object is never destroyed: `atexit` takes a lock.
template <class T, class Make> T* made_once(T*& slot, Make make) {
  T* known = atomic_load<memory_order::acquire>(slot);
  if (known != nullptr) return known;
  T* const made = make();
  if (made == nullptr ||
      atomic_compare_exchange_strong<memory_order::acq_rel, memory_order::acquire>(slot, known,
                                                                                   made)) {
    return made;
  }
  delete made;
  return known;
}

}}}  // namespace gpu::v1::detail

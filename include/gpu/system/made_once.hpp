#pragma once
/// \file
/// `made_once`: makes an object on first use and keeps it until the process ends.

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the object that `slot` points to. If it is null, sets it to what `make()` returns, which
/// may be null. Several threads may make an object at the same time; one of them is kept. No thread
/// waits for another, as it would for a local static variable: a child that is forked meanwhile
/// would wait forever. For the same reason the object is never destroyed: `atexit` takes a lock.
template <class T, class Make> T* made_once(T*& slot, Make make) {
  T* known = __atomic_load_n(&slot, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  T* const made = make();
  if (made == nullptr ||
      __atomic_compare_exchange_n(&slot, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return made;
  }
  delete made;
  return known;
}

}}}  // namespace gpu::v1::detail

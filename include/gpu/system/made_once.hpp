#pragma once
/// \file
/// `made_once`: what a process makes when it first needs it, and keeps until its end.

namespace gpu::inline v0::detail {

/// Returns what `place` points to. If that is nothing, has `make()` make it, and returns null if
/// that does. Several threads may make one at once, of which one is kept: no thread waits for
/// another, as it would for a local static variable, since in a forked child it would wait for
/// ever. For the same reason it is never destroyed: `atexit` takes a lock.
template <class T, class Make> T* made_once(T*& place, Make make) {
  T* known = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  T* const made = make();
  if (made == nullptr || __atomic_compare_exchange_n(&place, &known, made, false, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_ACQUIRE)) {
    return made;
  }
  delete made;
  return known;
}

}  // namespace gpu::inline v0::detail

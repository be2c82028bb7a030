#pragma once
/// \file
/// Atomic operations on plain objects, as `std::atomic_ref` has them: for words of state that
/// begins as zeroed bytes and that shared libraries exchange. (Including `<atomic>` costs eight
/// times what cuda.h does.)

#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

enum class memory_order : int {
  relaxed = __ATOMIC_RELAXED,
  acquire = __ATOMIC_ACQUIRE,
  release = __ATOMIC_RELEASE,
  acq_rel = __ATOMIC_ACQ_REL,
  seq_cst = __ATOMIC_SEQ_CST,
};

template <memory_order order, class T> T atomic_load(const T& object) noexcept {
  return __atomic_load_n(&object, static_cast<int>(order));
}

template <memory_order order, class T>
void atomic_store(T& object, std::type_identity_t<T> value) noexcept {
  __atomic_store_n(&object, value, static_cast<int>(order));
}

// The functions below return the value before the operation. A comparison returns whether that was
// `expected`, and otherwise stores it there.

template <memory_order order, class T>
T atomic_exchange(T& object, std::type_identity_t<T> value) noexcept {
  return __atomic_exchange_n(&object, value, static_cast<int>(order));
}

template <memory_order order, class T>
T atomic_fetch_add(T& object, std::type_identity_t<T> value) noexcept {
  return __atomic_fetch_add(&object, value, static_cast<int>(order));
}

template <memory_order order, class T>
T atomic_fetch_sub(T& object, std::type_identity_t<T> value) noexcept {
  return __atomic_fetch_sub(&object, value, static_cast<int>(order));
}

template <memory_order success, memory_order failure, class T>
bool atomic_compare_exchange_weak(T& object, std::type_identity_t<T>& expected,
                                  std::type_identity_t<T> desired) noexcept {
  return __atomic_compare_exchange_n(&object, &expected, desired, true, static_cast<int>(success),
                                     static_cast<int>(failure));
}

template <memory_order success, memory_order failure, class T>
bool atomic_compare_exchange_strong(T& object, std::type_identity_t<T>& expected,
                                    std::type_identity_t<T> desired) noexcept {
  return __atomic_compare_exchange_n(&object, &expected, desired, false, static_cast<int>(success),
                                     static_cast<int>(failure));
}

}}}  // namespace gpu::v1::detail

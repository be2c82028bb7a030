#pragma once
/// \file
/// How long loaded code stays: until its module is gone, and each graph that keeps it.

#include <gpu/driver/process_state.hpp>

namespace gpu::detail {

/// Code with as many owners as shares; who drops the last one calls `unload`.
struct shared_code {
  void (*unload)(shared_code* self) noexcept;
  std::size_t shares = 1;

  /// Whether a share was taken: nobody brings back code that is on its way out.
  bool take_share() noexcept {
    std::size_t now = __atomic_load_n(&shares, __ATOMIC_RELAXED);
    while (now != 0) {
      if (__atomic_compare_exchange_n(&shares, &now, now + 1, true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
        return true;
      }
    }
    return false;
  }
  /// Whether it was the last.
  bool drop_share() noexcept { return __atomic_sub_fetch(&shares, 1u, __ATOMIC_ACQ_REL) == 0; }
};

/// The list that a kernel is in while it lives. To be called, and the list used, with the lock.
inline live_kernel*& list_of(live_kernels& all, CUkernel native) noexcept {
  const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(native)};
  return all.first[address * 0x9e37'79b9'7f4a'7c15u >> 58];
}

/// From now on `take_share_of` finds the kernel.
template <class Kernel> void add_live_kernel(Kernel& kernel) noexcept {
  live_kernels& all = state_of_process().kernels;
  const scoped_lock lock(all.lock);
  live_kernel*& first = list_of(all, kernel.native);
  kernel.next = exchange(first, &kernel);
}

/// To be called before the kernel ends, for its handle can be another's afterwards.
template <class Kernel> void remove_live_kernel(Kernel& kernel) noexcept {
  live_kernels& all = state_of_process().kernels;
  const scoped_lock lock(all.lock);
  live_kernel** at = &list_of(all, kernel.native);
  while (*at != nullptr && *at != &kernel) at = &(*at)->next;
  if (*at != nullptr) *at = kernel.next;
}

/// The code of a kernel, with a share in it for the caller; null where no module has it.
template <class Code = shared_code> Code* take_share_of(CUkernel native) noexcept {
  live_kernels& all = state_of_process().kernels;
  const scoped_lock lock(all.lock);
  const live_kernel* each = list_of(all, native);
  while (each != nullptr && each->native != native) each = each->next;
  return each != nullptr && each->code->take_share() ? each->code : nullptr;
}

}  // namespace gpu::detail

#pragma once
/// \file
/// How long loaded code stays: until its module is gone, and each graph that has kernels of it.

#include <gpu/driver/process_state.hpp>

namespace gpu::detail {

/// Code with as many owners as shares. When the last one was dropped, the next `unload_unwanted`
/// calls `unload`.
struct shared_code {
  void (*unload)(shared_code* self) noexcept;
  std::size_t shares = 1;
  shared_code* next = nullptr;  ///< in the list of unwanted code, which has a share in each

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
};

/// Gives a share up, also where CUDA must not be called.
template <class Code> void drop_share(Code& code) noexcept {
  std::size_t now = __atomic_load_n(&code.shares, __ATOMIC_RELAXED);
  while (now > 1) {
    if (__atomic_compare_exchange_n(&code.shares, &now, now - 1, true, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED)) {
      return;
    }
  }
  // Its owner has the only share, so the code is not in the list yet.
  live_kernels& all = state_of_process().kernels;
  const scoped_lock lock(all.lock);
  code.next = all.unwanted;
  __atomic_store_n(&all.unwanted, &code, __ATOMIC_RELEASE);
}

/// Whether `unload_unwanted` has something to do.
template <class State = process_state> bool has_unwanted_code() noexcept {
  const live_kernels& all = state_of_process<State>().kernels;
  return __atomic_load_n(&all.unwanted, __ATOMIC_RELAXED) != nullptr &&
         __atomic_load_n(&all.captures, __ATOMIC_RELAXED) == 0;
}

/// Unloads the code of which the last share was dropped; not while a capture is going on, which may
/// have kernels of it and takes a share where it ends.
template <class Code = shared_code> void unload_unwanted() noexcept {
  live_kernels& all = state_of_process().kernels;
  Code* each = nullptr;
  if (has_unwanted_code()) {
    const scoped_lock lock(all.lock);
    if (all.captures == 0) each = __atomic_exchange_n(&all.unwanted, nullptr, __ATOMIC_ACQUIRE);
  }
  while (each != nullptr) {
    Code* const next = each->next;
    if (__atomic_sub_fetch(&each->shares, 1u, __ATOMIC_ACQ_REL) == 0) each->unload(each);
    each = next;
  }
}

/// A capture begins, into which kernels will be launched; to be followed by `end_code_capture`.
template <class State = process_state> void begin_code_capture() noexcept {
  live_kernels& all = state_of_process<State>().kernels;
  const scoped_lock lock(all.lock);
  __atomic_store_n(&all.captures, all.captures + 1, __ATOMIC_RELAXED);
}

/// It ended, and the kernels are another's to keep.
template <class State = process_state> void end_code_capture() noexcept {
  live_kernels& all = state_of_process<State>().kernels;
  const scoped_lock lock(all.lock);
  // None in the child of a process that forked meanwhile.
  if (all.captures != 0) __atomic_store_n(&all.captures, all.captures - 1, __ATOMIC_RELAXED);
}

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

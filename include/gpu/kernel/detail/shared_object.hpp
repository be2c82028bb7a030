#pragma once
/// \file
/// Objects with shared ownership, such as the code of a module, which is owned by the module, by
/// each kernel that was looked up in it and by each graph that has kernels of it.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/system/mutex.hpp>

#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/system/process_wide.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// An object with as many owners as shares. After the last share is dropped, the next
/// `end_unwanted` calls `end`.
struct shared_object {
  void (*end)(shared_object* self) noexcept;
  std::size_t shares = 1;
  shared_object* next = nullptr;  ///< in the list of unwanted objects, which owns a share of each

  /// Takes a share, and returns whether it could: not of an object that is about to end.
  bool take_share() noexcept {
    std::size_t now = atomic_load<memory_order::relaxed>(shares);
    while (now != 0) {
      if (atomic_compare_exchange_weak<memory_order::relaxed, memory_order::relaxed>(shares, now,
                                                                                     now + 1)) {
        return true;
      }
    }
    return false;
  }
};

/// A capture in progress, whose nodes may use unwanted objects; an element of a list.
struct open_capture {
  open_capture* next = nullptr;
};

/// A kernel that a module has returned, and the object that keeps its code loaded.
struct live_kernel {
  CUkernel native;
  shared_object* code;
  live_kernel* next;
};

/// The process-wide state that modules and graphs share.
struct live_objects {
  static constexpr const char* name = "live-objects";

  mutex lock;
  live_kernel* kernels[64];  // lists, by a hash of the handle
  shared_object* unwanted;   // list of the objects without an owner, which wait for their end
  open_capture* captures;    // list of the captures in progress, whose graphs may become owners

  static live_objects& of_process() noexcept { return process_wide<live_objects>::get(); }
  /// Empties the lists: another thread of the parent may have been changing them.
  void after_fork() noexcept {
    lock.reset();
    for (live_kernel*& list : kernels) list = nullptr;
    unwanted = nullptr;
    captures = nullptr;
  }
};

/// Drops a share. May be called even where CUDA calls are not allowed, as in host functions.
inline void drop_share(shared_object& object) noexcept {
  std::size_t now = atomic_load<memory_order::relaxed>(object.shares);
  while (now > 1) {
    if (atomic_compare_exchange_weak<memory_order::release, memory_order::relaxed>(object.shares,
                                                                                   now, now - 1)) {
      return;
    }
  }
  // The caller owns the only share, so the object is not in the list yet.
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  object.next = all.unwanted;
  atomic_store<memory_order::release>(all.unwanted, &object);
}

/// Returns whether `end_unwanted` has something to do.
inline bool has_unwanted() noexcept {
  const live_objects& all = live_objects::of_process();
  return atomic_load<memory_order::relaxed>(all.unwanted) != nullptr &&
         atomic_load<memory_order::relaxed>(all.captures) == nullptr;
}

/// Ends the objects whose last share was dropped. Does nothing during a capture: its nodes may use
/// these objects, and take shares when it ends.
inline void end_unwanted() noexcept {
  live_objects& all = live_objects::of_process();
  shared_object* each = nullptr;
  if (has_unwanted()) {
    const scoped_lock lock(all.lock);
    if (all.captures == nullptr)
      each = atomic_exchange<memory_order::acquire>(all.unwanted, nullptr);
  }
  while (each != nullptr) {
    shared_object* const next = each->next;
    if (atomic_fetch_sub<memory_order::acq_rel>(each->shares, 1) == 1) each->end(each);
    each = next;
  }
}

/// Drops a share, and ends the objects that have no owner any more. Out of line, since every kernel
/// that goes out of scope calls it (benchmarks/program_cost).
[[gnu::noinline]] inline void let_go(shared_object& object) noexcept {
  drop_share(object);
  end_unwanted();
}

/// Owns a share of an object, or nothing. Each copy owns a share of its own, and a move is a copy.
class object_owner {
 public:
  constexpr object_owner() noexcept = default;
  /// Takes a share of an object that has an owner.
  explicit object_owner(shared_object* shared) noexcept : object_{shared} { take_share(); }
  object_owner(const object_owner& other) noexcept : object_{other.object_} { take_share(); }
  object_owner& operator=(object_owner other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  constexpr ~object_owner() {
    if (object_ != nullptr) let_go(*object_);
  }

 private:
  void take_share() noexcept {
    if (object_ != nullptr) object_->take_share();
  }

  shared_object* object_ = nullptr;
};

inline void add_capture(open_capture& capture) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  capture.next = all.captures;
  atomic_store<memory_order::relaxed>(all.captures, &capture);
}

/// Removes a capture that has ended; its nodes have owners by now.
inline void remove_capture(open_capture& capture) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  open_capture** at = &all.captures;
  // The list is empty in the child of a process that forked meanwhile.
  while (*at != nullptr && *at != &capture) at = &(*at)->next;
  if (*at != nullptr) atomic_store<memory_order::relaxed>(*at, capture.next);
}

/// Returns the list for a kernel. The caller holds the lock, and keeps it while using the list.
inline live_kernel*& list_of(live_objects& all, CUkernel native) noexcept {
  const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(native)};
  return all.kernels[address * 0x9e37'79b9'7f4a'7c15u >> 58];
}

/// Adds a kernel, so that `take_share_of` finds it.
inline void add_live_kernel(live_kernel& kernel) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  live_kernel*& first = list_of(all, kernel.native);
  kernel.next = std::exchange(first, &kernel);
}

/// Removes a kernel, before it ends: afterwards the driver may reuse its handle.
inline void remove_live_kernel(live_kernel& kernel) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  live_kernel** at = &list_of(all, kernel.native);
  while (*at != nullptr && *at != &kernel) at = &(*at)->next;
  if (*at != nullptr) *at = kernel.next;
}

/// Returns the code of a kernel, with a share of it for the caller; null if no module owns it.
inline shared_object* take_share_of(CUkernel native) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  const live_kernel* each = list_of(all, native);
  while (each != nullptr && each->native != native) each = each->next;
  return each != nullptr && each->code->take_share() ? each->code : nullptr;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Objects with several owners, such as the code of kernels, which a module owns, each kernel that
/// was looked up in it and each graph that has kernels of it.

#include <gpu/core/detail/utility.hpp>
#include <gpu/system/process_wide.hpp>

#include <cuda.h>

namespace gpu::inline v0::detail {

/// An object with as many owners as shares. When the last one was dropped, the next `end_unwanted`
/// calls `end`.
struct shared_object {
  void (*end)(shared_object* self) noexcept;
  std::size_t shares = 1;
  shared_object* next = nullptr;  ///< in the list of unwanted objects, which has a share in each

  /// Whether a share was taken: nobody brings back what is on its way out.
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

/// A capture that is going on, of which unwanted objects may be nodes; one of a list.
struct open_capture {
  open_capture* next = nullptr;
};

/// A kernel that a module has handed out, and what keeps its code loaded.
struct live_kernel {
  CUkernel native;
  shared_object* code;
  live_kernel* next;
};

/// What modules and graphs share in the whole process.
struct live_objects {
  static constexpr const char* name = "live-objects";

  mutex lock;
  live_kernel* kernels[64];  // lists, by a hash of the handle
  shared_object* unwanted;   // a list of objects that have no owner and wait for their end
  open_capture* captures;    // a list of the captures in progress, whose graphs may become owners

  static live_objects& of_process() noexcept { return process_wide<live_objects>::get(); }
  /// Another thread of the parent may have been changing the lists.
  void after_fork() noexcept {
    lock.reset();
    for (live_kernel*& list : kernels) list = nullptr;
    unwanted = nullptr;
    captures = nullptr;
  }
};

/// Gives a share up, also where CUDA must not be called.
template <class Object> void drop_share(Object& object) noexcept {
  std::size_t now = __atomic_load_n(&object.shares, __ATOMIC_RELAXED);
  while (now > 1) {
    if (__atomic_compare_exchange_n(&object.shares, &now, now - 1, true, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED)) {
      return;
    }
  }
  // Its owner has the only share, so the object is not in the list yet.
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  object.next = all.unwanted;
  __atomic_store_n(&all.unwanted, &object, __ATOMIC_RELEASE);
}

/// Whether `end_unwanted` has something to do.
inline bool has_unwanted() noexcept {
  const live_objects& all = live_objects::of_process();
  return __atomic_load_n(&all.unwanted, __ATOMIC_RELAXED) != nullptr &&
         __atomic_load_n(&all.captures, __ATOMIC_RELAXED) == nullptr;
}

/// Ends the objects of which the last share was dropped; not while a capture is going on, which may
/// have nodes of them and takes shares where it ends.
inline void end_unwanted() noexcept {
  live_objects& all = live_objects::of_process();
  shared_object* each = nullptr;
  if (has_unwanted()) {
    const scoped_lock lock(all.lock);
    if (all.captures == nullptr)
      each = __atomic_exchange_n(&all.unwanted, nullptr, __ATOMIC_ACQUIRE);
  }
  while (each != nullptr) {
    shared_object* const next = each->next;
    if (__atomic_sub_fetch(&each->shares, 1u, __ATOMIC_ACQ_REL) == 0) each->end(each);
    each = next;
  }
}

/// Gives a share up, and ends what nobody needs any more.
template <class Object> [[gnu::cold, gnu::noinline]] void let_go(Object& object) noexcept {
  drop_share<shared_object>(object);
  end_unwanted();
}

/// Owns a share in an object, or in nothing. Each copy owns one of its own, and a move is a copy.
template <class Object = shared_object> class object_owner {
 public:
  constexpr object_owner() noexcept = default;
  /// Takes a share in an object that somebody has a share in.
  explicit object_owner(Object* shared) noexcept : object_{shared} { take_share(); }
  object_owner(const object_owner& other) noexcept : object_{other.object_} { take_share(); }
  object_owner& operator=(object_owner other) noexcept {
    swap_values(object_, other.object_);
    return *this;
  }
  constexpr ~object_owner() {
    if (object_ != nullptr) let_go(*object_);
  }

 private:
  void take_share() noexcept {
    if (object_ != nullptr) object_->take_share();
  }

  Object* object_ = nullptr;
};

inline void add_capture(open_capture& capture) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  capture.next = all.captures;
  __atomic_store_n(&all.captures, &capture, __ATOMIC_RELAXED);
}

/// It is over, and its nodes are another's to keep.
inline void remove_capture(open_capture& capture) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  open_capture** at = &all.captures;
  // It is not there in the child of a process that forked meanwhile.
  while (*at != nullptr && *at != &capture) at = &(*at)->next;
  if (*at != nullptr) __atomic_store_n(at, capture.next, __ATOMIC_RELAXED);
}

/// The list that a kernel is in while it lives. To be called, and the list used, with the lock.
inline live_kernel*& list_of(live_objects& all, CUkernel native) noexcept {
  const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(native)};
  return all.kernels[address * 0x9e37'79b9'7f4a'7c15u >> 58];
}

/// From now on `take_share_of` finds the kernel.
template <class Kernel> void add_live_kernel(Kernel& kernel) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  live_kernel*& first = list_of(all, kernel.native);
  kernel.next = exchange(first, &kernel);
}

/// To be called before the kernel ends, for its handle can be another's afterwards.
template <class Kernel> void remove_live_kernel(Kernel& kernel) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  live_kernel** at = &list_of(all, kernel.native);
  while (*at != nullptr && *at != &kernel) at = &(*at)->next;
  if (*at != nullptr) *at = kernel.next;
}

/// The code of a kernel, with a share in it for the caller; null where no module has it.
inline shared_object* take_share_of(CUkernel native) noexcept {
  live_objects& all = live_objects::of_process();
  const scoped_lock lock(all.lock);
  const live_kernel* each = list_of(all, native);
  while (each != nullptr && each->native != native) each = each->next;
  return each != nullptr && each->code->take_share() ? each->code : nullptr;
}

}  // namespace gpu::inline v0::detail

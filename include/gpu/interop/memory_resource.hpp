#pragma once
/// \file
/// Host memory for `std::pmr`: `pinned_memory_resource`,
/// `managed_memory_resource` and `caching_pinned_memory_resource`.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/interop/allocators.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/pinned_buffer.hpp>
#include <gpu/memory/pinned_flags.hpp>

#include <cstddef>
#include <cstring>
#include <memory_resource>

namespace gpu { inline namespace v1 {

namespace detail {

/// The source of page-locked memory that a `caching_pinned_allocator` keeps. The owner to which it
/// is returned is stored in front of each allocation.
struct caching_pinned_source {
  caching_pinned_allocator* upstream = nullptr;

  result<void*> allocate(std::size_t bytes, std::size_t alignment) const noexcept {
    constexpr const char* function = "gpu::caching_pinned_memory_resource::allocate";
    const std::size_t before = alignment < sizeof(returnable*) ? sizeof(returnable*) : alignment;
    GPU_TRY(check_alignment(alignment, function));
    std::size_t whole = 0;
    GPU_TRY(get_bytes(function, bytes, 1, whole, source_location{}, before));
    pinned_buffer<std::byte> buffer =
        GPU_TRY(upstream->allocate<std::byte>(bytes + before, source_location{}));
    const pinned_allocation made = buffer_maker::take(buffer).release();
    std::byte* const allocated = static_cast<std::byte*>(made.address) + before;
    std::memcpy(allocated - sizeof made.owner, &made.owner, sizeof made.owner);
    return static_cast<void*>(allocated);
  }
  void deallocate(void* address, std::size_t) const noexcept {
    returnable* owner = nullptr;
    std::memcpy(&owner, static_cast<std::byte*>(address) - sizeof owner, sizeof owner);
    owner->give_back(*owner);
  }
};

}  // namespace detail

/// A `std::pmr::memory_resource` over a source of memory: the base of the three below. Equal only
/// to itself. It has to live until its memory is deallocated.
/// **Errors**: `allocate` throws `bad_allocation`, a `std::bad_alloc` with the `cuda_error`.
/// Without exceptions it ends the program, with the message on the error reporter. Alignments go up
/// to 256 bytes. **Threads**: any thread may call any member.
template <class Source> class source_memory_resource : public std::pmr::memory_resource {
 protected:
  explicit source_memory_resource(Source source) noexcept : source_{source} {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    // An allocation of no bytes has a distinct address too.
    result<void*> made = source_.allocate(bytes == 0 ? 1 : bytes, alignment);
    if (!made.has_value()) detail::throw_bad_allocation(made.error());
    return *made;
  }
  void do_deallocate(void* address, std::size_t bytes, std::size_t) override {
    source_.deallocate(address, bytes);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Source source_;
};

/// Allocates page-locked host memory, each time by a driver call: best as the upstream of a
/// `std::pmr::monotonic_buffer_resource`, which allocates much at once. Not allowed during capture.
/// (cuMemHostAlloc, cuMemFreeHost)
class pinned_memory_resource final : public source_memory_resource<detail::pinned_source> {
 public:
  explicit pinned_memory_resource(context_ref in, pinned_flags flags = pinned_flags::none) noexcept
      : source_memory_resource{{in, flags}} {}
};

/// Allocates memory that host and devices access at one address, each time by a driver call. Not
/// allowed during capture. **Ordering**: as `managed_buffer`. (cuMemAllocManaged, cuMemFree)
class managed_memory_resource final : public source_memory_resource<detail::managed_source> {
 public:
  explicit managed_memory_resource(context_ref in,
                                   memory_attach attach = memory_attach::global) noexcept
      : source_memory_resource{{in, attach}} {}
};

/// Allocates page-locked host memory that `upstream` keeps for reuse. `upstream` has to live, and
/// must not be moved, as long as this. Memory can be reused as soon as it is deallocated, so copies
/// that use it must have finished.
class caching_pinned_memory_resource final
    : public source_memory_resource<detail::caching_pinned_source> {
 public:
  explicit caching_pinned_memory_resource(caching_pinned_allocator& upstream) noexcept
      : source_memory_resource{detail::caching_pinned_source{&upstream}} {}
};

}}  // namespace gpu::v1

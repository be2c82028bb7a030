#pragma once
/// \file
/// Memory that host and device reach for `std::pmr`: `pinned_memory_resource`,
/// `managed_memory_resource` and `caching_pinned_memory_resource`.

#include <gpu/interop/allocators.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>

#include <cstddef>
#include <cstring>
#include <memory_resource>

namespace gpu::inline v0 {

namespace detail {

/// Where page-locked memory comes from that a `caching_pinned_allocator` keeps. In front of what it
/// hands out lies to whom it goes back.
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
    std::byte* const handed_out = static_cast<std::byte*>(made.address) + before;
    std::memcpy(handed_out - sizeof made.owner, &made.owner, sizeof made.owner);
    return static_cast<void*>(handed_out);
  }
  void deallocate(void* address, std::size_t) const noexcept {
    returnable* owner = nullptr;
    std::memcpy(&owner, static_cast<std::byte*>(address) - sizeof owner, sizeof owner);
    owner->give_back(*owner);
  }
};

}  // namespace detail

/// A `std::pmr::memory_resource` over a source of memory: what the three below have in common.
/// Equal to itself alone. It has to live until what it handed out is gone.
/// **Errors**: `allocate` throws `bad_allocation`, a `std::bad_alloc` with the `cuda_error`.
/// Without exceptions it ends the program, with the message on the error reporter. Alignments go up
/// to 256 bytes. **Threads**: any thread may call any member.
template <class Source> class source_memory_resource : public std::pmr::memory_resource {
 protected:
  explicit source_memory_resource(Source source) noexcept : source_{source} {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    // No bytes have an address of their own too.
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

/// Page-locked host memory, each allocation one of the driver's: best below a
/// `std::pmr::monotonic_buffer_resource`, which asks for much at once. Not allowed during capture.
/// (cuMemHostAlloc, cuMemFreeHost)
class pinned_memory_resource final : public source_memory_resource<detail::pinned_source> {
 public:
  explicit pinned_memory_resource(context_ref in, pinned_flags flags = pinned_flags::none) noexcept
      : source_memory_resource{{in, flags}} {}
};

/// Memory that host and devices reach at one address, each allocation one of the driver's. Not
/// allowed during capture. **Ordering**: as `managed_buffer`. (cuMemAllocManaged, cuMemFree)
class managed_memory_resource final : public source_memory_resource<detail::managed_source> {
 public:
  explicit managed_memory_resource(context_ref in,
                                   memory_attach attach = memory_attach::global) noexcept
      : source_memory_resource{{in, attach}} {}
};

/// Page-locked host memory that `upstream` keeps for the next time; it has to live, and to stay
/// where it is, for as long as this. What is freed can be had again at once: copies that use it
/// have to be done.
class caching_pinned_memory_resource final
    : public source_memory_resource<detail::caching_pinned_source> {
 public:
  explicit caching_pinned_memory_resource(caching_pinned_allocator& upstream) noexcept
      : source_memory_resource{detail::caching_pinned_source{&upstream}} {}
};

}  // namespace gpu::inline v0

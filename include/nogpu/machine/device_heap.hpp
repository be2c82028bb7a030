// The heap of device-side malloc and free.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include <nogpu/machine/address_space.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// A heap of limited size (CU_LIMIT_MALLOC_HEAP_SIZE) that lives until its context ends. Each block
/// is an allocation of its own, so that overruns and stale pointers are found.
/// Threads: any member from any thread.
class device_heap {
 public:
  static constexpr std::uint64_t default_size = std::uint64_t{8} << 20;

  device_heap(address_space& memory, std::uint64_t owner, std::uint64_t size = default_size)
      : memory_{memory}, owner_{owner}, size_{size} {}
  ~device_heap() {
    for (const address block : blocks_) (void)memory_.free(block);
  }
  device_heap(const device_heap&) = delete;
  device_heap& operator=(const device_heap&) = delete;

  /// An address aligned to 16 bytes, or 0 when the heap is exhausted or `size` is 0.
  address allocate(std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (size == 0 || size > size_ - used_) return 0;
    const auto block = memory_.allocate({.size = size,
                                         .alignment = 16,
                                         .kind = memory_kind::device_heap,
                                         .owner = owner_,
                                         .counts = false,
                                         .site = "malloc in a kernel"});
    if (!block) return 0;
    used_ += size;
    blocks_.insert(*block);
    return *block;
  }

  /// False when `block` is not a live block of this heap; a null pointer is fine.
  bool free(address block) {
    if (block == 0) return true;
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(block);
    if (found == blocks_.end()) return false;
    if (const auto info = memory_.find(block)) used_ -= info->size;
    (void)memory_.free(block);
    blocks_.erase(found);
    return true;
  }

  struct held {
    std::size_t blocks = 0;
    std::uint64_t bytes = 0;
    address first = 0;
  };
  /// Returns the number and the bytes of allocations that were not freed.
  held live() const {
    const std::lock_guard lock(mutex_);
    return {blocks_.size(), used_, blocks_.empty() ? 0 : *blocks_.begin()};
  }
  std::uint64_t size() const {
    const std::lock_guard lock(mutex_);
    return size_;
  }
  /// False when more than `size` bytes are in use.
  bool resize(std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (size < used_) return false;
    size_ = size;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  address_space& memory_;
  std::uint64_t owner_;
  std::uint64_t size_;
  std::uint64_t used_ = 0;
  std::set<address> blocks_;
};

}}}  // namespace nogpu::v1::machine

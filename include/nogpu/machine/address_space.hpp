// The memory of the simulated devices: allocations, their addresses, and the rights to access them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/allocation.hpp>
#include <nogpu/machine/fault.hpp>
#include <nogpu/machine/host_limits.hpp>
#include <nogpu/machine/memory_layout.hpp>
#include <nogpu/machine/storage.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// All memory of the simulated devices. Allocations get increasing addresses, which are never used
/// twice and are at least `red_zone` apart, so that an access through a stale or overrun pointer
/// never meets another allocation. Threads: every member may be called from any thread at any time.
class address_space {
 public:
  static constexpr std::uint64_t red_zone = 64 * 1024;
  static constexpr std::size_t remembered_frees = 4096;

  /// A space that refuses allocations beyond `capacity` bytes in total.
  explicit address_space(std::uint64_t capacity = std::uint64_t{4} << 30) : capacity_{capacity} {}
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;

  /// New memory at a device address of its own. Empty when the capacity or the host's memory is
  /// exhausted, or the request makes no sense (alignment not a power of two).
  std::optional<address> allocate(const allocation_request& request) {
    if (!is_power_of_two(request.alignment)) return std::nullopt;
    {
      std::unique_lock lock(mutex_);
      if (request.counts && request.size > capacity_ - used_) return std::nullopt;
      if (request.counts) used_ += request.size;  // before the slow part, against other threads
    }
    auto memory = storage::create(static_cast<std::size_t>(request.size), request.tracked);
    std::unique_lock lock(mutex_);
    const auto base = memory ? place(request.size, request.alignment) : std::nullopt;
    if (!base) {
      if (request.counts) used_ -= request.size;
      return std::nullopt;
    }
    insert(*base, request.size, request, std::move(memory), 0);
    return base;
  }

  /// Makes host memory accessible at its own address. The memory belongs to the caller and outlives
  /// the mapping. Returns false if it overlaps an existing mapping.
  bool map_host(void* host, const allocation_request& request) {
    const auto base = reinterpret_cast<std::uintptr_t>(host);
    std::unique_lock lock(mutex_);
    if (overlaps(base, request.size)) return false;
    if (request.counts) {
      if (request.size > capacity_ - used_) return false;
      used_ += request.size;
    }
    insert(base, request.size, request, storage::wrap(host, static_cast<std::size_t>(request.size)),
           0);
    return true;
  }

  /// Sets addresses aside without memory; `map` fills them.
  std::optional<address> reserve(std::uint64_t size, std::uint64_t alignment) {
    if (!is_power_of_two(alignment)) return std::nullopt;
    std::unique_lock lock(mutex_);
    return place(size, alignment);
  }

  /// Puts `request.size` bytes of `memory`, from `offset`, at `base`. It never counts against the
  /// capacity. False when the range is outside the memory or overlaps a mapping.
  bool map(address base, std::shared_ptr<storage> memory, std::uint64_t offset,
           const allocation_request& request) {
    if (!memory || offset > memory->size() || request.size > memory->size() - offset) return false;
    std::unique_lock lock(mutex_);
    if (overlaps(base, request.size)) return false;
    allocation_request uncounted = request;
    uncounted.counts = false;
    insert(base, request.size, uncounted, std::move(memory), offset);
    return true;
  }

  /// Moves the bytes of an allocation to other host memory. Nothing may be using it.
  bool move(address base, std::shared_ptr<storage> memory) {
    std::unique_lock lock(mutex_);
    const auto found = live_.find(base);
    if (found == live_.end() || memory->size() < found->second.size) return false;
    std::memcpy(memory->bytes(), found->second.host(), found->second.size);
    found->second.memory = std::move(memory);
    found->second.memory_offset = 0;
    generation_.fetch_add(1, std::memory_order_release);
    return true;
  }

  /// Ends an allocation or mapping. Its host memory is freed once no grid is running.
  free_status free(address base) {
    std::unique_lock lock(mutex_);
    const auto found = live_.find(base);
    if (found == live_.end()) {
      if (covering(base)) return free_status::not_the_base;
      return freed_at(base) ? free_status::already_freed : free_status::unknown_address;
    }
    if (users_ != 0) retired_.push_back(found->second.memory);
    generation_.fetch_add(1, std::memory_order_release);
    if (found->second.counts) used_ -= found->second.size;
    found->second.memory.reset();
    // It helps a report, and no more.
    (void)within_memory([&] { freed_.push_back(std::move(found->second)); });
    if (freed_.size() > remembered_frees) freed_.pop_front();
    live_.erase(found);
    return free_status::freed;
  }

  /// The allocation that holds `a`, if one does.
  std::optional<allocation_info> find(address a) const {
    std::shared_lock lock(mutex_);
    const allocation_info* found = covering(a);
    return found ? std::optional(*found) : std::nullopt;
  }

  /// Every live allocation, by address.
  std::vector<allocation_info> live() const {
    std::shared_lock lock(mutex_);
    std::vector<allocation_info> all;
    for (const auto& [base, info] : live_) all.push_back(info);
    return all;
  }

  /// Bytes that count against the capacity.
  std::uint64_t used() const {
    std::shared_lock lock(mutex_);
    return used_;
  }

  /// Gives `accessor` access to the memory of `owner` (peer access), perhaps only to read, or
  /// revokes it.
  void allow(std::uint64_t accessor, std::uint64_t owner, bool allowed = true,
             bool writable = true) {
    std::unique_lock lock(mutex_);
    if (allowed) {
      peers_[{accessor, owner}] = writable;
    } else {
      peers_.erase({accessor, owner});
    }
    generation_.fetch_add(1, std::memory_order_release);
  }

  /// Returns whether `accessor` (0 for any) may access `size` bytes at `a`, and where they are.
  fault_kind resolve(address a, std::uint64_t size, std::uint64_t accessor,
                     memory_view& view) const {
    std::shared_lock lock(mutex_);
    const allocation_info* found = covering(a);
    if (!found || size > found->end() - a) return why_missing(a);
    if (!accessible(accessor, found->owner)) return fault_kind::foreign_context;
    view = {found->base,
            found->end(),
            found->host(),
            found->shadow(),
            found->writable && writable(accessor, found->owner),
            generation_.load(std::memory_order_acquire)};
    return fault_kind::none;
  }

  /// Changes whenever a view may have become stale.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }

  /// Copies out of device memory. On a fault nothing is copied.
  fault_kind read(void* to, address from, std::uint64_t size, std::uint64_t accessor = 0) const {
    return pieces(from, size, accessor, [&](const memory_view& v, address a, std::uint64_t n) {
      std::memcpy(static_cast<std::byte*>(to) + (a - from), v.host + (a - v.begin), n);
    });
  }

  /// Copies into device memory, which counts as written then. On a fault nothing is copied.
  fault_kind write(address to, const void* from, std::uint64_t size, std::uint64_t accessor = 0) {
    return pieces(to, size, accessor, [&](const memory_view& v, address a, std::uint64_t n) {
      std::memcpy(v.host + (a - v.begin), static_cast<const std::byte*>(from) + (a - to), n);
      if (v.shadow) std::memset(v.shadow + (a - v.begin), 1, n);
    });
  }

  /// Copies from device address to device address. Bytes never written stay "never written".
  fault_kind copy(address to, address from, std::uint64_t size, std::uint64_t accessor = 0) {
    const fault_kind source = pieces(from, size, accessor, [](auto&&...) {});
    if (source != fault_kind::none) return source;
    std::vector<std::byte> bytes(size);  // so that overlapping ranges are copied as memmove would
    std::vector<std::uint8_t> known(size, 1);
    (void)pieces(from, size, accessor, [&](const memory_view& v, address a, std::uint64_t n) {
      std::memcpy(bytes.data() + (a - from), v.host + (a - v.begin), n);
      if (v.shadow) std::memcpy(known.data() + (a - from), v.shadow + (a - v.begin), n);
    });
    return pieces(to, size, accessor, [&](const memory_view& v, address a, std::uint64_t n) {
      std::memcpy(v.host + (a - v.begin), bytes.data() + (a - to), n);
      if (v.shadow) std::memcpy(v.shadow + (a - v.begin), known.data() + (a - to), n);
    });
  }

  /// Repeats a pattern of `width` bytes `count` times.
  fault_kind fill(address to, const void* pattern, std::uint64_t width, std::uint64_t count,
                  std::uint64_t accessor = 0) {
    if (width == 0 || count == 0) return fault_kind::none;
    if (count > ~std::uint64_t{0} / width) return fault_kind::out_of_bounds;
    const auto* unit = static_cast<const std::byte*>(pattern);
    return pieces(to, width * count, accessor,
                  [&](const memory_view& v, address a, std::uint64_t n) {
                    std::byte* out = v.host + (a - v.begin);
                    for (std::uint64_t i = 0; i < n; ++i) out[i] = unit[(a - to + i) % width];
                    if (v.shadow) std::memset(v.shadow + (a - v.begin), 1, n);
                  });
  }

  /// Offset of the first byte in the range that was never written; empty when all were, or when the
  /// memory is not tracked, or the range is not accessible.
  std::optional<std::uint64_t> first_unwritten(address from, std::uint64_t size) const {
    std::optional<std::uint64_t> first;
    (void)pieces(from, size, 0, [&](const memory_view& v, address a, std::uint64_t n) {
      if (!v.shadow || first) return;
      if (const void* hit = std::memchr(v.shadow + (a - v.begin), 0, n))
        first = static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(hit) - v.shadow) +
                v.begin - from;
    });
    return first;
  }

  /// "64 bytes past the end of the device allocation of 4096 bytes at 0x1... made by main.cpp:12".
  std::string describe(address a) const;

  /// While one of these exists, freed memory stays readable for running grids.
  class in_use {
   public:
    explicit in_use(address_space& space) : space_{space} {
      std::unique_lock lock(space_.mutex_);
      ++space_.users_;
    }
    ~in_use() {
      std::vector<std::shared_ptr<storage>> last;
      std::unique_lock lock(space_.mutex_);
      if (--space_.users_ == 0) last.swap(space_.retired_);
    }
    in_use(const in_use&) = delete;
    in_use& operator=(const in_use&) = delete;

   private:
    address_space& space_;
  };

 private:
  static constexpr bool is_power_of_two(std::uint64_t n) noexcept { return n && !(n & (n - 1)); }

  std::optional<address> place(std::uint64_t size, std::uint64_t alignment) {
    const address base = (next_ + alignment - 1) & ~(alignment - 1);
    if (base < next_ || base >= device_window_end) return std::nullopt;
    if (device_window_end - base < red_zone || size > device_window_end - base - red_zone)
      return std::nullopt;
    next_ = base + size + red_zone;
    return base;
  }

  void insert(address base, std::uint64_t size, const allocation_request& r,
              std::shared_ptr<storage> memory, std::uint64_t offset) {
    live_.emplace(base, allocation_info{base, size, r.kind, r.owner, ++last_id_, r.writable,
                                        r.counts, r.site, std::move(memory), offset});
    generation_.fetch_add(1, std::memory_order_release);
  }

  bool overlaps(address base, std::uint64_t size) const {
    const auto after = live_.lower_bound(base);
    if (after != live_.end() && after->first - base < (size ? size : 1)) return true;
    return covering(base) != nullptr;
  }

  const allocation_info* covering(address a) const {
    auto after = live_.upper_bound(a);
    if (after == live_.begin()) return nullptr;
    --after;
    return a < after->second.end() ? &after->second : nullptr;
  }

  const allocation_info* freed_at(address a) const {
    for (auto it = freed_.rbegin(); it != freed_.rend(); ++it)
      if (a - it->base < (it->size ? it->size : 1)) return &*it;
    return nullptr;
  }

  fault_kind why_missing(address a) const {
    if (a < 4096) return fault_kind::null_access;
    if (!covering(a) && freed_at(a)) return fault_kind::use_after_free;
    return fault_kind::out_of_bounds;
  }

  bool accessible(std::uint64_t accessor, std::uint64_t owner) const {
    return owner == 0 || accessor == 0 || owner == accessor || peers_.count({accessor, owner}) != 0;
  }

  bool writable(std::uint64_t accessor, std::uint64_t owner) const {
    if (owner == 0 || accessor == 0 || owner == accessor) return true;
    const auto peer = peers_.find({accessor, owner});
    return peer != peers_.end() && peer->second;
  }

  /// Calls `use` for each allocation that the range touches, after all of it was found accessible.
  template <class Use>
  fault_kind pieces(address from, std::uint64_t size, std::uint64_t accessor, Use use) const {
    std::shared_lock lock(mutex_);
    for (const bool checking : {true, false}) {
      address a = from;
      for (std::uint64_t left = size; left != 0;) {
        const allocation_info* found = covering(a);
        if (!found) return why_missing(a);
        if (!accessible(accessor, found->owner)) return fault_kind::foreign_context;
        const std::uint64_t n = left < found->end() - a ? left : found->end() - a;
        if (!checking)
          use(memory_view{found->base, found->end(), found->host(), found->shadow(), true, 0}, a,
              n);
        a += n;
        left -= n;
      }
    }
    return fault_kind::none;
  }

  mutable std::shared_mutex mutex_;
  std::map<address, allocation_info> live_;
  std::deque<allocation_info> freed_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> peers_;  // who; whether to write
  std::vector<std::shared_ptr<storage>> retired_;
  std::atomic<std::uint64_t> generation_{1};
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t last_id_ = 0;
  address next_ = device_window + red_zone;
  unsigned users_ = 0;
};

inline std::string address_space::describe(address a) const {
  std::shared_lock lock(mutex_);
  const auto inside = [a](const allocation_info& info, bool freed) {
    return std::to_string(a - info.base) + " bytes into " + detail::name_of(info, freed);
  };
  if (const allocation_info* found = covering(a)) return inside(*found, false);
  if (const allocation_info* found = freed_at(a)) return inside(*found, true);
  const auto after = live_.upper_bound(a);
  const allocation_info* above = after == live_.end() ? nullptr : &after->second;
  const allocation_info* below = after == live_.begin() ? nullptr : &std::prev(after)->second;
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  const std::uint64_t down = below ? a - below->end() : far;
  const std::uint64_t up = above ? above->base - a : far;
  if (down >= far && up >= far) {
    // The range of programs, heaps and stacks; page-locked memory was found above.
    constexpr std::uint64_t host_end = std::uint64_t{1} << 47;
    if (a >= far && a < host_end) {
      return "this is host memory; copy it to a device_buffer, or pass gpu::in, out or inout";
    }
    return "no allocation is near";
  }
  if (down <= up)
    return std::to_string(down) + " bytes past the end of " + detail::name_of(*below, false);
  return std::to_string(up) + " bytes before " + detail::name_of(*above, false);
}

}}}  // namespace nogpu::v1::machine

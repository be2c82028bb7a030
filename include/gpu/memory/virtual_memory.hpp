#pragma once
/// \file
/// `address_reservation` and `memory_mapping`: reserve addresses, and map physical memory to them.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/physical_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

struct address_reservation_options {
  /// The alignment of the first address, a power of two; 0 means the granularity.
  std::size_t alignment = 0;
  /// The address to use if it is free; 0 means any address.
  CUdeviceptr wish = 0;
};

namespace detail {

/// A range of reserved or mapped addresses.
struct address_range {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  std::size_t unit = 0;  // the granularity of the memory
  friend bool operator==(const address_range& a, const address_range& b) noexcept {
    return a.begin == b.begin;
  }
};

struct free_addresses {
  void operator()(const address_range& range) const noexcept {
    driver::destroy<&driver::entry_points::mem_address_free>(range.begin, range.bytes);
  }
};

struct unmap_addresses {
  void operator()(const address_range& range) const noexcept {
    driver::destroy<&driver::entry_points::mem_unmap>(range.begin, range.bytes);
  }
};

/// Sets the access of a location to the memory mapped in a range. (cuMemSetAccess)
inline result<> set_access(CUdeviceptr begin, std::size_t bytes, memory_location by,
                           memory_access access, source_location where) noexcept {
  CUmemAccessDesc wanted{};
  wanted.location = by.native();
  wanted.flags = static_cast<CUmemAccess_flags>(access);
  return driver::call<&driver::entry_points::mem_set_access>(where, begin, bytes, &wanted, 1);
}

}  // namespace detail

/// Owns a range of addresses without memory; a `memory_mapping` maps memory to them. Move-only;
/// empty after a move. It must outlive the mappings in it.
/// **Capture**: not affected. **Threads**: any thread may call any member.
class address_reservation {
 public:
  /// Creates an empty object, to be assigned to.
  address_reservation() noexcept = default;

  /// Reserves `bytes` of addresses for memory at `memory_at`, a multiple of
  /// `granularity_of(memory_at)`. Addresses cost no memory. (cuMemGetAllocationGranularity,
  /// cuMemAddressReserve, cuMemAddressFree)
  /// **Errors**: `errc::invalid_argument` for an invalid size, alignment or wish; the driver's
  /// CUDA_ERROR_OUT_OF_MEMORY if such addresses are not free.
  static result<address_reservation> create(
      memory_location memory_at, std::size_t bytes, address_reservation_options options = {},
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::address_reservation::create";
    detail::address_range made;
    GPU_TRY(detail::get_granularity(memory_at, granularity::minimum, function, made.unit, where));
    GPU_TRY(detail::check_units(bytes, made.unit, "a reservation", function, where));
    const bool wish_fits = options.wish % made.unit == 0;
    if ((options.alignment & (options.alignment - 1)) != 0 || !wish_fits) {
      detail::text_builder out;
      if (!wish_fits) {
        out << "the address " << std::uint64_t{options.wish} << " in wish is not a multiple of "
            << "the granularity of " << made.unit << " bytes. Pass one that is, or leave out wish.";
      } else {
        out << "the alignment of " << options.alignment
            << " bytes is not a power of two. Pass one that is, or leave out alignment.";
      }
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                          wish_fits ? options.alignment : options.wish, made.unit));
    }
    made.bytes = bytes;
    GPU_TRY(driver::call<&driver::entry_points::mem_address_reserve>(
        where, &made.begin, bytes, options.alignment, options.wish, 0));
    return address_reservation{made};
  }

  /// Returns the first address.
  CUdeviceptr native() const noexcept { return range_.get().begin; }
  std::size_t size_bytes() const noexcept { return range_.get().bytes; }
  /// Returns the granularity, of which sizes and offsets of mappings are multiples.
  std::size_t granularity() const noexcept { return range_.get().unit; }
  explicit operator bool() const noexcept { return static_cast<bool>(range_); }

 private:
  explicit address_reservation(const detail::address_range& owned) noexcept : range_{owned} {}

  unique_handle<detail::address_range, detail::free_addresses> range_;
};

/// Owns a mapping of physical memory to reserved addresses. Move-only; empty after a move.
/// **Ordering**: neither the destructor nor `unmap` waits for work that uses the memory; such work
/// would fault: synchronize first.
/// **Capture**: not affected. **Threads**: any thread may call any member.
class memory_mapping {
 public:
  /// Creates an empty object, to be assigned to.
  memory_mapping() noexcept = default;

  /// Maps all of `memory` at `offset` bytes from the beginning of `at`. No device can access it
  /// until `set_access` is called. The same memory may be mapped several times. (cuMemMap,
  /// cuMemUnmap)
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for an offset that is not a
  /// multiple of the granularity; `errc::index_out_of_range` if the memory does not fit; the
  /// driver's CUDA_ERROR_INVALID_VALUE, with an explanation, if memory is already mapped there;
  /// CUDA_ERROR_NOT_SUPPORTED if imported memory has another size.
  static result<memory_mapping> create(
      const address_reservation& at, std::size_t offset, const physical_memory& memory,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::memory_mapping::create";
    if (!at)
      return detail::fail(detail::empty_handle_error(function, "address reservation", where));
    GPU_TRY(memory.require(function, where));
    const std::size_t bytes = memory.size_bytes(), room = at.size_bytes();
    if (offset != 0)
      GPU_TRY(detail::check_units(offset, at.granularity(), "an offset", function, where));
    if (offset > room || bytes > room - offset) {
      detail::text_builder out;
      out << bytes << " bytes of memory at offset " << offset
          << " go past the end of the reservation, which has " << room
          << " bytes. Reserve more addresses.";
      return detail::fail(detail::refusal(errc::index_out_of_range, function, out.finish(), where,
                                          offset + bytes, room));
    }
    const detail::address_range made{at.native() + offset, bytes, at.granularity()};
    result<> mapped = driver::call<&driver::entry_points::mem_map>(where, made.begin, bytes, 0,
                                                                   memory.native(), 0);
    if (!mapped.has_value()) {
      return detail::fail(detail::explain_code(
          std::move(mapped).error(), CUDA_ERROR_INVALID_VALUE,
          "memory may already be mapped at this offset: unmap it first, or use another offset. "
          "Memory with tile_pool can only be mapped to arrays"));
    }
    return memory_mapping{made};
  }

  /// Sets the access of a device to the memory, or of the host, which can access only memory of its
  /// own NUMA nodes. Peer access need not be enabled. (cuMemSetAccess)
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for an invalid `memory_access`, and
  /// for an empty location; `errc::index_out_of_range` for a device that does not exist; the
  /// driver's CUDA_ERROR_INVALID_VALUE for a device that cannot access the memory;
  /// CUDA_ERROR_NOT_SUPPORTED.
  result<> set_access(memory_location by, memory_access access,
                      source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::memory_mapping::set_access";
    GPU_TRY(require(function, where));
    GPU_TRY(detail::require_enumerator(access, "memory_access", function, where));
    GPU_TRY(require_location(by, function, where));
    return detail::explain_location(
        detail::set_access(range_.get().begin, range_.get().bytes, by, access, where), by, where);
  }

  /// Returns the access of a location to the memory; at first `none`. (cuMemGetAccess)
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for an empty location;
  /// `errc::index_out_of_range` for a device that does not exist; the driver's.
  result<memory_access> access(memory_location by,
                               source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::memory_mapping::access", where));
    GPU_TRY(require_location(by, "gpu::memory_mapping::access", where));
    const CUmemLocation location = by.native();
    unsigned long long flags = 0;
    GPU_TRY(detail::explain_location(driver::call<&driver::entry_points::mem_get_access>(
                                         where, &flags, &location, range_.get().begin),
                                     by, where));
    return static_cast<memory_access>(flags);
  }

  /// Returns another owner of the mapped memory. (cuMemRetainAllocationHandle)
  result<physical_memory> memory(
      source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::memory_mapping::memory", where));
    CUmemGenericAllocationHandle native = 0;
    void* address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(range_.get().begin));
    GPU_TRY(
        driver::call<&driver::entry_points::mem_retain_allocation_handle>(where, &native, address));
    return physical_memory::adopt(native, range_.get().bytes);
  }

  /// Unmaps the memory now, and returns the error that the destructor could only report.
  /// (cuMemUnmap)
  result<> unmap(source_location where = source_location::current()) noexcept {
    if (!range_) return {};
    const detail::address_range range = range_.release();
    return driver::call<&driver::entry_points::mem_unmap>(where, range.begin, range.bytes);
  }

  /// Returns a span of as many elements as fit.
  template <class T> device_span<T> span() const& noexcept {
    return device_span<T>::from_native(native(), size_bytes() / sizeof(T));
  }
  template <class T> void span() const&& = delete;  // a span must not outlive the owner

  CUdeviceptr native() const noexcept { return range_.get().begin; }
  std::size_t size_bytes() const noexcept { return range_.get().bytes; }
  explicit operator bool() const noexcept { return static_cast<bool>(range_); }

 private:
  explicit memory_mapping(const detail::address_range& owned) noexcept : range_{owned} {}

  result<> require(const char* function, source_location where) const noexcept {
    if (range_) return {};
    return detail::fail(detail::empty_handle_error(function, "mapping", where));
  }
  static result<> require_location(memory_location by, const char* function,
                                   source_location where) noexcept {
    if (by) return {};
    return detail::fail(detail::refusal(
        errc::invalid_argument, function,
        text("the location is empty. Pass a device or gpu::memory_location::host()."), where));
  }

  unique_handle<detail::address_range, detail::unmap_addresses> range_;
};

}}  // namespace gpu::v1

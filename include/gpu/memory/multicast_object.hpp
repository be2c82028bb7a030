#pragma once
/// \file
/// `multicast_object`: memory of several devices at one address, to which a write goes to all and
/// from which a read can combine all, where a switch between the devices can do that.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/device_refusals.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/physical_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

struct multicast_options {
  /// The handle types by which other processes can share the object: they add their devices to it
  /// and bind their memory.
  shareable_handle_types handle_types = shareable_handle_types::none;
};

namespace detail {

inline CUmulticastObjectProp multicast_properties(unsigned devices, std::size_t bytes,
                                                  multicast_options options) noexcept {
  CUmulticastObjectProp wanted{};
  wanted.numDevices = devices;
  wanted.size = bytes;
  wanted.handleTypes = static_cast<unsigned long long>(options.handle_types);
  return wanted;
}

inline result<> require_multicast(const char* function, device on, source_location where) noexcept {
  return require_ability(function, on, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
                         "take part in multicast: there is no NVLink switch that does it, or the "
                         "driver may not use it. Write to each device instead, or use NCCL.",
                         where);
}

}  // namespace detail

/// Returns the granularity of multicast objects for a number of devices: their sizes, and the
/// offsets and sizes of what is bound, are multiples of it.
/// **Errors**: `errc::not_supported` if `on` cannot multicast; `errc::invalid_argument` for an
/// invalid `granularity`. **Threads**: any.
/// (cuDeviceGetAttribute, cuMulticastGetGranularity)
inline result<std::size_t> multicast_granularity(
    device on, unsigned devices, std::size_t bytes, granularity which = granularity::minimum,
    source_location where = source_location::current()) noexcept {
  constexpr const char* function = "gpu::multicast_granularity";
  GPU_TRY(detail::require_enumerator(which, "granularity", function, where));
  GPU_TRY(detail::require_multicast(function, on, where));
  const CUmulticastObjectProp wanted = detail::multicast_properties(devices, bytes, {});
  std::size_t unit = 0;
  GPU_TRY(driver::call<&driver::entry_points::multicast_get_granularity>(
      where, &unit, &wanted, static_cast<CUmulticastGranularity_flags>(which)));
  return unit;
}

/// Owns a multicast object: a team of devices, each of which binds memory of its own to it. Mapped
/// to addresses (`memory_mapping::create` with `memory()`), the `multimem` instructions of kernels
/// write to the memory of all devices, and read a combination of all.
///
///     auto object = GPU_TRY(gpu::multicast_object::create(first, 2, bytes));
///     GPU_TRY(object.add_device(second));
///     GPU_TRY(object.bind(0, memory_of_first));
///     GPU_TRY(object.bind(0, memory_of_second));
///     auto mapped = GPU_TRY(gpu::memory_mapping::create(addresses, 0, object.memory()));
///
/// Move-only; empty after a move. What is bound stays allocated as long as the object or a mapping
/// of it is there. **Threads**: one at a time.
class multicast_object {
 public:
  /// Creates an empty object, to be assigned to.
  multicast_object() noexcept = default;

  /// Makes an object of `bytes` for a team of `devices` devices, and adds `first`, which is one of
  /// them. `bytes` is a multiple of `multicast_granularity(first, devices, bytes)`.
  /// **Errors**: `errc::not_supported` if `first` cannot multicast; `errc::invalid_argument` for no
  /// devices, more than there are, or an invalid size; the driver's.
  /// (cuDeviceGetAttribute, cuMulticastGetGranularity, cuMulticastCreate, cuMulticastAddDevice)
  static result<multicast_object> create(
      device first, unsigned devices, std::size_t bytes, multicast_options options = {},
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::multicast_object::create";
    GPU_TRY(detail::require_flags(options.handle_types, detail::known_handle_types,
                                  "shareable_handle_types", function, where));
    GPU_TRY(detail::require_multicast(function, first, where));
    const int count = GPU_TRY(device::count(where));
    if (devices == 0 || devices > static_cast<unsigned>(count)) {
      detail::text_builder out;
      out << "a team of " << devices << " devices: there are " << count
          << ". Pass a number from 1 to " << count << '.';
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                          devices, static_cast<std::uint64_t>(count)));
    }
    const CUmulticastObjectProp wanted = detail::multicast_properties(devices, bytes, options);
    multicast_object made;
    GPU_TRY(driver::call<&driver::entry_points::multicast_get_granularity>(
        where, &made.unit_, &wanted, CU_MULTICAST_GRANULARITY_MINIMUM));
    GPU_TRY(detail::check_units(bytes, made.unit_, "a multicast object", function, where));
    CUmemGenericAllocationHandle native = 0;
    GPU_TRY(driver::call<&driver::entry_points::multicast_create>(where, &native, &wanted));
    made.memory_ = physical_memory::adopt(native, bytes);
    made.missing_ = options.handle_types == shareable_handle_types::none ? devices : 0;
    GPU_TRY(made.add_device(first, where));
    return made;
  }

  /// Takes over an object, such as one that another process exported and `physical_memory::open`
  /// opened; `unit` is its granularity. The calls that need the whole team wait for the devices
  /// that other processes add.
  static multicast_object adopt(physical_memory&& owned, std::size_t unit) noexcept {
    multicast_object made;
    made.memory_ = std::move(owned);
    made.unit_ = unit;
    return made;
  }

  /// Adds a device to the team, for good. (cuDeviceGetAttribute, cuMulticastAddDevice)
  /// **Errors**: `errc::empty_handle`; `errc::not_supported` if it cannot multicast; the driver's.
  result<> add_device(device added, source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::multicast_object::add_device";
    GPU_TRY(require(function, where));
    GPU_TRY(detail::require_multicast(function, added, where));
    GPU_TRY(driver::call<&driver::entry_points::multicast_add_device>(where, memory_.native(),
                                                                      added.native()));
    if (missing_ != 0) --missing_;
    return {};
  }

  /// Binds all of `memory`, which is of a device of the team, at `offset` of the object.
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` while devices are missing in the
  /// team (the driver would wait for them for ever), and for an offset or a size that is not a
  /// multiple of `granularity()`; `errc::index_out_of_range` if it does not fit; the driver's.
  /// (cuMulticastBindMem)
  result<> bind(std::size_t offset, const physical_memory& memory,
                source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::multicast_object::bind";
    GPU_TRY(memory.require(function, where));
    GPU_TRY(check_range(offset, memory.size_bytes(), function, where));
    return driver::call<&driver::entry_points::multicast_bind_mem>(
        where, memory_.native(), offset, memory.native(), 0, memory.size_bytes(), 0);
  }

  /// Binds memory by its address: mapped physical memory, or memory of a pool. Otherwise as the
  /// other form. (cuMulticastBindAddr)
  template <class T, std::size_t Extent>
  result<> bind(std::size_t offset, device_span<T, Extent> memory,
                source_location where = source_location::current()) const noexcept {
    GPU_TRY(check_range(offset, memory.size_bytes(), "gpu::multicast_object::bind", where));
    return driver::call<&driver::entry_points::multicast_bind_addr>(
        where, memory_.native(), offset, memory.native(), memory.size_bytes(), 0);
  }

  /// Ends a binding of a device's memory: `offset` and `bytes` are those with which it was bound.
  /// (cuMulticastUnbind)
  /// **Errors**: as `bind`.
  result<> unbind(device of, std::size_t offset, std::size_t bytes,
                  source_location where = source_location::current()) const noexcept {
    GPU_TRY(check_range(offset, bytes, "gpu::multicast_object::unbind", where));
    return driver::call<&driver::entry_points::multicast_unbind>(where, memory_.native(),
                                                                 of.native(), offset, bytes);
  }

  /// Returns the object as memory, for `memory_mapping::create` and `export_memory`. Map it once
  /// all devices are in the team: the driver waits for them.
  const physical_memory& memory() const& noexcept { return memory_; }
  void memory() const&& = delete;  // a reference must not outlive the owner

  CUmemGenericAllocationHandle native() const noexcept { return memory_.native(); }
  std::size_t size_bytes() const noexcept { return memory_.size_bytes(); }
  std::size_t granularity() const noexcept { return unit_; }
  explicit operator bool() const noexcept { return static_cast<bool>(memory_); }

 private:
  result<> require(const char* function, source_location where) const noexcept {
    if (memory_) return {};
    return detail::fail(detail::empty_handle_error(function, "multicast object", where));
  }

  /// Fails unless a part of the object can be bound.
  result<> check_range(std::size_t offset, std::size_t bytes, const char* function,
                       source_location where) const noexcept {
    GPU_TRY(require(function, where));
    detail::text_builder out;
    if (missing_ != 0) {
      out << missing_ << " devices of the team are missing, and the driver would wait for them. "
          << "Call add_device for each first.";
      return detail::fail(
          detail::refusal(errc::invalid_argument, function, out.finish(), where, missing_));
    }
    GPU_TRY(detail::check_units(bytes, unit_, "memory to bind", function, where));
    if (offset != 0) GPU_TRY(detail::check_units(offset, unit_, "an offset", function, where));
    const std::size_t room = size_bytes();
    if (offset <= room && bytes <= room - offset) return {};
    out << bytes << " bytes at offset " << offset
        << " go past the end of the multicast object, which has " << room << " bytes.";
    return detail::fail(detail::refusal(errc::index_out_of_range, function, out.finish(), where,
                                        offset + bytes, room));
  }

  physical_memory memory_;
  std::size_t unit_ = 0;
  unsigned missing_ = 0;  // devices that the team lacks, if no other process adds them
};

}}  // namespace gpu::v1

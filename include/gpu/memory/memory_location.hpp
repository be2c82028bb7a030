#pragma once
/// \file
/// `memory_location`: a device, the host, or a NUMA node of the host.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/driver/device.hpp>

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>

namespace gpu { inline namespace v1 {

/// The kinds of memory locations; converts to `CUmemLocationType` and back by cast.
enum class memory_location_type : int {
  none = CU_MEM_LOCATION_TYPE_NONE,  ///< no location
  device = CU_MEM_LOCATION_TYPE_DEVICE,
  host = CU_MEM_LOCATION_TYPE_HOST,
  host_numa = CU_MEM_LOCATION_TYPE_HOST_NUMA,  ///< one NUMA node of the host
  host_numa_current =
      CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,  ///< the NUMA node of the calling thread
};

/// Returns the enumerator's name, such as "host_numa"; null for an unknown value.
constexpr const char* name_of(memory_location_type type) noexcept {
  using enum memory_location_type;
  return detail::find_name(type, {{none, "none"},
                                  {device, "device"},
                                  {host, "host"},
                                  {host_numa, "host_numa"},
                                  {host_numa_current, "host_numa_current"}});
}

/// The location that memory has or should have. A `device` converts to it. Default constructed, it
/// has type `none`.
class memory_location {
 public:
  constexpr memory_location() noexcept = default;
  constexpr memory_location(device on) noexcept
      : memory_location{memory_location_type::device, on.native()} {}

  /// The host, without a particular NUMA node.
  static constexpr memory_location host() noexcept { return {memory_location_type::host, 0}; }
  /// One NUMA node of the host.
  static constexpr memory_location host_numa(int node) noexcept {
    return {memory_location_type::host_numa, node};
  }
  /// The NUMA node that the calling thread runs on.
  static constexpr memory_location host_numa_current() noexcept {
    return {memory_location_type::host_numa_current, 0};
  }
  static constexpr memory_location from_native(CUmemLocation native) noexcept {
    return {static_cast<memory_location_type>(native.type), native.id};
  }

  constexpr CUmemLocation native() const noexcept {
    CUmemLocation native{};
    native.type = static_cast<CUmemLocationType>(type_);
    native.id = id_;
    return native;
  }
  constexpr memory_location_type type() const noexcept { return type_; }
  /// Returns the index of the device or node; 0 if the type has none.
  constexpr int id() const noexcept { return id_; }
  constexpr bool is_device() const noexcept { return type_ == memory_location_type::device; }
  constexpr explicit operator bool() const noexcept { return type_ != memory_location_type::none; }
  friend constexpr bool operator==(const memory_location& a, const memory_location& b) noexcept {
    return a.type_ == b.type_ && a.id_ == b.id_;
  }

 private:
  constexpr memory_location(memory_location_type type, int id) noexcept : type_{type}, id_{id} {}

  memory_location_type type_ = memory_location_type::none;
  int id_ = 0;
};

namespace detail {

/// Writes a location in a message: "device 1", "NUMA node 0".
inline text_builder& operator<<(text_builder& out, const memory_location& where) noexcept {
  switch (where.type()) {
    case memory_location_type::none: return out << "no location";
    case memory_location_type::device: return out << "device " << where.id();
    case memory_location_type::host: return out << "the host";
    case memory_location_type::host_numa: return out << "NUMA node " << where.id();
    case memory_location_type::host_numa_current: return out << "the thread's NUMA node";
  }
  return out << "a location of unknown type " << static_cast<int>(where.type());
}

/// Returns the result of a call that has a location as argument. If the call failed because the
/// device does not exist, the error has its index and the number of devices.
inline result<> explain_location(result<> done, const memory_location& at,
                                 source_location where) noexcept {
  if (done.has_value() || !at.is_device() || done.error().domain() != error_domain::driver ||
      (done.error().code() != CUDA_ERROR_INVALID_DEVICE &&
       done.error().code() != CUDA_ERROR_INVALID_VALUE))
    return done;
  int count = 0;
  if (!driver::call<&driver::entry_points::device_get_count>(where, &count).has_value() ||
      (at.id() >= 0 && at.id() < count))
    return done;
  return fail(device_out_of_range(done.error().call(), at.id(), count, where));
}

}  // namespace detail
}}  // namespace gpu::v1

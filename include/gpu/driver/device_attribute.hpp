#pragma once
/// \file
/// `device_attribute`: the figures and abilities of a device, each with the C++ type of its value.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>

namespace gpu { inline namespace v1 {

/// An attribute of a device; converts to `CUdevice_attribute` and back by cast.
enum class device_attribute : int {
#define GPU_DEVICE_ATTRIBUTE(name, native, ...) name = CU_DEVICE_ATTRIBUTE_##native,
#include <gpu/driver/detail/device_attribute.inc>
};

/// The processes that may make contexts on a device.
enum class compute_mode : int {
  default_ = CU_COMPUTEMODE_DEFAULT,       ///< any number of processes
  prohibited = CU_COMPUTEMODE_PROHIBITED,  ///< none
  exclusive_process = CU_COMPUTEMODE_EXCLUSIVE_PROCESS,
};

/// Returns the mode's name, such as "exclusive_process"; null for any other value.
constexpr const char* name_of(compute_mode mode) noexcept {
  using enum compute_mode;
  return detail::find_name(mode, {{default_, "default"},
                                  {prohibited, "prohibited"},
                                  {exclusive_process, "exclusive_process"}});
}

/// The relation of a device's memory to the NUMA nodes of the host.
enum class device_numa_config : int {
  none = CU_DEVICE_NUMA_CONFIG_NONE,
  numa_node = CU_DEVICE_NUMA_CONFIG_NUMA_NODE,
};

/// Returns the config's name, such as "numa_node"; null for any other value.
constexpr const char* name_of(device_numa_config config) noexcept {
  using enum device_numa_config;
  return detail::find_name(config, {{none, "none"}, {numa_node, "numa_node"}});
}

/// The ways to flush writes of other devices on the PCI bus.
enum class rdma_flush_options : int {
  none = 0,
  host = CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST,                 ///< by `flush_remote_writes`
  memory_operations = CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS,  ///< by a stream
};
template <> inline constexpr bool is_flag_set<rdma_flush_options> = true;

/// The devices that see writes of other devices on the PCI bus in order without a flush.
enum class rdma_writes_ordering : int {
  none = CU_GPU_DIRECT_RDMA_WRITES_ORDERING_NONE,
  owner = CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER,              ///< the device written to
  all_devices = CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES,  ///< every CUDA device
};

/// Returns the ordering's name, such as "all_devices"; null for any other value.
constexpr const char* name_of(rdma_writes_ordering ordering) noexcept {
  using enum rdma_writes_ordering;
  return detail::find_name(ordering,
                           {{none, "none"}, {owner, "owner"}, {all_devices, "all_devices"}});
}

/// The kinds of handles by which memory can be shared with other processes.
enum class shareable_handle_types : int {
  none = CU_MEM_HANDLE_TYPE_NONE,
  posix_file_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
  win32 = CU_MEM_HANDLE_TYPE_WIN32,
  win32_kmt = CU_MEM_HANDLE_TYPE_WIN32_KMT,
  fabric = CU_MEM_HANDLE_TYPE_FABRIC,
};
template <> inline constexpr bool is_flag_set<shareable_handle_types> = true;
namespace detail {
inline constexpr unsigned known_handle_types =
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
    CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
}

/// The formats that the decompression engine of a device can read.
enum class decompress_algorithms : int {
  none = CU_MEM_DECOMPRESS_UNSUPPORTED,
  deflate = CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE,
  snappy = CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY,
  lz4 = CU_MEM_DECOMPRESS_ALGORITHM_LZ4,
};
template <> inline constexpr bool is_flag_set<decompress_algorithms> = true;

/// One line of `device_attribute_list`.
struct device_attribute_info {
  device_attribute attribute;
  const char* name;  ///< as in `device_attribute`
};

/// Every attribute of the CUDA 13.0 headers, in the driver's order.
inline constexpr device_attribute_info device_attribute_list[] = {
#define GPU_DEVICE_ATTRIBUTE(name, ...) {device_attribute::name, #name},
#include <gpu/driver/detail/device_attribute.inc>
};

/// Returns the attribute's name, such as "warp_size"; null for a value that this library does not
/// know.
constexpr const char* name_of(device_attribute attribute) noexcept {
  for (const device_attribute_info& info : device_attribute_list) {
    if (info.attribute == attribute) return info.name;
  }
  return nullptr;
}

namespace detail {

template <device_attribute> struct device_attribute_value;
#define GPU_DEVICE_ATTRIBUTE(name, native, ...)                       \
  template <> struct device_attribute_value<device_attribute::name> { \
    using type = __VA_ARGS__;                                         \
  };
#include <gpu/driver/detail/device_attribute.inc>

}  // namespace detail

/// The C++ type of an attribute's value: `bool` for abilities, an enumeration if the driver has
/// one, else `int`.
template <device_attribute Attribute>
using device_attribute_t = typename detail::device_attribute_value<Attribute>::type;

/// Returns an attribute in its own type:
///
///     const int warp = GPU_TRY(gpu::attribute<gpu::device_attribute::warp_size>(device));
///
/// Sizes are in bytes, rates in kHz, bus widths in bits, extents in elements.
/// **Errors**: the driver's; `CUDA_ERROR_INVALID_VALUE` if it is older than the attribute.
/// **Capture**: not affected. **Threads**: any. (cuDeviceGetAttribute)
template <device_attribute Attribute>
result<device_attribute_t<Attribute>> attribute(
    device of, source_location where = source_location::current()) noexcept {
  int value = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
      where, &value, static_cast<CUdevice_attribute>(Attribute), of.native()));
  return static_cast<device_attribute_t<Attribute>>(value);
}

/// Returns an attribute that is only known at run time, as the driver gives it. Any value is passed
/// on, because a driver newer than this library knows attributes that have no enumerator here.
inline result<int> attribute(device of, device_attribute which,
                             source_location where = source_location::current()) noexcept {
  int value = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
      where, &value, static_cast<CUdevice_attribute>(which), of.native()));
  return value;
}

}}  // namespace gpu::v1

#pragma once
/// \file
/// `device`: a GPU of this machine, what it is called and what it can do.

#include <gpu/core/dims.hpp>
#include <gpu/driver/current_context.hpp>
#include <gpu/driver/primary_context.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpu {

/// The generation of a device, such as 9.0 for Hopper.
struct compute_capability {
  int major = 0;
  int minor = 0;

  /// As in the compiler's `sm_90`: ten times `major`, plus `minor`.
  constexpr int sm() const noexcept { return major * 10 + minor; }
  friend constexpr auto operator<=>(const compute_capability&,
                                    const compute_capability&) noexcept = default;
};

/// Bytes of device memory.
struct memory_info {
  std::size_t free = 0;
  std::size_t total = 0;
};

/// 16 bytes that no other device shares, across machines too.
struct device_uuid {
  unsigned char bytes[16] = {};
  friend constexpr bool operator==(const device_uuid&, const device_uuid&) noexcept = default;
};

/// What a launch has to stay within, and whether the device has memory pools.
struct device_limits {
  std::uint32_t threads_per_block = 0;
  dims block;                               ///< largest extent along each axis
  dims grid;                                ///< largest extent along each axis
  std::size_t shared_memory_per_block = 0;  ///< without asking for more
  std::size_t shared_memory_opt_in = 0;     ///< for a kernel that asked
  std::uint32_t multiprocessors = 0;
  std::uint32_t warp_size = 0;
  bool memory_pools = false;        ///< stream-ordered allocation
  bool cooperative_launch = false;  ///< barriers across the whole grid
};

/// Names one device; a value as small as its index.
/// **Threads**: any thread may call any member. **Errors**: every fallible member gives the
/// driver's error, or why there is no driver. None is affected by stream capture.
class device {
 public:
  /// How many devices there are. (cuDeviceGetCount)
  static result<int> count(source_location where = source_location::current()) noexcept {
    int n = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_count>(where, &n));
    return n;
  }

  /// The device at `index`, from 0 to `count() - 1`. (cuDeviceGet)
  /// **Errors**: `errc::index_out_of_range` with the index and the count.
  static result<device> get(int index,
                            source_location where = source_location::current()) noexcept {
    const int n = GPU_TRY(count(where));
    if (index < 0 || index >= n) return detail::fail(out_of_range(index, n, where));
    CUdevice native = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get>(where, &native, index));
    return device{native};
  }

  /// The device on that PCI bus, written `0000:3b:00.0`. (cuDeviceGetByPCIBusId)
  static result<device> from_pci_bus_id(
      const char* id, source_location where = source_location::current()) noexcept {
    CUdevice native = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_by_pci_bus_id>(where, &native, id));
    return device{native};
  }

  static constexpr device from_native(CUdevice native) noexcept { return device{native}; }
  /// The driver's name for it, which is its index.
  constexpr CUdevice native() const noexcept { return native_; }
  friend constexpr bool operator==(device, device) noexcept = default;

  /// Such as "NVIDIA H200". (cuDeviceGetName)
  result<text> name(source_location where = source_location::current()) const noexcept {
    char characters[256] = {};
    GPU_TRY(driver::call<&driver::entry_points::device_get_name>(
        where, characters, static_cast<int>(sizeof characters), native_));
    return text(characters);
  }

  /// All memory of the device, in bytes. (cuDeviceTotalMem)
  result<std::size_t> total_memory(
      source_location where = source_location::current()) const noexcept {
    std::size_t bytes = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_total_mem>(where, &bytes, native_));
    return bytes;
  }

  /// Free and total bytes as seen by the primary context, which is made if it is not there yet.
  /// (cuMemGetInfo)
  result<gpu::memory_info> memory_info(
      source_location where = source_location::current()) const noexcept {
    const CUcontext context = GPU_TRY(detail::primary_context(native_, where));
    gpu::memory_info info;
    GPU_TRY(driver::call_in<&driver::entry_points::mem_get_info>(context, where, &info.free,
                                                                 &info.total));
    return info;
  }

  /// One of the driver's attributes. (cuDeviceGetAttribute)
  result<int> attribute(CUdevice_attribute which,
                        source_location where = source_location::current()) const noexcept {
    int value = 0;
    GPU_TRY(
        driver::call<&driver::entry_points::device_get_attribute>(where, &value, which, native_));
    return value;
  }

  result<gpu::compute_capability> compute_capability(
      source_location where = source_location::current()) const noexcept {
    gpu::compute_capability found;
    found.major = GPU_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, where));
    found.minor = GPU_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, where));
    return found;
  }

  /// The limits of a launch; a dozen driver calls, so ask once and keep it.
  result<device_limits> limits(source_location where = source_location::current()) const noexcept;

  /// (cuDeviceGetUuid)
  result<device_uuid> uuid(source_location where = source_location::current()) const noexcept {
    CUuuid raw{};
    GPU_TRY(driver::call<&driver::entry_points::device_get_uuid>(where, &raw, native_));
    device_uuid found;
    std::memcpy(found.bytes, raw.bytes, sizeof found.bytes);
    return found;
  }

  /// Such as "0000:3b:00.0". (cuDeviceGetPCIBusId)
  result<text> pci_bus_id(source_location where = source_location::current()) const noexcept {
    char characters[32] = {};
    GPU_TRY(driver::call<&driver::entry_points::device_get_pci_bus_id>(
        where, characters, static_cast<int>(sizeof characters), native_));
    return text(characters);
  }

 private:
  constexpr explicit device(CUdevice native) noexcept : native_{native} {}

  [[gnu::cold, gnu::noinline]] static cuda_error out_of_range(int index, int n,
                                                              source_location where) noexcept {
    detail::text_builder out;
    out << "device index " << index << " is not below the number of devices, " << n
        << (n == 0 ? ". Check that nvidia-smi lists a device and that CUDA_VISIBLE_DEVICES is not "
                     "empty."
                   : ". Choose an index below gpu::device::count().");
    return detail::refusal(errc::index_out_of_range, "gpu::device::get", out.finish(), where,
                           static_cast<std::uint64_t>(static_cast<std::int64_t>(index)),
                           static_cast<std::uint64_t>(n));
  }

  CUdevice native_;
};

inline result<device_limits> device::limits(source_location where) const noexcept {
  const auto number = [&](CUdevice_attribute which) -> result<std::uint32_t> {
    return static_cast<std::uint32_t>(GPU_TRY(attribute(which, where)));
  };
  device_limits found;
  found.threads_per_block = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  found.block.x = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X));
  found.block.y = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y));
  found.block.z = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
  found.grid.x = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
  found.grid.y = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y));
  found.grid.z = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
  found.shared_memory_per_block = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  found.shared_memory_opt_in =
      GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  found.multiprocessors = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  found.warp_size = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  found.memory_pools = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)) != 0;
  found.cooperative_launch = GPU_TRY(number(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)) != 0;
  return found;
}

}  // namespace gpu

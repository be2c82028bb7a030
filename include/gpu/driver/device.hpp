#pragma once
/// \file
/// `device`: a GPU of this machine, with its name and its properties.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/dims.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 {

struct device_properties;

/// The generation of a device, such as 9.0 for Hopper.
struct compute_capability {
  int major = 0;
  int minor = 0;

  /// As in the compiler's `sm_90`: ten times `major`, plus `minor`.
  constexpr int sm() const noexcept { return major * 10 + minor; }
  friend constexpr bool operator==(compute_capability, compute_capability) noexcept = default;
  friend constexpr bool operator<(compute_capability a, compute_capability b) noexcept {
    return a.major < b.major || (a.major == b.major && a.minor < b.minor);
  }
  friend constexpr bool operator>(compute_capability a, compute_capability b) noexcept {
    return b < a;
  }
  friend constexpr bool operator<=(compute_capability a, compute_capability b) noexcept {
    return !(b < a);
  }
  friend constexpr bool operator>=(compute_capability a, compute_capability b) noexcept {
    return !(a < b);
  }
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

/// The limits of a launch on a device, and some abilities of the device.
struct device_limits {
  std::uint32_t threads_per_block = 0;
  dims block;                               ///< largest extent along each axis
  dims grid;                                ///< largest extent along each axis
  std::size_t shared_memory_per_block = 0;  ///< of any kernel
  std::size_t shared_memory_opt_in = 0;     ///< for a kernel that opts in
  std::uint32_t multiprocessors = 0;
  std::uint32_t warp_size = 0;
  bool memory_pools = false;        ///< stream-ordered allocation
  bool cooperative_launch = false;  ///< barriers across the whole grid
};

namespace detail {

/// Adds the id to the driver's error if the id is what is wrong.
inline cuda_error explain_pci_bus_id(const char* id, const cuda_error& told,
                                     source_location where) noexcept {
  if (told.domain() != error_domain::driver ||
      (told.code() != CUDA_ERROR_INVALID_DEVICE && told.code() != CUDA_ERROR_INVALID_VALUE)) {
    return told;
  }
  text_builder out;
  out << "no device is at \"" << escaped{id} << "\". Write it as nvidia-smi does: 0000:3b:00.0.";
  return refusal(errc::invalid_argument, "gpu::device::from_pci_bus_id", out.finish(), where);
}

}  // namespace detail

/// A device, by its index. As small and as cheap to copy as an `int`.
/// **Threads**: any thread may call any member. **Errors**: every member that can fail returns the
/// driver's error, or the reason why the driver is missing. **Capture**: not affected.
class device {
 public:
  static constexpr device from_native(CUdevice native) noexcept { return device{native, chosen{}}; }
  /// Returns the driver's handle, which is the index.
  constexpr CUdevice native() const noexcept { return native_; }

  /// Returns the number of devices. (cuDeviceGetCount)
  static result<int> count(source_location where = source_location::current()) noexcept {
    int n = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_count>(where, &n));
    return n;
  }

  /// Returns the device at `index`, from 0 to `count() - 1`. (cuDeviceGet)
  /// **Errors**: `errc::index_out_of_range` with the index and the count.
  static result<device> get(int index,
                            source_location where = source_location::current()) noexcept {
    int n = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_count>(where, &n));
    if (index < 0 || index >= n) {
      return detail::fail(detail::device_out_of_range("gpu::device::get", index, n, where));
    }
    CUdevice native = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get>(where, &native, index));
    return device::from_native(native);
  }

  /// Returns the device with this PCI bus id, written `0000:3b:00.0`. (cuDeviceGetByPCIBusId)
  /// **Errors**: `errc::invalid_argument` with the id if no device has it.
  static result<device> from_pci_bus_id(
      const char* id, source_location where = source_location::current()) noexcept {
    if (id == nullptr) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::device::from_pci_bus_id",
          text("the id is null. Write it as nvidia-smi does: 0000:3b:00.0."), where));
    }
    CUdevice native = 0;
    const result<> found =
        driver::call<&driver::entry_points::device_get_by_pci_bus_id>(where, &native, id);
    if (!found.has_value())
      return detail::fail(detail::explain_pci_bus_id(id, found.error(), where));
    return device::from_native(native);
  }

  /// Returns the name, such as "NVIDIA H200". (cuDeviceGetName)
  /// **Errors**: also `errc::out_of_host_memory`.
  result<text> name(source_location where = source_location::current()) const noexcept {
    char characters[256] = {};
    GPU_TRY(driver::call<&driver::entry_points::device_get_name>(
        where, &characters[0], static_cast<int>(sizeof characters), native()));
    return detail::copied_text(characters, std::strlen(characters), "gpu::device::name", where);
  }

  /// Returns the size of the device's memory, in bytes. (cuDeviceTotalMem)
  result<std::size_t> total_memory(
      source_location where = source_location::current()) const noexcept {
    std::size_t bytes = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_total_mem>(where, &bytes, native()));
    return bytes;
  }

  /// Returns the free and the total bytes as the primary context sees them. The context is made if
  /// it does not exist yet. (cuMemGetInfo)
  result<gpu::memory_info> memory_info(
      source_location where = source_location::current()) const noexcept {
    CUcontext context = nullptr;
    GPU_TRY(detail::find_primary_context(native(), context, where));
    gpu::memory_info info;
    GPU_TRY(driver::call_in<&driver::entry_points::mem_get_info>(context, where, &info.free,
                                                                 &info.total));
    return info;
  }

  /// Blocks until all work of the primary context has finished. The context is made if it does not
  /// exist yet. Not allowed while a stream of the context is being captured. (cuCtxSynchronize)
  /// **Errors**: also those of earlier asynchronous work.
  result<> synchronize(source_location where = source_location::current()) const noexcept {
    CUcontext context = nullptr;
    GPU_TRY(detail::find_primary_context(native(), context, where));
    return driver::call_in<&driver::entry_points::ctx_synchronize>(context, where);
  }

  /// Reads all properties. It takes 150 driver calls, about 10 us, so keep the answer. An attribute
  /// that the driver is too old to know stays 0. Include `<gpu/driver/device_properties.hpp>`.
  /// (cuDeviceGetAttribute, cuDeviceGetName, cuDeviceGetUuid, cuDeviceGetPCIBusId,
  /// cuDeviceTotalMem)
  inline result<device_properties> properties(
      source_location where = source_location::current()) const noexcept;

  // Refuses common guesses; the error says what to write.
  template <detail::word_integer Index> explicit device(Index) noexcept {
    static_assert(detail::always_false<Index>, "write gpu::device::get(index)");
  }
  template <class... Arguments> void attribute(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>,
                  "write gpu::attribute<gpu::device_attribute::NAME>(device)");
  }

  result<gpu::compute_capability> compute_capability(
      source_location where = source_location::current()) const noexcept {
    gpu::compute_capability found;
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, found.major, where));
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, found.minor, where));
    return found;
  }

  /// Returns the limits of a launch. It takes a dozen driver calls, so ask once and keep the
  /// answer.
  result<device_limits> limits(source_location where = source_location::current()) const noexcept {
    device_limits found;
    const struct {
      CUdevice_attribute which;
      std::uint32_t* number;
    } numbers[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &found.threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &found.block.x},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &found.block.y},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &found.block.z},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &found.grid.x},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &found.grid.y},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &found.grid.z},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &found.multiprocessors},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &found.warp_size},
    };
    for (const auto& [which, number] : numbers) GPU_TRY(get_attribute(which, *number, where));
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
                          found.shared_memory_per_block, where));
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                          found.shared_memory_opt_in, where));
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, found.memory_pools, where));
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, found.cooperative_launch, where));
    return found;
  }

  /// (cuDeviceGetUuid)
  result<device_uuid> uuid(source_location where = source_location::current()) const noexcept {
    static_assert(sizeof(device_uuid) == sizeof(CUuuid));
    device_uuid found;
    GPU_TRY(driver::call<&driver::entry_points::device_get_uuid>(
        where, reinterpret_cast<CUuuid*>(&found), native()));
    return found;
  }

  /// Returns the id on the PCI bus, such as "0000:3b:00.0". (cuDeviceGetPCIBusId)
  /// **Errors**: also `errc::out_of_host_memory`.
  result<text> pci_bus_id(source_location where = source_location::current()) const noexcept {
    char characters[32] = {};
    GPU_TRY(driver::call<&driver::entry_points::device_get_pci_bus_id>(
        where, &characters[0], static_cast<int>(sizeof characters), native()));
    return detail::copied_text(characters, std::strlen(characters), "gpu::device::pci_bus_id",
                               where);
  }

  friend constexpr bool operator==(device a, device b) noexcept { return a.native_ == b.native_; }

 private:
  struct chosen {};
  constexpr device(CUdevice native, chosen) noexcept : native_{native} {}

  template <class Number>
  result<> get_attribute(CUdevice_attribute which, Number& number,
                         source_location where) const noexcept {
    int value = 0;
    GPU_TRY(
        driver::call<&driver::entry_points::device_get_attribute>(where, &value, which, native()));
    number = static_cast<Number>(value);
    return {};
  }

  CUdevice native_;
};

}}  // namespace gpu::v1

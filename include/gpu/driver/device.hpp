#pragma once
/// \file
/// `device`: a GPU of this machine, what it is called and what it can do.

#include <gpu/core/dims.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/detail/refusals.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu::inline v0 {

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

namespace detail {

/// What the driver said of an id, with the id where that is what is wrong.
[[gnu::cold, gnu::noinline]] inline cuda_error explain_pci_bus_id(const char* id,
                                                                  const cuda_error& told,
                                                                  source_location where) noexcept {
  if (told.domain() != error_domain::driver ||
      (told.code() != CUDA_ERROR_INVALID_DEVICE && told.code() != CUDA_ERROR_INVALID_VALUE)) {
    return told;
  }
  text_builder out;
  out << "no device is at \"" << id << "\". Write it as nvidia-smi does: 0000:3b:00.0.";
  return refusal(errc::invalid_argument, "gpu::device::from_pci_bus_id", out.finish(), where);
}

}  // namespace detail

/// What a `device` can be asked. Here as in the other driver headers, a function that returns a
/// `result<T>` is a template even where there is only one type to use it with: so it is paid for,
/// in compile time, where it is called and not where it is included.
/// **Threads**: any thread may call any member. **Errors**: every fallible member gives the
/// driver's error, or why there is no driver. None is affected by stream capture.
template <class Self> class device_operations {
 public:
  /// How many devices there are. (cuDeviceGetCount)
  static result<int> count(source_location where = source_location::current()) noexcept {
    int n = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_count>(where, &n));
    return n;
  }

  /// The device at `index`, from 0 to `count() - 1`. (cuDeviceGet)
  /// **Errors**: `errc::index_out_of_range` with the index and the count.
  static result<Self> get(int index, source_location where = source_location::current()) noexcept {
    int n = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_count>(where, &n));
    if (index < 0 || index >= n) {
      return detail::fail(detail::device_out_of_range("gpu::device::get", index, n, where));
    }
    CUdevice native = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get>(where, &native, index));
    return Self::from_native(native);
  }

  /// The device on that PCI bus, written `0000:3b:00.0`. (cuDeviceGetByPCIBusId)
  /// **Errors**: `errc::invalid_argument` with the id, where no device is there.
  static result<Self> from_pci_bus_id(const char* id,
                                      source_location where = source_location::current()) noexcept {
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
    return Self::from_native(native);
  }

  /// Such as "NVIDIA H200". (cuDeviceGetName)
  /// **Errors**: also `errc::out_of_host_memory`.
  result<text> name(source_location where = source_location::current()) const noexcept {
    char characters[256] = {};
    GPU_TRY(driver::call<&driver::entry_points::device_get_name>(
        where, &characters[0], static_cast<int>(sizeof characters), native()));
    return detail::copied_text(characters, __builtin_strlen(characters), "gpu::device::name",
                               where);
  }

  /// All memory of the device, in bytes. (cuDeviceTotalMem)
  result<std::size_t> total_memory(
      source_location where = source_location::current()) const noexcept {
    return get<std::size_t, &driver::entry_points::device_total_mem>(where);
  }

  /// Free and total bytes as seen by the primary context, which is made if it is not there yet.
  /// (cuMemGetInfo)
  result<gpu::memory_info> memory_info(
      source_location where = source_location::current()) const noexcept {
    CUcontext context = nullptr;
    GPU_TRY(detail::find_primary_context(native(), context, where));
    gpu::memory_info info;
    GPU_TRY(driver::call_in<&driver::entry_points::mem_get_info>(context, where, &info.free,
                                                                 &info.total));
    return info;
  }

  result<gpu::compute_capability> compute_capability(
      source_location where = source_location::current()) const noexcept {
    gpu::compute_capability found;
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, found.major, where));
    GPU_TRY(get_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, found.minor, where));
    return found;
  }

  /// The limits of a launch; a dozen driver calls, so ask once and keep the answer.
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
    return get<device_uuid, &driver::entry_points::device_get_uuid>(where);
  }

  /// Such as "0000:3b:00.0". (cuDeviceGetPCIBusId)
  /// **Errors**: also `errc::out_of_host_memory`.
  result<text> pci_bus_id(source_location where = source_location::current()) const noexcept {
    char characters[32] = {};
    GPU_TRY(driver::call<&driver::entry_points::device_get_pci_bus_id>(
        where, &characters[0], static_cast<int>(sizeof characters), native()));
    return detail::copied_text(characters, __builtin_strlen(characters), "gpu::device::pci_bus_id",
                               where);
  }

 private:
  friend Self;
  constexpr device_operations() noexcept = default;

  CUdevice native() const noexcept { return static_cast<const Self&>(*this).native(); }

  /// What a driver function of the form `f(T* answer, arguments..., CUdevice)` answers.
  template <class T, auto Member, class... Arguments>
  result<T> get(source_location where, Arguments... arguments) const noexcept {
    T answer{};
    GPU_TRY(driver::call<Member>(where, driver_pointer(&answer), arguments..., native()));
    return answer;
  }
  template <class T> static T* driver_pointer(T* answer) noexcept { return answer; }
  static CUuuid* driver_pointer(device_uuid* answer) noexcept {
    static_assert(sizeof(device_uuid) == sizeof(CUuuid));
    return reinterpret_cast<CUuuid*>(answer);
  }

  template <class Number>
  result<> get_attribute(CUdevice_attribute which, Number& number,
                         source_location where) const noexcept {
    int value = 0;
    GPU_TRY(
        driver::call<&driver::entry_points::device_get_attribute>(where, &value, which, native()));
    number = static_cast<Number>(value);
    return {};
  }
};

/// Names one device; a value as small as its index.
class device : public device_operations<device> {
 public:
  static constexpr device from_native(CUdevice native) noexcept { return device{native}; }
  /// The driver's name for it, which is its index.
  constexpr CUdevice native() const noexcept { return native_; }
  friend constexpr bool operator==(device a, device b) noexcept { return a.native_ == b.native_; }

 private:
  constexpr explicit device(CUdevice native) noexcept : native_{native} {}

  CUdevice native_;
};

}  // namespace gpu::inline v0

#pragma once
/// \file
/// Handles of other systems, by which other interfaces pass on memory and semaphores:
/// `win32_handle` and the objects of NvSci.

#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/device_refusals.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/system/nvsci.hpp>

namespace gpu::inline v1 {

/// A handle of Windows, or the name of an object there: one of both.
struct win32_handle {
  void* handle = nullptr;
  const void* name = nullptr;  ///< UTF-16, ends with a 0
};

/// A memory object of NvSci, NVIDIA's library for Jetson and DRIVE.
struct nvscibuf_object {
  const void* native = nullptr;  ///< an NvSciBufObj
};

/// A semaphore of NvSci.
struct nvscisync_object {
  const void* native = nullptr;  ///< an NvSciSyncObj
};

/// The use that `nvscisync_attributes` describes; converts to CUDA's number by cast.
enum class nvscisync_use : int {
  signal = CUDA_NVSCISYNC_ATTR_SIGNAL,
  wait = CUDA_NVSCISYNC_ATTR_WAIT,
};
template <> inline constexpr bool is_flag_set<nvscisync_use> = true;

namespace detail {

/// The systems that kinds of handles come from.
enum class handle_system : unsigned char { posix, windows, nvsci };

inline result<> require_nvsci(const char* function, const char* what,
                              source_location where) noexcept {
  if (may_have_nvsci) return {};
  text_builder out;
  out << what << " needs NvSci, which only NVIDIA's Jetson and DRIVE systems have; this program is "
      << "for another machine. Pass a file descriptor, as from Vulkan.";
  return fail(refusal(errc::not_supported, function, out.finish(), where));
}

/// Returns the error for a handle of a kind that is not the one that was passed, or that this
/// system does not have. `what` is "memory" or "a semaphore", `type` the kind.
inline cuda_error wrong_handle_error(const char* function, const char* what, const char* type,
                                     handle_system needed, handle_system given,
                                     source_location where) noexcept {
  text_builder out;
  out << what << " of the type " << type;
  if (needed == handle_system::windows) {
    out << " needs Windows, and this library is for Linux. Pass a file descriptor, as from Vulkan.";
    return refusal(errc::not_supported, function, out.finish(), where);
  }
  out << " comes as "
      << (needed == handle_system::posix ? "a file descriptor" : "an object of NvSci")
      << ", but the handle is "
      << (given == handle_system::posix     ? "a file descriptor"
          : given == handle_system::windows ? "one of Windows"
                                            : "an object of NvSci")
      << ". Pass a handle and a type that go together.";
  return refusal(errc::invalid_argument, function, out.finish(), where);
}

/// Fails unless handles of a kind exist on this system, and the handle that was passed is one.
inline result<> require_system(const char* function, const char* what, const char* type,
                               handle_system needed, handle_system given,
                               source_location where) noexcept {
  if (needed == handle_system::nvsci) {
    text_builder out;
    out << what << " of the type " << type;
    GPU_TRY(require_nvsci(function, out.finish().c_str(), where));
  }
  if (needed == given) return {};
  return fail(wrong_handle_error(function, what, type, needed, given, where));
}

}  // namespace detail

/// Writes to an NvSciSyncAttrList what a device needs of a semaphore that it signals, waits for, or
/// both. **Errors**: `errc::not_supported` on machines without NvSci.
/// **Capture**: not affected. **Threads**: any. (cuDeviceGetNvSciSyncAttributes)
inline result<> nvscisync_attributes(device on, void* list, nvscisync_use use,
                                     source_location where = source_location::current()) noexcept {
  constexpr const char* function = "gpu::nvscisync_attributes";
  constexpr unsigned known = CUDA_NVSCISYNC_ATTR_SIGNAL | CUDA_NVSCISYNC_ATTR_WAIT;
  GPU_TRY(detail::require_flags(use, known, "nvscisync_use", function, where));
  GPU_TRY(detail::require_nvsci(function, "a list of attributes of NvSciSync", where));
  return driver::call<&driver::entry_points::device_get_nvscisync_attributes>(
      where, list, on.native(), static_cast<int>(use));
}

}  // namespace gpu::inline v1

#pragma once
/// \file
/// Handles of other systems, by which other interfaces pass on memory and semaphores:
/// `win32_handle` and the objects of NvSci.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/system/processor.hpp>

#include <cuda.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace gpu { inline namespace v1 {

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

/// Whether NvSci may be on the machines that the program is compiled for. Jetson and DRIVE have ARM
/// processors.
inline constexpr bool may_have_nvsci = is_arm;

/// A copy of a file descriptor for one import. What the driver imports it also closes, and with
/// some handles it closes what it has refused, too: so it never gets the caller's own.
class descriptor_copy {
 public:
  explicit descriptor_copy(const file_descriptor& file) noexcept
      : of_{file.native()},
        own_{file_descriptor::adopt(::fcntl(file.native(), F_DUPFD_CLOEXEC, 0))} {}
  descriptor_copy(const descriptor_copy&) = delete;
  descriptor_copy& operator=(const descriptor_copy&) = delete;
  ~descriptor_copy() {
    if (own_ && !is_open()) static_cast<void>(own_.release());
  }

  /// Fails if there are too many open files.
  result<> require(const char* function, source_location where) const noexcept {
    if (own_) return {};
    return fail(refusal(errc::file_error, function,
                        text("the descriptor cannot be copied for the driver, since too many files "
                             "are open. Close some, or raise the limit (ulimit -n)."),
                        where));
  }
  int native() const noexcept { return own_.native(); }
  /// The driver has taken it.
  void release() noexcept { static_cast<void>(own_.release()); }

 private:
  /// Whether the number still stands for the same file, not for one that was opened since.
  bool is_open() const noexcept {
    struct ::stat of = {}, own = {};
    return ::fstat(of_, &of) == 0 && ::fstat(own_.native(), &own) == 0 && of.st_dev == own.st_dev &&
           of.st_ino == own.st_ino;
  }

  int of_;
  file_descriptor own_;
};

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

}}  // namespace gpu::v1

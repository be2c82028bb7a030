#pragma once
/// \file
/// The type of the table of driver functions, and the names of its members. The table in force, and
/// how it is replaced, are in driver/entry_points.hpp.

#include <gpu/core/error_code.hpp>

#include <gpu/driver/detail/cuda_header.hpp>

#include <cstddef>

#if CUDA_VERSION < 13000
#  error \
      "gpu needs the headers of CUDA 13.0 or newer (an older driver is fine). Put a newer toolkit's include folder first, or get the headers alone: pip install nvidia-cuda-runtime"
#endif

// As in cudaProfiler.h, which has nothing else that is still supported.
extern "C" CUresult CUDAAPI cuProfilerStart(void);
extern "C" CUresult CUDAAPI cuProfilerStop(void);

// As in cudaGL.h, which needs the headers of OpenGL, and in which the name cuGLGetDevices is a
// macro.
#pragma push_macro("cuGLGetDevices")
#undef cuGLGetDevices
extern "C" CUresult CUDAAPI cuGLGetDevices(unsigned* count, CUdevice* devices, unsigned capacity,
                                           unsigned list);
extern "C" CUresult CUDAAPI cuGraphicsGLRegisterBuffer(CUgraphicsResource* resource,
                                                       unsigned buffer, unsigned flags);
extern "C" CUresult CUDAAPI cuGraphicsGLRegisterImage(CUgraphicsResource* resource, unsigned image,
                                                      unsigned target, unsigned flags);

namespace gpu { inline namespace v1 { namespace driver {

/// Pointers to the driver's functions. A member is null if the driver lacks the function; then that
/// call alone fails, with `errc::not_supported`.
struct entry_points {
#define GPU_DRIVER_ENTRY(member, function, version) decltype(::function)* member;
#include <gpu/driver/detail/entry_points.inc>

  /// The reason why all members are null, or 0: `errc::no_driver`, `driver_too_old`,
  /// `process_forked` or `process_exiting`.
  errc unavailable;
  /// The code with which the driver failed to start, or CUDA_SUCCESS. If it failed, only
  /// cuDriverGetVersion's member is not null.
  CUresult start_failure;
  /// The message of the dynamic loader, or the name of the call that returned `start_failure`; of a
  /// usable table that was loaded, and of those that wrap it, the name of the driver's library,
  /// unless that is nogpu's. A string that outlives the table, or null.
  const char* unavailable_detail;
};

#pragma pop_macro("cuGLGetDevices")

/// The name and position of one member of `entry_points`.
struct entry_point_info {
  const char* name;    ///< as in cuda.h, without a version suffix
  int version;         ///< the first CUDA version whose driver has this form of the function
  std::size_t offset;  ///< of the member in the table, in bytes
};

inline constexpr std::size_t entry_point_count =
    offsetof(entry_points, unavailable) / sizeof(void (*)());

/// All entry points, in the order of the members.
class entry_point_names {
 public:
  /// Searches from the start, which is fast enough for messages and for loading the table once.
  constexpr entry_point_info operator[](std::size_t index) const noexcept {
    const char* name = names_and_versions_;
    for (std::size_t strings = 2 * index; strings != 0; --strings) name = past(name);
    int version = 0;
    for (const char* digit = past(name); *digit != '\0'; ++digit) {
      version = version * 10 + (*digit - '0');
    }
    return {name, version, index * sizeof(void (*)())};
  }

 private:
  static constexpr const char* past(const char* string) noexcept {
    return string + __builtin_strlen(string) + 1;
  }

  // One string, since a compiler takes ten times as long over an array with an element for each.
  static constexpr char names_and_versions_[] =
#define GPU_DRIVER_ENTRY(member, function, version) #function "\0" #version "\0"
#include <gpu/driver/detail/entry_points.inc>
      ;
};
inline constexpr entry_point_names entry_point_list;

namespace detail {
inline constexpr entry_points null_entry_points{};
}

/// Returns the index in `entry_point_list` of a member of the table.
template <class Function> std::size_t entry_point_index(Function entry_points::* member) noexcept {
  const auto* table = reinterpret_cast<const char*>(&detail::null_entry_points);
  const auto* slot = reinterpret_cast<const char*>(&(detail::null_entry_points.*member));
  return static_cast<std::size_t>(slot - table) / sizeof(void (*)());
}

}}}  // namespace gpu::v1::driver

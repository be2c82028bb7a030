#pragma once
/// \file
/// The errors of `gpu` itself: names of their codes, and kinds. Their text is composed with its
/// values where they occur.

#include <gpu/core/error_code.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

inline constexpr char gpu_code_names[] =
    "1 no_driver\0"
    "2 driver_too_old\0"
    "3 not_supported\0"
    "4 no_nvrtc\0"
    "5 nvrtc_too_old\0"
    "6 process_forked\0"
    "7 process_exiting\0"
    "8 invalid_argument\0"
    "9 index_out_of_range\0"
    "10 size_mismatch\0"
    "11 size_overflow\0"
    "12 empty_handle\0"
    "13 wrong_context\0"
    "14 out_of_host_memory\0"
    "15 invalid_launch\0"
    "16 argument_mismatch\0"
    "17 unknown_name\0"
    "18 invalid_image\0"
    "19 compile_failed\0"
    "20 file_error\0"
    "21 capture_prohibited\0"
    "22 no_nvjitlink\0"
    "23 nvjitlink_too_old\0"
    "24 link_failed\0"
    "25 callback_threw\0"
    "26 not_converged\0"
    "27 no_library\0"
    "28 library_too_old\0";

inline error_kind kind_of_errc(int code) noexcept {
  switch (static_cast<errc>(code)) {
    case errc::out_of_host_memory: return error_kind::memory;
    case errc::invalid_launch:
    case errc::argument_mismatch: return error_kind::launch;
    case errc::compile_failed:
    case errc::invalid_image:
    case errc::link_failed: return error_kind::compile;
    case errc::no_driver:
    case errc::driver_too_old:
    case errc::not_supported:
    case errc::no_nvrtc:
    case errc::nvrtc_too_old:
    case errc::no_nvjitlink:
    case errc::nvjitlink_too_old:
    case errc::no_library:
    case errc::library_too_old:
    case errc::process_forked:
    case errc::process_exiting:
    case errc::file_error: return error_kind::runtime;
    default: return error_kind::logic;
  }
}

inline constexpr error_codes gpu_errors{
    .number = 0, .name = "gpu", .names = gpu_code_names, .kind = &kind_of_errc};

}  // namespace detail

inline constexpr error_domain error_domain::gpu{detail::gpu_errors};

}}  // namespace gpu::v1

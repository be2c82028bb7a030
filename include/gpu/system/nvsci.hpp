#pragma once
/// \file
/// `may_have_nvsci`: whether NvSci may be on the machines that the program is compiled for.

namespace gpu { inline namespace v1 { namespace detail {

/// NvSci is NVIDIA's library of Jetson and DRIVE, which have ARM processors.
#if defined(__aarch64__)
inline constexpr bool may_have_nvsci = true;
#else
inline constexpr bool may_have_nvsci = false;
#endif

}}}  // namespace gpu::v1::detail

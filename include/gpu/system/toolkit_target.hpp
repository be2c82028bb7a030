#pragma once
/// \file
/// The folders of a CUDA toolkit that are named after the processor.

namespace gpu { inline namespace v1 { namespace detail {

// A toolkit that supports several platforms has the files of each in a folder below targets/.
#if defined(__aarch64__)
inline constexpr const char* toolkit_target_libraries = "targets/sbsa-linux/lib";
inline constexpr const char* toolkit_target_headers = "targets/sbsa-linux/include";
#else
inline constexpr const char* toolkit_target_libraries = "targets/x86_64-linux/lib";
inline constexpr const char* toolkit_target_headers = "targets/x86_64-linux/include";
#endif

}}}  // namespace gpu::v1::detail

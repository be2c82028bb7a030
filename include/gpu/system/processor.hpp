#pragma once
/// \file
/// The processor that the program is compiled for.

namespace gpu { inline namespace v1 { namespace detail {

#if defined(__aarch64__)
inline constexpr bool is_arm = true;
#else
inline constexpr bool is_arm = false;
#endif

}}}  // namespace gpu::v1::detail

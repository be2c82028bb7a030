#pragma once
/// \file
/// The sanitizers that this program was compiled with.

namespace test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool thread_sanitizer = false;
#endif

/// Whether drivers of tests know what made each object. To read the debug information of a program
/// that a sanitizer wrote takes addr2line a minute.
inline constexpr bool places_known = !address_sanitizer && !thread_sanitizer;

}  // namespace test

#pragma once
/// \file
/// `live_object`: a handle or an allocation that a program has not released to the CPU driver.

#include <cstdint>
#include <cstdio>
#include <string>

namespace nogpu { inline namespace v1 {

/// A handle or an allocation that is alive.
struct live_object {
  std::string kind;         ///< "stream", "event", "device memory", ...
  std::uint64_t value = 0;  ///< the handle or the address
  std::uint64_t bytes = 0;  ///< of an allocation
  std::string location;     ///< of the call that created it: "main.cpp:12" if known

  /// Returns a line such as
  /// "device memory of 4096 bytes at 0x1000000010000, created at main.cpp:12".
  std::string text() const {
    std::string out = kind;
    if (bytes != 0) out += " of " + std::to_string(bytes) + " bytes";
    char at[24];
    std::snprintf(at, sizeof at, " at 0x%llx", static_cast<unsigned long long>(value));
    out += at;
    if (!location.empty()) out += ", created at " + location;
    return out;
  }
};

}}  // namespace nogpu::v1

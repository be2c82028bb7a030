#pragma once
/// \file
/// `source_location`: the file and line of a call in the user's source.

#include <cstdint>

namespace gpu { inline namespace v1 {

/// File and line, as in `std::source_location`, which Clang supports since version 16. It is the
/// defaulted last parameter of every fallible function, so that an error names the line of the
/// call; two words, so that it is passed in registers.
class source_location {
 public:
  constexpr source_location() noexcept = default;
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) noexcept {
    return source_location{file, static_cast<std::uint32_t>(line)};
  }
  constexpr const char* file_name() const noexcept { return file_; }
  /// Returns the line, or 0 if the location is unknown.
  constexpr std::uint32_t line() const noexcept { return line_; }

 private:
  constexpr source_location(const char* file, std::uint32_t line) noexcept
      : file_{file}, line_{line} {}

  const char* file_ = "";
  std::uint32_t line_ = 0;
};

}}  // namespace gpu::v1

#pragma once
/// \file
/// `source_location`: the place of a call in the user's source.

#include <cstdint>

namespace gpu::inline v0 {

/// File and line, as those of `std::source_location`, which Clang has only since 16. Two words, so
/// that it travels in registers: it is a defaulted last parameter of every fallible function, so
/// that an error names the line that asked.
class source_location {
 public:
  constexpr source_location() noexcept = default;
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) noexcept {
    return source_location{file, static_cast<std::uint32_t>(line)};
  }
  constexpr const char* file_name() const noexcept { return file_; }
  /// 0 where no place is known.
  constexpr std::uint32_t line() const noexcept { return line_; }

 private:
  constexpr source_location(const char* file, std::uint32_t line) noexcept
      : file_{file}, line_{line} {}

  const char* file_ = "";
  std::uint32_t line_ = 0;
};

}  // namespace gpu::inline v0

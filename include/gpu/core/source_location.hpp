#pragma once
/// \file
/// `source_location`: the place of a call in the user's source.

#include <cstdint>

namespace gpu {

/// As `std::source_location`, which Clang has only since 16, and one word of include cost. It is a
/// defaulted last parameter of every fallible function, so that an error names the line that asked.
class source_location {
 public:
  constexpr source_location() noexcept = default;
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           const char* function = __builtin_FUNCTION(),
                                           int line = __builtin_LINE()) noexcept {
    return source_location{file, function, static_cast<std::uint32_t>(line)};
  }
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr const char* function_name() const noexcept { return function_; }
  /// 0 where no place is known.
  constexpr std::uint32_t line() const noexcept { return line_; }

 private:
  constexpr source_location(const char* file, const char* function, std::uint32_t line) noexcept
      : file_{file}, function_{function}, line_{line} {}

  const char* file_ = "";
  const char* function_ = "";
  std::uint32_t line_ = 0;
};

}  // namespace gpu

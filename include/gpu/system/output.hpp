#pragma once
/// \file
/// Text for people and logs: formatted output into an array, and the standard error stream.

#include <unistd.h>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// As snprintf, through the compiler: <cstdio> is not needed for anything else.
inline void format_into(char* line, std::size_t size, const char* format, auto... values) noexcept {
  __builtin_snprintf(line, size, format, values...);
}

/// Writes to the standard error stream, without its buffer.
inline void write_to_stderr(const char* characters, std::size_t count) noexcept {
  while (count > 0) {
    const ssize_t written = ::write(STDERR_FILENO, characters, count);
    if (written <= 0) return;
    characters += written;
    count -= static_cast<std::size_t>(written);
  }
}

}}}  // namespace gpu::v1::detail

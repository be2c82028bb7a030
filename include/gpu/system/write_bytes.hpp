#pragma once
/// \file
/// Writes bytes to an open file.

#include <unistd.h>
#include <gpu/system/file_size_signal.hpp>

#include <cerrno>
#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Writes all of these bytes. Returns 0 or a value of errno: EFBIG if the process has a limit on
/// the size of files.
inline int write_bytes(int file, const void* bytes, std::size_t count) noexcept {
  const file_size_signal_blocked blocked;
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(file, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    next += written;
    count -= static_cast<std::size_t>(written);
  }
  return 0;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Reads a whole file, for images and sources.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>

#include <cerrno>
#include <cstring>

namespace gpu::inline v1::detail {

/// The most that is read of a file, and of a device such as /dev/zero, which may have no end.
inline constexpr std::uint64_t most_file_bytes = 0x7fff'ffff;
inline constexpr std::uint64_t most_device_bytes = 16u << 20;

/// Returns whether there is something with this path, also if it cannot be read.
inline bool file_exists(const char* path) noexcept { return ::access(path, F_OK) == 0; }

/// Sets `contents` to all bytes of an open file, of which the system said `about`. Returns 0 or
/// what went wrong, as errno would say it: EFBIG past the limit; ENOMEM if memory ran out, and then
/// `contents` is lost.
inline int read_whole(int file, const struct stat& about, text& contents) noexcept {
  const bool device = S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode);
  const std::uint64_t limit = device ? most_device_bytes : most_file_bytes;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > limit) return EFBIG;
  text_builder pieces;
  char block[4096];  // of a stack that may be small
  for (std::uint64_t total = 0;;) {
    const ssize_t got = ::read(file, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    total += static_cast<std::uint64_t>(got);
    if (total > limit) return EFBIG;
    pieces.append(block, static_cast<std::size_t>(got));
    if (pieces.size() != total) break;
    if (total == size && static_cast<std::size_t>(got) < sizeof block) break;
  }
  contents = pieces.finish();
  return contents.lost() ? ENOMEM : 0;
}

/// The same, for a file that the system was not asked about.
inline int read_whole(int file, text& contents) noexcept {
  struct stat about{};
  return ::fstat(file, &about) != 0 ? errno : read_whole(file, about, contents);
}

/// Sets `contents` to all bytes of a file.
/// **Errors**: `errc::file_error` with the path and the reason; `errc::out_of_host_memory`.
inline result<> read_file(const char* function, string_ref path, text& contents,
                          source_location where) noexcept {
  const text name = path.to_text();
  if (name.lost()) return fail(out_of_host_memory_error(function, path.size(), where));
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  text read;
  const int failure = file < 0 ? errno : read_whole(file, read);
  if (file >= 0) ::close(file);
  if (failure == 0) {
    contents = detail::move(read);
    return {};
  }
  text_builder out;
  out << '"' << escaped{name} << "\" could not be read: ";
  errc code = errc::file_error;
  const char* cure = ". Check the path.";
  if (failure == EFBIG) {
    out << "it holds more than the most that is read, " << most_file_bytes
        << " bytes of a file and " << most_device_bytes << " of a device";
  } else if (failure == ENOMEM) {
    out << "there is not enough host memory for it";
    code = errc::out_of_host_memory;
    cure = ". Free host memory.";
  } else {
    out << std::strerror(failure);
  }
  out << cure;
  return fail(refusal(code, function, out.finish(), where));
}

}  // namespace gpu::inline v1::detail

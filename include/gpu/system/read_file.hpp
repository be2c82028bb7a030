#pragma once
/// \file
/// Reads a whole file, for images and sources.

#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/open_file.hpp>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The most bytes of a file that is read as a whole, and of one with source code. NVRTC takes
/// minutes for a tenth of that.
inline constexpr std::uint64_t most_file_bytes = 0x7fff'ffff;
inline constexpr std::uint64_t most_source_bytes = 256u << 20;

/// Returns whether there is something with this path, also if it cannot be read.
inline bool file_exists(const char* path) noexcept { return ::access(path, F_OK) == 0; }

/// Sets `contents` to all bytes of a regular file.
/// **Errors**: `errc::file_error` with the path and the reason, also for more than `limit` bytes;
/// `errc::out_of_host_memory`.
inline result<> read_file(const char* function, string_ref path, text& contents,
                          source_location where, std::uint64_t limit = most_file_bytes) noexcept {
  const text name = path.to_text();
  if (name.lost()) return fail(out_of_host_memory_error(function, path.size(), where));
  open_file file;
  text read;
  int failure = file.open(name);
  if (failure == 0) failure = file.read_all(limit, read);
  if (failure == 0) {
    contents = std::move(read);
    return {};
  }
  text_builder out;
  out << '"' << escaped{name} << "\" could not be read: ";
  errc code = errc::file_error;
  const char* cure = ". Check the path.";
  if (failure == EFBIG) {
    out << "it holds more than " << limit << " bytes, the most that is read of such a file";
  } else if (failure == ENOMEM) {
    out << "there is not enough host memory for it";
    code = errc::out_of_host_memory;
    cure = ". Free host memory.";
  } else {
    out << words_of_file_error(failure);
  }
  out << cure;
  return fail(refusal(code, function, out.finish(), where));
}

}}}  // namespace gpu::v1::detail

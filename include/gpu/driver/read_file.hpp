#pragma once
/// \file
/// Reads a whole file, for images and sources.

#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/operating_system.hpp>

#include <cerrno>

namespace gpu::detail {

/// Sets `contents` to all bytes of a file.
/// **Errors**: `errc::file_error` with the path and the reason.
template <class Builder = text_builder>
inline result<> read_file(const char* function, string_ref path, text& contents,
                          source_location where) noexcept {
  const text name = path.to_text();
  const auto refuse = [&](const char* reason) {
    Builder out;
    out << '"' << name << "\" could not be read: " << reason << ". Check the path.";
    return refusal(errc::file_error, function, out.finish(), where);
  };
  const int file = gpu_c_open(name.c_str(), open_read_only | open_close_on_exec);
  if (file < 0) return fail(refuse(gpu_c_strerror(errno)));
  Builder pieces;
  char block[16384];
  std::size_t total = 0;
  int failure = 0;
  for (;;) {
    const ssize_t got = gpu_c_read(file, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failure = errno;
    if (got <= 0) break;
    pieces.append(block, static_cast<std::size_t>(got));
    total += static_cast<std::size_t>(got);
  }
  gpu_c_close(file);
  if (failure != 0) return fail(refuse(gpu_c_strerror(failure)));
  if (pieces.size() != total) return fail(refuse("there is not enough host memory for it"));
  contents = pieces.finish();
  return {};
}

}  // namespace gpu::detail

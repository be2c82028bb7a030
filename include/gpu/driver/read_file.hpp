#pragma once
/// \file
/// Reads a whole file, for images and sources.

#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

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
  std::FILE* file = std::fopen(name.c_str(), "rbe");
  if (file == nullptr) return fail(refuse(std::strerror(errno)));
  Builder pieces;
  char block[16384];
  std::size_t got = 0, total = 0;
  while ((got = std::fread(block, 1, sizeof block, file)) != 0) {
    pieces.append(block, got);
    total += got;
  }
  const int failure = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (failure != 0) return fail(refuse(std::strerror(failure)));
  if (pieces.size() != total) return fail(refuse("there is not enough host memory for it"));
  contents = pieces.finish();
  return {};
}

}  // namespace gpu::detail

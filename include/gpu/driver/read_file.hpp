#pragma once
/// \file
/// Reads a whole file, for images and sources.

#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gpu::detail {

/// All bytes of a file.
/// **Errors**: `errc::file_error` with the path and the reason.
inline result<text> read_file(const char* function, string_ref path,
                              source_location where) noexcept {
  const text name = path.to_text();
  const auto refuse = [&](const char* reason) {
    text_builder out;
    out << '"' << name << "\" could not be read: " << reason << ". Check the path.";
    return refusal(errc::file_error, function, out.finish(), where);
  };
  std::FILE* file = std::fopen(name.c_str(), "rbe");
  if (file == nullptr) return fail(refuse(std::strerror(errno)));
  text_builder contents;
  char block[16384];
  std::size_t got = 0, total = 0;
  while ((got = std::fread(block, 1, sizeof block, file)) != 0) {
    contents.append(block, got);
    total += got;
  }
  const int failure = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (failure != 0) return fail(refuse(std::strerror(failure)));
  if (contents.size() != total) return fail(refuse("there is not enough host memory for it"));
  return contents.finish();
}

}  // namespace gpu::detail

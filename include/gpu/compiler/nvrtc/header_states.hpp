#pragma once
/// \file
/// `header_states`: what is at the paths where a compilation looks for headers, before it begins.

#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/detail/text_set.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/read_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The state of one path before a compilation.
struct header_state {
  location_kind kind = location_kind::nothing;
  file_identity identity = {};
  text contents = {};  // of a regular file
};

/// The states, before a compilation, of the paths where it would look for the user's headers. If
/// one has changed afterwards, it is not known what the compiler saw.
struct header_states {
  file_clock started = {};
  text_set paths = {};
  sequence<header_state> states = {};
  text refusal = {};  // why one of them must not be opened, or empty

  const header_state* find(const text& path) const noexcept {
    const std::size_t position = paths.position(path);
    return position == 0 ? nullptr : &states[position - 1];
  }
  /// Returns the state of a file that was seen under another path, or null.
  const header_state* find_file(const file_identity& identity) const noexcept {
    for (const header_state& state : states) {
      if (state.kind == location_kind::file && state.identity.device == identity.device &&
          state.identity.inode == identity.inode) {
        return &state;
      }
    }
    return nullptr;
  }
};

/// Returns the directives that options stand for: macros, and headers that are included first.
inline text directives_of(const sequence<text>& options) {
  text_builder out;
  for (const text& option : options) {
    string_ref rest = option;
    const auto begins = [&](string_ref word) {
      if (!starts_with(rest, word)) return false;
      rest = without_front(rest, word.size());
      return true;
    };
    if (begins("--define-macro=") || begins("-D")) {
      const std::size_t at = position_of("=", rest);
      out << "#define " << rest.substring(0, at) << ' '
          << (at < rest.size() ? without_front(rest, at + 1) : string_ref("1")) << '\n';
    } else if (begins("--pre-include=")) {
      out << "#include \"" << rest << "\"\n";
    }
  }
  return required(out.finish());
}

/// Returns why the compiler must not open what is at a path, or an empty text. It would wait for
/// a writer of a FIFO.
inline text refusal_of(const text& path, const struct stat& about) {
  text_builder out;
  if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode)) {
    out << '"' << path << "\", which an #include names, is not a regular file";
  } else if (S_ISREG(about.st_mode) &&
             static_cast<std::uint64_t>(about.st_size) > most_source_bytes) {
    out << '"' << path << "\", which an #include names, holds " << about.st_size
        << " bytes, more than the " << most_source_bytes << " of the largest header";
  } else {
    return {};
  }
  out << ". Remove it or the directive.";
  return required(out.finish());
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `header_trace`: has NVRTC list the files that a compilation opens.

#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/output.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace gpu { inline namespace v1 { namespace detail {

/// Has NVRTC's front end list each header that it opens, into a file in memory. A scan of the
/// source for `#include` would not do: it would have to evaluate `#if`.
///
/// The two options are not in NVRTC's manual. So the list is trusted only if it begins and ends as
/// a complete one does.
class header_trace {
 public:
  header_trace() noexcept : file_{::memfd_create("gpu-headers", MFD_CLOEXEC)} {
    if (file_ < 0) return;
    format_into(option_, sizeof option_, "-Xcudafe=--error_output=/proc/self/fd/%d", file_);
    if (::access(path(), W_OK) != 0) close();  // /proc is not mounted
  }
  header_trace(const header_trace&) = delete;
  header_trace& operator=(const header_trace&) = delete;
  ~header_trace() { close(); }

  bool works() const noexcept { return file_ >= 0; }
  void close() noexcept {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

  /// Return the options to pass to NVRTC.
  const char* trace_option() const noexcept { return "-Xcudafe=--trace_includes"; }
  const char* output_option() const noexcept { return option_; }

  /// Sets `headers` to the files that were opened, each once, in the order of first opening.
  /// Returns whether the list is certain to be complete.
  bool read(sequence<text>& headers) const {
    headers.clear();
    text_builder pieces;
    char block[4096];
    ssize_t got = 0;
    for (off_t at = 0; (got = ::pread(file_, block, sizeof block, at)) > 0; at += got) {
      pieces.append(block, static_cast<std::size_t>(got));
    }
    const text list = required(pieces.finish());
    return got == 0 && parse(list, headers);
  }

  /// Reads a list: one line for each inclusion, indented by its depth, between two names of NVRTC's
  /// own. The second of these is missing if the compilation failed.
  static bool parse(string_ref list, sequence<text>& headers) {
    std::size_t depth = 0, line = 0;
    bool begun = false, ended = false, consistent = true;
    while (!list.empty()) {
      std::size_t size = 0, indent = 0;
      while (size < list.size() && list[size] != '\n') ++size;
      while (indent < size && list[indent] == ' ') ++indent;
      const string_ref name = list.substring(indent, size - indent);
      const std::size_t used = size < list.size() ? size + 1 : size;
      list = list.substring(used, list.size() - used);
      if (line++ == 0 && name == "__nv_nvrtc_builtin_header.h") {
        begun = true;
        continue;
      }
      if (name == "__nv_name_map" && indent == 0) {
        ended = true;
        continue;
      }
      // A name that begins with spaces or contains a line break would look like indentation.
      if (ended || name.empty() || indent > depth + 1 || (line == 2 && indent != 0)) {
        consistent = false;
      }
      depth = indent;
      add(name, headers);
    }
    return begun && ended && consistent;
  }

 private:
  const char* path() const noexcept { return option_ + sizeof "-Xcudafe=--error_output=" - 1; }

  static void add(string_ref name, sequence<text>& headers) {
    for (const text& known : headers) {
      if (string_ref(known) == name) return;
    }
    headers.push_back(required(name.to_text()));
  }

  int file_;
  char option_[64];
};

}}}  // namespace gpu::v1::detail

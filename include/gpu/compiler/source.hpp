#pragma once
/// \file
/// `source`: the text of a program that consists of several parts.

#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/read_file.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// One part of a source.
struct source_part {
  text name;
  text contents;
  std::size_t first_line;
};

/// The text of a program that is generated, or comes from several files. Messages name a part, and
/// the line in that part:
///
///     gpu::compile(gpu::source()
///                      .part("options.cuh", "#define TILE 16\n")
///                      .part("stencil.cu", stencil));
///
/// A part that is written in a C++ file can use that file's name and line:
///
///     gpu::source().part(__FILE__, __LINE__ + 1, R"(
///     extern "C" __global__ void f() {}
///     )");
class source {
 public:
  source() noexcept = default;

  /// Adds a part. Messages call it `name`, and number its first line `first_line`. Each part begins
  /// on a new line.
  source& part(string_ref name, string_ref contents) & { return part(name, 1, contents); }
  source&& part(string_ref name, string_ref contents) && {
    return std::move(part(name, 1, contents));
  }
  source& part(string_ref name, std::size_t first_line, string_ref contents) & {
    contents = detail::without_byte_order_mark(contents);
    detail::text_builder out;
    out << "#line " << first_line << " \"";
    for (const char c : name) {
      if (c == '"' || c == '\\') out << '\\';
      out << (c == '\n' || c == '\0' ? ' ' : c);
    }
    out << "\"\n" << contents;
    if (contents.empty() || contents[contents.size() - 1] != '\n') out << '\n';
    source_part added{detail::required(name.to_text()), detail::required(contents.to_text()),
                      first_line};
    pieces_.push_back(detail::required(out.finish()));
    parts_.push_back(std::move(added));
    return *this;
  }
  source&& part(string_ref name, std::size_t first_line, string_ref contents) && {
    return std::move(part(name, first_line, contents));
  }

  /// Adds a file as a part, named by its path. `#include "..."` in it searches the same
  /// folders as in the rest of the program.
  /// **Errors**: `errc::file_error` with the path and the reason, such as one that is not a regular
  /// file or holds more than 256 MiB; the source is unchanged.
  result<> add_file(string_ref path, source_location where = source_location::current()) {
    text contents;
    GPU_TRY(detail::read_file("gpu::source::add_file", path, contents, where,
                              detail::most_source_bytes));
    part(path, contents);
    return {};
  }

  /// Returns the whole text, with `#line` directives before the parts.
  text whole() const {
    detail::text_builder out;
    for (const text& piece : pieces_) out << piece;
    return detail::required(out.finish());
  }
  const sequence<source_part>& parts() const noexcept { return parts_; }

 private:
  sequence<text> pieces_;
  sequence<source_part> parts_;
};

}}  // namespace gpu::v1

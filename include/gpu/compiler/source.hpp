#pragma once
/// \file
/// `source`: the text of a program, put together from parts.

#include <gpu/core/string_ref.hpp>
#include <gpu/system/read_file.hpp>

#include <gpu/core/sequence.hpp>

namespace gpu::inline v0 {

/// One part of a source.
struct source_part {
  text name;
  text contents;
  std::size_t first_line;
};

/// The text of a program that is generated, or comes from several places. Messages about it name
/// the part that they are about, and the line in that part:
///
///     gpu::compile(gpu::source()
///                      .part("options.cuh", "#define TILE 16\n")
///                      .part("stencil.cu", stencil));
///
/// A part that stands in a C++ file can give that file's name and line, and messages point there:
///
///     gpu::source().part(__FILE__, __LINE__ + 1, R"(
///     extern "C" __global__ void f() {}
///     )");
class source {
 public:
  source() noexcept = default;

  /// Adds a part, which is called `name` in messages; its first line has the number `first_line`.
  /// Parts begin on a line of their own.
  source& part(string_ref name, string_ref contents) & { return part(name, 1, contents); }
  source&& part(string_ref name, string_ref contents) && {
    return detail::move(part(name, 1, contents));
  }
  source& part(string_ref name, std::size_t first_line, string_ref contents) & {
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
    parts_.push_back(detail::move(added));
    return *this;
  }
  source&& part(string_ref name, std::size_t first_line, string_ref contents) && {
    return detail::move(part(name, first_line, contents));
  }

  /// Adds a file as a part, under its path. `#include "..."` in it looks where it does in the
  /// program as a whole.
  /// **Errors**: `errc::file_error` with the path and the reason; the source stays as it was.
  result<> add_file(string_ref path, source_location where = source_location::current()) {
    text contents;
    GPU_TRY(detail::read_file("gpu::source::add_file", path, contents, where));
    part(path, contents);
    return {};
  }

  /// The whole text, with the `#line` directives between the parts.
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

}  // namespace gpu::inline v0

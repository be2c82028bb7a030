#pragma once
/// \file
/// `program`: the source of device code, with the headers that belong to it.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/source.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/read_file.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// A header given as text. `#include <name>` and `#include "name"` find it before any file.
struct program_header {
  option_text name;
  option_text source;
};

/// The source of device code. A string is a program without headers:
///
///     gpu::compile(source);
///     gpu::compile(gpu::program(source).header("tile.h", tile).instance("axpy<float>"));
class program {
 public:
  /// Makes a program of one text. `name` is its file name in messages. A byte order mark at the
  /// start is skipped, as in parts of sources and in headers.
  template <class String>
    requires std::is_convertible_v<const String&, string_ref>
  program(const String& source, string_ref name = "program.cu")
      : source_{detail::required(detail::without_byte_order_mark(string_ref(source)).to_text())},
        name_{detail::required(name.to_text())} {}

  /// Makes a program of parts. `name` is used in messages that are not about one part, such as the
  /// last line of a log.
  template <class Source>
    requires std::same_as<Source, gpu::source>
  program(const Source& source, string_ref name = "program.cu")
      : source_{source.whole()}, name_{detail::required(name.to_text())}, parts_{source.parts()} {}

  /// Reads a program from a file. The path is its name in messages, and `#include "..."` also
  /// searches the file's folder.
  /// **Errors**: `errc::file_error` with the path and the reason, such as one that is not a regular
  /// file or holds more than 256 MiB.
  static result<program> from_file(string_ref path,
                                   source_location where = source_location::current()) {
    text source;
    GPU_TRY(detail::read_file("gpu::program::from_file", path, source, where,
                              detail::most_source_bytes));
    return program(source, path);
  }

  /// Adds a header.
  template <class Name, class Text> program& header(const Name& name, const Text& source) & {
    headers_.push_back({name, detail::without_byte_order_mark(string_ref(source))});
    return *this;
  }
  template <class Name, class Text> program&& header(const Name& name, const Text& source) && {
    return std::move(header(name, source));
  }

  /// Instantiates a kernel template, named as in C++: `axpy<float>`. The module finds it by the
  /// same string. Variables and kernels that are not `extern "C"` can be named the same way.
  template <class Expression> program& instance(const Expression& expression) & {
    instances_.push_back(expression);
    return *this;
  }
  template <class Expression> program&& instance(const Expression& expression) && {
    return std::move(instance(expression));
  }

  const text& source() const noexcept { return source_; }
  const text& name() const noexcept { return name_; }
  const sequence<program_header>& headers() const noexcept { return headers_; }
  const sequence<option_text>& instances() const noexcept { return instances_; }
  /// Returns the parts of the source; empty if it is one text.
  const sequence<source_part>& parts() const noexcept { return parts_; }

 private:
  text source_;
  text name_;
  sequence<program_header> headers_;
  sequence<option_text> instances_;
  sequence<source_part> parts_;
};

}}  // namespace gpu::v1

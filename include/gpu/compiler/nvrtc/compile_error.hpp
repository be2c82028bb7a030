#pragma once
/// \file
/// Turns a compiler's log into an error: the first mistake with its source line, what may have
/// caused it, and then the log.

#include <gpu/compiler/diagnostics.hpp>
#include <gpu/compiler/nvrtc/missing_header.hpp>
#include <gpu/compiler/nvrtc/mistake_cause.hpp>
#include <gpu/compiler/options/compile_request.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/source.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns a line of a source, counted from 1; empty if the source is shorter.
inline string_ref line_of(string_ref source, std::size_t number) noexcept {
  string_ref line;
  for (std::size_t i = 0; i < number; ++i) {
    if (source.empty()) return {};
    line = next_line(source);
  }
  return line;
}

/// Returns a line of one of the program's files; empty if the program does not have it as text.
inline string_ref line_of(const program& p, string_ref file, std::size_t number) noexcept {
  for (const source_part& part : p.parts()) {
    if (file != string_ref(part.name) || number < part.first_line) continue;
    const string_ref line = line_of(part.contents, number - part.first_line + 1);
    if (!line.empty()) return line;
  }
  for (const program_header& header : p.headers()) {
    if (file == string_ref(header.name)) return line_of(header.source, number);
  }
  if (p.parts().empty() && file == string_ref(p.name())) return line_of(p.source(), number);
  return {};
}

inline bool continues_character(char c) noexcept {  // of UTF-8
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Writes a source line with its number, and beneath it a caret at the column. Shortens a long line
/// to the part around the column.
inline void show_line(text_builder& out, std::size_t number, string_ref line, std::size_t column) {
  constexpr std::size_t longest = 200, before = 120;
  text_builder margin;
  margin << "  " << number;
  const std::size_t width = margin.size();
  if (column > line.size() + 1) column = 0;
  bool cut_front = false;
  if (line.size() > longest && column > before) {
    std::size_t front = column - before;
    while (front < column - 1 && continues_character(line[front])) ++front;
    line = without_front(line, front);
    column -= front;
    cut_front = true;
  }
  const bool cut_back = line.size() > longest;
  if (cut_back) {
    std::size_t size = longest;
    while (size > column && continues_character(line[size])) --size;
    line = line.substring(0, size);
  }
  out << margin.finish() << " | " << (cut_front ? "..." : "") << line << (cut_back ? "..." : "")
      << '\n';
  if (column == 0) return;
  for (std::size_t i = 0; i < width; ++i) out << ' ';
  out << " | " << (cut_front ? "   " : "");
  for (const char c : line.substring(0, column - 1)) {
    if (!continues_character(c)) out << (c == '\t' ? '\t' : ' ');
  }
  out << "^\n";
}

inline void write_options(text_builder& out, const sequence<text>& options) {
  message_list list(out, " ");
  out << ' ';
  for (const text& option : options) {
    if (list.add()) out << escaped{option};
  }
  list.finish();
}

/// Returns the first error of a log, or an empty message.
inline logged_message first_mistake(string_ref log) noexcept {
  logged_message found;
  while (next_message(log, found)) {
    if (found.severity >= severity::error) return found;
  }
  return {};
}

/// Writes a log up to its twentieth error, with at most as many lines beneath each message and as
/// many warnings.
inline void write_log(text_builder& out, string_ref log) {
  constexpr std::size_t most = 20;
  std::size_t errors = 0, others = 0;
  logged_message found;
  const auto write_lines = [&](const char* first) {
    string_ref lines(first, static_cast<std::size_t>(log.begin() - first));
    for (std::size_t written = 0; !lines.empty() && written < most; ++written) {
      const string_ref line = next_line(lines);
      out << line.substring(0, line.size() < 2000 ? line.size() : 2000) << '\n';
    }
    if (!lines.empty()) out << "      ...\n";
  };
  const char* first = log.begin();
  for (; next_message(log, found); first = log.begin()) {
    if (++(found.severity >= severity::error ? errors : others) <= most) write_lines(first);
  }
  if (errors > most || others > most) {
    out << "... and ";
    write_thousands(out, (errors > most ? errors - most : 0) + (others > most ? others - most : 0));
    out << " more messages\n";
  }
  write_lines(first);  // such as the number of errors
}

/// Returns `errc::compile_failed`, whose first value is the line of the first mistake.
inline cuda_error compile_error(const compile_request& request, const sequence<text>& options,
                                const text& log, source_location where) {
  const logged_message mistake = first_mistake(log);
  text_builder out;
  if (!mistake.message.empty()) {
    explain_cause(out, request.source, mistake);
    if (mistake.line != 0) out << escaped{mistake.file} << ':' << mistake.line << ": ";
    out << mistake.message << '\n';
    string_ref line = line_of(request.source, mistake.file, mistake.line);
    if (line.empty()) line = mistake.source_line;
    if (mistake.line != 0 && !line.empty()) show_line(out, mistake.line, line, mistake.column);
    const string_ref header = missing_header(mistake.message);
    if (!header.empty()) explain_missing_header(out, request, header);
    if (mistake.line != 0) explain_foreign_header(out, request, mistake.file);
  }
  out << "The options were";
  write_options(out, options);
  out << ".\n" << log_headline << '\n';
  write_log(out, log);
  if (log.empty()) out << "NVRTC gave no log.\n";
  return refusal(errc::compile_failed, "gpu::compile", out.finish(), where, mistake.line);
}

/// Returns the option that NVRTC's log calls unrecognized, or null. The log may leave out the
/// value, and one option may be the beginning of another.
inline const text* unrecognized_option(const sequence<text>& options, string_ref log) noexcept {
  const text* named = nullptr;
  std::size_t most = 0;
  if (position_of("unrecognized option", log) == log.size()) return nullptr;
  for (const text& option : options) {
    const string_ref whole = option;
    const string_ref name = whole.substring(0, position_of("=", whole));
    if (name.size() <= most || position_of(name, log) == log.size()) continue;
    named = &option;
    most = name.size();
  }
  return named;
}

/// Explains a failed compilation: `errc::compile_failed` for a mistake in the source,
/// `errc::not_supported` for an option that this NVRTC does not have, else NVRTC's own error.
inline cuda_error explain_compilation_error(const cuda_error& error, const compile_request& request,
                                            const sequence<text>& options, const text& log,
                                            source_location where) {
  constexpr int compilation = 6, invalid_option = 5, bad_name_expression = 10;
  if (error.domain() != error_domain::nvrtc) return error;
  if (error.code() == compilation || error.code() == bad_name_expression) {
    return compile_error(request, options, log, where);
  }
  text_builder out;
  if (error.code() == invalid_option) {
    int major = 0, minor = 0;
    (void)library_call<&nvrtc::entry_points::version>(where, &major, &minor).has_value();
    out << "NVRTC " << major << '.' << minor;
    if (const text* option = unrecognized_option(options, log)) {
      out << " has no option " << *option << ". Leave it out, or install a newer CUDA toolkit.";
      return refusal(errc::not_supported, "gpu::compile", out.finish(), where);
    }
    out << " rejects one of the options";
    write_options(out, options);
    out << ".\n";
  }
  write_log(out, log);
  return record_error(cuda_error(error).with_details(out.finish()));
}

}}}  // namespace gpu::v1::detail

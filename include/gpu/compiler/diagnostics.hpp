#pragma once
/// \file
/// `diagnostics`: the compiler's messages one by one, with file, line and column.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <initializer_list>

namespace gpu { inline namespace v1 {

/// The severity of a compiler's message.
enum class severity : unsigned char {
  remark,
  note,     ///< adds to the message before it
  warning,  ///< the program was compiled
  error,    ///< the program was not compiled
  fatal,    ///< the program was not compiled, and the compiler stopped at once
};

/// One message of NVRTC or of the assembler behind it.
struct diagnostic {
  gpu::severity severity = {};
  text file;               ///< the program, a part of it, or a header; empty if none is named
  std::size_t line = 0;    ///< counted from 1; 0 if none is named
  std::size_t column = 0;  ///< in bytes, counted from 1; 0 if it is not known
  int number = 0;          ///< 177 for `#177-D`, as --diag-suppress takes it; 0 without one
  text message;            ///< one line
  text source_line;        ///< the line of the source; empty if the compiler does not show it
  text notes;              ///< the lines beneath, such as the instantiations that led here
};

namespace detail {

/// Returns whether a line has only a `^`, which points into the line above.
inline bool is_caret_line(string_ref line) noexcept {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '^') return i + 1 == line.size();
    if (line[i] != ' ' && line[i] != '\t') return false;
  }
  return false;
}

/// A message of a log; its strings point into the log.
struct logged_message {
  gpu::severity severity = {};
  string_ref file;
  std::size_t line = 0;
  std::size_t column = 0;
  int number = 0;
  string_ref message;
  string_ref source_line;
  string_ref notes;
};

/// Reads the part after file and line: ` error: sentence` or ` warning #177-D: sentence`, in which
/// the assembler writes more spaces.
inline bool read_kind_and_sentence(string_ref rest, logged_message& found) noexcept {
  struct kind {
    const char* name;
    gpu::severity severity;
  };
  constexpr kind kinds[] = {{"catastrophic error", severity::fatal},
                            {"internal error", severity::fatal},
                            {"error", severity::error},
                            {"fatal", severity::fatal},
                            {"warning", severity::warning},
                            {"remark", severity::remark},
                            {"note", severity::note}};
  rest = without_blanks(rest);
  for (const kind& candidate : kinds) {
    const string_ref name = candidate.name;
    if (!starts_with(rest, name)) continue;
    rest = without_front(rest, name.size());
    rest = without_blanks(rest);
    int number = 0;
    if (!rest.empty() && rest[0] == '#') {
      std::size_t at = 1;
      for (; at < rest.size() && is_digit(rest[at]) && number < 1000000; ++at) {
        number = number * 10 + (rest[at] - '0');
      }
      while (at < rest.size() && rest[at] != ':') ++at;
      rest = without_front(rest, at);
    }
    if (rest.empty() || rest[0] != ':') return false;
    rest = without_front(rest, 1);
    if (!rest.empty() && rest[0] == ' ') rest = without_front(rest, 1);
    found.severity = candidate.severity;
    found.number = number;
    found.message = rest;
    return true;
  }
  return false;
}

/// Reads the first line of a message, in any of these forms:
///     file(12): error: ...             At end of source: error: ...
///     nvrtc: error: ...                Command-line error: ...
///     ptxas fatal   : ...              ptxas file, line 21; error   : ...
inline bool read_first_line(string_ref line, logged_message& found) noexcept {
  found = {};
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return false;
  if (starts_with(line, "Command-line ")) {
    if (!read_kind_and_sentence(without_front(line, 13), found)) return false;
    if (found.severity == severity::error) found.severity = severity::fatal;
    return true;
  }
  if (starts_with(line, "ptxas ")) {
    const std::size_t at = position_of("; ", line);
    return read_kind_and_sentence(without_front(line, at != line.size() ? at + 2 : 6), found);
  }
  for (const char* start : {"At end of source: ", "nvrtc: "}) {
    if (starts_with(line, start)) {
      return read_kind_and_sentence(without_front(line, string_ref(start).size()), found);
    }
  }
  // The file's name may itself contain parentheses and digits.
  for (std::size_t close = 0; close + 2 < line.size(); ++close) {
    if (line[close] != ')' || line[close + 1] != ':') continue;
    std::size_t open = close;
    while (open > 0 && is_digit(line[open - 1])) --open;
    if (open == close || open < 2 || line[open - 1] != '(') continue;
    if (!read_kind_and_sentence(without_front(line, close + 2), found)) continue;
    found.file = line.substring(0, open - 1);
    for (std::size_t i = open; i < close; ++i) {
      found.line = found.line * 10 + static_cast<std::size_t>(line[i] - '0');
    }
    return true;
  }
  return false;
}

/// Takes the next message off the front of a log. Returns false at the end.
inline bool next_message(string_ref& log, logged_message& found) noexcept {
  do {
    if (log.empty()) return false;
  } while (!read_first_line(next_line(log), found));
  // The lines beneath are the source line and the caret, indented by two, and notes, indented by
  // more.
  const string_ref beneath = log;
  string_ref before;
  while (!log.empty() && (log[0] == ' ' || log[0] == '\t')) {
    const char* start = log.data();
    const string_ref line = next_line(log);
    if (found.column == 0 && is_caret_line(line) && line.size() > 2) {
      found.column = line.size() - 2;
      if (before.size() > 2) found.source_line = without_front(before, 2);
      // Notes are above the source line or beneath the caret, mostly beneath.
      const char* above_end = before.empty() ? start : before.data();
      found.notes = {beneath.data(), static_cast<std::size_t>(above_end - beneath.data())};
    }
    before = line;
  }
  const auto size_since = [&](const char* from) {
    return static_cast<std::size_t>(log.data() - from);
  };
  if (found.column == 0) {
    found.notes = {beneath.data(), size_since(beneath.data())};
  } else if (found.notes.empty()) {
    string_ref rest(beneath.data(), size_since(beneath.data()));
    while (!rest.empty() && !is_caret_line(next_line(rest))) {
    }
    found.notes = rest;
  }
  return true;
}

/// Returns lines without their indentation, without empty ones, and without a final newline.
inline text without_indentation(string_ref lines) {
  text_builder out;
  while (!lines.empty()) {
    string_ref line = next_line(lines);
    line = without_blanks(line);
    if (line.empty()) continue;
    if (out.size() != 0) out << '\n';
    out << line;
  }
  return out.finish();
}

/// Reads all messages of a log.
inline sequence<diagnostic> read_diagnostics(string_ref log) {
  sequence<diagnostic> list;
  logged_message found;
  while (next_message(log, found)) {
    list.push_back({found.severity, required(found.file.to_text()), found.line, found.column,
                    found.number, required(found.message.to_text()),
                    required(found.source_line.to_text()),
                    required(without_indentation(found.notes))});
  }
  return list;
}

/// The line before the log in the details of `errc::compile_failed`.
inline constexpr const char* log_headline = "The log:";

}  // namespace detail

/// Returns the compiler's messages in an error of `compile`; empty for other errors.
inline sequence<diagnostic> diagnostics(const cuda_error& error) {
  string_ref rest = error.details();
  while (!rest.empty()) {
    if (detail::next_line(rest) == detail::log_headline) {
      return detail::read_diagnostics(rest);
    }
  }
  return {};
}

}}  // namespace gpu::v1

#pragma once
/// \file
/// Makes an error of a compiler's log: the first mistake with its source line up front, and then
/// the whole.

#include <gpu/compiler/program.hpp>
#include <gpu/core/result.hpp>

namespace gpu::detail {

/// The first error of a log.
struct first_mistake {
  string_ref file;
  std::size_t line = 0;  ///< 0 where the log names none
  string_ref sentence;
  string_ref caret;  ///< the line of the log that points at the place, or empty
};

/// Takes the next line off the front of `rest`.
inline string_ref next_line(string_ref& rest) noexcept {
  std::size_t size = 0;
  while (size < rest.size() && rest[size] != '\n') ++size;
  const string_ref line = rest.substring(0, size);
  const std::size_t used = size < rest.size() ? size + 1 : size;
  rest = rest.substring(used, rest.size() - used);
  return line;
}

/// Where `part` begins in `whole`, or `whole.size()`.
inline std::size_t position_of(string_ref part, string_ref whole) noexcept {
  for (std::size_t i = 0; i + part.size() <= whole.size(); ++i) {
    if (whole.substring(i, part.size()) == part) return i;
  }
  return whole.size();
}

inline bool points_at_place(string_ref line) noexcept {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '^') return i + 1 == line.size();
    if (line[i] != ' ' && line[i] != '\t') return false;
  }
  return false;
}

/// Reads `file(line): error: sentence`, then lines of which one has nothing but a `^`.
inline first_mistake find_first_mistake(string_ref log) noexcept {
  first_mistake found;
  while (!log.empty()) {
    const string_ref line = next_line(log);
    std::size_t colon = line.size();
    // "error:", "error #20:" and "catastrophic error:"
    for (const char* kind : {": error", ": catastrophic error"}) {
      const std::size_t at = position_of(kind, line);
      if (at < colon) colon = at;
    }
    if (colon == line.size() || colon == 0 || line[colon - 1] != ')') continue;
    std::size_t open = colon;
    while (open > 0 && line[open] != '(') --open;
    found.file = line.substring(0, open);
    for (std::size_t i = open + 1; i + 1 < colon && line[i] >= '0' && line[i] <= '9'; ++i) {
      found.line = found.line * 10 + static_cast<std::size_t>(line[i] - '0');
    }
    std::size_t sentence = colon + 1;
    while (sentence < line.size() && line[sentence] != ':') ++sentence;
    while (sentence < line.size() && (line[sentence] == ':' || line[sentence] == ' ')) ++sentence;
    found.sentence = line.substring(sentence, line.size() - sentence);
    for (int i = 0; i < 8 && !log.empty(); ++i) {
      const string_ref next = next_line(log);
      if (!points_at_place(next)) continue;
      found.caret = next;
      break;
    }
    return found;
  }
  return found;
}

/// A line of a source, counted from 1; empty where there is none.
inline string_ref line_of(string_ref source, std::size_t number) noexcept {
  string_ref line;
  for (std::size_t i = 0; i < number; ++i) {
    if (source.empty()) return {};
    line = next_line(source);
  }
  return line;
}

/// The text of one of the program's files, as far as the program has it as text.
inline string_ref source_of(const program& p, string_ref file) noexcept {
  if (file == string_ref(p.name())) return p.source();
  for (const program_header& header : p.headers()) {
    if (file == string_ref(header.name)) return header.source;
  }
  return {};
}

/// `errc::compile_failed`; the values are the line of the first mistake and nothing.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error compile_error(const program& p, const text& log,
                                                             source_location where) noexcept {
  const first_mistake mistake = find_first_mistake(log);
  Builder out;
  if (mistake.line != 0) {
    out << mistake.file << ':' << mistake.line << ": " << mistake.sentence << '\n';
    const string_ref line = line_of(source_of(p, mistake.file), mistake.line);
    if (!line.empty()) {
      Builder number;
      number << mistake.line;
      out << "  " << number.finish() << " | " << line << '\n';
      if (mistake.caret.size() > 2) {
        // The log indents by two.
        for (std::size_t n = mistake.line; n != 0; n /= 10) out << ' ';
        out << "   | " << mistake.caret.substring(2, mistake.caret.size() - 2) << '\n';
      }
    }
    out << "The whole log:\n";
  }
  out << log;
  if (log.empty()) out << "NVRTC gave no log.";
  if (!log.empty() && log.end()[-1] != '\n') out << '\n';
  return refusal(errc::compile_failed, "gpu::compile", out.finish(), where, mistake.line);
}

}  // namespace gpu::detail

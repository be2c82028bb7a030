#pragma once
/// \file
/// What a failed link is told as: the names first, in the words of the source, then the log.

#include <gpu/compiler/nvrtc/compile_error.hpp>
#include <gpu/core/detail/demangled.hpp>
#include <gpu/core/result.hpp>

#include <gpu/core/sequence.hpp>

namespace gpu::inline v0::detail {

/// `add_one(int) (_Z7add_onei)`, or the name alone where it is not mangled.
template <class Builder> inline void write_symbol(Builder& out, string_ref name) {
  const text mangled = name.to_text();
  const text readable = demangled(mangled.c_str());
  if (readable.empty()) {
    out << mangled;
  } else {
    out << readable << " (" << mangled << ')';
  }
}

/// What stands in the first pair of quotes from `at` on; `at` moves behind it.
inline string_ref quoted(string_ref line, std::size_t& at) noexcept {
  while (at < line.size() && line[at] != '\'') ++at;
  const std::size_t first = at < line.size() ? at + 1 : at;
  at = first;
  while (at < line.size() && line[at] != '\'') ++at;
  const string_ref inside = line.substring(first, at - first);
  if (at < line.size()) ++at;
  return inside;
}

/// Writes a sentence for each name that the log calls undefined; tells how many those are.
template <class Builder> inline std::size_t write_undefined(Builder& out, string_ref log) {
  std::size_t count = 0;
  while (!log.empty()) {
    const string_ref line = next_line(log);
    std::size_t at = position_of("Undefined reference to ", line);
    if (at == line.size()) at = position_of("Unresolved extern ", line);
    if (at == line.size()) continue;
    const string_ref name = quoted(line, at), input = quoted(line, at);
    if (name.empty()) continue;
    write_symbol(out, name);
    out << " is undefined";
    if (!input.empty()) out << "; " << input << " asks for it";
    out << ".\n";
    ++count;
  }
  return count;
}

/// Whether a log speaks of an error: nvJitLink 13.0 reports success after some.
inline bool tells_of_error(string_ref log) noexcept {
  while (!log.empty()) {
    const string_ref line = next_line(log);
    const bool is_error =
        line.size() >= 5 && (line.substring(0, 5) == "error" || line.substring(0, 5) == "ERROR");
    if (is_error || position_of(" fatal ", line) != line.size()) return true;
  }
  return false;
}

/// `errc::link_failed` with the log, or the linker's own error where the log says nothing.
[[gnu::cold, gnu::noinline]] inline cuda_error link_error(const cuda_error* error, string_ref log,
                                                          source_location where) noexcept {
  text_builder out;
  const std::size_t undefined = write_undefined(out, log);
  if (undefined != 0) {
    out << "Define it in one of the inputs, and compile that with relocatable = true or "
           "link_time_optimization = true: else the compiler keeps its functions and variables to "
           "itself.\n";
  }
  if (undefined == 0 && error != nullptr) {
    if (!log.empty()) out << "the log:\n" << log;
    if (!log.empty() && log[log.size() - 1] != '\n') out << '\n';
    return noted_error(cuda_error(*error).with_details(out.finish()));
  }
  out << "The whole log:\n" << log;
  if (!log.empty() && log[log.size() - 1] != '\n') out << '\n';
  return refusal(errc::link_failed, "gpu::link", out.finish(), where, undefined);
}

}  // namespace gpu::inline v0::detail

#pragma once
/// \file
/// Turns a linker's log into an error: the undefined names first, demangled, then the log.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Writes a name as in `add_one(int) (_Z7add_onei)`, or the name alone if it is not mangled.
inline void write_symbol(text_builder& out, string_ref name) {
  const text mangled = name.to_text();
  const text readable = demangled(mangled.c_str());
  if (readable.empty()) {
    out << escaped{mangled};
  } else {
    out << escaped{readable} << " (" << escaped{mangled} << ')';
  }
}

/// Returns the text in the first pair of quotes from `at` on, and moves `at` behind it.
inline string_ref quoted(string_ref line, std::size_t& at) noexcept {
  while (at < line.size() && line[at] != '\'') ++at;
  const std::size_t first = at < line.size() ? at + 1 : at;
  at = first;
  while (at < line.size() && line[at] != '\'') ++at;
  const string_ref inside = line.substring(first, at - first);
  if (at < line.size()) ++at;
  return inside;
}

/// Writes a sentence for each name that the log calls undefined. Returns how many there are.
inline std::size_t write_undefined(text_builder& out, string_ref log) {
  message_list list(out, "");
  while (!log.empty()) {
    const string_ref line = next_line(log);
    std::size_t at = position_of("Undefined reference to ", line);
    if (at == line.size()) at = position_of("Unresolved extern ", line);
    if (at == line.size()) continue;
    const string_ref name = quoted(line, at), input = quoted(line, at);
    if (name.empty() || !list.add()) continue;
    write_symbol(out, name);
    out << " is undefined";
    if (!input.empty()) out << "; " << input << " refers to it";
    out << ".\n";
  }
  list.finish();
  if (list.count() > message_list::most) out << ".\n";
  return list.count();
}

/// Returns whether a log has an error: nvJitLink 13.0 reports success after some.
inline bool has_error(string_ref log) noexcept {
  while (!log.empty()) {
    const string_ref line = next_line(log);
    const bool is_error =
        line.size() >= 5 && (line.substring(0, 5) == "error" || line.substring(0, 5) == "ERROR");
    if (is_error || position_of(" fatal ", line) != line.size()) return true;
  }
  return false;
}

/// Explains a failed link: `errc::link_failed` with the log if names are undefined or `error` is
/// null, else that error.
inline cuda_error explain_link_error(const cuda_error* error, string_ref log,
                                     source_location where) noexcept {
  text_builder out;
  const std::size_t undefined = write_undefined(out, log);
  if (undefined != 0) {
    out << "Define it in one of the inputs, and compile that with relocatable = true or "
           "link_time_optimization = true: otherwise its functions and variables are not visible "
           "to "
           "other inputs.\n";
  }
  if (undefined == 0 && error != nullptr) {
    if (!log.empty()) out << "the log:\n" << log;
    if (!log.empty() && log[log.size() - 1] != '\n') out << '\n';
    return record_error(cuda_error(*error).with_details(out.finish()));
  }
  out << "The log:\n" << log;
  if (!log.empty() && log[log.size() - 1] != '\n') out << '\n';
  return refusal(errc::link_failed, "gpu::link", out.finish(), where, undefined);
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `kernel_resources`: the registers and the memory that a kernel uses, as the assembler reports
/// them.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The resources of one kernel, known without loading it. Sizes are in bytes, and per thread unless
/// stated otherwise.
struct kernel_resources {
  text kernel;                   ///< its name in the module
  int registers = 0;             ///< of 32 bits
  int barriers = 0;              ///< per block
  std::size_t shared = 0;        ///< per block, without dynamic shared memory
  std::size_t constant = 0;      ///< per kernel, with its parameters; 0 since CUDA 13
  std::size_t local = 0;         ///< the stack frame: arrays, and spilled registers
  std::size_t stack = 0;         ///< with the functions that it calls; 0 if not known
  std::size_t spill_stores = 0;  ///< written to local memory for lack of registers
  std::size_t spill_loads = 0;   ///< read back
};

namespace detail {

/// Returns the number before `unit` in a line such as `Used 8 registers, 400 bytes smem`, or 0.
inline std::size_t figure_before(string_ref unit, string_ref line) noexcept {
  const std::size_t end = position_of(unit, line);
  if (end == line.size()) return 0;
  std::size_t begin = end;
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  std::size_t number = 0;
  for (; begin < end; ++begin) number = number * 10 + static_cast<std::size_t>(line[begin] - '0');
  return number;
}

/// Returns whether a line is one of the assembler's figures, and sets `rest` to the line without
/// its prefix.
inline bool is_figure_line(string_ref line, string_ref& rest) noexcept {
  if (position_of(" bytes stack frame", line) != line.size()) {
    rest = line;
    return true;
  }
  if (!starts_with(line, "ptxas info")) return false;
  const std::size_t colon = position_of(": ", line);
  if (colon == line.size()) return false;
  rest = without_front(line, colon + 2);
  if (!rest.empty() && is_digit(rest[0])) return position_of(" bytes gmem", rest) != rest.size();
  for (const char* start :
       {"Compiling entry function '", "Function properties for ", "Used ", "Compile time = "}) {
    if (starts_with(rest, start)) return true;
  }
  return false;
}

/// Separates the assembler's figures from the messages for the user. Drops the times, so that
/// compiling a program twice gives the same text.
inline void split_log(string_ref whole, text& log, text& ptxas_log) {
  text_builder for_user, figures;
  while (!whole.empty()) {
    const string_ref before = whole;
    string_ref rest;
    if (!is_figure_line(next_line(whole), rest)) {
      for_user << before.substring(0, before.size() - whole.size());
    } else if (!starts_with(rest, "Compile time")) {
      figures << before.substring(0, before.size() - whole.size());
    }
  }
  log = required(for_user.finish());
  ptxas_log = required(figures.finish());
}

/// Reads the figures that `split_log` separated. A kernel's lines are in this order, with those of
/// other functions between them:
///     ptxas info    : Compiling entry function 'f' for 'sm_90'
///     ptxas info    : Function properties for f
///     ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
///     ptxas info    : Used 8 registers, used 0 barriers, 400 bytes smem
inline sequence<kernel_resources> read_resources(string_ref ptxas_log) {
  sequence<kernel_resources> list;
  string_ref function;
  while (!ptxas_log.empty()) {
    const string_ref line = next_line(ptxas_log);
    string_ref rest;
    if (!is_figure_line(line, rest)) continue;
    if (starts_with(rest, "Compiling entry function '")) {
      rest = without_front(rest, 26);
      std::size_t size = 0;
      while (size < rest.size() && rest[size] != '\'') ++size;
      list.push_back({});
      list.back().kernel = required(rest.substring(0, size).to_text());
    } else if (starts_with(rest, "Function properties for ")) {
      function = without_front(rest, 24);
    } else if (list.empty()) {
      continue;
    } else if (kernel_resources& last = list.back(); starts_with(rest, "Used ")) {
      last.registers = static_cast<int>(figure_before(" registers", rest));
      last.barriers = static_cast<int>(figure_before(" barriers", rest));
      last.shared = figure_before(" bytes smem", rest);
      last.stack = figure_before(" bytes cumulative stack size", rest);
      for (std::size_t at; (at = position_of(" bytes cmem[", rest)) != rest.size();) {
        last.constant += figure_before(" bytes cmem[", rest);
        rest = without_front(rest, at + 1);
      }
    } else if (function == string_ref(last.kernel)) {
      last.local = figure_before(" bytes stack frame", rest);
      last.spill_stores = figure_before(" bytes spill stores", rest);
      last.spill_loads = figure_before(" bytes spill loads", rest);
    }
  }
  return list;
}

}  // namespace detail
}}  // namespace gpu::v1

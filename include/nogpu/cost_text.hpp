#pragma once
/// \file
/// `to_table`: the costs of kernels as text to read.

#include <nogpu/kernel_costs.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace nogpu { inline namespace v1 {

namespace detail {

inline std::string fixed_number(double value, int digits) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%.*f", digits, value);
  return out.data();
}

/// Returns "1 launch" or "2 launches".
inline std::string counted_noun(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

/// Returns "8 global load, 4 single precision", the kind with most instructions first.
inline std::string mix_text(const cost_counts& counts) {
  std::vector<instruction_kind> kinds;
  for (std::size_t i = 0; i < instruction_kinds; ++i)
    if (counts.by_kind[i] != 0) kinds.push_back(static_cast<instruction_kind>(i));
  std::stable_sort(kinds.begin(), kinds.end(), [&](instruction_kind a, instruction_kind b) {
    return counts.count_of(a) > counts.count_of(b);
  });
  std::string out;
  for (const instruction_kind kind : kinds)
    out += (out.empty() ? "" : ", ") + std::to_string(counts.count_of(kind)) + ' ' + name_of(kind);
  return out;
}

/// The columns of the table; those from the first text on are to the left.
inline constexpr std::size_t cost_columns = 11, first_text_column = 9;
using cost_row = std::array<std::string, cost_columns>;

inline cost_row row_of(const line_costs& line, std::uint64_t all) {
  const cost_counts& counts = line.counts;
  cost_row row;
  row[0] = std::to_string(counts.instructions());
  row[1] =
      fixed_number(100 * static_cast<double>(counts.instructions()) / static_cast<double>(all), 1);
  row[2] = fixed_number(counts.mean_lanes(), 1);
  const auto pair = [&](std::size_t at, bool any, std::uint64_t first, std::uint64_t second) {
    if (!any) return;
    row[at] = std::to_string(first);
    row[at + 1] = std::to_string(second);
  };
  pair(3, counts.global_accesses != 0, counts.sectors, counts.least_sectors);
  pair(5, counts.shared_accesses != 0, counts.wavefronts, counts.least_wavefronts);
  pair(7, counts.branches != 0, counts.branches, counts.divergent_branches);
  constexpr std::size_t longest = 60;
  row[9] = line.place();
  if (line.file.empty() && row[9].size() > longest) row[9] = row[9].substr(0, longest - 3) + "...";
  row[10] = mix_text(counts);
  return row;
}

inline void write_cost_rows(std::string& out, const std::vector<cost_row>& rows) {
  std::array<std::size_t, cost_columns> widths{};
  for (const cost_row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const cost_row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += "  " + (i < first_text_column ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

}  // namespace detail

/// Returns a table for each kernel, with a row for each line of its source that was executed, those
/// with the highest `cost_counts::cost()` first:
///
/// | column | |
/// | --- | --- |
/// | instr. | instructions that warps executed |
/// | % | their share of the kernel's |
/// | lanes | that executed one, on average: 32 without divergence |
/// | sectors, least | of 32 bytes of global memory that were touched; that were needed |
/// | wavefr., least | rounds of the banks of shared memory; the same without bank conflicts |
/// | branches, apart | jumps with a condition; those after which the lanes of a warp were apart |
/// | line, instructions | of the source; what the instructions do |
inline std::string to_table(const cost_report& report) {
  std::string out;
  bool all_known = true;  // the sources of all kernels
  for (const kernel_costs& kernel : report.kernels) {
    const cost_counts total = kernel.total();
    if (!out.empty()) out += '\n';
    out += "kernel " + kernel.name + ", " +
           detail::counted_noun(kernel.launches, "launch", "launches") + ": " +
           detail::counted_noun(total.instructions(), "instruction", "instructions") +
           " of warps, " + detail::fixed_number(total.mean_lanes(), 1) + " lanes on average\n";
    if (total.global_accesses != 0)
      out += "  global memory: " + std::to_string(total.uncoalesced) + " of " +
             detail::counted_noun(total.global_accesses, "access", "accesses") +
             " not coalesced, " + detail::fixed_number(100 * total.coalescing(), 1) +
             " % of the sectors needed\n";
    if (total.shared_accesses != 0)
      out += "  shared memory: " +
             detail::counted_noun(total.bank_conflicts(), "bank conflict", "bank conflicts") +
             " in " + detail::counted_noun(total.shared_accesses, "access", "accesses") + '\n';
    if (total.branches != 0)
      out += "  branches: " + std::to_string(total.divergent_branches) + " of " +
             std::to_string(total.branches) + " divergent\n";
    std::vector<detail::cost_row> rows{{"instr.", "%", "lanes", "sectors", "least", "wavefr.",
                                        "least", "branches", "apart", "line", "instructions"}};
    bool known = kernel.lines.empty();
    for (const line_costs& line : kernel.lines) {
      known = known || !line.file.empty();
      rows.push_back(detail::row_of(line, total.instructions()));
    }
    all_known = all_known && known;
    detail::write_cost_rows(out, rows);
  }
  if (report.kernels.empty()) return "no kernel ran\n";
  if (!all_known)
    out +=
        "\nLines of the CUDA source are known where it is compiled with compile_options::line_info "
        "(-lineinfo).\n";
  return out;
}

}}  // namespace nogpu::v1

#pragma once
/// \file
/// `to_table`: measurements as a table to read.

#include <gpu/measure/detail/number_text.hpp>
#include <gpu/measure/measurement.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace gpu::inline v0 {

namespace detail {

/// Returns clocks, throttling, temperature and power as a line.
inline std::string condition_text(const device_condition& seen) {
  if (!seen.unknown.empty())
    return "clocks and throttling are unknown: " + std::string(view_of(seen.unknown));
  const auto clock = [](unsigned has, unsigned most) {
    return std::to_string(has) + (most != 0 ? " of " + std::to_string(most) : "") + " MHz";
  };
  std::string out =
      "multiprocessors at " + clock(seen.multiprocessor_mhz, seen.most_multiprocessor_mhz) +
      ", memory at " + clock(seen.memory_mhz, seen.most_memory_mhz) + ", " +
      std::to_string(seen.temperature) + " degrees Celsius, " + fixed_text(seen.power, 0) + " W";
  if (!seen.is_throttled()) return out + ", not throttled";
  out += ", throttled:";
  for (int bit = 0; bit < 9; ++bit) {
    const auto reason = static_cast<throttle_reasons>(1ull << bit);
    if ((seen.reasons & reason) != throttle_reasons::none)
      out += std::string(" ") + name_of(reason);
  }
  return out;
}

/// Appends rows whose columns are as wide as their widest cell, and to the right but for the first.
inline void write_aligned(std::string& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

}  // namespace detail

/// Returns two lines about the device and a table: the median of each candidate, half of its 95 %
/// confidence interval as a share of it, the fastest sample, the number of samples and the calls in
/// each, the time relative to the first candidate, and, where amounts are known, the rates and
/// their shares of the peaks. `not steady` stands behind a median that a limit left less certain
/// than was asked for.
inline std::string to_table(const measurements& found) {
  using detail::fixed_text;
  bool bytes = false, operations = false;
  for (const measurement& one : found.all) {
    bytes = bytes || one.amount.bytes > 0;
    operations = operations || one.amount.operations > 0;
  }
  std::vector<std::vector<std::string>> rows{
      {"", "median", "+-", "fastest", "samples", "relative"}};
  if (bytes) rows[0].insert(rows[0].end(), {"GB/s", "of peak"});
  if (operations) rows[0].insert(rows[0].end(), {"Gop/s", "of peak"});
  rows[0].emplace_back();
  const auto add_rate = [](std::vector<std::string>& row, double rate, double share) {
    row.push_back(rate > 0 ? fixed_text(rate * 1e-9, rate < 1e10 ? 3 : 1) : "");
    row.push_back(share > 0 ? fixed_text(share * 100, 1) + " %" : "");
  };
  for (const measurement& one : found.all) {
    const double first = found.all[0].seconds.median;
    std::vector<std::string> row{
        std::string(detail::view_of(one.name)),
        detail::time_text(one.seconds.median),
        fixed_text(one.seconds.relative_confidence() * 100, 2) + " %",
        detail::time_text(one.seconds.minimum),
        std::to_string(one.seconds.count) + " x " + std::to_string(one.calls),
        first > 0 ? fixed_text(one.seconds.median / first, 3) : ""};
    if (bytes) add_rate(row, one.bytes_per_second(), found.share_of_bytes(one));
    if (operations) add_rate(row, one.operations_per_second(), found.share_of_operations(one));
    row.emplace_back(one.steady ? "" : "not steady");
    rows.push_back(std::move(row));
  }
  std::string out(detail::view_of(found.device));
  out += ", compute capability " + std::to_string(found.compute_capability.major) + '.' +
         std::to_string(found.compute_capability.minor) + ", driver for CUDA " +
         std::to_string(found.driver.major) + '.' + std::to_string(found.driver.minor) +
         (found.flushed_cache ? "; L2 cache flushed" : "; warm caches") + '\n' +
         detail::condition_text(found.condition) + '\n';
  detail::write_aligned(out, rows);
  return out;
}

}  // namespace gpu::inline v0

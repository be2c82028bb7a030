#pragma once
/// \file
/// `to_table` and `to_heading`: measurements as text to read.

#include <gpu/core/version.hpp>
#include <gpu/measure/detail/number_text.hpp>
#include <gpu/measure/device_condition.hpp>
#include <gpu/measure/measurement.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace gpu { inline namespace v1 {

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

/// Returns two lines: the device and whether its caches were warm; clocks, throttling, temperature
/// and power while work ran, or why they are unknown.
inline std::string to_heading(const measurements& found) {
  const auto number = [](version of) {
    return std::to_string(of.major) + '.' + std::to_string(of.minor);
  };
  return std::string(detail::view_of(found.device)) + ", compute capability " +
         number({found.compute_capability.major, found.compute_capability.minor}) +
         ", driver for CUDA " + number(found.driver) +
         (found.flushed_cache ? "; L2 cache flushed" : "; warm caches") + '\n' +
         detail::condition_text(found.condition) + '\n';
}

/// Returns a table: the median of each candidate, half of its 95 % confidence interval as a share
/// of it, the fastest sample, the number of samples and the calls in each, the time relative to the
/// first candidate, and, where they are known, the rates and their shares of the peaks. `not
/// steady` stands behind a median that a limit left less certain than was asked for.
inline std::string to_table(const measurements& found) {
  using detail::fixed_text;
  const auto any = [&](auto value_of) {
    return std::any_of(found.all.begin(), found.all.end(),
                       [&](const measurement& one) { return value_of(one) > 0; });
  };
  struct column {
    const char* heading;
    double (*value)(const measurements&, const measurement&);
    std::string (*text)(double);
  };
  const auto rate = [](double value) { return fixed_text(value * 1e-9, value < 1e10 ? 3 : 1); };
  const auto share = [](double value) { return fixed_text(value * 100, 1) + " %"; };
  const column columns[] = {
      {"GB/s", [](auto&, auto& one) { return one.bytes_per_second(); }, rate},
      {"of peak", [](auto& all, auto& one) { return all.share_of_bytes(one); }, share},
      {"Gop/s", [](auto&, auto& one) { return one.operations_per_second(); }, rate},
      {"of peak", [](auto& all, auto& one) { return all.share_of_operations(one); }, share}};

  std::vector<std::vector<std::string>> rows{
      {"", "median", "+-", "fastest", "samples", "relative"}};
  for (const measurement& one : found.all) {
    const double first = found.all[0].seconds.median;
    rows.push_back({std::string(detail::view_of(one.name)), detail::time_text(one.seconds.median),
                    fixed_text(one.seconds.relative_confidence() * 100, 2) + " %",
                    detail::time_text(one.seconds.minimum),
                    std::to_string(one.seconds.count) + " x " + std::to_string(one.calls),
                    first > 0 ? fixed_text(one.seconds.median / first, 3) : ""});
  }
  for (const column& each : columns) {
    if (!any([&](const measurement& one) { return each.value(found, one); })) continue;
    rows[0].push_back(each.heading);
    for (std::size_t i = 0; i < found.all.size(); ++i) {
      const double value = each.value(found, found.all[i]);
      rows[i + 1].push_back(value > 0 ? each.text(value) : "");
    }
  }
  rows[0].emplace_back();
  for (std::size_t i = 0; i < found.all.size(); ++i)
    rows[i + 1].push_back(found.all[i].steady ? "" : "not steady");
  std::string out;
  detail::write_aligned(out, rows);
  return out;
}

}}  // namespace gpu::v1

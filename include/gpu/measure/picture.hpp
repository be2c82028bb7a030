#pragma once
/// \file
/// `to_svg`: measurements as a picture.

#include <gpu/core/sequence.hpp>
#include <gpu/measure/detail/number_text.hpp>
#include <gpu/measure/detail/svg.hpp>
#include <gpu/measure/measurement.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace gpu { inline namespace v1 {

namespace detail {

/// Positions in the picture, in pixels.
struct chart_scale {
  double left, right;
  double top = 46, row = 34;
  double least = 0, most = 1;  ///< seconds at the ends; logarithmic between them unless least is 0

  /// Leaves room for names of so many characters, and as much for the axis, however long they are.
  explicit chart_scale(std::size_t characters)
      : left{30 + 7 * static_cast<double>(characters)}, right{left + 500} {}

  double x(double seconds) const {
    const double share = least > 0
                             ? std::log(std::max(seconds, least) / least) / std::log(most / least)
                             : seconds / most;
    return left + (right - left) * std::min(share, 1.0);
  }
  /// Returns the time at a share of the axis.
  double at(double share) const {
    return least > 0 ? least * std::pow(most / least, share) : most * share;
  }
};

/// Returns the 95th percentile of samples: beyond it are interruptions by others.
inline double most_usual(const measurement& one) {
  sequence<double> sorted = one.samples;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[(sorted.size() - 1) * 19 / 20];
}

/// Returns the fastest sample of all that took any time, or 0.
inline double fastest_sample(const measurements& found) {
  double fastest = 0;
  for (const measurement& one : found.all)
    for (const double each : one.samples)
      if (each > 0 && (fastest == 0 || each < fastest)) fastest = each;
  return fastest;
}

/// Returns a row: samples as strokes, the confidence interval as a box, the median as a line.
inline std::string chart_row(const measurement& one, const chart_scale& scale, double middle) {
  std::string out =
      chart_text(scale.left - 10, middle + 4, "text-anchor=\"end\"", view_of(one.name));
  constexpr std::size_t most_strokes = 200;
  const std::size_t step = one.samples.size() / most_strokes + 1;
  for (std::size_t i = 0; i < one.samples.size(); i += step) {
    if (one.samples[i] > scale.most) continue;
    const double x = scale.x(one.samples[i]);
    out += chart_line(x, middle - 7, x, middle + 7, "stroke=\"#4878a8\" stroke-opacity=\"0.25\"");
  }
  const double lower = scale.x(one.seconds.lower), upper = scale.x(one.seconds.upper);
  out += "<rect x=\"" + fixed_text(lower, 1) + "\" y=\"" + fixed_text(middle - 10, 1) +
         "\" width=\"" + fixed_text(std::max(upper - lower, 1.0), 1) +
         "\" height=\"20\" fill=\"#d08030\" fill-opacity=\"0.4\"/>\n";
  const double median = scale.x(one.seconds.median);
  out +=
      chart_line(median, middle - 12, median, middle + 12, "stroke=\"#a04000\" stroke-width=\"2\"");
  return out + chart_text(scale.right + 10, middle + 4, "", time_text(one.seconds.median));
}

}  // namespace detail

/// Returns a picture in SVG: a row for each candidate, with its samples (at most 200, evenly
/// chosen) as thin strokes on an axis of time that begins at 0, or is logarithmic if times differ
/// by more than a factor of 20; the 95 % confidence interval of the median as a box, and the median
/// as a line and in figures. The axis ends a little beyond the 95th percentile of the slowest
/// candidate; samples beyond it are not drawn.
inline std::string to_svg(const measurements& found) {
  std::size_t longest = 0;
  double most = 0;
  for (const measurement& one : found.all) {
    longest = std::max(longest, one.name.size());
    most = std::max({most, detail::most_usual(one), one.seconds.upper});
  }
  detail::chart_scale scale(longest);
  if (most > 0) scale.most = most * 1.05;
  const double fastest = detail::fastest_sample(found);
  if (most > 20 * fastest) scale.least = fastest / 1.05;
  const double bottom = scale.top + scale.row * static_cast<double>(found.all.size());
  std::string out = detail::svg_head(scale.right + 100, bottom + 34);
  out += detail::chart_text(scale.left, 22, "font-size=\"14\"", detail::view_of(found.device));
  for (int tick = 0; tick <= 4; ++tick) {
    const double seconds = scale.at(tick / 4.0), x = scale.x(seconds);
    out += detail::chart_line(x, scale.top - 8, x, bottom, "stroke=\"#cccccc\"");
    out += detail::chart_text(x, bottom + 18, "text-anchor=\"middle\"",
                              seconds == 0 ? std::string("0") : detail::time_text(seconds));
  }
  double middle = scale.top + scale.row / 2;
  for (const measurement& one : found.all) {
    out += detail::chart_row(one, scale, middle);
    middle += scale.row;
  }
  return out + "</svg>\n";
}

}}  // namespace gpu::v1

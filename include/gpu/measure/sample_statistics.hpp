#pragma once
/// \file
/// `sample_statistics`: the median of samples and how certain it is.

#include <gpu/core/sequence.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gpu { inline namespace v1 {

/// Figures of samples, in their unit.
struct sample_statistics {
  std::size_t count = 0;
  double median = 0;
  double lower = 0;  ///< of the 95 % confidence interval of the median
  double upper = 0;  ///< of the 95 % confidence interval of the median
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double deviation = 0;  ///< the standard deviation; 0 for one sample

  /// Returns half the width of the confidence interval, as a share of the median; 0 for a median of
  /// 0.
  double relative_confidence() const noexcept {
    return median == 0 ? 0 : (upper - lower) / (2 * median);
  }

  /// Computes the figures. The interval of the median has its ends at two of the samples, whose
  /// ranks follow from the binomial distribution alone: nothing is assumed about how the samples
  /// are distributed. Fewer than 6 samples do not suffice for 95 %: the interval is then all of
  /// them. All figures of no samples are 0.
  static sample_statistics of(sequence<double> samples) {
    sample_statistics found;
    const std::size_t n = samples.size();
    found.count = n;
    if (n == 0) return found;
    std::sort(samples.begin(), samples.end());
    found.minimum = samples[0];
    found.maximum = samples[n - 1];
    found.median = n % 2 != 0 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    const std::size_t outside = ranks_outside(n);
    found.lower = samples[outside];
    found.upper = samples[n - 1 - outside];
    for (const double each : samples) found.mean += each / static_cast<double>(n);
    double squares = 0;
    for (const double each : samples) squares += (each - found.mean) * (each - found.mean);
    if (n > 1) found.deviation = std::sqrt(squares / static_cast<double>(n - 1));
    return found;
  }

 private:
  /// Returns how many samples lie below the interval, and as many above: the most for which both
  /// tails of the binomial distribution together have at most 5 %. Above 60 samples the normal
  /// distribution stands in for it.
  static std::size_t ranks_outside(std::size_t n) noexcept {
    if (n > 60) {
      const double count = static_cast<double>(n);
      return static_cast<std::size_t>((count - 1.96 * std::sqrt(count)) / 2) - 1;
    }
    double term = std::pow(0.5, static_cast<double>(n)), tail = term;
    std::size_t outside = 0;
    while (tail <= 0.025) {
      ++outside;
      term *= static_cast<double>(n - outside + 1) / static_cast<double>(outside);
      tail += term;
    }
    return outside == 0 ? 0 : outside - 1;
  }
};

}}  // namespace gpu::v1

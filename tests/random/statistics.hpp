#pragma once
/// \file
/// Statistical tests of numbers that were made with fixed seeds. They can fail, but do not by
/// chance.

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace random_test {

/// Checks mean and variance to six standard errors. `fourth` is the fourth central moment.
template <class T>
void check_moments(const std::vector<T>& x, double mean, double variance, double fourth) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (const T each : x) sum += static_cast<double>(each) - mean;
  for (const T each : x) squares += std::pow(static_cast<double>(each) - mean, 2);
  CHECK(std::abs(sum / n) <= 6 * std::sqrt(variance / n));
  CHECK(std::abs(squares / n - variance) <= 6 * std::sqrt((fourth - variance * variance) / n));
}

/// Checks the correlation of each number with the one behind it.
template <class T> void check_serial(const std::vector<T>& x, double mean, double variance) {
  double sum = 0;
  for (std::size_t k = 1; k < x.size(); ++k) {
    sum += (static_cast<double>(x[k]) - mean) * (static_cast<double>(x[k - 1]) - mean);
  }
  const auto n = static_cast<double>(x.size());
  CHECK(std::abs(sum / n / variance) <= 6 / std::sqrt(n));
}

/// Kolmogorov and Smirnov's test against a distribution function.
template <class T, class Function> void check_distribution(std::vector<T> x, Function function) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double expected = function(static_cast<double>(x[k]));
    const auto below = static_cast<double>(k);
    largest = std::max({largest, expected - below / n, (below + 1) / n - expected});
  }
  CHECK(largest * std::sqrt(n) < 2.2);  // exceeded once in 8,000
}

/// Chi-square test of integers against the probabilities of 0, 1, 2, ... from `first` on. Those
/// that are expected less than 20 times are counted together.
template <class T, class Probability>
void check_frequencies(const std::vector<T>& x, long long first, long long last,
                       Probability probability) {
  std::vector<double> counts(static_cast<std::size_t>(last - first + 1));
  double outside = 0, outside_expected = 1;
  for (const T each : x) {
    const auto k = static_cast<long long>(each);
    if (k < first || k > last) {
      ++outside;
    } else {
      ++counts[static_cast<std::size_t>(k - first)];
    }
  }
  const auto n = static_cast<double>(x.size());
  double sum = 0, cells = 0;
  double rest = outside, rest_expected = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double p = probability(first + static_cast<long long>(k));
    outside_expected -= p;
    if (p * n < 20) {
      rest += counts[k];
      rest_expected += p * n;
    } else {
      sum += std::pow(counts[k] - p * n, 2) / (p * n);
      ++cells;
    }
  }
  rest_expected += std::max(0.0, outside_expected) * n;
  if (rest_expected >= 5) {
    sum += std::pow(rest - rest_expected, 2) / rest_expected;
    ++cells;
  } else {
    CHECK(rest < 30);
  }
  REQUIRE(cells >= 2);
  CHECK(sum < cells - 1 + 6 * std::sqrt(2 * (cells - 1)));
}

}  // namespace random_test

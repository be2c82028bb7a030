#pragma once
/// \file
/// The oracle for small floating formats: the value of every encoding, written down from the
/// definition of the format, and rounding by looking for the neighbors in that list.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <nogpu/ptx/arithmetic/rounding.hpp>

namespace arithmetic_test {

/// A float of 113 bits.
#if __LDBL_MANT_DIG__ == 113
using quad = long double;
#else
using quad = __float128;
#endif

/// x + y, moved off every double if 113 bits do not hold the sum. All that rounding to a small
/// format decides on, encodings and their middles, are doubles.
inline quad inexact_sum(quad x, quad y) {
  const quad sum = x + y;
  const quad part = sum - x;
  const quad error = (x - (sum - part)) + (y - part);
  if (!(error > 0 || error < 0)) return sum;
  if (static_cast<quad>(static_cast<double>(sum)) != sum) return sum;
  const quad nudge = sum * static_cast<quad>(0x1p-100);
  return (error > 0) == (sum > 0) ? sum + nudge : sum - nudge;
}

class small_format {
 public:
  small_format(int exponent_bits, int mantissa_bits, bool has_infinity)
      : sign_(1u << (exponent_bits + mantissa_bits)),
        nan_(has_infinity || mantissa_bits == 3 ? sign_ - 1 : 0) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const std::uint32_t ones = 1u << mantissa_bits;
    for (std::uint32_t code = 0; code < sign_; ++code) {
      const auto exponent = static_cast<int>(code / ones);
      const double fraction = static_cast<double>(code % ones) / ones;
      if (exponent == (1 << exponent_bits) - 1 && has_infinity) break;
      if (!has_infinity && code == sign_ - 1) break;  // its one NaN
      magnitudes_.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                          : std::ldexp(1 + fraction, exponent - bias));
    }
    const double last = magnitudes_.back(), before = magnitudes_[magnitudes_.size() - 2];
    beyond_ = last + (last - before);  // where the next number would be
  }

  double value(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (sign_ - 1);
    double v = std::numeric_limits<double>::quiet_NaN();
    if (magnitude < magnitudes_.size()) v = magnitudes_[magnitude];
    if (magnitude == magnitudes_.size() && magnitude != nan_) {
      v = std::numeric_limits<double>::infinity();
    }
    return (code & sign_) != 0 ? -v : v;
  }

  /// The encoding of `exact`; overflow gives the code above the largest finite one, or with
  /// `finite` the largest finite one.
  template <class Exact>
  std::uint32_t nearest(Exact exact, nogpu::ptx::rounding mode, bool negative_zero,
                        bool finite = false) const {
    using nogpu::ptx::rounding;
    if (exact != exact) return nan_;
    const bool negative = exact < 0 || (exact == 0 && negative_zero);
    const Exact magnitude = exact < 0 ? -exact : exact;
    const auto count = static_cast<std::uint32_t>(magnitudes_.size());
    // The largest code whose value is not above the magnitude.
    std::uint32_t low = 0, high = count;
    while (high - low > 1) {
      const std::uint32_t middle = (low + high) / 2;
      (static_cast<Exact>(magnitudes_[middle]) <= magnitude ? low : high) = middle;
    }
    const Exact below = static_cast<Exact>(magnitudes_[low]);
    const Exact above = static_cast<Exact>(low + 1 < count ? magnitudes_[low + 1] : beyond_);
    std::uint32_t code = low;
    if (magnitude > below) {
      const Exact down = magnitude - below, up = above - magnitude;
      bool away = false;
      switch (mode) {
        case rounding::nearest_away: away = down >= up; break;
        case rounding::toward_zero: away = false; break;
        case rounding::toward_negative: away = negative; break;
        case rounding::toward_positive: away = !negative; break;
        default: away = down > up || (down == up && low % 2 == 1); break;
      }
      if (magnitude >= static_cast<Exact>(std::numeric_limits<double>::infinity())) away = true;
      code += away;
    }
    if (finite && code >= count) code = count - 1;
    return (negative ? sign_ : 0) | code;
  }

  std::uint32_t largest() const { return static_cast<std::uint32_t>(magnitudes_.size()) - 1; }

 private:
  std::uint32_t sign_;
  std::uint32_t nan_;
  std::vector<double> magnitudes_;
  double beyond_ = 0;
};

}  // namespace arithmetic_test

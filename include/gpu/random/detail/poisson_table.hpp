#pragma once
/// \file
/// `poisson_table`: by which a kernel finds Poisson numbers of one mean below 64.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/generated/element_type.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The sums of probabilities that `poisson_sums` of `<gpu/device/poisson.cuh>` has, with the same
/// bits: the same operations in the same order, of which no product can be joined with a sum.
class poisson_sums {
 public:
  explicit poisson_sums(double mean) noexcept : mean_{mean} {
    const auto halvings = static_cast<int>(__builtin_fma(mean, 1.4426950408889634, 0.5));
    const double rest = __builtin_fma(-halvings, 2.3190468138462996e-17,
                                      __builtin_fma(-halvings, 0.6931471805599453, mean));
    double series = 1;
    for (int j = 15; j > 0; --j)
      series = __builtin_fma(uncombined(-rest * uncombined(1. / j)), series, 1.);
    term_ = sum_ = __builtin_ldexp(series, 32 - halvings);
  }
  std::uint32_t count() const noexcept { return count_; }
  double sum() const noexcept { return sum_; }
  void advance() noexcept {
    const double factor = uncombined(mean_ * uncombined(1. / ++count_));
    sum_ = __builtin_fma(term_, factor, sum_);
    term_ = uncombined(term_ * factor);
  }

 private:
  double mean_, term_, sum_;
  std::uint32_t count_ = 0;
};

/// The table from which a kernel makes `poisson_entries` of `<gpu/device/poisson.cuh>`. The
/// distance of a number of 32 bits from 0, or from 2^32, which is nearer, lies in an octave of 2^p
/// to 2^(p + 1), of which each eighth is a part. An entry has the first 24 bits of the only sum in
/// a part, and the number that is the result up to there; behind it comes the next one.
///
/// For means below 64, sums are farther from each other than an eighth of the octave they are in,
/// so that only parts of a few numbers near 0 and 2^32 have more of them. These numbers share their
/// first 24 bits, and so does the entry, which leaves them undecided.
struct alignas(8) poisson_table {
  static constexpr unsigned parts = 256;
  std::uint32_t low[parts];   ///< for distances from 0; 0 itself goes with 1
  std::uint32_t high[parts];  ///< for distances from 2^32
};

inline constexpr element_type poisson_table_type{
    "gpu_poisson_table", "struct gpu_poisson_table { uint2 low[128], high[128]; };",
    sizeof(poisson_table), 8};

/// Fills in the table for a mean.
inline void make_poisson_table(double mean, poisson_table& made) noexcept {
  made = {};
  poisson_sums sums(mean), next = sums;
  next.advance();
  const auto entry_of = [&](std::uint32_t first, std::uint32_t last) -> std::uint32_t {
    const double behind = last + 1.;
    while (sums.sum() <= first) {
      sums = next;
      next.advance();
    }
    if (sums.sum() < behind && next.sum() < behind) return first;
    const bool ends = sums.sum() >= 4294967295.;
    const auto word = ends ? 0xffff'ffffu : static_cast<std::uint32_t>(sums.sum());
    return (word & ~255u) | sums.count();
  };
  // The first distance in a part. The first octaves have parts without any.
  const auto begin = [](unsigned part) {
    return static_cast<std::uint32_t>((((8 + part % 8) * (std::uint64_t{1} << part / 8)) + 7) / 8);
  };
  constexpr unsigned half = 31 * 8;  // the part of 2^31, which is nearer to neither
  for (unsigned p = 0; p < half; ++p) {
    const std::uint32_t first = begin(p), behind = begin(p + 1);
    if (first < behind) made.low[p] = entry_of(p == 0 ? 0 : first, behind - 1);
  }
  made.high[half] = entry_of(0x8000'0000, 0x8000'0000);
  for (unsigned p = half; p-- > 0;) {
    const std::uint32_t first = begin(p), behind = begin(p + 1);
    if (first < behind) made.high[p] = entry_of(1 - behind, 0 - first);
  }
}

}}}  // namespace gpu::v1::detail

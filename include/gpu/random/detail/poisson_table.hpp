#pragma once
/// \file
/// `poisson_table`: by which a kernel finds Poisson numbers of one mean below 64.

#include <gpu/algorithm/detail/element_type.hpp>

#include <cstdint>

namespace gpu::inline v1::detail {

/// The sums of probabilities that `poisson_sums` of poisson_header.hpp has, with the same bits: the
/// same operations in the same order, of which no product can be joined with a sum.
class poisson_sums {
 public:
  explicit poisson_sums(double mean) noexcept : mean_{mean} {
    const auto halvings = static_cast<int>(__builtin_fma(mean, 1.4426950408889634, 0.5));
    const double rest = __builtin_fma(-halvings, 2.3190468138462996e-17,
                                      __builtin_fma(-halvings, 0.6931471805599453, mean));
    double series = 1;
    for (int j = 15; j > 0; --j) series = __builtin_fma(-rest * (1. / j), series, 1.);
    term_ = sum_ = __builtin_ldexp(series, 32 - halvings);
  }
  std::uint32_t count() const noexcept { return count_; }
  double sum() const noexcept { return sum_; }
  void advance() noexcept {
    const double factor = mean_ * (1. / ++count_);
    sum_ = __builtin_fma(term_, factor, sum_);
    term_ = term_ * factor;
  }

 private:
  double mean_, term_, sum_;
  std::uint32_t count_ = 0;
};

/// `entries` of `poisson_by_table` in device code, for parts of the numbers of 32 bits.
struct poisson_table {
  static constexpr unsigned parts = 256;
  static constexpr std::uint32_t several = 0x8000'0000u;  ///< sums are in the part: search them

  struct alignas(8) entry {
    std::uint32_t word;    ///< up to which the number is the result, and then the next one
    std::uint32_t number;  ///< or `several`
  };
  entry entries[parts];
};

inline constexpr element_type poisson_table_type{
    "gpu_poisson_table", "struct gpu_poisson_table { uint2 entries[256]; };", sizeof(poisson_table),
    8};

/// Fills in the table for a mean.
inline void make_poisson_table(double mean, poisson_table& made) noexcept {
  poisson_sums sums(mean);
  const auto add = [&](unsigned p, unsigned side, std::uint32_t first, std::uint32_t last) {
    const double behind = last + 1.;
    while (sums.sum() <= first) sums.advance();
    poisson_sums next = sums;
    next.advance();
    const bool one = sums.sum() >= behind || next.sum() >= behind;
    const bool ends = sums.sum() >= 4294967295.;
    // Device code finds the entry by the lowest four bits of the exponent, which begins at 127
    // + 15.
    made.entries[(p + 112) % 128 * 2 + side] = {
        ends ? 0xffff'ffffu : static_cast<std::uint32_t>(sums.sum()),
        one ? sums.count() : poisson_table::several};
  };
  // The distances of part p begin at 8 + p % 8 eighths of 2^(15 + p / 8), those of part 0 at 0.
  const auto begin = [](unsigned p) -> std::uint32_t {
    return p == 0 ? 0 : (8 + p % 8) << (12 + p / 8);
  };
  for (unsigned p = 0; p < 128; ++p) add(p, 0, begin(p), begin(p + 1) - 1);
  for (unsigned p = 128; p-- > 0;) add(p, 1, 1 - begin(p + 1), p == 0 ? ~0u : 0 - begin(p));
  made.entries[112 * 2 + 1].number = poisson_table::several;  // 2^31 comes here, too
}

}  // namespace gpu::inline v1::detail

// Long runs of random numbers: moments, serial correlation, Kolmogorov and Smirnov's test,
// chi-square tests, and the evenness of Sobol's points. 2^20 numbers on the CPU driver, 2^30 on a
// GPU.

#include "algorithm/algorithm_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/memory/shape.hpp>
#include <gpu/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace distribution_statistics_test { namespace {

using algorithm_test::fixture;

/// A distribution: how numbers become those of mean 0 and variance 1, the moments of these from the
/// first to the eighth, and the distribution function.
struct distribution {
  double mean, deviation;
  std::array<double, 8> moments;
  double (*function)(double);
};

const distribution uniform{
    0.5, std::sqrt(1. / 12), {0, 1, 0, 9. / 5, 0, 27. / 7, 0, 9}, [](double u) { return u; }};
const distribution normal{
    0, 1, {0, 1, 0, 3, 0, 15, 0, 105}, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); }};
const distribution exponential{
    1, 1, {0, 1, 2, 9, 44, 265, 1854, 14833}, [](double x) { return -std::expm1(-x); }};

/// Sums and counts over numbers that come in parts.
class tally {
 public:
  explicit tally(const distribution& of) : of_{of}, cells_(std::size_t{1} << 16), pairs_(64 * 64) {}

  template <class T> void add(const std::vector<T>& part) {
    double before = 0, second = 0;
    std::size_t cell_before = 0;
    for (std::size_t k = 0; k < part.size(); ++k) {
      const auto x = static_cast<double>(part[k]);
      const double z = (x - of_.mean) / of_.deviation;
      double power = 1;
      for (double& sum : powers_) sum += power *= z;
      lag1_ += z * before;  // the first ones, 0, add nothing
      lag2_ += z * second;
      second = before;
      before = z;
      const double u = of_.function(x);
      const auto cell = std::min(static_cast<std::size_t>(u * 65536), std::size_t{65535});
      ++cells_[cell];
      if (k % 2 == 1) ++pairs_[cell_before / 1024 * 64 + cell / 1024];
      cell_before = cell;
    }
    n_ += static_cast<double>(part.size());
  }

  /// Returns the names of the tests that the numbers do not pass.
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    const auto need = [&](bool good, const char* name) {
      if (!good) found.push_back(name);
    };
    const char* const names[] = {"mean", "square", "cube", "fourth power"};
    for (std::size_t k = 0; k < 4; ++k) {
      const double expected = of_.moments[k];
      const double error = std::sqrt((of_.moments[2 * k + 1] - expected * expected) / n_);
      need(std::abs(powers_[k] / n_ - expected) <= 6 * error, names[k]);
    }
    need(std::abs(lag1_) <= 6 * std::sqrt(n_), "neighbors");
    need(std::abs(lag2_) <= 6 * std::sqrt(n_), "neighbors but one");
    double below = 0, largest = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      below += cells_[k];
      largest = std::max(largest, std::abs(below / n_ - static_cast<double>(k + 1) / 65536));
    }
    // Kolmogorov and Smirnov's statistic is less than the first less often than once in a million,
    // and greater than the second once in 8,000.
    need(largest * std::sqrt(n_) > 0.25, "distribution function, too close");
    need(largest * std::sqrt(n_) < 2.2, "distribution function");
    need(are_likely(cells_, n_ / 65536), "frequencies");
    need(are_likely(pairs_, n_ / 2 / 4096), "pairs");
    return found;
  }

 private:
  /// Chi-square test of cells that are equally likely; not of numbers that are too even, either.
  static bool are_likely(const std::vector<double>& cells, double expected) {
    double sum = 0;
    for (const double each : cells) sum += (each - expected) * (each - expected) / expected;
    const auto freedom = static_cast<double>(cells.size() - 1);
    return std::abs(sum - freedom) < 6 * std::sqrt(2 * freedom);
  }

  const distribution& of_;
  std::vector<double> cells_, pairs_;
  std::array<double, 4> powers_{};
  double lag1_ = 0, lag2_ = 0, n_ = 0;
};

/// Checks `parts` times `count` numbers that `take(engine)` reserves.
template <class Engine, class Take>
void check_long(const fixture& f, Engine& engine, const distribution& of, int parts, Take take) {
  tally found(of);
  for (int part = 0; part < parts; ++part)
    found.add(f.download(test::value_of(gpu::evaluate(f.stream, take(engine)))));
  CHECK(found.faults() == std::vector<std::string>{});
}

TEST_CASE("the statistics find faulty numbers", "[random]") {
  using names = std::vector<std::string>;
  const auto faults = [](auto number) {
    tally found(uniform);
    std::vector<double> x;
    for (unsigned k = 0; k < 1u << 18; ++k) x.push_back(number(k));
    found.add(x);
    return found.faults();
  };
  std::mt19937_64 random(1);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  CHECK(faults([&](unsigned) { return next(); }) == names{});
  CHECK(faults([&](unsigned) { return 0.98 * next(); }) ==
        names{"mean", "square", "cube", "fourth power", "distribution function", "frequencies",
              "pairs"});
  double before = 0;
  CHECK(faults([&](unsigned k) { return k % 2 == 0 ? before = next() : before; }) ==
        names{"neighbors", "frequencies", "pairs"});
  // The odd multiples of 2^-19, each once, in random order: too even.
  std::vector<double> even;
  for (unsigned k = 0; k < 1u << 18; ++k) even.push_back((k + 0.5) / (1u << 18));
  std::shuffle(even.begin(), even.end(), random);
  CHECK(faults([&](unsigned k) { return even[k]; }) ==
        names{"distribution function, too close", "frequencies"});
}

constexpr gpu::shape<1> part{std::size_t{1} << 20};

template <class Engine> void check_uniform(const fixture& f, const char* name, Engine engine) {
  CAPTURE(name);
  const int parts = test::on_hardware() ? 1024 : 1;
  check_long(f, engine, uniform, parts, [](auto& e) { return gpu::uniform<float>(e, part); });
}

TEST_CASE("a million uniform numbers are independent and uniform", "[random][thorough]") {
  const fixture f;
  check_uniform(f, "philox", gpu::philox(101));
  check_uniform(f, "xorwow", gpu::xorwow(102));
  check_uniform(f, "mrg32k3a", gpu::mrg32k3a(103));
}

TEST_CASE("a billion uniform numbers of MT19937 are independent and uniform",
          "[random][hardware][thorough]") {
  const fixture f;
  check_uniform(f, "mt19937", test::value_of(gpu::mt19937::create(f.stream, 104)));
}

TEST_CASE("a million normal and exponential numbers have their distributions",
          "[random][thorough]") {
  const fixture f;
  const int parts = test::on_hardware() ? 1024 : 1;
  gpu::philox engine(105);
  check_long(f, engine, normal, parts, [](auto& e) { return gpu::normal<float>(e, part); });
  check_long(f, engine, exponential, parts,
             [](auto& e) { return gpu::exponential<float>(e, part); });
  check_long(f, engine, normal, parts / 8 + 1,
             [](auto& e) { return gpu::normal<double>(e, part); });
}

/// Chi-square test of Poisson numbers in cells a tenth of the standard deviation wide.
template <class T>
void check_poisson(const std::vector<T>& x, std::size_t first, std::size_t step, double mean) {
  CAPTURE(mean);
  const double deviation = std::sqrt(mean), width = std::max(1., std::floor(deviation / 10));
  const double low = std::max(0., std::floor(mean - 8 * deviation));
  const auto cells = static_cast<std::size_t>((mean + 8 * deviation + 12 - low) / width) + 1;
  std::vector<double> counts(cells), expected(cells);
  double n = 0;
  for (std::size_t k = first; k < x.size(); k += step, ++n) {
    const double cell = (static_cast<double>(x[k]) - low) / width;
    if (!(cell >= 0 && cell < static_cast<double>(cells))) {
      FAIL_CHECK("a number is " << x[k]);
      continue;
    }
    ++counts[static_cast<std::size_t>(cell)];
  }
  for (double k = low; k < low + static_cast<double>(cells) * width; ++k) {
    expected[static_cast<std::size_t>((k - low) / width)] +=
        n * std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
  }
  double sum = 0, freedom = -1, rest = 0, rest_expected = 0;
  const auto add = [&](double count, double wanted) {
    sum += (count - wanted) * (count - wanted) / wanted;
    ++freedom;
  };
  for (std::size_t k = 0; k < cells; ++k) {
    if (expected[k] >= 20) {
      add(counts[k], expected[k]);
    } else {
      rest += counts[k];
      rest_expected += expected[k];
    }
  }
  if (rest_expected >= 5) add(rest, rest_expected);
  CHECK(std::abs(sum - freedom) < 6 * std::sqrt(2 * freedom));
}

TEST_CASE("Poisson numbers are right for means from 0.01 to 10^8", "[random][thorough]") {
  const fixture f;
  const std::vector<float> kinds{0.01f, 0.5f, 9.75f, 10.f, 63.f, 3999.f, 4001.f, 1e6f};
  const std::size_t count = part.size() * (test::on_hardware() ? 64 : 1);
  std::vector<float> means;
  for (std::size_t k = 0; k < count; ++k) means.push_back(kinds[k % 8]);
  const auto on_device = f.upload(means);
  gpu::philox engine(106);
  const auto x =
      f.download(test::value_of(gpu::evaluate(f.stream, gpu::poisson<float>(engine, on_device))));
  for (std::size_t k = 0; k < 8; ++k) check_poisson(x, k, 8, double{kinds[k]});
  const auto large = f.download(test::value_of(
      gpu::evaluate(f.stream, gpu::poisson<std::int32_t>(engine, gpu::shape<1>{count / 16}, 1e8))));
  check_poisson(large, 0, 1, 1e8);
}

/// Checks that each of 2^k boxes, a power of two high and wide, has one of 2^k points.
template <class Word>
void check_boxes(const std::vector<Word>& x, std::size_t a, std::size_t b, unsigned k) {
  const std::size_t points = std::size_t{1} << k;
  for (unsigned high = 0; high <= k; high += 5) {
    std::vector<bool> seen(points);
    for (std::size_t p = 0; p < points; ++p) {
      const std::uint64_t row = std::uint64_t{x[a * points + p]} >> (32 - high) << (k - high);
      const std::uint64_t column = std::uint64_t{x[b * points + p]} >> (32 - (k - high));
      seen[static_cast<std::size_t>(row | column)] = true;
    }
    CAPTURE(high);
    CHECK(std::count(seen.begin(), seen.end(), true) == static_cast<std::ptrdiff_t>(points));
  }
}

TEST_CASE("each box has one of a million of Sobol's points", "[random][sobol][thorough]") {
  const fixture f;
  for (const bool scrambled : {false, true}) {
    auto engine = test::value_of(gpu::sobol32::create(f.stream, 2, {.scrambled = scrambled}));
    const auto x = f.download(test::value_of(
        gpu::evaluate(f.stream, gpu::random_bits<unsigned>(engine, gpu::shape{2, 1 << 20}))));
    check_boxes(x, 0, 1, 20);
  }
}

}}  // namespace distribution_statistics_test

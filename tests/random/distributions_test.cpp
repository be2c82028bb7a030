// Distributions of real numbers and of integers: moments, distribution functions, frequencies.

#include "algorithm/algorithm_fixture.hpp"
#include "random/statistics.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace distributions_test { namespace {

using algorithm_test::fixture;
using random_test::check_distribution;
using random_test::check_frequencies;
using random_test::check_moments;
using random_test::check_serial;

constexpr double pi = 3.14159265358979323846;
constexpr gpu::shape<1> many{std::size_t{1} << 16};
constexpr gpu::shape<1> some{std::size_t{1} << 13};  // where each takes long on the CPU driver

template <class Numbers> auto made(const fixture& f, const Numbers& numbers) {
  return f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
}

double normal_function(double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); }

TEST_CASE("uniform numbers are uniform", "[random]") {
  const fixture f;
  gpu::philox engine(1);
  const auto x = made(f, gpu::uniform<float>(engine, many));
  check_moments(x, 0.5, 1. / 12, 1. / 80);
  check_serial(x, 0.5, 1. / 12);
  check_distribution(x, [](double u) { return u; });
  CHECK(*std::min_element(x.begin(), x.end()) > 0);
  const auto y = made(f, gpu::uniform_from<double>(engine, many, -3, 5));
  check_moments(y, 1, 64. / 12, 4096. / 80);
  check_distribution(y, [](double u) { return (u + 3) / 8; });
  CHECK(*std::max_element(y.begin(), y.end()) < 5);
}

TEST_CASE("uniform numbers do not reach the end that is excluded", "[random]") {
  // Words at both ends of their range, through the functions of device code.
  const fixture f;
  const auto convert = test::value_of((gpu::elementwise<const unsigned*, float*, float*>::create(
      "word, above, below",
      "given source{word[i]}; above[i] = gpu::uniform<float>(source, 1.f, 1.0000005f); "
      "below[i] = gpu::uniform_from<float>(source, 1.f, 1.0000005f)",
      {.preamble = "#include <gpu/random.hpp>\n"
                   "struct given { unsigned word; unsigned next() { return word; } };"})));
  const auto words = f.upload<unsigned>({0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff});
  auto above = f.make<float>(6), below = f.make<float>(6);
  test::value_of(convert(f.stream, words, above, below));
  for (const float each : f.download(above)) CHECK((each > 1 && each <= 1.0000005f));
  for (const float each : f.download(below)) CHECK((each >= 1 && each < 1.0000005f));
}

TEST_CASE("normal numbers are normal", "[random]") {
  const fixture f;
  gpu::philox engine(2);
  const auto x = made(f, gpu::normal<float>(engine, many));
  check_moments(x, 0, 1, 3);
  check_serial(x, 0, 1);
  check_distribution(x, normal_function);
  const auto y = made(f, gpu::normal<double>(engine, many, 10, 3));
  check_moments(y, 10, 9, 3 * 81);
  check_distribution(y, [](double v) { return normal_function((v - 10) / 3); });
  for (const float each : made(f, gpu::normal<float>(engine, gpu::shape{7}, 2.5, 0)))
    CHECK(each == 2.5f);
  gpu::xorwow xorwow(2);
  const auto z = made(f, gpu::normal<float>(xorwow, gpu::shape{65'537}));
  check_moments(z, 0, 1, 3);
  check_serial(z, 0, 1);
}

TEST_CASE("normal numbers are close to the exact transform of their bits", "[random]") {
  const fixture f;
  const auto transform = test::value_of((gpu::elementwise<const unsigned*, float*, float*>::create(
      "word, radius, sine",
      "radius[i] = gpu::random::of<float>::radius(word[i]); "
      "sine[i] = gpu::random::of<float>::sine(word[i])",
      {.preamble = "#include <gpu/random.hpp>"})));
  std::vector<unsigned> words;
  for (unsigned k = 0; k < 3000; ++k) {
    // Around each power of two, and around the middle from which the other method is used.
    words.push_back((1u << k % 32) + k / 32);
    words.push_back(~((1u << k % 32) + k / 32));
    words.push_back(k * 1431655u);
    words.push_back(0x80000000u + k - 1500);
  }
  const auto bits = f.upload(words);
  auto radius = f.make<float>(words.size()), sine = f.make<float>(words.size());
  test::value_of(transform(f.stream, bits, radius, sine));
  const auto radii = f.download(radius), sines = f.download(sine);
  double worst_radius = 0, worst_sine = 0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    // -2 ln((x + 1/2) / 2^32) from the side on which the logarithm is exact.
    const double u = (words[k] + 0.5) / 4294967296., t = (~words[k] + 0.5) / 4294967296.;
    const double exact = std::sqrt(words[k] < 0x80000000u ? -2 * std::log(u) : -2 * std::log1p(-t));
    worst_radius = std::max(worst_radius, std::abs(radii[k] - exact));
    worst_sine =
        std::max(worst_sine, std::abs(sines[k] - std::sin(2 * pi * words[k] / 4294967296.)));
  }
  CHECK(worst_radius <= 1.5e-6);
  CHECK(worst_sine <= 6e-7);
}

TEST_CASE("normal numbers are at most 2.5e-6 from the exact ones", "[random]") {
  const fixture f;
  gpu::philox engine(3), same(3);
  const auto x = made(f, gpu::normal<float>(engine, many));
  const auto words = made(f, gpu::random_bits<unsigned>(same, many));
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); k += 2) {
    const double u = (words[k] + 0.5) / 4294967296., angle = 2 * pi * words[k + 1] / 4294967296.;
    const double radius = std::sqrt(-2 * std::log(u));
    worst = std::max({worst, std::abs(x[k] - radius * std::sin(angle)),
                      std::abs(x[k + 1] - radius * std::cos(angle))});
  }
  CHECK(worst <= 2.5e-6);
}

TEST_CASE("logarithms of log-normal numbers are normal", "[random]") {
  const fixture f;
  gpu::philox engine(4);
  check_distribution(made(f, gpu::log_normal<float>(engine, many, 1, 0.5)),
                     [](double v) { return normal_function((std::log(v) - 1) / 0.5); });
}

TEST_CASE("exponential and gamma numbers have their distributions", "[random]") {
  const fixture f;
  gpu::philox engine(5);
  const auto x = made(f, gpu::exponential<float>(engine, many, 2));
  check_moments(x, 2, 4, 9 * 16);
  check_distribution(x, [](double v) { return -std::expm1(-v / 2); });
  check_distribution(made(f, gpu::exponential<double>(engine, many)),
                     [](double v) { return -std::expm1(-v); });
  const auto y = made(f, gpu::gamma<float>(engine, some, 3, 0.5));
  check_moments(y, 1.5, 0.75, 3 * 0.5625 + 6 * 3 * 0.0625);
  check_distribution(y, [](double v) { return 1 - std::exp(-2 * v) * (1 + 2 * v + 2 * v * v); });
  const auto z = made(f, gpu::gamma<double>(engine, some, 0.5, 2));
  check_distribution(z, [](double v) { return std::erf(std::sqrt(v / 2)); });
}

TEST_CASE("beta numbers have their distributions", "[random]") {
  const fixture f;
  gpu::philox engine(6);
  check_distribution(made(f, gpu::beta<float>(engine, some, 2.5, 1)),
                     [](double v) { return std::pow(v, 2.5); });
  check_distribution(made(f, gpu::beta<float>(engine, some, 0.5, 0.5)),
                     [](double v) { return 2 / pi * std::asin(std::sqrt(v)); });
}

TEST_CASE("points on the sphere are uniform", "[random]") {
  const fixture f;
  gpu::philox engine(7);
  const auto x = made(f, gpu::on_sphere<float>(engine, gpu::shape{20'000, 3}));
  std::vector<float> heights;
  double correlation = 0;
  for (std::size_t k = 0; k < x.size(); k += 3) {
    REQUIRE(std::abs(std::hypot(x[k], x[k + 1], x[k + 2]) - 1) < 1e-5);
    heights.push_back(x[k + k / 3 % 3]);
    correlation += double{x[k]} * x[k + 1];
  }
  check_distribution(heights, [](double v) { return (v + 1) / 2; });  // Archimedes
  CHECK(std::abs(correlation / 20'000) < 6 * std::sqrt(1. / 15 / 20'000));
}

TEST_CASE("bounded integers are equally likely", "[random]") {
  const fixture f;
  gpu::philox engine(8);
  check_frequencies(made(f, gpu::uniform_integers<int>(engine, many, -3, 3)), -3, 3,
                    [](long long) { return 1. / 7; });
  // Three quarters of 2^32 numbers: without rejection the smaller ones would be twice as likely.
  const auto x = made(f, gpu::uniform_integers<unsigned>(engine, many, 0, 0xbfffffffu));
  check_distribution(x, [](double v) { return (v + 1) / 3221225472.; });
  const auto y =
      made(f, gpu::uniform_integers<std::int64_t>(
                  engine, many, std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 61));
  check_distribution(y, [](double v) { return v / 11529215046068469760. + 0.8; });
  gpu::mrg32k3a mrg(8);
  check_frequencies(made(f, gpu::uniform_integers<short>(mrg, many, 0, 9)), 0, 9,
                    [](long long) { return 0.1; });
  for (const auto each : made(f, gpu::uniform_integers<int>(engine, gpu::shape{9}, 4, 4)))
    CHECK(each == 4);
}

/// Checks that as many numbers lie in each of 20 parts that the distribution function makes equal:
/// that shows tails that are too light, which the largest distance of the functions may not.
template <class Function> void check_equal_cells(const std::vector<double>& x, Function function) {
  std::vector<int> cells;
  for (const double each : x) cells.push_back(std::min(19, static_cast<int>(20 * function(each))));
  check_frequencies(cells, 0, 19, [](long long) { return 0.05; });
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

TEST_CASE("Poisson numbers have the right frequencies", "[random]") {
  const fixture f;
  gpu::philox engine(9);
  for (const double mean : {0.01, 3.0, 9.9, 10.0, 63.0, 4001.0, 1e6, 1e8}) {
    CAPTURE(mean);
    const auto x = made(f, gpu::poisson<unsigned>(engine, some, mean));
    check_moments(x, mean, mean, mean + 3 * mean * mean);
    if (mean > 1e4) {
      check_distribution(
          x, [&](double v) { return normal_function((v + 0.5 - mean) / std::sqrt(mean)); });
      continue;
    }
    const double spread = 8 * std::sqrt(mean) + 8;
    check_frequencies(x, std::max(0LL, (long long)(mean - spread)), (long long)(mean + spread),
                      [&](long long k) {
                        const auto v = static_cast<double>(k);
                        return std::exp(v * std::log(mean) - mean - std::lgamma(v + 1));
                      });
  }
  check_equal_cells(made(f, gpu::poisson<double>(engine, many, 1e15)),
                    [](double v) { return normal_function((v - 1e15) / std::sqrt(1e15)); });
  gpu::xorwow xorwow(9);
  check_moments(made(f, gpu::poisson<float>(xorwow, some, 20)), 20, 20, 20 + 3 * 400);
}

TEST_CASE("each Poisson number has its own mean", "[random]") {
  const fixture f;
  std::vector<float> means;
  for (std::size_t k = 0; k < 40'000; ++k)
    means.push_back(std::vector{0.f, 2.f, 50.f, 20'000.f}[k % 4]);
  const auto on_device = f.upload(means);
  gpu::philox engine(10);
  const auto x = made(f, gpu::poisson<int>(engine, on_device));
  for (std::size_t which = 0; which < 4; ++which) {
    std::vector<int> part;
    for (std::size_t k = which; k < x.size(); k += 4) part.push_back(x[k]);
    const double mean = means[which];
    check_moments(part, mean, mean, mean + 3 * mean * mean);
  }
}

TEST_CASE("binomial numbers have the right frequencies", "[random][thorough]") {
  const fixture f;
  gpu::philox engine(11);
  struct parameters {
    unsigned trials;
    double p;
  };
  for (const parameters& each : {parameters{20, 0.1}, {20, 0.9}, {1000, 0.3}, {100'000, 0.7}}) {
    CAPTURE(each.trials, each.p);
    const double n = each.trials, p = each.p, mean = n * p, variance = mean * (1 - p);
    const auto x = made(f, gpu::binomial<int>(engine, some, each.trials, p));
    check_moments(x, mean, variance, variance * (1 + 3 * variance));
    const double spread = 8 * std::sqrt(variance) + 8;
    check_frequencies(
        x, std::max(0LL, (long long)(mean - spread)),
        std::min((long long)n, (long long)(mean + spread)), [&](long long k) {
          const auto v = static_cast<double>(k);
          return std::exp(log_choose(n, v) + v * std::log(p) + (n - v) * std::log1p(-p));
        });
  }
  const std::uint64_t most = 1'000'000'000'000'000;
  check_equal_cells(made(f, gpu::binomial<double>(engine, many, most, 0.9)),
                    [](double v) { return normal_function((v - 9e14) / std::sqrt(9e13)); });
  // So many trials and so few successes are Poisson distributed.
  check_frequencies(made(f, gpu::binomial<std::int64_t>(engine, some, most, 2e-14)), 0, 60,
                    [](long long k) {
                      const auto v = static_cast<double>(k);
                      return std::exp(v * std::log(20.) - 20 - std::lgamma(v + 1));
                    });
  for (const int each : made(f, gpu::binomial<int>(engine, gpu::shape{5}, 7, 1.0)))
    CHECK(each == 7);
  for (const int each : made(f, gpu::binomial<int>(engine, gpu::shape{5}, 7, 0.0)))
    CHECK(each == 0);
}

TEST_CASE("events have their probability", "[random]") {
  const fixture f;
  gpu::philox engine(12);
  const auto x = made(f, gpu::bernoulli<unsigned char>(engine, many, 0.3));
  check_frequencies(x, 0, 1, [](long long k) { return k == 1 ? 0.3 : 0.7; });
  for (const int each : made(f, gpu::bernoulli<int>(engine, gpu::shape{1000}, 1.0)))
    CHECK(each == 1);
  for (const int each : made(f, gpu::bernoulli<int>(engine, gpu::shape{1000}, 0.0)))
    CHECK(each == 0);
  const auto flags = test::value_of(gpu::evaluate(f.stream, gpu::bernoulli(engine, gpu::shape{8})));
  static_assert(std::is_same_v<decltype(flags)::value_type, bool>);
}

TEST_CASE("bits are as likely to be 0 as 1", "[random]") {
  const fixture f;
  gpu::philox engine(13);
  const auto x = made(f, gpu::random_bits<std::uint64_t>(engine, many));
  for (int bit = 0; bit < 64; ++bit) {
    CAPTURE(bit);
    double set = 0;
    for (const std::uint64_t each : x) set += static_cast<double>(each >> bit & 1);
    CHECK(std::abs(set - 32'768) < 6 * 128);
  }
}

TEST_CASE("Poisson numbers of a large mean are not rounded normal ones", "[random][hardware]") {
  // A normal distribution has no skewness; that of Poisson's is 1 / sqrt(mean).
  const fixture f;
  gpu::philox engine(14);
  constexpr std::size_t count = std::size_t{1} << 25;
  const double mean = 5000;
  double sum = 0;
  for (const unsigned each : made(f, gpu::poisson<unsigned>(engine, gpu::shape{count}, mean)))
    sum += std::pow((each - mean) / std::sqrt(mean), 3);
  CHECK(std::abs(sum / count - 1 / std::sqrt(mean)) < 6 * std::sqrt(15.0 / count));
}

constexpr double least = 5e-324, most = 1.7e308, infinity = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

/// Beta numbers that are 0 or 1, the latter with the probability a / (a + b).
template <class T> void check_ends(const fixture& f, double a, double b, double probability) {
  CAPTURE(sizeof(T), a, b);
  gpu::philox engine(31);
  const auto x = made(f, gpu::beta<T>(engine, some, a, b));
  const auto ones = static_cast<double>(std::count(x.begin(), x.end(), T{1}));
  CHECK(std::count(x.begin(), x.end(), T{0}) + std::count(x.begin(), x.end(), T{1}) ==
        static_cast<std::ptrdiff_t>(x.size()));
  const auto n = static_cast<double>(x.size());
  CHECK(std::abs(ones - n * probability) <= 6 * std::sqrt(n * probability * (1 - probability)));
}

TEST_CASE("beta numbers of tiny parameters are 0 or 1", "[random]") {
  const fixture f;
  check_ends<double>(f, least, least, 0.5);
  check_ends<float>(f, least, least, 0.5);
  check_ends<double>(f, 3 * least, least, 0.75);
  check_ends<double>(f, 1e-310, 4e-310, 0.2);
  check_ends<double>(f, 1e-308, 1e-308, 0.5);
  check_ends<double>(f, 3e-307, 1e-307, 0.75);
  check_ends<double>(f, 1e-290, 1e-291, 10. / 11);
  check_ends<float>(f, 1e-20, 1e-20, 0.5);
  check_ends<double>(f, least, 1e-300, 0);
  check_ends<double>(f, 1, least, 1);
  check_ends<double>(f, least, 0.5, 0);
  check_ends<double>(f, least, 2, 0);
  check_ends<double>(f, 1.5, least, 1);
  check_ends<double>(f, most, least, 1);
}

TEST_CASE("beta numbers of huge parameters are near the mean", "[random]") {
  const fixture f;
  gpu::philox engine(32);
  const auto check = [&](double a, double b, double mean) {
    CAPTURE(a, b);
    for (const double each : made(f, gpu::beta<double>(engine, gpu::shape{50}, a, b)))
      CHECK(std::abs(each - mean) <= 4e-16 * mean);
    for (const float each : made(f, gpu::beta<float>(engine, gpu::shape{50}, a, b)))
      CHECK(each == static_cast<float>(mean));
  };
  check(1e308, 1e308, 0.5);
  check(most, most, 0.5);
  check(most, most / 3, 0.75);
  check(1e308, 1.5, 1);
  check(1e40, 3e40, 0.25);
  check(most, most * 1e-8, 1 / (1 + 1e-8));
  check_distribution(made(f, gpu::beta<double>(engine, some, 1e20, 1e20)),
                     [](double v) { return normal_function((v - 0.5) * std::sqrt(8e20)); });
}

TEST_CASE("gamma numbers at the ends of the range of double have their distribution", "[random]") {
  const fixture f;
  gpu::philox engine(33);
  check_distribution(made(f, gpu::gamma<double>(engine, some, 1e20)),
                     [](double v) { return normal_function((v - 1e20) / 1e10); });
  for (const double each : made(f, gpu::gamma<double>(engine, gpu::shape{50}, most)))
    CHECK(std::abs(each - most) <= 1e-15 * most);
  for (const double each : made(f, gpu::gamma<double>(engine, gpu::shape{50}, most, 1e-308)))
    CHECK(std::abs(each - 1.7) <= 1e-15);
  for (const float each : made(f, gpu::gamma<float>(engine, gpu::shape{50}, least)))
    CHECK(each == 0);
  // Some are finite though shape + 2/3 times the scale is not.
  std::vector<int> cells;
  for (const double each : made(f, gpu::gamma<double>(engine, some, 0.5, most)))
    cells.push_back(std::min(8, static_cast<int>(10 * std::erf(std::sqrt(each / most)))));
  check_frequencies(cells, 0, 8, [](long long k) { return k == 8 ? 0.2 : 0.1; });
  // Multiples of the least number.
  std::vector<int> multiples;
  for (const double each : made(f, gpu::gamma<double>(engine, some, 3, least)))
    multiples.push_back(static_cast<int>(each / least));
  const auto below = [](double v) { return 1 - std::exp(-v) * (1 + v + v * v / 2); };
  check_frequencies(multiples, 0, 20, [&](long long k) {
    const auto v = static_cast<double>(k);
    return below(v + 0.5) - (k == 0 ? 0 : below(v - 0.5));
  });
}

TEST_CASE("indices of subnormal weights have their probabilities", "[random]") {
  const fixture f;
  gpu::philox engine(37);
  const double host[] = {0, least, 3 * least};
  const auto weights = test::value_of(gpu::discrete_weights::create(f.stream, host));
  check_frequencies(made(f, gpu::discrete<int>(engine, many, weights)), 0, 2, [](long long k) {
    return k == 0 ? 0 : k == 1 ? 0.25 : 0.75;
  });
}

TEST_CASE("errors show the parameter and not the limit beside it", "[random]") {
  const fixture f;
  gpu::philox engine(36);
  const gpu::shape<1> one{1};
  const auto error = [&](const auto& numbers) {
    return test::error_of(gpu::evaluate(f.stream, numbers));
  };
  CHECK(test::says(error(gpu::binomial<int>(engine, one, 10, 1.0000001)),
                   "10 trials with the probability 1.0000001", "from 0 to 1"));
  CHECK(test::says(error(gpu::bernoulli<int>(engine, one, 1.0000000000000002)),
                   "the probability is 1.0000000000000002"));
  CHECK(test::says(error(gpu::poisson<double>(engine, one, 1000000000000000.1)),
                   "the mean is 1000000000000000.1"));
  CHECK(test::says(error(gpu::uniform<double>(engine, one, 1.0000000000000002, 1)),
                   "low is 1.0000000000000002 and high is 1"));
  const std::int64_t high = std::int64_t{1} << 53;
  CHECK(test::says(error(gpu::uniform_integers<std::int64_t>(engine, one, high + 1, high)),
                   "low is 9007199254740993 and high is 9007199254740992"));
  CHECK(test::says(error(gpu::uniform_integers<std::int64_t>(engine, one, -high, -high - 1)),
                   "low is -9007199254740992 and high is -9007199254740993"));
}

TEST_CASE("binomial numbers of tiny and of almost certain events are right", "[random]") {
  const fixture f;
  gpu::philox engine(34);
  const std::uint64_t trials = 1'000'000'000'000'000;
  for (const double p : {least, 1e-310, 1e-300, 1e-30}) {
    for (const double each : made(f, gpu::binomial<double>(engine, gpu::shape{50}, trials, p)))
      CHECK(each == 0);
  }
  const double beside = 1 - 0x1p-53;
  check_frequencies(made(f, gpu::binomial<double>(engine, some, trials, beside)),
                    999'999'999'999'998, 1'000'000'000'000'000, [](long long k) {
                      const double left = 1e15 * 0x1p-53, failures = 1e15 - static_cast<double>(k);
                      return std::exp(-left) * std::pow(left, failures) / std::tgamma(failures + 1);
                    });
  for (const int each : made(f, gpu::binomial<int>(engine, gpu::shape{5}, 0, 0.3)))
    CHECK(each == 0);
}

TEST_CASE("distributions in kernels end for all parameters", "[random]") {
  // Those that a distribution does not have give NaN. These functions are not checked by the host.
  const fixture f;
  const auto draw = test::value_of((gpu::elementwise<const double*, const double*, double*>::create(
      "a, b, x",
      "gpu::philox own(7, i); double* const to = x + 6 * i;"
      "to[0] = gpu::gamma<double>(own, a[i], b[i]);"
      "to[1] = gpu::gamma<float>(own, a[i], b[i]);"
      "to[2] = gpu::beta<double>(own, a[i], b[i]);"
      "to[3] = gpu::beta<float>(own, a[i], b[i]);"
      "to[4] = gpu::binomial(own, a[i], b[i]);"
      "to[5] = gpu::poisson(own, a[i])",
      {.preamble = "#include <gpu/random.hpp>"})));
  const std::vector<double> kinds{nan,    -infinity, -1,    -least, 0,    least,
                                  1e-308, 1e-300,    0.5,   1,      1.5,  100,
                                  1e15,   1e20,      1e160, 1e300,  most, infinity};
  std::vector<double> a, b;
  for (const double first : kinds) {
    for (const double second : kinds) {
      a.push_back(first);
      b.push_back(second);
    }
  }
  const std::size_t count = a.size();
  auto x = f.make<double>(6 * count);
  const auto in_a = f.upload(a), in_b = f.upload(b);
  test::value_of(draw.over(f.stream, gpu::slice(0, static_cast<std::ptrdiff_t>(count)), in_a, in_b,
                           x.span().first(count)));
  const auto found = f.download(x);
  for (std::size_t k = 0; k < count; ++k) {
    CAPTURE(a[k], b[k]);
    const double* const of = found.data() + 6 * k;
    const bool has_gamma = a[k] >= 0 && b[k] >= 0, has_beta = a[k] > 0 && b[k] > 0;
    const bool finite = std::isfinite(a[k]) && std::isfinite(b[k]);
    const bool has_binomial = a[k] >= 0 && a[k] < infinity && b[k] >= 0 && b[k] <= 1;
    for (int which = 0; which < 2; ++which) {
      if (!has_gamma || finite) CHECK(std::isnan(of[which]) == !has_gamma);
      if (!has_beta || finite) CHECK(std::isnan(of[2 + which]) == !has_beta);
      if (has_beta && finite) CHECK((of[2 + which] >= 0 && of[2 + which] <= 1));
    }
    CHECK(std::isnan(of[4]) == !has_binomial);
    if (has_binomial) CHECK((of[4] >= 0 && of[4] <= a[k]));
    CHECK(std::isnan(of[5]) == !(a[k] >= 0 && a[k] < infinity));
  }
}

TEST_CASE("Poisson numbers of means that do not exist are NaN, as integers 0", "[random]") {
  const fixture f;
  const std::vector<double> means{nan, -infinity, -1,     -least, infinity,
                                  0,   least,     1e-300, 1e300,  20};
  const auto on_device = f.upload(means);
  const auto check = [&](auto engine) {
    const auto x = made(f, gpu::poisson<double>(engine, on_device));
    const auto counts = made(f, gpu::poisson<unsigned>(engine, on_device));
    for (std::size_t k = 0; k < 5; ++k) {
      CHECK(std::isnan(x[k]));
      CHECK(counts[k] == 0);
    }
    for (std::size_t k = 5; k < 8; ++k) CHECK((x[k] == 0 && counts[k] == 0));
    CHECK((std::isnan(x[8]) || std::abs(x[8] / 1e300 - 1) < 1e-12));
    CHECK((x[9] > 0 && x[9] < 60));
  };
  check(gpu::philox(35));
  check(gpu::xorwow(35));
  check(test::value_of(gpu::sobol64::create(f.stream, 1, {.offset = 5})));
}

/// Checks Poisson numbers of Sobol's points against the expansion of the inverse by Cornish and
/// Fisher.
void check_quantiles(const fixture& f, double mean) {
  CAPTURE(mean);
  auto engine = test::value_of(gpu::sobol64::create(f.stream, 1, {.offset = 1}));
  auto same = test::value_of(gpu::sobol64::create(f.stream, 1, {.offset = 1}));
  const auto z = made(f, gpu::normal<double>(engine, gpu::shape{15}));
  const auto x = made(f, gpu::poisson<double>(same, gpu::shape{15}, mean));
  for (std::size_t k = 0; k < z.size(); ++k)
    CHECK(std::abs(x[k] - (mean + z[k] * std::sqrt(mean) + (z[k] * z[k] - 1) / 6)) < 2);
}

TEST_CASE("Poisson numbers of Sobol's points are the inverse for large means", "[random][sobol]") {
  check_quantiles(fixture(), 1e6);
}

TEST_CASE("Poisson numbers of Sobol's points are the inverse for very large means",
          "[random][sobol][hardware]") {
  check_quantiles(fixture(), 1e12);
}

}}  // namespace distributions_test

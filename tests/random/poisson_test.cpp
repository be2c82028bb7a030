// Poisson numbers beside the distribution function, which the tests add up on the host.

#include "algorithm/algorithm_fixture.hpp"
#include "support/catch.hpp"

#include <gpu/algorithm/bincount.hpp>
#include <gpu/algorithm/elementwise.hpp>
#include <gpu/array.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/random.hpp>
#include <gpu/random/detail/poisson_table.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>
#include "support/results.hpp"

namespace poisson_test { namespace {

using algorithm_test::fixture;

constexpr double means[] = {1e-9, 0.01, 0.5, 1, 4, 9.75, 10, 17.3, 30, 45.5, 63, 63.999};

template <class Numbers> auto made(const fixture& f, const Numbers& numbers) {
  return f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
}

/// The sum of the probabilities of 0 to k.
long double distribution(double mean, unsigned k) {
  long double sum = 0;
  for (unsigned j = 0; j <= k; ++j)
    sum += std::exp(j * std::log(static_cast<long double>(mean)) - mean - std::lgamma(j + 1.l));
  return sum;
}

TEST_CASE("Poisson numbers are the inverse of the distribution function", "[random][poisson]") {
  const fixture f;
  constexpr gpu::shape<1> some{5000};
  for (const double mean : means) {
    CAPTURE(mean);
    gpu::philox engine(7, 0, 3), again(7, 0, 3);
    const auto words = made(f, gpu::random_bits<unsigned>(engine, some));
    const auto x = made(f, gpu::poisson<unsigned>(again, some, mean));
    std::vector<long double> sums;
    for (unsigned k = 0; k < 180; ++k) sums.push_back(distribution(mean, k));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double low = words[i] / 4294967296.l, high = (words[i] + 1.l) / 4294967296.l;
      const bool right =
          x[i] < 180 && sums[x[i]] > low - 1e-12l && (x[i] == 0 || sums[x[i] - 1] < high + 1e-12l);
      if (!right) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Poisson numbers are the same in whichever way they are got", "[random][poisson]") {
  const fixture f;
  constexpr gpu::shape<1> some{4500};  // more than a block has at once, and a rest
  for (const double mean : {0.5, 63.0, 100.0}) {
    CAPTURE(mean);
    gpu::philox a(7, 0, 2), b(7, 0, 2), c(7, 0, 2), d(7, 0, 2);
    const auto x = made(f, gpu::poisson<unsigned>(a, some, mean));
    CHECK(made(f, 1u * gpu::poisson<unsigned>(b, some, mean)) == x);
    const auto same_means = f.upload(std::vector<double>(some.size(), mean));
    CHECK(made(f, gpu::poisson<unsigned>(c, same_means)) == x);
    auto every_other = f.make<unsigned>(2 * some.size());
    const auto view =
        gpu::reshape(every_other, gpu::shape<1>{2 * some.size()})(gpu::slice(1, 9000, 2));
    test::value_of(gpu::assign(f.stream, view, gpu::poisson<unsigned>(d, some, mean)));
    CHECK(made(f, 1u * view) == x);
    CHECK(a.offset() == c.offset());
  }
  for (const double mean : {5.0, 100.0}) {
    gpu::xorwow a(7), b(7);
    const auto same_means = f.upload(std::vector<double>(600, mean));
    CHECK(made(f, gpu::poisson<double>(a, gpu::shape{600}, mean)) ==
          made(f, gpu::poisson<double>(b, same_means)));
  }
}

/// What a table and a search make of words: `first` and, if these do not decide, `second`.
struct both_ways {
  std::vector<unsigned> by_table, by_search;
  std::vector<unsigned> quickly;  ///< by the table, if `first` decides, else by the search
};

both_ways find(const fixture& f, double mean, const std::vector<unsigned>& first,
               const std::vector<unsigned>& second) {
  const auto kernel =
      test::value_of((gpu::elementwise<const unsigned*, const unsigned*,
                                       gpu::raw<const std::uint64_t*>, double, unsigned*, unsigned*,
                                       unsigned*>::create("first, second, table, mean, by_table, "
                                                          "by_search, quickly",
                                                          R"(
            given more{second[i]};
            by_table[i] = gpu::random::poisson_by_table(found, first[i], more, mean);
            by_search[i] = gpu::random::poisson_from(first[i], more, mean);
            bool undecided = false;
            const unsigned k = gpu::random::poisson_quickly(found, first[i], undecided);
            quickly[i] = undecided ? gpu::random::poisson_from(first[i], more, mean) : k;)",
                                                          {.preamble = R"(
            #include <gpu/random.hpp>
            struct halves { uint2 low[128], high[128]; };
            struct given { unsigned word; unsigned next() { return word; } };)",
                                                           .before = R"(
            __shared__ gpu::random::poisson_entries found;
            found.fill(*(const halves*)table);)"})));
  gpu::detail::poisson_table table;
  gpu::detail::make_poisson_table(mean, table);
  const auto a = f.upload(first), b = f.upload(second);
  std::vector<std::uint64_t> pairs(sizeof table / 8);
  std::memcpy(pairs.data(), &table, sizeof table);
  const auto on_device = f.upload(pairs);
  auto x = f.make<unsigned>(first.size()), y = f.make<unsigned>(first.size()),
       z = f.make<unsigned>(first.size());
  test::value_of(kernel(f.stream, a, b, on_device, mean, x, y, z));
  return {f.download(x), f.download(y), f.download(z)};
}

TEST_CASE("a second word decides where the first word of a Poisson number does not",
          "[random][poisson]") {
  const fixture f;
  for (const double mean : means) {
    CAPTURE(mean);
    std::vector<unsigned> first, second, expected;
    for (unsigned k = 0; k < 150; ++k) {
      const long double limit = distribution(mean, k) * 4294967296.l;
      if (limit < 1 || limit > 4294967290.l) continue;
      const auto word = static_cast<unsigned>(limit);
      const auto rest = static_cast<unsigned>((limit - word) * 4294967296.l);
      if (rest < 0x100000 || rest > 0xfff00000) continue;
      for (const unsigned each : {0u, rest - 0x10000, rest + 0x10000, 0xffffffffu}) {
        first.push_back(word);
        second.push_back(each);
        expected.push_back(each < rest ? k : k + 1);
      }
      const long double above = distribution(mean, k + 1) * 4294967296.l;
      if (k > 0 && distribution(mean, k - 1) * 4294967296.l < word - 1) {
        first.push_back(word - 1);
        second.push_back(0xffffffff);
        expected.push_back(k);
      }
      if (above > word + 2) {
        first.push_back(word + 1);
        second.push_back(0);
        expected.push_back(k + 1);
      }
    }
    if (first.empty()) continue;
    const both_ways found = find(f, mean, first, second);
    CHECK(found.by_search == expected);
    CHECK(found.by_table == expected);
    CHECK(found.quickly == expected);
  }
}

TEST_CASE("the table of Poisson numbers has the results of the search", "[random][poisson]") {
  const fixture f;
  for (const double mean : means) {
    CAPTURE(mean);
    std::vector<unsigned> first{0,          1,          0x7fff,     0x8000,     0x7fffffff,
                                0x80000000, 0xffff7fff, 0xffff8000, 0xfffffffe, 0xffffffff};
    for (unsigned k = 0; k < 32; ++k) {
      for (unsigned m = 8; m < 16; ++m) {
        const auto edge = static_cast<unsigned>((std::uint64_t{m} << k) / 8);
        for (const unsigned each : {edge - 1, edge, ~edge, ~edge + 1}) first.push_back(each);
      }
    }
    const both_ways found = find(f, mean, first, std::vector<unsigned>(first.size(), 0xffffffff));
    CHECK(found.by_table == found.by_search);
    CHECK(found.quickly == found.by_search);
    for (const unsigned each : found.by_search) CHECK(each < 200);
  }
}

/// The first and the last number of each part of the table, in their order.
std::vector<std::pair<std::uint32_t, std::uint32_t>> parts() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> low, high{{0x80000000, 0x80000000}};
  const auto ceiling = [](unsigned eighth, int octave) {
    return static_cast<std::uint32_t>(std::ceil(std::ldexp(eighth, octave - 3)));
  };
  for (int octave = 0; octave < 31; ++octave) {
    for (unsigned eighth = 8; eighth < 16; ++eighth) {
      const std::uint32_t from = ceiling(eighth, octave), behind = ceiling(eighth + 1, octave);
      if (from == behind) continue;
      low.emplace_back(from == 1 ? 0 : from, behind - 1);
      high.emplace_back(1 - behind, 0 - from);
    }
  }
  for (auto& [first, last] : high) low.emplace_back(first, last);
  std::sort(low.begin(), low.end());
  return low;
}

TEST_CASE("two sums of Poisson probabilities are in one part only if it is small",
          "[random][poisson]") {
  const auto all = parts();
  for (double mean = 0; mean < 64; mean += 0.03125) {
    gpu::detail::poisson_sums sums(mean);
    std::size_t large = 0;
    for (const auto& [first, last] : all) {
      while (sums.sum() <= first) sums.advance();
      auto next = sums;
      next.advance();
      if (next.sum() < last + 1. && (first ^ last) >= 256) ++large;
    }
    CAPTURE(mean);
    if (large != 0) CHECK(large == 0);
  }
}

TEST_CASE("filled Poisson numbers are those of the search", "[random][poisson]") {
  const fixture f;
  // A block takes 4,096 numbers at once, a group is four of them.
  constexpr std::size_t sizes[] = {1, 2, 31, 32, 33, 1023, 1024, 1025, 4095, 4096, 4097, 9001};
  for (const double mean : {0., 1e-300, 1e-3, 0.1, 10., 63.9}) {
    for (const std::uint64_t offset : {0u, 1u, 2u, 7u, 4096u}) {
      CAPTURE(mean, offset);
      gpu::philox engine(3, 5, offset), again(3, 5, offset);
      const gpu::shape<1> most{9001};
      const auto same_means = f.upload(std::vector<double>(most.size(), mean));
      const auto expected = made(f, gpu::poisson<unsigned>(again, same_means));
      for (const std::size_t size : sizes) {
        for (const std::size_t start : {0u, 1u, 3u}) {
          if (start != 0 && size != 33 && size != 4097) continue;
          gpu::philox own(3, 5, offset);
          auto all = f.upload(std::vector<unsigned>(size + start + 1, 77));
          test::value_of(gpu::assign(f.stream, all.span().subspan(start, size),
                                     gpu::poisson<unsigned>(own, gpu::shape<1>{size}, mean)));
          const auto found = f.download(all);
          const auto first = found.begin() + static_cast<std::ptrdiff_t>(start);
          CHECK(std::equal(first, first + static_cast<std::ptrdiff_t>(size), expected.begin()));
          CHECK(std::count(found.begin(), first, 77u) == static_cast<std::ptrdiff_t>(start));
          CHECK(found.back() == 77);
        }
      }
    }
  }
}

TEST_CASE("Poisson numbers of other types are the same", "[random][poisson]") {
  const fixture f;
  constexpr gpu::shape<1> some{9001};
  gpu::philox a(7), b(7), c(7), d(7), e(7);
  const auto x = made(f, gpu::poisson<unsigned>(a, some, 20));
  const auto check = [&](const auto& other) {
    CHECK(std::equal(x.begin(), x.end(), other.begin(), other.end(), [](unsigned k, auto each) {
      return static_cast<double>(k) == static_cast<double>(each);
    }));
  };
  check(made(f, gpu::poisson<float>(b, some, 20)));
  check(made(f, gpu::poisson<double>(c, some, 20)));
  check(made(f, gpu::poisson<unsigned char>(d, some, 20)));
  check(made(f, gpu::poisson<std::int64_t>(e, some, 20)));
}

TEST_CASE("many Poisson numbers, which blocks make in turns, are those of the search",
          "[random][poisson][hardware]") {
  const fixture f;
  // There are more tiles than blocks from 2^25 on.
  for (const std::size_t size : {(1u << 20) - 1, 1u << 20, (1u << 20) + 1, (1u << 26) + 3}) {
    for (const double mean : {0.1, 63.9}) {
      CAPTURE(size, mean);
      const auto same_means = f.upload(std::vector<double>(size, mean));
      for (const std::uint64_t offset : {0u, 2u}) {
        gpu::philox a(7, 1, offset), b(7, 1, offset);
        const auto x = made(f, gpu::poisson<unsigned>(a, gpu::shape<1>{size}, mean));
        CHECK((x == made(f, gpu::poisson<unsigned>(b, same_means))));
      }
    }
  }
}

TEST_CASE("a billion Poisson numbers have the right frequencies",
          "[random][poisson][hardware][thorough]") {
  const fixture f;
  constexpr gpu::shape<1> part{std::size_t{1} << 26};
  constexpr int parts = 16;
  gpu::philox engine(11);
  auto x = f.make<unsigned>(part.size());
  auto counts = f.make<unsigned>(256);
  for (const double mean : means) {
    CAPTURE(mean);
    std::vector<double> sums(256);
    for (int k = 0; k < parts; ++k) {
      test::value_of(gpu::assign(f.stream, x, gpu::poisson<unsigned>(engine, part, mean)));
      test::value_of(gpu::bincount(f.stream, x, counts));
      const auto found = f.download(counts);
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += found[j];
    }
    const double n = static_cast<double>(part.size()) * parts;
    double square = 0, cells = 0, rest = n, rest_expected = n;
    for (unsigned j = 0; j < 180; ++j) {
      const auto below = j == 0 ? 0.L : distribution(mean, j - 1);
      const double expected = n * static_cast<double>(distribution(mean, j) - below);
      if (expected < 20) continue;
      square += std::pow(sums[j] - expected, 2) / expected;
      rest -= sums[j];
      rest_expected -= expected;
      ++cells;
    }
    CHECK(square < cells + 6 * std::sqrt(2 * cells));
    CHECK(std::abs(rest - rest_expected) < 6 * std::sqrt(rest_expected + 6) + 6);
  }
}

template <class Engine> void replaces_its_means(const fixture& f, Engine engine, Engine same) {
  std::vector<double> host;
  for (unsigned k = 0; k < 9001; ++k) host.push_back(k % 97);
  auto own = f.upload(host);
  const auto other = f.upload(host);
  const auto expected = made(f, gpu::poisson<double>(same, other));
  test::value_of(gpu::assign(f.stream, own, gpu::poisson<double>(engine, own)));
  CHECK(f.download(own) == expected);
  // Means that other elements replace are refused.
  const auto error = test::error_of(gpu::assign(
      f.stream, own.span().subspan(1), gpu::poisson<double>(engine, own.span().first(9000))));
  CHECK(test::says(error, "out is written and overlaps means", "not element by element"));
}

TEST_CASE("Poisson numbers may replace their means", "[random][poisson]") {
  const fixture f;
  replaces_its_means(f, gpu::philox(5), gpu::philox(5));
  replaces_its_means(f, gpu::xorwow(5), gpu::xorwow(5));
  replaces_its_means(f, gpu::mrg32k3a(5), gpu::mrg32k3a(5));
  replaces_its_means(f, test::value_of(gpu::device_philox::create(f.stream, gpu::philox(5))),
                     test::value_of(gpu::device_philox::create(f.stream, gpu::philox(5))));
  replaces_its_means(f, test::value_of(gpu::sobol32::create(f.stream, 1)),
                     test::value_of(gpu::sobol32::create(f.stream, 1)));
}

}}  // namespace poisson_test

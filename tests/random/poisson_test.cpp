// Poisson numbers beside the distribution function, which the tests add up on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/bincount.hpp>
#include <gpu/algorithm/elementwise.hpp>
#include <gpu/array.hpp>
#include <gpu/random.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace poisson_test {
namespace {

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

TEST_CASE("Poisson numbers are the inverse of the distribution function", "[random]") {
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

TEST_CASE("Poisson numbers are the same in whichever way they are got", "[random]") {
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
};

both_ways find(const fixture& f, double mean, const std::vector<unsigned>& first,
               const std::vector<unsigned>& second) {
  const auto kernel = test::value_of(
      (gpu::elementwise<
          const unsigned*, const unsigned*, gpu::raw<const std::uint64_t*>, double, unsigned*,
          unsigned*>::create("first, second, table, mean, by_table, by_search",
                             "given more{second[i]};"
                             "by_table[i] = gpu::random::poisson_by_table((const uint2*)table, "
                             "first[i], more, mean);"
                             "by_search[i] = gpu::random::poisson_from(first[i], more, mean);",
                             {.preamble =
                                  "#include <gpu/random.hpp>\n"
                                  "struct given { unsigned word; unsigned next() { return word; } "
                                  "};"})));
  gpu::detail::poisson_table table;
  gpu::detail::make_poisson_table(mean, table);
  std::vector<std::uint64_t> entries;
  for (const auto& each : table.entries)
    entries.push_back(each.word | std::uint64_t{each.number} << 32);
  const auto a = f.upload(first), b = f.upload(second);
  const auto on_device = f.upload(entries);
  auto x = f.make<unsigned>(first.size()), y = f.make<unsigned>(first.size());
  test::value_of(kernel(f.stream, a, b, on_device, mean, x, y));
  return {f.download(x), f.download(y)};
}

TEST_CASE("a second word decides where the first word of a Poisson number does not", "[random]") {
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
  }
}

TEST_CASE("the table of Poisson numbers has the results of the search", "[random]") {
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
    for (const unsigned each : found.by_search) CHECK(each < 200);
  }
}

TEST_CASE("few Poisson numbers need a search", "[random]") {
  for (double mean = 0.01; mean < 64; mean = mean * 1.05 + 0.01) {
    CAPTURE(mean);
    gpu::detail::poisson_table table;
    gpu::detail::make_poisson_table(mean, table);
    double several = 0;
    for (unsigned part = 0; part < 256; ++part) {
      const unsigned size = (part / 2 + 16) % 128;  // eighths of powers of two, from 2^15 on
      const double width = size == 0 ? 0x9000 : std::ldexp(1, 12 + static_cast<int>(size / 8));
      if (table.entries[part].number == table.several) several += width / 4294967296.;
    }
    CHECK(several < 2e-4);
  }
}

TEST_CASE("a billion Poisson numbers have the right frequencies", "[random][hardware][thorough]") {
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

}  // namespace
}  // namespace poisson_test

// Random snippets over random layouts, against an interpreter of the same expressions on the host.
// GPU_TEST_FUZZ=N runs N rounds instead of a few.

#include "algorithm/fuzz_expressions.hpp"
#include "support/results.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/algorithm/scan.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/slice.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace fuzz_test {

template <class T> bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  return a == b;
}
template <class T> std::size_t differences(const operand<T>& from, const std::vector<T>& expected) {
  std::vector<T> found(expected.size());
  test::value_of(gpu::copy(*from.memory, found));
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < found.size(); ++at) wrong += !same(found[at], expected[at]);
  return wrong;
}

/// Calls `run` with the views of the operands that a snippet reads, and what comes after them.
template <class Run> void with_rank(std::size_t rank, Run run) {
  switch (rank) {
    case 1: return run(std::integral_constant<int, 1>());
    case 2: return run(std::integral_constant<int, 2>());
    case 3: return run(std::integral_constant<int, 3>());
    default: return run(std::integral_constant<int, 4>());
  }
}

std::size_t rounds(std::size_t usual) {
  const char* const asked = std::getenv("GPU_TEST_FUZZ");
  return asked != nullptr ? std::strtoul(asked, nullptr, 10) : usual;
}

/// The indices that Python's `range(*slice(first, last, step).indices(count))` has.
std::vector<std::size_t> indices_of(const gpu::slice& s, std::size_t count) {
  const auto length = static_cast<std::ptrdiff_t>(count);
  const auto bound = [&](std::ptrdiff_t at) {
    const std::ptrdiff_t low = s.step > 0 ? 0 : -1, high = s.step > 0 ? length : length - 1;
    return std::clamp(at < 0 ? at + length : at, low, high);
  };
  std::vector<std::size_t> found;
  for (std::ptrdiff_t i = bound(s.first); s.step > 0 ? i < bound(s.last) : i > bound(s.last);
       i += s.step)
    found.push_back(static_cast<std::size_t>(i));
  return found;
}

TEST_CASE("random elementwise snippets compute what their text says",
          "[algorithm][fuzz][thorough]") {
  const fixture f;
  const auto layouts = 3;
  for (std::size_t round = 0; round < rounds(8); ++round) {
    chooser choose{std::mt19937_64(round)};
    generator make(choose);
    const auto first = make.make<float>(3), again = make.make<float>(2);
    const auto other = make.make<long long>(3);
    const auto guard = make.condition();
    const std::size_t form = choose.below(4);
    const std::string body =
        form == 0   ? "y[i] = " + first.text + "; z[i] = " + other.text + ";"
        : form == 1 ? "if (" + guard.text + ") y[i] = " + first.text + "; z[i] = " + other.text
        : form == 2 ? "y[i] += " + first.text + ";\nz[i] = " + other.text + "; y[i] = y[i] * " +
                          again.text + ";"
                    : "const float t = " + first.text + ";\nif (" + guard.text +
                          ") { z[i] = " + other.text + "; }\ny[i] = t - " + again.text;
    CAPTURE(round, body);
    const auto kernel = test::value_of(
        gpu::elementwise<const float*, const int*, const double*, gpu::raw<const int*>, float,
                         float*, long long*>::create("x, k, d, table, s, y, z", body,
                                                     {.preamble = preamble}));
    for (int layout = 0; layout < layouts; ++layout) {
      arguments in(f, choose, choose.one_in(12));
      const gpu::slice part(static_cast<std::ptrdiff_t>(choose.below(40)) - 20,
                            choose.one_in(2) ? gpu::to_end : -1,
                            1 + static_cast<std::ptrdiff_t>(choose.below(4)));
      const bool sliced = choose.one_in(4);
      auto y = in.y.host;
      auto z = in.z.host;
      for (const std::size_t i : indices_of(sliced ? part : gpu::slice(), in.count)) {
        float& to = y[in.y.place(in.extents, i)];
        long long& to_z = z[in.z.place(in.extents, i)];
        const bool chosen = guard.value(in, i);
        if (form == 0 || (form == 1 && chosen)) to = first.value(in, i);
        if (form == 2) {
          to = to + first.value(in, i);
          to = to * again.value(in, i);
        }
        if (form == 3) to = first.value(in, i) - again.value(in, i);
        if (form != 3 || chosen) to_z = other.value(in, i);
      }
      with_rank(in.extents.size(), [&](auto rank) {
        const auto run = [&](auto... more) {
          const auto x = view_of<rank()>(in.x, in.extents);
          const auto k = view_of<rank()>(in.k, in.extents);
          const auto d = view_of<rank()>(in.d, in.extents);
          const auto to = view_of<rank()>(in.y, in.extents);
          const auto to_z = view_of<rank()>(in.z, in.extents);
          if constexpr (sizeof...(more) != 0) {
            test::value_of(
                kernel.over(f.stream, more..., x, k, d, *in.table_memory, in.s, to, to_z));
          } else {
            test::value_of(kernel(f.stream, x, k, d, *in.table_memory, in.s, to, to_z));
          }
        };
        sliced ? run(part) : run();
      });
      CAPTURE(layout, sliced, in.extents);
      REQUIRE(differences(in.y, y) == 0);
      REQUIRE(differences(in.z, z) == 0);
    }
  }
}

/// A way to combine values, as text and as a function.
struct combination {
  const char* text;
  long long (*of)(long long, long long);
  long long neutral;
};
long long add(long long a, long long b) {
  return static_cast<long long>(static_cast<u64>(a) + static_cast<u64>(b));
}
const combination combinations[] = {
    {"(long long)((unsigned long long)a + b)", add, 0},
    {"max(a, b)", [](long long a, long long b) { return std::max(a, b); }, INT64_MIN},
    {"a ^ b", [](long long a, long long b) { return a ^ b; }, 0},
};

TEST_CASE("random reductions compute what their text says", "[algorithm][fuzz][thorough]") {
  const fixture f;
  for (std::size_t round = 0; round < rounds(6); ++round) {
    chooser choose{std::mt19937_64(1000 + round)};
    const auto map = generator(choose).make<long long>(3);
    const combination& combine = combinations[choose.below(3)];
    CAPTURE(round, map.text, combine.text);
    const auto kernel = test::value_of(
        gpu::reduction<long long, const float*, const int*, const double*, gpu::raw<const int*>,
                       float>::create({.parameters = "x, k, d, table, s",
                                       .map = map.text,
                                       .reduce = combine.text,
                                       .neutral = combine.neutral,
                                       .options = {.preamble = preamble}}));
    for (int layout = 0; layout < 2; ++layout) {
      arguments in(f, choose, false);
      std::size_t segments = 1 + choose.below(in.extents[0]);
      while (in.count % segments != 0) --segments;
      std::vector<long long> expected(segments, combine.neutral);
      for (std::size_t i = 0; i < in.count; ++i) {
        long long& total = expected[i / (in.count / segments)];
        total = combine.of(total, map.value(in, i));
      }
      auto results = f.make<long long>(segments);
      with_rank(in.extents.size(), [&](auto rank) {
        test::value_of(kernel.into(f.stream, results, view_of<rank()>(in.x, in.extents),
                                   view_of<rank()>(in.k, in.extents),
                                   view_of<rank()>(in.d, in.extents), *in.table_memory, in.s));
      });
      CAPTURE(layout, segments, in.extents);
      REQUIRE((f.download(results) == expected));
    }
  }
}

TEST_CASE("random scans compute what their text says", "[algorithm][fuzz][thorough]") {
  const fixture f;
  for (std::size_t round = 0; round < rounds(6); ++round) {
    chooser choose{std::mt19937_64(2000 + round)};
    const auto map = generator(choose).make<long long>(3);
    const combination& combine = combinations[choose.below(3)];
    const bool exclusive = choose.one_in(2), backwards = choose.one_in(2);
    const bool segmented = choose.one_in(2);
    CAPTURE(round, map.text, combine.text, exclusive, backwards, segmented);
    const auto kernel = test::value_of(
        gpu::scan<long long, const float*, const int*, const double*, gpu::raw<const int*>, float,
                  long long*>::create({.parameters = "x, k, d, table, s, z",
                                       .map = map.text,
                                       .combine = combine.text,
                                       .store = "z[i] = item",
                                       .neutral = 77,
                                       .exclusive = exclusive,
                                       .backwards = backwards,
                                       .segment_start =
                                           segmented ? "(unsigned)k[i] % 13u == 0" : "",
                                       .options = {.preamble = preamble}}));
    for (int layout = 0; layout < 2; ++layout) {
      arguments in(f, choose, choose.one_in(12));
      auto expected = in.z.host;
      long long total = 0;
      for (std::size_t step = 0; step < in.count; ++step) {
        const std::size_t i = backwards ? in.count - 1 - step : step;
        const bool starts =
            step == 0 || (segmented && static_cast<unsigned>(in.at(in.k, i)) % 13 == 0);
        const long long before = starts ? 77 : total;
        total = starts ? map.value(in, i) : combine.of(total, map.value(in, i));
        expected[in.z.place(in.extents, i)] = exclusive ? before : total;
      }
      with_rank(in.extents.size(), [&](auto rank) {
        test::value_of(kernel(f.stream, view_of<rank()>(in.x, in.extents),
                              view_of<rank()>(in.k, in.extents), view_of<rank()>(in.d, in.extents),
                              *in.table_memory, in.s, view_of<rank()>(in.z, in.extents)));
      });
      CAPTURE(layout, in.extents);
      REQUIRE(differences(in.z, expected) == 0);
    }
  }
}

}  // namespace fuzz_test

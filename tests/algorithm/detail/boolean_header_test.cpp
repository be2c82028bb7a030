// Bools whose bytes are neither 0 nor 1: every operation takes them for true, as NumPy does. What
// an operation gives for them is compared with what it gives for ones, and a few results with
// those of NumPy.

#include "array/array_fixture.hpp"

#include <gpu/algorithm.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/algorithm/subset.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/axes.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/cumulative.hpp>
#include <gpu/array/diff.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/npy.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/array/to_text.hpp>
#include <gpu/array/view_elements.hpp>
#include <gpu/core/result.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/random.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace boolean_header_test { namespace {

using namespace array_test;

/// As many bytes as fill groups and leave some over. Every third is 0.
std::vector<unsigned char> some_bytes(std::size_t count) {
  std::vector<unsigned char> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(i * 7919 % 256);
    made[i] = static_cast<unsigned char>(number % 3 == 0 ? 0 : number);
  }
  return made;
}

/// The bytes as bools, and 1 in place of all that are not 0.
struct both : fixture {
  static constexpr std::size_t count = 1013;
  std::vector<unsigned char> bytes = some_bytes(count);
  gpu::device_buffer<unsigned char> odd = upload(bytes);
  gpu::device_buffer<unsigned char> clean = upload([&] {
    std::vector<unsigned char> made = bytes;
    for (unsigned char& each : made) each = each != 0;
    return made;
  }());

  /// Returns the elements of a result, as numbers.
  template <class T, int Rank> std::vector<double> values(const gpu::array<T, Rank>& a) const {
    using read = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
    std::vector<read> found(a.size());
    test::value_of(
        gpu::copy(gpu::device_span<const read>::from_native(a.native(), a.size()), found));
    std::vector<double> made;
    for (const read each : found)
      made.push_back(std::is_same_v<T, bool> ? each != 0 : static_cast<double>(each));
    return made;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  std::vector<double> values(T number) const {
    return {static_cast<double>(number)};
  }
  template <class T> std::vector<double> values(gpu::result<T> made) const {
    return values(test::value_of(std::move(made)));
  }

  /// Checks that an operation does not tell the bytes from ones, in several layouts.
  template <class Operation> void check(const char* name, Operation run) const {
    CAPTURE(name);
    const auto views = [](const gpu::device_buffer<unsigned char>& memory) {
      const auto all = gpu::view_as<const bool>(memory.span());
      return std::vector{all, all(gpu::slice(1, 1000)), all(gpu::slice(0, gpu::to_end, 3)),
                         all(gpu::slice(gpu::to_end, gpu::before_start, -1))};
    };
    const auto of_odd = views(odd), of_clean = views(clean);
    for (std::size_t each = 0; each < of_odd.size(); ++each) {
      CAPTURE(each);
      const auto expected = values(run(of_clean[each]));
      CHECK(values(run(of_odd[each])) == expected);
    }
  }
};

TEST_CASE("expressions take any byte but 0 for true", "[algorithm][boolean]") {
  const both f;
  const auto& s = f.stream;
  f.check("cast", [&](auto x) { return gpu::evaluate(s, gpu::cast<int>(x)); });
  f.check("a copy", [&](auto x) { return gpu::evaluate(s, x); });
  f.check("equal", [&](auto x) { return gpu::evaluate(s, x == true); });
  f.check("less, not, xor, and", [&](auto x) {
    return gpu::evaluate(s, gpu::cast<int>(x < true) + 2 * gpu::cast<int>(!x) +
                                4 * gpu::cast<int>(x ^ true) + 8 * gpu::cast<int>(x & true));
  });
  f.check("where", [&](auto x) { return gpu::evaluate(s, gpu::where(x, 1.5, 2.5)); });
  f.check("maximum", [&](auto x) { return gpu::evaluate(s, gpu::maximum(x, false) * 3); });
  f.check("take", [&](auto x) {
    const auto indices = test::value_of(gpu::array<int>::from(s, {3, -1, 0, 7, 8, 2}));
    return gpu::evaluate(s, gpu::cast<int>(gpu::take(x, indices, 0)));
  });
}

TEST_CASE("reductions and scans take any byte but 0 for true", "[algorithm][boolean]") {
  const both f;
  const auto& s = f.stream;
  f.check("sum", [&](auto x) { return gpu::item(s, gpu::sum(x)); });
  f.check("count", [&](auto x) { return gpu::item(s, gpu::count(x)); });
  f.check("any", [&](auto x) { return gpu::item(s, gpu::any_of(x)); });
  f.check("all", [&](auto x) { return gpu::item(s, gpu::all_of(x)); });
  f.check("min", [&](auto x) { return gpu::item(s, gpu::min(x)); });
  f.check("max", [&](auto x) { return gpu::item(s, gpu::max(x)); });
  f.check("argmax", [&](auto x) { return gpu::item(s, gpu::argmax(x)); });
  f.check("mean", [&](auto x) { return gpu::item(s, gpu::mean(x)); });
  f.check("gpu::sum", [&](auto x) { return gpu::sum(s, x); });
  f.check("gpu::count", [&](auto x) { return gpu::count(s, x); });
  f.check("columns", [&](auto x) {
    return gpu::evaluate(s, gpu::sum(gpu::reshape(x(gpu::slice(0, 320)), 10, 32), gpu::axis<0>));
  });
  f.check("cumulative_sum", [&](auto x) { return gpu::cumulative_sum(s, x, 0); });
  f.check("cumulative_max", [&](auto x) { return gpu::cumulative_max(s, x, 0); });
  f.check("an item", [&](auto x) { return gpu::item(s, x(2)); });
  f.check("subset_sum", [&](auto x) {
    const auto indices = test::value_of(gpu::array<int>::from(s, {3, 1, 0, 7, 8, 2}));
    return gpu::subset_sum(s, x, indices);
  });
}

TEST_CASE("indices and masks take any byte but 0 for true", "[algorithm][boolean]") {
  const both f;
  const auto& s = f.stream;
  f.check("flat_nonzero", [&](auto x) { return gpu::flat_nonzero(s, x); });
  f.check("extract by a mask", [&](auto x) {
    const auto numbers = test::value_of(gpu::arange(s, static_cast<int>(x.size())));
    return gpu::extract(s, x, numbers);
  });
  f.check("extract", [&](auto x) { return gpu::extract(s, x, x); });
  f.check("compress", [&](auto x) { return gpu::compress(s, x, x, 0); });
  f.check("taken", [&](auto x) {
    const auto indices = test::value_of(gpu::array<int>::from(s, {3, -1, 0, 7, 8, 2}));
    return gpu::take(s, x, indices, 0);
  });
  f.check("put", [&](auto x) {
    auto to = test::value_of(gpu::zeros<bool>(s, gpu::shape{x.size()}));
    const auto indices = test::value_of(gpu::array<int>::from(s, {3, 1, 0, 7, 8, 2, 4}));
    test::value_of(gpu::put(s, to, indices, x(gpu::slice(0, 3))));
    return to;
  });
  f.check("partition", [&](auto x) {
    const auto numbers = test::value_of(gpu::arange(s, static_cast<int>(x.size())));
    auto to = test::value_of(gpu::empty<int>(s, gpu::shape{x.size()}));
    test::value_of(gpu::partition(s, numbers, x, to));
    return to;
  });
  f.check("gather", [&](auto x) {
    const auto indices = test::value_of(gpu::array<int>::from(s, {3, 1, 0, 7, 8, 2, 4}));
    const auto copied = test::value_of(gpu::evaluate(s, x));
    auto to = test::value_of(gpu::empty<bool>(s, gpu::shape{7}));
    test::value_of(gpu::gather(s,
                               x.is_contiguous()
                                   ? gpu::device_span<const bool>::from_native(x.native(), x.size())
                                   : copied.span(),
                               indices, to));
    return to;
  });
}

TEST_CASE("sorting takes any byte but 0 for true", "[algorithm][boolean][thorough]") {
  const both f;
  const auto& s = f.stream;
  f.check("sorted", [&](auto x) { return gpu::sorted(s, x); });
  f.check("argsort", [&](auto x) { return gpu::argsort(s, x); });
  f.check("unique_values", [&](auto x) { return gpu::unique_values(s, x); });
  f.check("unique_counts", [&](auto x) { return test::value_of(gpu::unique_counts(s, x)).counts; });
  f.check("unique_all", [&](auto x) { return test::value_of(gpu::unique_all(s, x)).indices; });
  const auto check_span = [&](const char* name, auto run) {
    CAPTURE(name);
    const auto span_of = [](const gpu::device_buffer<unsigned char>& memory) {
      return gpu::device_span<const bool>::from_native(memory.native(), memory.size());
    };
    CHECK(f.values(run(span_of(f.odd))) == f.values(run(span_of(f.clean))));
  };
  for (const auto order : {gpu::sort_order::ascending, gpu::sort_order::descending}) {
    check_span("argsort of memory", [&](auto x) {
      auto indices = test::value_of(gpu::empty<int>(s, gpu::shape{x.size()}));
      test::value_of(gpu::argsort(s, x, indices, order));
      return indices;
    });
  }
  check_span("top_k", [&](auto x) {
    auto keys = test::value_of(gpu::empty<bool>(s, gpu::shape{5}));
    auto indices = test::value_of(gpu::empty<int>(s, gpu::shape{5}));
    test::value_of(gpu::top_k(s, x, keys, indices));
    return indices;
  });
  check_span("unique neighbors", [&](auto x) {
    auto values = test::value_of(gpu::empty<bool>(s, gpu::shape{x.size()}));
    return gpu::unique(s, x, values);
  });
  check_span("search_sorted", [&](auto x) {
    auto values = test::value_of(gpu::empty<bool>(s, gpu::shape{x.size()}));
    test::value_of(gpu::copy(s, x, values.span()));
    test::value_of(gpu::sort(s, values.span()));
    auto positions = test::value_of(gpu::empty<int>(s, gpu::shape{x.size()}));
    test::value_of(gpu::search_sorted(s, values.span(), x, positions, gpu::search_side::right));
    return positions;
  });
}

TEST_CASE("histograms and products take any byte but 0 for true", "[algorithm][boolean]") {
  const both f;
  const auto& s = f.stream;
  for (const std::size_t bins : {2u, 100000u}) {
    const auto counts_of = [&](const gpu::device_buffer<unsigned char>& memory) {
      auto counts = test::value_of(gpu::empty<int>(s, gpu::shape{bins}));
      const auto x = gpu::device_span<const bool>::from_native(memory.native(), memory.size());
      test::value_of(gpu::histogram(s, x, 0, 1, counts.span()));
      return counts;
    };
    CHECK(f.values(counts_of(f.odd)) == f.values(counts_of(f.clean)));
  }
  auto counts = test::value_of(gpu::empty<int>(s, gpu::shape{2}));
  const auto x = gpu::device_span<const bool>::from_native(f.odd.native(), f.odd.size());
  test::value_of(gpu::bincount(s, x, counts.span()));
  const auto zeros = std::count(f.bytes.begin(), f.bytes.end(), 0);
  CHECK(f.values(counts) == std::vector{double(zeros), double(both::count - std::size_t(zeros))});
  f.check("matmul", [&](auto a) {
    return gpu::matmul(s, gpu::reshape(a(gpu::slice(0, 30)), 5, 6),
                       gpu::reshape(a(gpu::slice(30, 60)), 6, 5));
  });
}

TEST_CASE("snippets take any byte but 0 for true", "[algorithm][boolean]") {
  const both f;
  const auto& s = f.stream;
  const auto neighbors = test::value_of(gpu::elementwise<const bool*, int*>::create(
      "x, y", "y[i] = x[i] + (i > 0 ? x[i - 1] : 0) + 4 * (x[i] == true)"));
  f.check("neighbors", [&](auto x) {
    auto y = test::value_of(gpu::empty<int>(s, gpu::shape{x.size()}));
    test::value_of(neighbors(s, x, y));
    return y;
  });
  // A pointer still is one: for functions, and to count with.
  const auto pointer = test::value_of(gpu::elementwise<gpu::raw<const bool*>, int*>::create(
      "x, y", "y[i] = *(x + i) + count(x, i)",
      {.preamble = "__device__ int count(const bool* x, long long i) {\n"
                   "  return reinterpret_cast<const unsigned char*>(x)[i] != 0;\n}"}));
  auto y = test::value_of(gpu::empty<int>(s, gpu::shape{both::count}));
  test::value_of(
      pointer(s, gpu::device_span<const bool>::from_native(f.odd.native(), both::count), y.span()));
  const auto twice = f.values(y);
  for (std::size_t i = 0; i < both::count; ++i) REQUIRE(twice[i] == (f.bytes[i] != 0 ? 2 : 0));
  // Written elements that are read on some ways only.
  const auto flip = test::value_of(gpu::elementwise<bool*, int*>::create(
      "x, y", "if (x[i]) { x[i] = false; y[i] = 1; } else { x[i] |= true; y[i] = 0; }"));
  auto copied = f.upload(f.bytes);
  test::value_of(flip(s, gpu::view_as<bool>(copied.span()), y));
  const auto set = f.values(y);
  const auto flipped = f.download(copied);
  for (std::size_t i = 0; i < both::count; ++i) {
    REQUIRE(set[i] == (f.bytes[i] != 0));
    REQUIRE(flipped[i] == (f.bytes[i] == 0));
  }
}

TEST_CASE("the results for bytes of a file are those of NumPy", "[algorithm][boolean]") {
  // np.save of np.array([2, 1, 0, 1, 255, 0, 3], np.uint8).view(bool)
  const fixture f;
  const std::string path = "/tmp/gpu_boolean_bytes_" + std::to_string(::getpid()) + ".npy";
  std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (7,), }";
  header.resize(117, ' ');
  header += '\n';
  const std::string file =
      std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string("\2\1\0\1\377\0\3", 7);
  std::FILE* const out = std::fopen(path.c_str(), "wb");
  REQUIRE(out != nullptr);
  REQUIRE(std::fwrite(file.data(), 1, file.size(), out) == file.size());
  REQUIRE(std::fclose(out) == 0);
  const auto a = test::value_of(gpu::load_npy<bool, 1>(f.stream, path.c_str()));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(a))) == 5);
  same(gpu::evaluate(f.stream, gpu::cast<int>(a)), gpu::shape{7}, {1, 1, 0, 1, 1, 0, 1});
  same(gpu::evaluate(f.stream, a == true), gpu::shape{7}, {1, 1, 0, 1, 1, 0, 1});
  same(gpu::cumulative_sum(f.stream, a, 0), gpu::shape{7}, {1, 2, 2, 3, 4, 4, 5});
  same(gpu::diff(f.stream, a), gpu::shape{6}, {0, 1, 1, 0, 1, 1});
  CHECK(test::value_of(gpu::item(f.stream, a(0))) == true);
  CHECK(test::value_of(gpu::item(f.stream, gpu::mean(a))) == 0.7142857142857143);
  CHECK(test::value_of(gpu::to_text(f.stream, a)) == "[ True  True False  True  True False  True]");
  std::remove(path.c_str());
}

}}  // namespace boolean_header_test

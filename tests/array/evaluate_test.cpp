// Copies of views, assignments with broadcasting, conversion and overlap, and single elements,
// against arithmetic on the host.

#include "algorithm/algorithm_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/algorithm/sum.hpp>
#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

namespace evaluate_test { namespace {

using algorithm_test::fixture;

std::vector<int> count_up(std::size_t size) {
  std::vector<int> made(size);
  std::iota(made.begin(), made.end(), 0);
  return made;
}

TEST_CASE("an evaluated view is a copy in C order", "[array][evaluate]") {
  const fixture f;
  const auto a = test::value_of(gpu::array<int, 3>::from(f.stream, count_up(60), {3, 4, 5}));
  const auto turned = test::value_of(gpu::evaluate(f.stream, gpu::permute_axes(a, 2, 0, 1)));
  CHECK(turned.shape() == gpu::shape{5, 3, 4});
  std::vector<int> expected;
  for (int k = 0; k < 5; ++k) {
    for (int ij = 0; ij < 12; ++ij) expected.push_back(ij * 5 + k);
  }
  CHECK(f.download(turned) == expected);
  const auto part = test::value_of(
      gpu::evaluate(f.stream, a(-1, gpu::slice(gpu::to_end, gpu::before_start, -2), 3)));
  CHECK(f.download(part) == std::vector<int>{58, 48});
  const auto windows = test::value_of(gpu::evaluate(f.stream, gpu::sliding_windows(a(0, 0), 3)));
  CHECK(f.download(windows) == std::vector<int>{0, 1, 2, 1, 2, 3, 2, 3, 4});
  const auto none = test::value_of(gpu::evaluate(f.stream, a(gpu::slice(2, 1))));
  CHECK(none.shape() == gpu::shape{0, 4, 5});
  const auto one = test::value_of(gpu::evaluate(f.stream, a(1, 2, 3)));
  CHECK(test::value_of(gpu::item(f.stream, one)) == 33);
  CHECK(test::value_of(gpu::item(f.stream, a(2, gpu::slice(3, 4), -1))) == 59);
}

TEST_CASE("an element is not fetched during a capture, which goes on", "[array][evaluate]") {
  const fixture f;
  const auto a = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  test::value_of(f.stream.synchronize());
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::error_of(gpu::item(f.stream, a(0))) == gpu::errc::capture_prohibited);
  CHECK(test::error_of(gpu::item(f.stream, a(0) + 1)) == gpu::errc::capture_prohibited);
  test::value_of(capture.end());
  CHECK(test::value_of(gpu::item(f.stream, a(0) + 1)) == 2);
}

TEST_CASE("an assignment repeats what is assigned", "[array][evaluate]") {
  const fixture f;
  auto a = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 3}));
  const auto row = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  const auto column = test::value_of(gpu::array<int, 2>::from(f.stream, {{7}, {8}}));
  test::value_of(gpu::assign(f.stream, a, row));
  CHECK(f.download(a) == std::vector<int>{1, 2, 3, 1, 2, 3});
  test::value_of(gpu::assign(f.stream, a, column));
  CHECK(f.download(a) == std::vector<int>{7, 7, 7, 8, 8, 8});
  test::value_of(gpu::assign(f.stream, a(gpu::all(), 1), row(2)));
  CHECK(f.download(a) == std::vector<int>{7, 3, 7, 8, 3, 8});
  test::value_of(gpu::assign(f.stream, gpu::reverse(a(1)), row));
  CHECK(f.download(a) == std::vector<int>{7, 3, 7, 3, 2, 1});
  test::value_of(gpu::assign(f.stream, a(0), 5));
  test::value_of(gpu::assign(f.stream, a(1, 1), -5));
  CHECK(f.download(a) == std::vector<int>{5, 5, 5, 3, -5, 1});
  auto buffer = f.make<int>(3);
  test::value_of(gpu::assign(f.stream, buffer, a(1)));
  CHECK(f.download(buffer) == std::vector<int>{3, -5, 1});
}

TEST_CASE("an assignment is as if the source had been copied first", "[array][evaluate]") {
  const fixture f;
  auto a = test::value_of(gpu::array<int>::from(f.stream, count_up(1000)));
  std::vector<int> expected = count_up(1000);
  test::value_of(gpu::assign(f.stream, a(gpu::slice(1, gpu::to_end)), a(gpu::slice(0, 999))));
  for (int i = 999; i > 0; --i) expected[std::size_t(i)] = expected[std::size_t(i - 1)];
  CHECK(f.download(a) == expected);
  test::value_of(gpu::assign(f.stream, a, gpu::reverse(a)));
  std::vector<int> reversed(expected.rbegin(), expected.rend());
  CHECK(f.download(a) == reversed);
  auto m = test::value_of(gpu::array<int, 2>::from(f.stream, count_up(900), {30, 30}));
  test::value_of(gpu::assign(f.stream, m, gpu::transpose(m)));
  const auto found = f.download(m);
  for (int i = 0; i < 900; ++i) REQUIRE(found[std::size_t(i)] == i % 30 * 30 + i / 30);
  test::value_of(gpu::assign(f.stream, m, m(3)));
  const auto rows = f.download(m);
  for (int i = 0; i < 900; ++i) REQUIRE(rows[std::size_t(i)] == i % 30 * 30 + 3);
  // The same bytes as elements of another size.
  test::value_of(gpu::assign(f.stream, a, gpu::view_as<std::uint8_t>(a)(gpu::slice(0, 1000))));
  CHECK(f.download(a)[4] == (reversed[1] & 0xff));
}

TEMPLATE_TEST_CASE("assignments convert as C++ does", "[array][evaluate]", bool, std::int8_t,
                   std::uint8_t, std::int16_t, std::int64_t, std::uint64_t, float, double) {
  const fixture f;
  const std::vector<double> doubles{0, 1, 2.75, 100.5, 16.0 / 3};
  const std::vector<int> integers{0, 1, -7, 12345, -2'000'000'000};
  const auto from_doubles = test::value_of(gpu::array<double>::from(f.stream, doubles));
  const auto from_integers = test::value_of(gpu::array<int>::from(f.stream, integers));
  auto to = test::value_of(gpu::empty<TestType>(f.stream, gpu::shape{5}));
  const auto check = [&](const auto& host, const auto& values) {
    test::value_of(gpu::assign(f.stream, to, values));
    std::vector<std::uint8_t> bytes(5 * sizeof(TestType));
    test::value_of(gpu::copy(gpu::view_as<std::uint8_t>(to).size() == bytes.size()
                                 ? gpu::as_bytes(gpu::device_span<const TestType>(to.span()))
                                 : gpu::device_span<const std::byte>(),
                             std::span(reinterpret_cast<std::byte*>(bytes.data()), bytes.size())));
    for (std::size_t i = 0; i < 5; ++i) {
      const auto expected = static_cast<TestType>(host[i]);
      CAPTURE(i);
      CHECK(std::memcmp(&expected, bytes.data() + i * sizeof expected, sizeof expected) == 0);
    }
  };
  check(doubles, from_doubles);
  check(integers, from_integers);
}

TEST_CASE("real numbers become complex ones", "[array][evaluate]") {
  const fixture f;
  auto z = test::value_of(gpu::empty<std::complex<float>>(f.stream, gpu::shape{2}));
  const auto x = test::value_of(gpu::array<int>::from(f.stream, {3, -4}));
  test::value_of(gpu::assign(f.stream, z, x));
  test::value_of(gpu::assign(f.stream, gpu::imag(z)(1), 0.5f));
  auto wide = test::value_of(gpu::empty<std::complex<double>>(f.stream, gpu::shape{2}));
  test::value_of(gpu::assign(f.stream, wide, z));
  CHECK(f.download(wide) == std::vector<std::complex<double>>{{3, 0}, {-4, 0.5}});
}

TEST_CASE("what cannot be assigned is refused", "[array][evaluate]") {
  const fixture f;
  auto a = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{3, 4}));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a, gpu::reshape(a, 4, 3))), "gpu::assign",
                   "cannot broadcast (4, 3) to (3, 4)", "from the last one"));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a(0), a(gpu::all(), 0))),
                   "cannot broadcast (3,) to (4,)"));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a(3), a(0))), "gpu::assign",
                   "out is the result of a faulty", "index 3"));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a(0), a(3))), "gpu::assign",
                   "an operand is the result of a faulty", "index 3"));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a(3), 1)), "out is the result"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, a(3))), "gpu::evaluate", "index 3"));
  CHECK(test::says(test::error_of(gpu::item(f.stream, a(3))), "gpu::item", "index 3"));
  CHECK(test::says(test::error_of(gpu::item(f.stream, a)), "gpu::item", "has 12 elements"));
  CHECK(test::says(
      test::error_of(gpu::assign(
          f.stream, gpu::array_view<int, 2>::from_native(a.native(), {3, 4}, {0, 1}), a)),
      "stride of 0"));
}

TEST_CASE("shapes of more elements than memory can have are refused", "[array][evaluate]") {
  const fixture f;
  constexpr std::size_t one = 1;
  const auto three = test::value_of(gpu::full<int>(f.stream, gpu::shape{1}, 3));
  const auto rows = gpu::broadcast_to(three, gpu::shape{one << 32, one});
  const auto columns = gpu::broadcast_to(three, gpu::shape{one << 32});
  const auto check = [](const gpu::cuda_error& error, auto... parts) {
    INFO(error.message().c_str());
    CHECK(test::says(error, parts...));
  };
  const auto all = gpu::broadcast_to(three, gpu::shape{one << 32, one << 32});
  check(test::error_of(gpu::item(f.stream, gpu::sum(all))), "gpu::broadcast_to",
        "9223372036854775807 bytes");
  check(test::error_of(gpu::sum(f.stream, all)), "gpu::broadcast_to", "9223372036854775807 bytes");
  check(test::error_of(gpu::item(f.stream, gpu::sum(rows + columns))), "(4294967296, 4294967296)",
        "more than 9223372036854775807 elements", "smaller extents");
  check(test::error_of(gpu::evaluate(f.stream, rows + columns)), "(4294967296, 4294967296)");
  check(test::error_of(gpu::evaluate(
            f.stream, gpu::index_along(gpu::shape{one << 32, one << 31, one << 2}, 0))),
        "(4294967296, 2147483648, 4)");
  const auto [x, y] = gpu::meshgrid(columns, columns).views;
  check(test::error_of(gpu::evaluate(f.stream, x)), "gpu::meshgrid");
  check(test::error_of(gpu::outer(f.stream, columns, columns)), "(4294967296, 4294967296)");
  check(test::error_of(gpu::tile(f.stream, columns, gpu::shape{one << 32, one << 32})),
        "memory can have");
  check(test::error_of(gpu::repeat(f.stream, columns, one << 32)), "memory can have");
}

TEST_CASE("assignments can be captured", "[array][evaluate]") {
  const fixture f;
  auto a = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  auto b = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 3}));
  test::value_of(gpu::prepare(f.stream, b, a));
  CHECK(f.download(b) == std::vector<int>(6, 0));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::assign(f.stream, b, a));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::assign(f.stream, a, 9));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(b) == std::vector<int>(6, 9));
}

TEST_CASE("a new array has the memory that the last one had, also after a synchronization",
          "[array][evaluate]") {
  const fixture f;
  const auto a = test::value_of(gpu::array<float>::from(f.stream, std::vector<float>(1 << 14, 1)));
  const auto pool = test::value_of(gpu::library_pool_of(test::first_device()));
  using attribute = gpu::memory_pool_attribute;
  std::uint64_t held = 0;
  for (int i = 0; i < 3; ++i) {
    {
      const auto b = test::value_of(gpu::evaluate(f.stream, 2 * a + 1));
      CUmemoryPool from = nullptr;
      CHECK(test::driver().pointer_get_attribute(&from, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                                 b.native()) == CUDA_SUCCESS);
      CHECK(from == pool.native());
      CHECK(test::value_of(gpu::item(f.stream, gpu::max(b))) == 3);
    }
    test::value_of(f.stream.synchronize());
    const auto now = test::value_of(gpu::attribute<attribute::reserved_mem_current>(pool));
    CHECK(now >= 2 * a.size_bytes());
    if (i > 0) CHECK(now == held);
    held = now;
  }
}

}}  // namespace evaluate_test

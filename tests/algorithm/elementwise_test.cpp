// Elementwise kernels against arithmetic on the host.

#include "algorithm/algorithm_fixture.hpp"
#include "support/environment_setting.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_options.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/slice.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace elementwise_test {

struct particle {
  float position[2];
  std::int32_t kind;
};

}  // namespace elementwise_test

template <> struct gpu::device_name<elementwise_test::particle> {
  static constexpr const char* value = "particle";
  static constexpr const char* definition = "struct particle { float position[2]; int kind; };";
};

namespace elementwise_test {

using algorithm_test::fixture;
using saxpy_kernel = gpu::elementwise<float, const float*, float*>;

template <class T> std::vector<T> ramp(std::size_t count, T first = T(1)) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<T>(first + static_cast<T>(i % 101));
  return made;
}

TEST_CASE("an elementwise kernel runs for each element of every size", "[algorithm][elementwise]") {
  const fixture f;
  const auto saxpy = test::value_of(saxpy_kernel::create("a, x, y", "y[i] += a * x[i]"));
  for (const std::size_t count : {0u, 1u, 2u, 3u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 5000u}) {
    CAPTURE(count);
    const auto host_x = ramp<float>(count), host_y = ramp<float>(count, 7);
    auto x = f.upload(host_x), y = f.upload(host_y);
    test::value_of(saxpy(f.stream, 2.0f, x, y));
    const auto found = f.download(y);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += found[i] != host_y[i] + 2.0f * host_x[i];
    CHECK(wrong == 0);
  }
}

TEST_CASE("parts of memory need no alignment", "[algorithm][elementwise]") {
  const fixture f;
  const auto saxpy = test::value_of(saxpy_kernel::create("a, x, y", "y[i] += a * x[i]"));
  const std::size_t count = 2100;
  const auto host = ramp<float>(count + 8);
  auto x = f.upload(host);
  for (std::size_t skipped = 0; skipped < 5; ++skipped) {
    CAPTURE(skipped);
    auto y = f.upload(std::vector<float>(count + 8, 1.0f));
    test::value_of(saxpy(f.stream, 3.0f, x.span().subspan(skipped, count),
                         y.span().subspan(5 - skipped, count)));
    const auto found = f.download(y);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool inside = i >= 5 - skipped && i < 5 - skipped + count;
      wrong += found[i] != (inside ? 1 + 3 * host[i - (5 - skipped) + skipped] : 1.0f);
    }
    CHECK(wrong == 0);
  }
}

template <class T> void check_type(const fixture& f) {
  const auto kernel = test::value_of(gpu::elementwise<const T*, const T*, T*, bool*>::create(
      "a, b, sum, equal", "sum[i] = a[i] + b[i]; equal[i] = a[i] == b[i];"));
  const auto host_a = ramp<T>(1500), host_b = ramp<T>(1500, T(3));
  auto a = f.upload(host_a), b = f.upload(host_b), sum = f.make<T>(1500);
  auto equal = f.make<bool>(1500);
  test::value_of(kernel(f.stream, a, b, sum, equal));
  const auto sums = f.download(sum);
  bool equals[1500];
  test::value_of(gpu::copy(equal, equals));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 1500; ++i) {
    wrong += sums[i] != static_cast<T>(host_a[i] + host_b[i]);
    wrong += equals[i] != (host_a[i] == host_b[i]);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("elements may be of any arithmetic type", "[algorithm][elementwise]",
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t, float, double) {
  const fixture f;
  check_type<TestType>(f);
}

TEST_CASE("snippets may use CUDA's run-time types", "[algorithm][elementwise]") {
  const fixture f;
  auto y = f.make<int>(3);
  const auto run = [&](const char* operation, gpu::snippet_options options) {
    const auto kernel =
        test::value_of(gpu::elementwise<int*>::create("y", operation, std::move(options)));
    test::value_of(kernel(f.stream, y));
    return f.download(y)[2];
  };
  CHECK(run("y[i] = sizeof(cudaTextureObject_t)", {}) == 8);
  CHECK(run("y[i] = size_of()",
            {.preamble = "unsigned size_of() { return sizeof(cudaStream_t); }"}) == 8);
  CHECK(run("y[i] = bytes", {.before = "int bytes = sizeof(cudaSurfaceObject_t);"}) == 8);
  CHECK(run("y[i] = sizeof(STREAM)", {.compile = {.defines = {{"STREAM", "cudaStream_t"}}}}) == 8);
  CHECK(run("y[i] = sizeof(STREAM)", {.compile = {.extra = {"-DSTREAM=cudaStream_t"}}}) == 8);
  {
    const test::environment_setting set("GPU_COMPILE_OPTIONS", "-DSTREAM=cudaStream_t");
    CHECK(run("y[i] = sizeof(STREAM) + 1", {}) == 9);
  }
  // Headers of CUDA's name such types, too.
  CHECK(run("y[i] = cooperative_groups::this_thread_block().size() > 0",
            {.preamble = "#include <cooperative_groups.h>"}) == 1);
}

TEST_CASE("a structure is named and defined for the device", "[algorithm][elementwise]") {
  const fixture f;
  const auto kernel = test::value_of(gpu::elementwise<particle*, float, particle>::create(
      "p, dt, hole",
      "p[i].position[0] += dt * i; p[i].position[1] -= hole.position[1]; p[i].kind = hole.kind"));
  auto p = f.upload(std::vector<particle>(77, particle{{1, 2}, 3}));
  test::value_of(kernel(f.stream, p, 0.5f, particle{{10, 20}, 30}));
  const auto found = f.download(p);
  CHECK(found[76].position[0] == 1 + 0.5f * 76);
  CHECK(found[76].position[1] == -18);
  CHECK(found[76].kind == 30);
}

TEST_CASE("views are indexed in C order, whatever their strides", "[algorithm][elementwise]") {
  const fixture f;
  const auto copy =
      test::value_of(gpu::elementwise<const int*, int*>::create("x, y", "y[i] = x[i]"));
  std::vector<int> host(24 * 40);
  std::iota(host.begin(), host.end(), 0);
  auto x = f.upload(host);
  const auto at = x.span().native();
  const auto check = [&](auto view, auto expected) {
    auto y = f.make<int>(view.size());
    test::value_of(copy(f.stream, view, y));
    const auto found = f.download(y);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      wrong += found[i] != expected(static_cast<int>(i));
    CHECK(wrong == 0);
  };
  using matrix = gpu::array_view<int, 2>;
  using cube = gpu::array_view<int, 3>;
  // Transposed, a part of each row, every other element backwards, one row again and again.
  check(matrix::from_native(at, {40, 24}, {1, 40}), [](int i) { return i / 24 + i % 24 * 40; });
  check(matrix::from_native(at + 4 * 4, {24, 32}, {40, 1}),
        [](int i) { return i / 32 * 40 + 4 + i % 32; });
  check(matrix::from_native(at + 4 * 3, {24, 32}, {40, 1}),
        [](int i) { return i / 32 * 40 + 3 + i % 32; });
  check(gpu::array_view<int, 1>::from_native(at + 4 * 958, {480}, {-2}),
        [](int i) { return 958 - 2 * i; });
  check(matrix::from_native(at, {50, 40}, {0, 1}), [](int i) { return i % 40; });
  check(matrix::from_native(at, {24, 50}, {40, 0}), [](int i) { return i / 50 * 40; });
  check(cube::from_native(at, {4, 10, 6}, {240, 1, 40}),
        [](int i) { return i / 60 * 240 + i / 6 % 10 + i % 6 * 40; });
  check(cube::from_native(at, {24, 1, 40}, {40, 7, 1}), [](int i) { return i; });
  check(gpu::array_view<int, 5>::from_native(at, {2, 2, 2, 2, 3}, {480, 200, 80, 6, 2}), [](int i) {
    return i / 24 * 480 + i / 12 % 2 * 200 + i / 6 % 2 * 80 + i / 3 % 2 * 6 + i % 3 * 2;
  });
}

template <class T, class U> void check_turned(const fixture& f) {
  // Sums of matrices and cubes whose memory runs along different axes, with edges beyond the last
  // whole patch, aligned and not.
  const auto add = test::value_of(
      gpu::elementwise<const T*, const U*, T*>::create("x, y, z", "z[i] = x[i] * 3 + y[i]"));
  std::vector<T> host_x(80'000);
  std::vector<U> host_y(80'000);
  for (std::size_t i = 0; i < host_x.size(); ++i) {
    host_x[i] = static_cast<T>(i % 1009);
    host_y[i] = static_cast<U>(i % 757);
  }
  auto x = f.upload(host_x);
  auto y = f.upload(host_y);
  const auto x_at = x.span().native();
  const auto y_at = y.span().native();
  const auto check = [&](auto x_view, auto y_view, auto z_view, std::size_t z_size) {
    auto z = f.upload(std::vector<T>(z_size, T(7)));
    using view = decltype(z_view);
    std::size_t extents[static_cast<std::size_t>(view::rank)];
    std::ptrdiff_t strides[static_cast<std::size_t>(view::rank)];
    for (int axis = 0; axis < view::rank; ++axis) {
      extents[axis] = z_view.extent(axis);
      strides[axis] = z_view.stride(axis);
    }
    test::value_of(
        add(f.stream, x_view, y_view, view::from_native(z.span().native(), extents, strides)));
    const auto found = f.download(z);
    std::vector<T> expected(z_size, T(7));
    const auto at = [&](const auto& v, std::size_t i, CUdeviceptr base = 0) {
      auto offset = static_cast<std::ptrdiff_t>((v.native() - base) / sizeof(*v.data()));
      for (int axis = v.rank; axis-- > 0; i /= v.extent(axis))
        offset += static_cast<std::ptrdiff_t>(i % v.extent(axis)) * v.stride(axis);
      return static_cast<std::size_t>(offset);
    };
    for (std::size_t i = 0; i < z_view.size(); ++i) {
      expected[at(z_view, i)] = static_cast<T>(host_x[at(x_view, i, x_at)] * 3 +
                                               static_cast<T>(host_y[at(y_view, i, y_at)]));
    }
    CHECK((found == expected));
  };
  using x2 = gpu::array_view<T, 2>;
  using y2 = gpu::array_view<U, 2>;
  using x3 = gpu::array_view<T, 3>;
  using y3 = gpu::array_view<U, 3>;
  check(x2::from_native(x_at, {130, 200}, {1, 132}), y2::from_native(y_at, {130, 200}, {200, 1}),
        x2::from_native(0, {130, 200}, {200, 1}), 26'000);
  check(x2::from_native(x_at + sizeof(T), {131, 77}, {1, 131}),
        y2::from_native(y_at, {131, 77}, {1, 200}), x2::from_native(0, {131, 77}, {80, 1}),
        131 * 80);
  check(x2::from_native(x_at, {64, 64}, {64, 1}), y2::from_native(y_at, {64, 64}, {0, 1}),
        x2::from_native(0, {64, 64}, {1, 64}), 64 * 64);
  check(x3::from_native(x_at, {3, 70, 40}, {70, 1, 210}),
        y3::from_native(y_at, {3, 70, 40}, {2800, 40, 1}),
        x3::from_native(0, {3, 70, 40}, {2800, 40, 1}), 8400);
  check(x3::from_native(x_at, {20, 5, 30}, {1, 600, 20}),
        y3::from_native(y_at, {20, 5, 30}, {1, 20, 100}),
        x3::from_native(0, {20, 5, 30}, {150, 30, 1}), 3000);
}

TEST_CASE("views that are contiguous along different axes are added", "[algorithm][elementwise]") {
  const fixture f;
  check_turned<float, float>(f);
  check_turned<double, int>(f);
  check_turned<std::int16_t, std::int8_t>(f);
}

TEST_CASE("transposed views are written in place", "[algorithm][elementwise]") {
  const fixture f;
  const auto add =
      test::value_of(gpu::elementwise<float*, const float*>::create("x, y", "x[i] += 2 * y[i]"));
  constexpr std::size_t rows = 70, columns = 53;
  std::vector<float> host_x(rows * columns), host_y(rows * columns);
  for (std::size_t i = 0; i < host_x.size(); ++i) {
    host_x[i] = static_cast<float>(i % 911);
    host_y[i] = static_cast<float>(i % 613);
  }
  auto x = f.upload(host_x), y = f.upload(host_y);
  // Of eight axes, of which all but two have one element.
  test::value_of(
      add(f.stream,
          gpu::array_view<float, 8>::from_native(
              x.span().native(), {1, columns, 1, 1, 1, rows, 1, 1}, {9, 1, 7, 5, 3, columns, 2, 4}),
          y));
  std::vector<float> expected = host_x;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) expected[r * columns + c] += 2 * host_y[c * rows + r];
  }
  CHECK((f.download(x) == expected));
}

TEST_CASE("a view can be written", "[algorithm][elementwise]") {
  const fixture f;
  const auto fill = test::value_of(gpu::elementwise<int*>::create("y", "y[i] = (int)i + 1"));
  auto y = f.upload(std::vector<int>(60, 0));
  const auto turned = gpu::array_view<int, 2>::from_native(y.span().native() + 4, {5, 9}, {1, 6});
  test::value_of(fill(f.stream, turned));
  const auto found = f.download(y);
  std::vector<int> expected(60, 0);
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 9; ++c) expected[static_cast<std::size_t>(1 + r + 6 * c)] = r * 9 + c + 1;
  }
  CHECK(found == expected);
}

TEST_CASE("snippets may use elements in any way", "[algorithm][elementwise]") {
  const fixture f;
  const std::size_t count = 1500;
  const auto host = ramp<int>(count);
  const auto run = [&](const char* body, gpu::snippet_options options = {}) {
    auto x = f.upload(host);
    auto y = f.upload(std::vector<int>(count, 1000));
    const auto kernel =
        test::value_of(gpu::elementwise<const int*, int*>::create("x, y", body, options));
    test::value_of(kernel(f.stream, x, y));
    return f.download(y);
  };
  const auto expect = [&](const char* body, auto value, gpu::snippet_options options = {}) {
    CAPTURE(body);
    const auto found = run(body, options);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += found[i] != value(i);
    CHECK(wrong == 0);
  };
  const auto x = [&](std::size_t i) { return host[i]; };
  expect("y[i] = i == 0 ? -1 : x[i - 1];", [&](std::size_t i) { return i == 0 ? -1 : x(i - 1); });
  expect("y[n - 1 - i] = x[i]", [&](std::size_t i) { return x(count - 1 - i); });
  expect("if (x[i] > 50) y[i] = x[i];", [&](std::size_t i) { return x(i) > 50 ? x(i) : 1000; });
  expect("if (x[i] > 50) continue_here: y[i] = 2;",
         [&](std::size_t i) { return x(i) > 50 ? 2 : 1000; });
  expect("if (x[i] > 50) return; y[i] = x[i];",
         [&](std::size_t i) { return x(i) > 50 ? 1000 : x(i); });
  expect("y[i] = y[i] + 1; y[i] *= 2;", [&](std::size_t) { return 2002; });
  expect("int s = 0; for (int i = 0; i < 3; ++i) s += x[i]; y[i] = s;",
         [&](std::size_t) { return x(0) + x(1) + x(2); });
  expect("atomicAdd(&y[i], x[i]); // y[i] = 0", [&](std::size_t i) { return 1000 + x(i); });
  expect("const int* p = &x[i]; /* y[i] */ y[i] = *p;", [&](std::size_t i) { return x(i); });
  expect("auto set = [&](int& to, int v) { to = v; }; set(y[i], 5);",
         [&](std::size_t) { return 5; });
  expect("const char* s = \"y[i] = 1;\"; y[i] = s[0] == 'y';", [&](std::size_t) { return 1; });
  expect("struct { int y[1]; } s; s.y[0] = x[i]; y[i] = s.y[0];",
         [&](std::size_t i) { return x(i); });
  expect("y[i] = 10 > x[i];", [&](std::size_t i) { return 10 > x(i); });
  expect("++y[i]; y[i]--; y[i] -= x[i];", [&](std::size_t i) { return 1000 - x(i); });
  expect("y[i] = (int)i;\nint j = (int)i; y[i] += j;",
         [&](std::size_t i) { return 2 * static_cast<int>(i); });
  expect("y[i] = NEXT", [&](std::size_t i) { return i + 1 < count ? x(i + 1) : 0; },
         {.preamble = "#define NEXT i + 1 < n ? x[i + 1] : 0"});
  expect("y[i] = twice(x[i])", [&](std::size_t i) { return 2 * x(i); },
         {.preamble = "int twice(int a) { return 2 * a; }"});
  expect("y[i] = x[i] + offset;", [&](std::size_t i) { return x(i) + 3; },
         {.before = "const int offset = 3;"});
}

TEST_CASE("a plain pointer is the snippet's own", "[algorithm][elementwise]") {
  const fixture f;
  const auto look_up = test::value_of(gpu::elementwise<gpu::raw<const float*>, int, float*>::create(
      "table, size, y", "y[i] = table[i % size]"));
  auto table = f.upload(std::vector<float>{1, 2, 4});
  auto y = f.make<float>(100);
  test::value_of(look_up(f.stream, table, 3, y));
  const auto found = f.download(y);
  CHECK(found[98] == 4);
  CHECK(found[99] == 1);
  // A contiguous view has one, too, and others are refused.
  const gpu::array_view all = table.span();
  test::value_of(look_up(f.stream, all(gpu::slice(1, 3)), 2, y));
  CHECK(f.download(y)[99] == 4);
  const auto error = test::error_of(look_up(f.stream, all(gpu::slice(0, 3, 2)), 2, y));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(test::says(error, "table is a view whose elements are not contiguous", "gpu::evaluate",
                   "without gpu::raw"));
  CHECK(test::says(test::error_of(look_up(f.stream, all(5, gpu::new_axis()), 2, y)), "table",
                   "index 5 is out of range"));
}

TEST_CASE("a slice chooses the indices", "[algorithm][elementwise]") {
  const fixture f;
  const auto set = test::value_of(gpu::elementwise<int, int*>::create("v, y", "y[i] = v"));
  const auto chosen = [&](const gpu::slice& s) {
    auto y = f.upload(std::vector<int>(10, 0));
    test::value_of(set.over(f.stream, s, 1, y));
    std::string text;
    for (const int each : f.download(y)) text += each != 0 ? '1' : '.';
    return text;
  };
  CHECK(chosen({}) == "1111111111");
  CHECK(chosen({2, 8, 3}) == "..1..1....");
  CHECK(chosen({-3, gpu::to_end}) == ".......111");
  CHECK(chosen({0, -2, 4}) == "1...1.....");
  CHECK(chosen({8, 1, -3}) == "..1..1..1.");
  CHECK(chosen({gpu::to_end, gpu::before_start, -4}) == ".1...1...1");
  CHECK(chosen({7, 3}) == "..........");
  CHECK(chosen({20, 30}) == "..........");
  auto some = f.make<int>(3);
  const auto error = test::error_of(set.over(f.stream, gpu::slice(0, 5, 0), 1, some));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(test::says(error, "step of a slice is 0", "Pass a step of 1"));
}

TEST_CASE("a slice alone says how many indices there are", "[algorithm][elementwise]") {
  const fixture f;
  const auto fill = test::value_of(gpu::elementwise<gpu::raw<int*>>::create("y", "y[i] = (int)n"));
  auto y = f.upload(std::vector<int>(7, 0));
  const auto error = test::error_of(fill(f.stream, y));
  CHECK(test::says(error, "no parameter says how many", "over(stream, gpu::slice(0, count)"));
  test::value_of(fill.over(f.stream, gpu::slice(0, 5), y));
  CHECK(f.download(y) == std::vector<int>{5, 5, 5, 5, 5, 0, 0});
}

TEST_CASE("products and sums are rounded one by one unless fast is asked for",
          "[algorithm][elementwise]") {
  const fixture f;
  const float a = 1.0f + 0x1p-12f;
  auto x = f.upload(std::vector<float>(100, a)), y = f.make<float>(100);
  const auto kernel = test::value_of(
      gpu::elementwise<const float*, float*>::create("x, y", "y[i] = x[i] * x[i] - 1.0f"));
  test::value_of(kernel(f.stream, x, y));
  volatile float product = a * a;
  CHECK(f.download(y)[0] == product - 1.0f);
  const auto fast = test::value_of(gpu::elementwise<const float*, float*>::create(
      "x, y", "y[i] = x[i] * x[i] - 1.0f", {.fast = true}));
  test::value_of(fast(f.stream, x, y));
  CHECK(f.download(y)[0] == std::fma(a, a, -1.0f));
}

TEST_CASE("an elementwise kernel refuses arguments that do not fit", "[algorithm][elementwise]") {
  const fixture f;
  const auto saxpy = test::value_of(saxpy_kernel::create("a, x, y", "y[i] += a * x[i]"));
  auto x = f.upload(ramp<float>(100)), y = f.upload(ramp<float>(120));
  const auto sizes = test::error_of(saxpy(f.stream, 1.0f, x, y));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "x has 100 elements", "y has 120", "first(100)"));

  const auto overlap =
      test::error_of(saxpy(f.stream, 1.0f, y.span().first(50), y.span().subspan(1, 50)));
  CHECK(test::says(overlap, "y is written and overlaps x", "does not overlap"));
  test::value_of(saxpy(f.stream, 1.0f, y, y));
  const auto shift = test::value_of(
      gpu::elementwise<const float*, float*>::create("x, y", "if (i > 0) y[i] = x[i - 1]"));
  CHECK(test::says(test::error_of(shift(f.stream, y, y)), "y is written and overlaps x",
                   "elements at other indices than i"));
  const auto clip = test::value_of(
      gpu::elementwise<const float*, float*>::create("x, y", "if (x[i] < 0) y[i] = 0"));
  test::value_of(clip(f.stream, y, y));
  using row = gpu::array_view<float, 1>;
  const auto at = y.span().native();
  test::value_of(
      saxpy(f.stream, 1.0f, row::from_native(at, {50}, {2}), row::from_native(at + 4, {50}, {2})));

  const auto repeated =
      test::error_of(saxpy(f.stream, 1.0f, x.span().first(50), row::from_native(at, {50}, {0})));
  CHECK(test::says(repeated, "y is written", "with a stride of 0"));

  using matrix = gpu::array_view<float, 2>;
  const auto shapes =
      test::error_of(saxpy(f.stream, 1.0f, matrix::from_native(x.span().native(), {4, 5}, {5, 1}),
                           matrix::from_native(at, {5, 4}, {4, 1})));
  CHECK(test::says(shapes, "x has the shape (4, 5)", "y has the shape (5, 4)"));

  auto moved = std::move(x);
  const auto empty = test::error_of(saxpy(f.stream, 1.0f, x, y));
  CHECK(empty == gpu::errc::empty_handle);
  const saxpy_kernel none;
  CHECK(test::error_of(none(f.stream, 1.0f, moved, y)) == gpu::errc::empty_handle);
  CHECK(test::error_of(saxpy(gpu::stream_ref(), 1.0f, moved, y)) == gpu::errc::empty_handle);
}

TEST_CASE("a snippet's description is checked", "[algorithm][elementwise]") {
  const auto refused = [](const char* names, const char* name = "k") {
    return test::error_of(saxpy_kernel::create(names, "y[i] += a * x[i]", {.name = name}));
  };
  CHECK(test::says(refused("a, x"), "names 2 parameters", "3 types"));
  CHECK(test::says(refused(""), "names 0 parameters"));
  CHECK(test::says(refused("a, x, x"), "two parameters are called \"x\""));
  CHECK(test::says(refused("a, i, y"), "cannot be called \"i\""));
  CHECK(test::says(refused("a, gpu_x, y"), "begin with gpu_"));
  CHECK(test::says(refused("float a, x, y"), "\"float a\" is not the name", "the types are"));
  CHECK(
      test::says(refused("a, x, y", "my kernel"), "\"my kernel\" cannot be the name of a kernel"));
}

TEST_CASE("a mistake in a snippet is shown in the user's line", "[algorithm][elementwise]") {
  const auto error = test::error_of(
      saxpy_kernel::create("a, x, y", "float t = x[i];\ny[i] += a * tt;", {.name = "scaled"}));
  CHECK(error == gpu::errc::compile_failed);
  CHECK(test::says(error, "scaled.operation:2", "\"tt\" is undefined", "y[i] += a * tt;"));
}

TEST_CASE("the text of an elementwise kernel can be read", "[algorithm][elementwise]") {
  const auto saxpy =
      test::value_of(saxpy_kernel::create("a, x, y", "y[i] += a * x[i]", {.name = "saxpy"}));
  const gpu::text source = saxpy.source();
  CHECK(source.contains("__global__"));
  CHECK(source.contains("saxpy("));
  CHECK(source.contains("gpu_y += a * gpu_x"));
}

TEST_CASE("an elementwise kernel is captured into a graph", "[algorithm][elementwise]") {
  const fixture f;
  const auto saxpy = test::value_of(saxpy_kernel::create("a, x, y", "y[i] += a * x[i]"));
  auto x = f.upload(std::vector<float>(300, 1.0f)), y = f.upload(std::vector<float>(300, 0.0f));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(saxpy(f.stream, 2.0f, x, y));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int k = 0; k < 3; ++k) test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(y)[299] == 6.0f);
}

TEST_CASE("several threads call one elementwise kernel", "[algorithm][elementwise]") {
  const fixture f;
  const auto saxpy = test::value_of(saxpy_kernel::create("a, x, y", "y[i] += a * x[i]"));
  auto x = f.upload(std::vector<float>(1000, 1.0f));
  std::vector<gpu::device_buffer<float>> results;
  for (int t = 0; t < 4; ++t) results.push_back(f.upload(std::vector<float>(1000, 0.0f)));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      // Different alignments, so that the threads need kernels that nobody has made yet.
      for (std::size_t k = 0; k < 8; ++k) {
        (void)saxpy(f.stream, 1.0f, x.span().subspan(k % 3, 500), results[t].span().first(500));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (auto& each : results) CHECK(f.download(each)[499] == 8.0f);
}

TEST_CASE("each call of an elementwise kernel may fail", "[algorithm][elementwise][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto y = GPU_TRY(gpu::device_buffer<int>::create(stream, 100));
    const auto fill = GPU_TRY(gpu::elementwise<int*>::create("y", "y[i] = 1"));
    GPU_TRY(fill(stream, y));
    GPU_TRY(fill(stream, y));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());  // from now on the compiler is not asked
  // It is no error that a thread could not be left as it was, while there is PTX to go on with.
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace elementwise_test

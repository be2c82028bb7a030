// The typed form of expressions: operations, types and layouts, against arithmetic on the host. The
// untyped form is held against NumPy by functions_test.cpp and operators_test.cpp.

#include "array/array_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace typed_expression_test { namespace {

using array_test::equal;
using array_test::fixture;

constexpr int rows = 5, columns = 7, layouts = 4, operations = 10;

/// Numbers of all sizes, with those at the ends, and small ones that are often equal.
template <class T> std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> made(count);
  for (T& each : made) {
    const std::uint64_t bits = random();
    if (bits % 4 == 0) {
      each = static_cast<T>(bits / 4 % 3);
    } else if constexpr (std::is_integral_v<T>) {
      each = static_cast<T>(bits >> 8);
    } else {
      each = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-60);
    }
  }
  made[1] = std::numeric_limits<T>::max();
  made[2] = std::numeric_limits<T>::lowest();
  if constexpr (std::is_floating_point_v<T>) {
    made[3] = std::numeric_limits<T>::quiet_NaN();
    made[4] = std::numeric_limits<T>::infinity();
    made[5] = std::numeric_limits<T>::denorm_min();
  }
  return made;
}

/// Where element (i, k) of a layout is in memory.
int place(int layout, int i, int k) {
  switch (layout) {
    case 0: return i * columns + k;                            // contiguous
    case 1: return k * rows + i;                               // transposed
    case 2: return i * 2 * columns + 2 * columns - 1 - 2 * k;  // every other one, backwards
    default: return k;                                         // a row that repeats
  }
}

template <class T> gpu::array_view<const T, 2> view_of(const gpu::array<T>& memory, int layout) {
  const auto first = [&](int count) { return memory(gpu::slice(0, count)); };
  switch (layout) {
    case 0: return gpu::reshape(first(rows * columns), rows, columns);
    case 1: return gpu::transpose(gpu::reshape(first(rows * columns), columns, rows));
    case 2:
      return gpu::reshape(memory, rows, 2 * columns)(gpu::all(),
                                                     gpu::slice(-1, gpu::before_start, -2));
    default: return gpu::broadcast_to(first(columns), gpu::shape{rows, columns});
  }
}

/// Computes with integers as unsigned numbers, which wrap around.
template <class T, class F> T computed(T x, T y, F operation) {
  if constexpr (std::is_integral_v<T>) {
    const auto wide = [](T v) { return static_cast<std::uint64_t>(v); };
    return static_cast<T>(operation(wide(x), wide(y)));
  } else {
    return operation(x, y);
  }
}

/// What operation number `which` gives on the host.
template <class T> T on_host(int which, T x, T y) {
  const bool is_nan = x != x || y != y;
  switch (which) {
    case 0: return computed(x, y, [](auto a, auto b) { return a + b; });
    case 1: return computed(x, y, [](auto a, auto b) { return a - b; });
    case 2: return computed(x, y, [](auto a, auto b) { return a * b; });
    case 3: return is_nan ? static_cast<T>(x + y) : x < y ? x : y;
    case 4: return is_nan ? static_cast<T>(x + y) : x < y ? y : x;
    case 5: return x < y ? y : x;
    case 6: return computed(x, y, [](auto a, auto) { return a * a; });
    case 7:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(x ^ y);
      } else {
        return x / y;
      }
    case 8: return static_cast<T>(x <= y);
    default: return static_cast<T>(x == y);
  }
}

/// Checks all operations in one kernel, whose results are the planes of one array.
template <class T> int check_layout(const fixture& f, int layout) {
  const auto host_x = numbers<T>(2 * rows * columns, 1), host_y = numbers<T>(rows * columns, 2);
  const auto memory = test::value_of(gpu::array<T>::from(f.stream, host_x));
  const auto y = test::value_of(gpu::array<T, 2>::from(f.stream, host_y, {rows, columns}));
  const auto x = view_of(memory, layout);
  auto out = test::value_of(gpu::empty<T>(f.stream, gpu::shape{operations, rows, columns}));
  const auto last = [&] {
    if constexpr (std::is_integral_v<T>) {
      return x ^ y;
    } else {
      return x / y;
    }
  };
  test::value_of(gpu::assign_all(
      f.stream, gpu::into(out(0), x + y), gpu::into(out(1), x - y), gpu::into(out(2), x * y),
      gpu::into(out(3), gpu::minimum(x, y)), gpu::into(out(4), gpu::maximum(x, y)),
      gpu::into(out(5), gpu::where(x < y, y, x)), gpu::into(out(6), gpu::square(x)),
      gpu::into(out(7), last()), gpu::into(out(8), x <= y), gpu::into(out(9), x == y)));
  const std::vector<T> found = f.download(out);
  std::size_t at = 0;
  for (int which = 0; which < operations; ++which) {
    for (int i = 0; i < rows; ++i) {
      for (int k = 0; k < columns; ++k, ++at) {
        const T a = host_x[static_cast<std::size_t>(place(layout, i, k))];
        const T b = host_y[static_cast<std::size_t>(i * columns + k)];
        CAPTURE(which, layout, i, k, a, b, found[at]);
        REQUIRE(equal(found[at], on_host(which, a, b)));
      }
    }
  }
  return operations;
}

template <class... T> int check_types(const fixture& f, int most_layouts) {
  int cases = 0;
  for (int layout = 0; layout < most_layouts; ++layout) cases += (check_layout<T>(f, layout) + ...);
  return cases;
}

TEST_CASE("the typed form computes what the host does", "[array][expression]") {
  check_types<short, float>(fixture(), 2);
}

TEST_CASE("the typed form computes what the host does, for all types and layouts",
          "[array][expression][thorough]") {
  const int cases = check_types<std::int8_t, std::uint8_t, std::int16_t, std::int32_t,
                                std::uint32_t, std::int64_t, float, double>(fixture(), layouts);
  CHECK(cases == 320);
}

}}  // namespace typed_expression_test

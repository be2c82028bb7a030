// What a warm call of a generated kernel still refuses, at each of its operands.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace operand_checks_test {

using algorithm_test::fixture;
using span = gpu::device_span<float>;
using sum_kernel = gpu::elementwise<float, const float*, const float*, float*, float*>;

/// A kernel that has been launched, with the memory of its operands: two are read, two written.
struct warm {
  static constexpr std::size_t count = 64;
  fixture f;
  sum_kernel kernel = test::value_of(
      sum_kernel::create("a, x, y, z, w", "z[i] = a * x[i] + y[i]; w[i] = z[i]", {.name = "sum"}));
  gpu::device_buffer<float> memory = f.upload(std::vector<float>(8 * count, 1.0f));

  warm() { test::value_of(call(operands())); }

  /// Where the operands begin, apart from each other by as many elements as they have.
  std::array<span, 4> operands() const {
    const span all = span::from_native(memory.native(), 8 * count);
    return {all.first(count), all.subspan(2 * count, count), all.subspan(4 * count, count),
            all.subspan(6 * count, count)};
  }
  gpu::result<> call(const std::array<span, 4>& of) const {
    return kernel(f.stream, 2.0f, of[0], of[1], of[2], of[3]);
  }
};

constexpr const char* names[] = {"x", "y", "z", "w"};

TEST_CASE("a warm call checks the number of elements and the alignment of each operand",
          "[algorithm][elementwise]") {
  const warm w;
  for (std::size_t p = 0; p < 4; ++p) {
    CAPTURE(p);
    std::array<span, 4> of = w.operands();
    of[p] = of[p].first(warm::count - 1);
    const auto shorter = test::error_of(w.call(of));
    CHECK(shorter == gpu::errc::size_mismatch);
    CHECK(test::says(shorter, p == 0 ? "x has 63 elements, but y has 64" : names[p],
                     "take first(63) of the longer one"));
    of = w.operands();
    of[p] = span::from_native(of[p].native() + 2, warm::count);
    const auto odd = test::error_of(w.call(of));
    CHECK(odd == gpu::errc::invalid_argument);
    CHECK(test::says(odd, names[p], "begins at an address that is 2 more than a multiple of 4"));
    of = w.operands();
    of[p] = span::from_native(of[p].native() + 4, warm::count);  // not a multiple of 16
    test::value_of(w.call(of));
  }
  test::value_of(w.call({}));
}

TEST_CASE("a warm call compares what is written with every other operand",
          "[algorithm][elementwise]") {
  const warm w;
  for (std::size_t written = 2; written < 4; ++written) {
    for (std::size_t other = 0; other < 4; ++other) {
      if (other == written) continue;
      CAPTURE(written, other);
      std::array<span, 4> of = w.operands();
      for (const std::ptrdiff_t shift : {-1, 1, -63, 63}) {
        of[other] = span::from_native(of[written].native() + static_cast<CUdeviceptr>(4 * shift),
                                      warm::count);
        const auto error = test::error_of(w.call(of));
        CHECK(error == gpu::errc::invalid_argument);
        CHECK(test::says(error, "is written and overlaps", "but not element by element"));
        CHECK(test::says(error, names[written], names[other]));
      }
      for (const std::ptrdiff_t shift : {-64, 0, 64}) {  // beside it, and element by element
        of[other] = span::from_native(of[written].native() + static_cast<CUdeviceptr>(4 * shift),
                                      warm::count);
        test::value_of(w.call(of));
      }
    }
  }
  std::array<span, 4> of = w.operands();
  of[1] = span::from_native(of[0].native() + 4, warm::count);  // both are only read
  test::value_of(w.call(of));
}

TEST_CASE("a warm call refuses memory of another context at each operand",
          "[algorithm][elementwise]") {
  const fixture f;
  const auto copy = test::value_of(
      gpu::elementwise<const float*, float*>::create("x, y", "y[i] = x[i]", {.name = "warm_copy"}));
  auto x = f.make<float>(10), y = f.make<float>(10);
  test::value_of(copy(f.stream, x, y));
  const gpu::context own = test::value_of(gpu::context::create(f.device));
  auto elsewhere = test::value_of(gpu::device_buffer<float>::create(own, 10));
  for (const gpu::cuda_error& error : {test::error_of(copy(f.stream, elsewhere, y)),
                                       test::error_of(copy(f.stream, x, elsewhere))}) {
    CHECK(error == gpu::errc::wrong_context);
    CHECK(test::says(error, "another context of device 0"));
  }
  CHECK(test::error_of(copy(gpu::stream_ref(), x, y)) == gpu::errc::empty_handle);
  const auto moved = std::move(y);
  const auto empty = test::error_of(copy(f.stream, x, y));
  CHECK(empty == gpu::errc::empty_handle);
  CHECK(test::says(empty, "y", "moved from"));
}

}  // namespace operand_checks_test

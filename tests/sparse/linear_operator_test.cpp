// Linear operators against arithmetic on the host.

#include "sparse/sparse_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <complex>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace linear_operator_test {

using sparse_test::fixture;

/// y[i] = x[n - 1 - i]: a class of the user's.
struct reversal {
  using value_type = float;
  std::size_t size;
  gpu::elementwise<gpu::raw<const float*>, float*> kernel;

  gpu::operator_shape shape() const { return {size, size}; }
  gpu::result<> apply(gpu::stream_ref stream, gpu::device_span<const float> x,
                      gpu::device_span<float> y) const {
    return kernel(stream, x, y);
  }
};
struct without_shape {
  using value_type = float;
  gpu::result<> apply(gpu::stream_ref, gpu::device_span<const float>,
                      gpu::device_span<float>) const;
};

static_assert(gpu::linear_operator<reversal>);
static_assert(gpu::linear_operator<gpu::csr_matrix<double>>);
static_assert(gpu::linear_operator<gpu::identity_operator<std::complex<float>>>);
static_assert(gpu::linear_operator<gpu::diagonal_operator<float>>);
static_assert(!gpu::linear_operator<without_shape>);
static_assert(!gpu::linear_operator<float>);

TEST_CASE("the identity operator copies its operand", "[algorithm][linear_operator]") {
  const fixture f;
  const std::vector<double> host{1, 2, 3};
  const auto x = f.upload(host);
  auto y = f.make<double>(3);
  const gpu::identity_operator<double> same(3);
  CHECK(same.shape() == gpu::operator_shape{3, 3});
  test::value_of(same.apply(f.stream, x, y));
  test::value_of(same.apply(f.stream, y, y));
  CHECK(f.download(y) == host);
  const auto error = test::error_of(gpu::identity_operator<double>(4).apply(f.stream, x, y));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(test::says(error, "gpu::identity_operator::apply", "x has 3 elements", "4 columns"));
}

TEST_CASE("a diagonal operator multiplies each element", "[algorithm][linear_operator]") {
  const fixture f;
  const std::vector<float> factors{2, -3, 0.5f, 8};
  const auto diagonal = f.upload(factors), x = f.upload(std::vector<float>{1, 10, 100, 1000});
  auto y = f.make<float>(4);
  using gpu::diagonal_operator;
  const auto times = test::value_of(diagonal_operator<float>::create(f.stream, diagonal));
  CHECK(times.shape() == gpu::operator_shape{4, 4});
  CHECK(f.download(times.diagonal()) == factors);
  test::value_of(times.apply(f.stream, x, y));
  CHECK(f.download(y) == std::vector<float>{2, -30, 50, 8000});
  const auto over = test::value_of(diagonal_operator<float>::inverse_of(f.stream, diagonal));
  test::value_of(over.apply(f.stream, y, y));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(f.download(y)[i] / f.download(x)[i] - 1) < 1e-6f);
  const auto short_y = test::error_of(times.apply(f.stream, x, y.span().first(3)));
  CHECK(short_y == gpu::errc::size_mismatch);
  const auto zeros = f.upload(std::vector<float>{1, 2, 0, 0});
  const auto error = test::error_of(diagonal_operator<float>::inverse_of(f.stream, zeros));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(test::says(error, "element 2 of the diagonal is 0", "no inverse"));

  using complex = std::complex<double>;
  const auto turns = f.upload(std::vector<complex>{{0, 1}, {2, 0}});
  const auto z = f.upload(std::vector<complex>{{3, 4}, {1, 1}});
  auto w = f.make<complex>(2);
  const auto turn = test::value_of(diagonal_operator<complex>::inverse_of(f.stream, turns));
  test::value_of(turn.apply(f.stream, z, w));
  CHECK(f.download(w) == std::vector<complex>{{4, -3}, {0.5, 0.5}});
}

TEST_CASE("a class of the user's is a linear operator", "[algorithm][linear_operator]") {
  const fixture f;
  const reversal turned{3, test::value_of(gpu::elementwise<gpu::raw<const float*>, float*>::create(
                               "x, y", "y[i] = x[n - 1 - i]"))};
  const auto x = f.upload(std::vector<float>{1, 2, 3});
  auto y = f.make<float>(3);
  test::value_of(gpu::detail::apply_operator(turned, f.stream, x, y, {}));
  CHECK(f.download(y) == std::vector<float>{3, 2, 1});
}

TEST_CASE("each call of a diagonal operator may fail", "[algorithm][linear_operator][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 100));
    GPU_TRY(gpu::fill(stream, x, 2.0f));
    const auto half = GPU_TRY(gpu::diagonal_operator<float>::inverse_of(stream, x));
    GPU_TRY(half.apply(stream, x, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 2; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace linear_operator_test

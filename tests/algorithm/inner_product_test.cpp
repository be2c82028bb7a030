// Inner products whose values arrive later, against sums on the host.

#include "sparse/sparse_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/algorithm/inner_product.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <atomic>
#include <complex>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace inner_product_test {

using sparse_test::fixture;

TEMPLATE_TEST_CASE("an inner product's value arrives on the host later",
                   "[algorithm][inner_product]", float, double, std::complex<float>,
                   std::complex<double>) {
  const fixture f;
  auto product = test::value_of(gpu::async_inner_product<TestType>::create(f.stream));
  for (const std::size_t size : {0u, 1u, 1000u, 40'000u}) {
    CAPTURE(size);
    const auto host_x = sparse_test::random_vector<TestType>(size, 1);
    const auto host_y = sparse_test::random_vector<TestType>(size, 2);
    sparse_test::exact expected = 0;
    for (std::size_t i = 0; i < size; ++i)
      expected += std::conj(sparse_test::as_exact(host_x[i])) * sparse_test::as_exact(host_y[i]);
    const auto x = f.upload(host_x), y = f.upload(host_y);
    test::value_of(product.start(f.stream, x, y));
    CHECK(sparse_test::as_exact(test::value_of(product.value())) == expected);
    CHECK(test::value_of(product.is_done()));
    CHECK(sparse_test::as_exact(test::value_of(product.value())) == expected);
  }
}

TEST_CASE("an inner product says whether it is there without waiting",
          "[algorithm][inner_product][cpu]") {
  // Each stream has a thread of its own, which a host function holds up.
  const test::own_cpu_driver driver({.deferred = false, .threads = true});
  const fixture f;
  auto product = test::value_of(gpu::async_inner_product<float>::create(f.stream));
  const auto x = f.upload(std::vector<float>(100, 2.0f));
  std::atomic<bool> may_go_on = false;
  test::value_of(gpu::launch_host_function(f.stream, [&] {
    while (!may_go_on) std::this_thread::yield();
  }));
  test::value_of(product.start(f.stream, x, x));
  const bool early = test::value_of(product.is_done());
  may_go_on = true;
  CHECK_FALSE(early);
  CHECK(test::value_of(product.value()) == 400);
  CHECK(test::value_of(product.is_done()));
}

TEST_CASE("an inner product that is started anew or dropped is waited for",
          "[algorithm][inner_product]") {
  const fixture f;
  const auto x = f.upload(std::vector<float>(100, 2.0f)), y = f.upload(std::vector<float>(100, 1));
  {
    auto product = test::value_of(gpu::async_inner_product<float>::create(f.stream));
    test::value_of(product.start(f.stream, x, x));
    test::value_of(product.start(f.stream, x, y));
    auto moved = std::move(product);
    CHECK(test::value_of(moved.value()) == 200);
    test::value_of(moved.start(f.stream, x, x));
    CHECK(test::error_of(product.start(f.stream, x, x)) == gpu::errc::empty_handle);  // NOLINT
  }
  test::value_of(f.stream.synchronize());
}

TEST_CASE("an inner product refuses what does not fit", "[algorithm][inner_product]") {
  const fixture f;
  auto product = test::value_of(gpu::async_inner_product<float>::create(f.stream));
  const auto early = test::error_of(product.value());
  CHECK(early == gpu::errc::invalid_argument);
  CHECK(test::says(early, "no product was started", "Call start"));
  CHECK(test::error_of(product.is_done()) == gpu::errc::invalid_argument);
  const auto x = f.upload(std::vector<float>(10, 1)), y = f.upload(std::vector<float>(9, 1));
  const auto sizes = test::error_of(product.start(f.stream, x, y));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "x has 10 elements", "y has 9"));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::error_of(product.start(f.stream, x, x)) == gpu::errc::capture_prohibited);
  static_cast<void>(test::value_of(capture.end()));
  test::value_of(product.start(f.stream, x, x));
  CHECK(test::value_of(product.value()) == 10);
}

TEST_CASE("each call of an inner product that arrives later may fail",
          "[algorithm][inner_product][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    // Page-locked memory is freed in the current context.
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 2.0f));
    auto product = GPU_TRY(gpu::async_inner_product<float>::create(stream));
    GPU_TRY(product.start(stream, x, x));
    static_cast<void>(GPU_TRY(product.is_done()));
    static_cast<void>(GPU_TRY(product.value()));
    return stream.synchronize();
  };
  for (int k = 0; k < 2; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent", "cuCtxGetCurrent"}) == "");
}

}  // namespace inner_product_test

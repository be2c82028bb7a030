// in, out and inout: what is copied, when, and that the launch has waited.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>

#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace host_argument_test { namespace {

constexpr const char* source = R"(
extern "C" __global__ void poly(const int* a, int* b, int* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = a[i] * 10 + b[i];
  b[i] = -b[i];
}
struct span { int* data; unsigned long long size; };
extern "C" __global__ void sizes(span a, span b, unsigned long long* out) {
  out[0] = a.size;
  out[1] = b.size;
  out[2] = a.data == nullptr;
  if (b.size) b.data[b.size - 1] = 99;
}
)";

using poly_kernel = gpu::kernel<const int*, int*, int*, int>;

TEST_CASE("in goes there, out comes back, inout does both", "[kernel][host_argument]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(source);
  const poly_kernel poly = test::value_of(module.kernel<const int*, int*, int*, int>("poly"));
  constexpr int n = 777;
  std::vector<int> a(n), b(n), c(n, -1);
  for (int i = 0; i < n; ++i) {
    a[static_cast<std::size_t>(i)] = i;
    b[static_cast<std::size_t>(i)] = 3 * i + 1;
  }
  const std::vector<int> a_before = a;
  test::value_of(gpu::launch(stream, {gpu::grid_for(n, 64), 64}, poly, gpu::in(a), gpu::inout(b),
                             gpu::out(c), n));
  for (int i = 0; i < n; ++i) {
    REQUIRE(c[static_cast<std::size_t>(i)] == i * 10 + 3 * i + 1);
    REQUIRE(b[static_cast<std::size_t>(i)] == -(3 * i + 1));
  }
  CHECK(a == a_before);
}

TEST_CASE("in leaves the host's values alone, also where the kernel writes",
          "[kernel][host_argument]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(source);
  // With stated parameters this does not compile: see tests/rejected.
  const gpu::untyped_kernel poly = test::value_of(module.kernel("poly"));
  const std::array<int, 2> constant = {1, 2};
  int written[2] = {5, 6};
  int result[2] = {};
  test::value_of(
      gpu::launch(stream, {1, 2}, poly, gpu::in(constant), gpu::in(written), gpu::out(result), 2));
  CHECK(written[0] == 5);
  CHECK(written[1] == 6);
  CHECK(result[0] == 15);
  CHECK(result[1] == 26);
  // A temporary is fine, since the launch waits.
  test::value_of(gpu::launch(stream, {1, 2}, poly, gpu::in(std::vector<int>{7, 8}),
                             gpu::in(written), gpu::out(result), 2));
  CHECK(result[1] == 86);
}

TEST_CASE("host arguments pass for spans, empty ones too, and to untyped kernels",
          "[kernel][host_argument]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(source);
  std::vector<int> none, some(3, 1);
  std::vector<unsigned long long> out(3, 77);
  const auto sizes = test::value_of(
      module.kernel<gpu::device_span<const int>, gpu::device_span<int>, unsigned long long*>(
          "sizes"));
  test::value_of(
      gpu::launch(stream, {1, 1}, sizes, gpu::in(none), gpu::inout(some), gpu::out(out)));
  CHECK(out == std::vector<unsigned long long>{0, 3, 1});
  CHECK(some == std::vector<int>{1, 1, 99});
  const gpu::untyped_kernel untyped = test::value_of(module.kernel("sizes"));
  test::value_of(gpu::launch(stream, {1, 1}, untyped, gpu::in(some), gpu::in(none), gpu::out(out)));
  CHECK(out == std::vector<unsigned long long>{3, 0, 0});
}

TEST_CASE("host arguments mix with device buffers", "[kernel][host_argument]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(source);
  const poly_kernel poly = test::value_of(module.kernel<const int*, int*, int*, int>("poly"));
  auto b = test::value_of(gpu::device_buffer<int>::create(stream, 2));
  test::value_of(gpu::fill(stream, b, 4));
  std::vector<int> a = {1, 2}, c(2);
  test::value_of(gpu::launch(stream, {1, 2}, poly, gpu::in(a), b, gpu::out(c), 2));
  CHECK(c == std::vector<int>{14, 24});
}

TEST_CASE("a refused launch with host arguments leaves the host's values alone",
          "[kernel][host_argument]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(source);
  const poly_kernel poly = test::value_of(module.kernel<const int*, int*, int*, int>("poly"));
  std::vector<int> a = {1, 2}, b = {3, 4}, c = {5, 6};
  const auto refused = gpu::launch(stream, {0, 2}, poly, gpu::in(a), gpu::inout(b), gpu::out(c), 2);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == gpu::errc::invalid_launch);
  CHECK(b == std::vector<int>{3, 4});
  CHECK(c == std::vector<int>{5, 6});
  const auto empty =
      gpu::launch(gpu::stream_ref(), {1, 2}, poly, gpu::in(a), gpu::inout(b), gpu::out(c), 2);
  CHECK(empty.error() == gpu::errc::empty_handle);
}

TEST_CASE("host memory that was moved from is refused by its place among the arguments",
          "[kernel][host_argument]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(source);
  const poly_kernel poly = test::value_of(module.kernel<const int*, int*, int*, int>("poly"));
  const gpu::untyped_kernel untyped = test::value_of(module.kernel("poly"));
  const auto make = [&](int count) {
    return test::value_of(gpu::pinned_vector<int>::create(stream.device(), std::size_t(count)));
  };
  gpu::pinned_vector<int> gone = make(2), here = make(2), empty = make(0);
  const gpu::pinned_vector<int> kept = std::move(gone);
  std::vector<int> host(2);
  const auto refused = [&](gpu::result<> launched, const char* argument) {
    const gpu::cuda_error error = test::error_of(std::move(launched));
    CHECK(error == gpu::errc::empty_handle);
    CHECK(test::says(error, "gpu::launch", argument, "of kernel poly is empty: it was moved from",
                     "Use the object that owns it now", "host_argument_test.cpp"));
  };
  const gpu::launch_config shape{1, 2};
  refused(gpu::launch(stream, shape, poly, gpu::in(gone), gpu::inout(here), gpu::out(host), 0),
          "the owner that is argument 1");
  refused(gpu::launch(stream, shape, poly, gpu::in(kept), gpu::inout(gone), gpu::out(host), 0),
          "the owner that is argument 2");
  refused(gpu::launch(stream, shape, poly, gpu::in(host), nullptr, gpu::out(gone), 0),
          "the owner that is argument 3");
  refused(gpu::launch(stream, shape, untyped, gpu::in(std::as_const(gone)), gpu::inout(here),
                      gpu::out(host), 0),
          "the owner that is argument 1");
  // What has no elements is there all the same.
  test::value_of(
      gpu::launch(stream, shape, poly, gpu::in(empty), gpu::inout(empty), gpu::out(empty), 0));
  here[0] = 1;
  here[1] = 2;
  test::value_of(
      gpu::launch(stream, shape, poly, gpu::in(kept), gpu::inout(here), gpu::out(host), 2));
  CHECK(host == std::vector<int>{1, 2});
}

CUresult capturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

TEST_CASE("host arguments are refused during capture", "[kernel][host_argument]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(source);
  const poly_kernel poly = test::value_of(module.kernel<const int*, int*, int*, int>("poly"));
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  table.stream_is_capturing = capturing;
  const gpu::driver::scoped_entry_points in_force(table);
  std::vector<int> a(2);
  const auto refused = gpu::launch(stream, {1, 2}, poly, gpu::in(a), gpu::inout(a), gpu::out(a), 2);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == gpu::errc::capture_prohibited);
}

TEST_CASE("each driver call behind host arguments may fail",
          "[kernel][host_argument][faults][cpu]") {
  const gpu::compiled_program program =
      test::value_of(gpu::compile(source, {.architecture = gpu::architecture::compute(90)}));
  std::vector<int> a = {1, 2}, b = {3, 4}, c(2);  // outlive launches that nobody has waited for
  CHECK(test::sweep(
            [&]() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::module module = GPU_TRY(gpu::module::load(program));
              const poly_kernel poly = GPU_TRY(module.kernel<const int*, int*, int*, int>("poly"));
              return gpu::launch(stream, {1, 2}, poly, gpu::in(a), gpu::inout(b), gpu::out(c), 2);
            },
            {"cuCtxGetDevice"}) == "");
}

}}  // namespace host_argument_test

// Arrays: made from host values and buffers, moved, viewed, and passed to kernels.

#include "algorithm/algorithm_fixture.hpp"
#include "kernel/test_programs.hpp"
#include "support/drivers.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/array.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace array_test { namespace {

using algorithm_test::fixture;
using matrix = gpu::array<int, 2>;

static_assert(!std::is_copy_constructible_v<matrix>);
static_assert(std::is_nothrow_move_constructible_v<matrix>);
static_assert(std::is_convertible_v<matrix&, gpu::array_view<int, 2>>);
static_assert(std::is_convertible_v<const matrix&, gpu::array_view<const int, 2>>);
static_assert(!std::is_convertible_v<const matrix&, gpu::array_view<int, 2>>);
static_assert(!std::is_convertible_v<matrix, gpu::array_view<const int, 2>>);
static_assert(gpu::device_range<matrix&> && !gpu::device_range<matrix>);
static_assert(gpu::kernel_argument_for<matrix&, gpu::array_view<int, 2>>);
static_assert(gpu::kernel_argument_for<const matrix&, const int*>);
static_assert(!gpu::kernel_argument_for<matrix, gpu::array_view<int, 2>>);

TEST_CASE("an array holds the values of the host", "[array]") {
  const fixture f;
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const auto row = test::value_of(gpu::array<double>::from(f.stream, values));
  CHECK(f.download(row) == values);
  CHECK(row.shape() == gpu::shape{6});
  const auto folded = test::value_of(gpu::array<double, 2>::from(f.stream, values, {2, 3}));
  CHECK(f.download(folded) == values);
  CHECK((folded.extent(1) == 3 && folded.stride(0) == 3 && folded.stride(1) == 1));
  CHECK(folded.context() == f.stream.context());
  const auto list = test::value_of(matrix::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  CHECK(list.shape() == gpu::shape{2, 3});
  CHECK(f.download(list) == std::vector<int>{1, 2, 3, 4, 5, 6});
  const auto cube = test::value_of(gpu::array<int, 3>::from(f.stream, {{{1}, {2}}, {{3}, {4}}}));
  CHECK(cube.shape() == gpu::shape{2, 2, 1});
  const auto few = test::value_of(gpu::array<int>::from(f.stream, {7, 8}));
  CHECK(f.download(few) == std::vector<int>{7, 8});
  const auto none = test::value_of(gpu::array<double>::from(f.stream, std::vector<double>{}));
  CHECK(none.size() == 0);
  const auto one = test::value_of(gpu::array<double, 0>::from(f.stream, std::vector{4.5}, {}));
  CHECK(test::value_of(gpu::item(f.stream, one)) == 4.5);
}

TEST_CASE("an array cannot be hashed", "[array]") {
  CHECK_FALSE(std::is_default_constructible_v<std::hash<matrix>>);
  CHECK_FALSE(std::is_default_constructible_v<std::hash<gpu::array_view<int>>>);
}

TEST_CASE("a shape that does not match is refused", "[array]") {
  const fixture f;
  CHECK(test::says(test::error_of(matrix::from(f.stream, std::vector<int>(5), {2, 3})),
                   "gpu::array::from", "a shape of 6 elements does not match 5", "whose product"));
  auto buffer = f.make<int>(12);
  CHECK(test::says(test::error_of(matrix::adopt(std::move(buffer), {5, 2})), "gpu::array::adopt",
                   "a shape of 10 elements does not match 12"));
  CHECK(buffer.size() == 12);  // what was refused is not lost
  const std::size_t half = std::size_t{1} << 32;
  CHECK(test::error_of(matrix::adopt(f.make<int>(0), {half, half})) == gpu::errc::size_mismatch);
  CHECK(test::error_of(gpu::empty<int>(f.stream, gpu::shape{half, half})) ==
        gpu::errc::size_overflow);
}

TEST_CASE("an array takes over a buffer and gives it away", "[array]") {
  const fixture f;
  auto buffer = f.upload(std::vector<int>{1, 2, 3, 4});
  const CUdeviceptr address = buffer.native();
  auto taken = test::value_of(matrix::adopt(std::move(buffer), {2, 2}));
  CHECK(taken.native() == address);
  auto moved = std::move(taken);
  CHECK((taken.size() == 0 && taken.shape() == gpu::shape{0, 0} && !taken.context()));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, taken, 1)), "gpu::assign", "is empty"));
  CHECK(test::says(test::error_of(gpu::item(f.stream, taken)), "gpu::item", "is empty"));
  taken = std::move(moved);
  CHECK(taken.shape() == gpu::shape{2, 2});
  const auto given = taken.release();
  CHECK(f.download(given) == std::vector<int>{1, 2, 3, 4});
  CHECK(taken.shape() == gpu::shape{0, 0});
}

TEST_CASE("kernels take arrays as views and pointers", "[array]") {
  const fixture f;
  auto a = test::value_of(matrix::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  const gpu::module code = test::load_source(R"(
    #include <gpu/device.hpp>
    extern "C" __global__ void turn(gpu::array_view<const int, 2> from,
                                    gpu::array_view<int, 2> to, int* first) {
      to(threadIdx.y, threadIdx.x) = from(threadIdx.x, threadIdx.y);
      if (threadIdx.x + threadIdx.y == 0) *first = 9;
    })");
  const auto turn = test::value_of(
      code.kernel<gpu::array_view<const int, 2>, gpu::array_view<int, 2>, int*>("turn"));
  auto turned = test::value_of(gpu::empty<int>(f.stream, gpu::shape{3, 2}));
  test::value_of(gpu::launch(f.stream, {1, {2, 3}}, turn, a, turned, a));
  CHECK(f.download(turned) == std::vector<int>{1, 4, 2, 5, 3, 6});
  CHECK(f.download(a).front() == 9);

  const auto add =
      test::value_of(gpu::elementwise<const int*, int*>::create("x, y", "y[i] += x[i]"));
  test::value_of(add(f.stream, gpu::transpose(a), turned));
  CHECK(f.download(turned) == std::vector<int>{10, 8, 4, 10, 6, 12});
  // An array has its shape there, too.
  CHECK(test::says(test::error_of(add(f.stream, a, turned)), "(2, 3)", "(3, 2)"));
}

TEST_CASE("the end of an array waits for another stream that uses it", "[array][cpu]") {
  // Work runs as late as the order allows, so what is not ordered runs in the wrong order.
  const test::own_cpu_driver driver({.deferred = true, .threads = false});
  const auto use_on_another = [&](bool declare) -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream own = GPU_TRY(gpu::stream::create(device));
    const gpu::stream other = GPU_TRY(gpu::stream::create(device));
    auto host = GPU_TRY(gpu::pinned_vector<int>::create(device, 2));
    {
      const auto a = GPU_TRY(gpu::array<int>::from(own, {3, 4}));
      GPU_TRY(gpu::copy(other, a, host));
      if (declare) GPU_TRY(a.also_used_on(other));
    }
    GPU_TRY(own.synchronize());
    GPU_TRY(other.synchronize());
    CHECK((host[0] == 3 && host[1] == 4));
    return {};
  };
  test::value_of(use_on_another(true));
  // The driver reports what was forgotten.
  CHECK(test::says(test::error_of(use_on_another(false)), "ILLEGAL_ADDRESS"));
}

TEST_CASE("who uses an array, too, is checked", "[array]") {
  const fixture f;
  auto a = test::value_of(matrix::from(f.stream, {{1, 2}, {3, 4}}));
  const gpu::stream other = test::value_of(gpu::stream::create(f.device));
  test::value_of(a.also_used_on(other));
  test::value_of(a.also_used_on(f.stream));
  CHECK(test::error_of(a.also_used_on(gpu::stream_ref())) == gpu::errc::empty_handle);
  const auto plain = f.make<int>(3);  // waits for all streams when it ends
  test::value_of(plain.also_used_on(other));
  test::value_of(f.stream.synchronize());
  auto capture = test::value_of(gpu::stream_capture::begin(other));
  CHECK(test::says(test::error_of(a.also_used_on(other)), "also_used_on", "is being captured",
                   "after the capture"));
  test::value_of(capture.end());
  const auto moved = std::move(a);
  CHECK(test::error_of(a.also_used_on(other)) == gpu::errc::empty_handle);
}

TEST_CASE("making an array fails with each of its calls", "[array][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto a = GPU_TRY(matrix::from(stream, {{1, 2}, {3, 4}}));
    auto b = GPU_TRY(gpu::evaluate(stream, gpu::transpose(a)));
    GPU_TRY(gpu::assign(stream, b(0), b(1)));
    GPU_TRY(gpu::assign(stream, b(gpu::slice(0, 1)), gpu::transpose(b)(gpu::slice(0, 1))));
    GPU_TRY(gpu::item(stream, b(1, 1)));
    GPU_TRY(gpu::zeros_like(stream, b));
    GPU_TRY(gpu::arange(stream, 5));
    const gpu::stream other = GPU_TRY(gpu::stream::create(device));
    GPU_TRY(a.also_used_on(other));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}}  // namespace array_test

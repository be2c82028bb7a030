// Launches on the default streams, on threads with nothing current, on several devices, and in a
// context of its own: no launch depends on what happens to be current.

#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>

#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <thread>
#include <vector>

namespace launch_stream_test { namespace {

constexpr const char* source = R"(
extern "C" __global__ void add(int* x, int amount) { x[threadIdx.x] += amount; }
)";

TEST_CASE("launches run on default streams and on threads with nothing current",
          "[kernel][launch]") {
  const gpu::device device = test::first_device();
  const gpu::module module = test::load_source(source);
  const auto add = test::value_of(module.kernel<int*, int>("add"));
  auto x = test::value_of(gpu::device_buffer<int>::create(device, 4));
  const std::vector<int> start = {1, 2, 3, 4};
  test::value_of(gpu::copy(start, x));
  gpu::result<> done[3];
  std::thread other([&] {
    CUcontext current = nullptr;
    gpu::driver::current_entry_points().ctx_get_current(&current);
    const gpu::stream_ref legacy = test::value_of(gpu::stream_ref::legacy_default(device));
    const gpu::stream_ref own = test::value_of(gpu::stream_ref::per_thread_default(device));
    const gpu::stream stream = test::new_stream();
    done[0] = gpu::launch(legacy, {1, 4}, add, x, 10);
    if (done[0].has_value()) done[0] = legacy.synchronize();
    done[1] = gpu::launch(own, {1, 4}, add, x, 100);
    if (done[1].has_value()) done[1] = own.synchronize();
    done[2] = gpu::launch(stream, {1, 4}, add, x, 1000);
    if (done[2].has_value()) done[2] = stream.synchronize();
    CUcontext after = nullptr;
    gpu::driver::current_entry_points().ctx_get_current(&after);
    if (after != current)
      done[0] = gpu::result<>(gpu::unexpect, gpu::error_domain::gpu, 0, "current",
                              gpu::source_location());
  });
  other.join();
  for (const gpu::result<>& one : done) {
    INFO((one.has_value() ? "" : one.error().message().c_str()));
    CHECK(one.has_value());
  }
  std::vector<int> end(4);
  test::value_of(gpu::copy(x, end));
  CHECK(end == std::vector<int>{1111, 1112, 1113, 1114});
}

TEST_CASE("one kernel runs in several contexts", "[kernel][launch]") {
  const gpu::device device = test::first_device();
  const gpu::module module = test::load_source(source);
  const auto add = test::value_of(module.kernel<int*, int>("add"));
  const gpu::context own = test::value_of(gpu::context::create(device));
  const gpu::context_ref contexts[] = {test::value_of(gpu::context::primary(device)), own};
  for (const gpu::context_ref context : contexts) {
    const gpu::stream stream = test::value_of(gpu::stream::create(context));
    auto x = test::value_of(gpu::device_buffer<int>::create(context, 2));
    const std::vector<int> start = {5, 6};
    test::value_of(gpu::copy(start, x));
    test::value_of(gpu::launch(stream, {1, 2}, add, x, -1));
    std::vector<int> end(2);
    test::value_of(gpu::copy(x, end));
    CHECK(end == std::vector<int>{4, 5});
  }
}

}}  // namespace launch_stream_test

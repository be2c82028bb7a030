// Managed variables of a module: one address for the host and all devices.

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>

#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <cstdint>

namespace module_variables_test { namespace {

constexpr const char* source = R"(
extern "C" __managed__ int counters[3] = {5, 6, 7};
struct point { float x, y; };
extern "C" __managed__ point where = {1, 2};
extern "C" __device__ int plain = 3;
extern "C" __global__ void add(int n) { counters[1] += n; where.y += plain; }
)";

gpu::module loaded() {
  return test::value_of(gpu::module::load(test::value_of(gpu::compile(source))));
}

TEST_CASE("a managed variable is read and written by the host and by kernels", "[kernel][module]") {
  const gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  const gpu::module module = loaded();
  const auto counters = test::value_of(module.managed<int>("counters"));
  struct point {
    float x, y;
  };
  const auto where = test::value_of(module.managed<point>("where"));
  REQUIRE(counters.size() == 3);
  CHECK(counters[0] == 5);
  CHECK(counters[2] == 7);
  CHECK(where.size() == 1);
  CHECK(where->x == 1);
  counters[1] = 100;
  const auto add = test::value_of(module.kernel<int>("add"));
  test::value_of(gpu::launch(stream, {1, 1}, add, 11));
  test::value_of(stream.synchronize());
  CHECK(counters[1] == 111);
  CHECK((*where).y == 5);
  int sum = 0;
  for (const int each : counters) sum += each;
  CHECK(sum == 5 + 111 + 7);

  // The device's address is the host's.
  CHECK(counters.span().native() == reinterpret_cast<std::uintptr_t>(counters.data()));
  CHECK(counters.span().size() == 3);
  CHECK(test::value_of(module.global<int>("counters", stream.device())).native() ==
        counters.span().native());
}

TEST_CASE("a managed variable keeps the code of its module loaded", "[kernel][module]") {
  const test::noted_calls<&gpu::driver::entry_points::library_unload> unloads;
  {
    const auto counters = test::value_of(loaded().managed<int>("counters"));
    CHECK(counters[0] == 5);
    counters[1] = 100;
    const auto copy = counters;
    CHECK(copy[1] == 100);
    CHECK(unloads.count() == 0);
  }
  CHECK(unloads.count() == 1);
}

TEST_CASE("all contexts share a managed variable", "[kernel][module]") {
  test::own_cpu_driver driver({.devices = 2});
  const gpu::compiled_program program =
      test::value_of(gpu::compile(source, {.architecture = gpu::architecture::compute(90)}));
  const gpu::module module = test::value_of(gpu::module::load(program));
  const auto counters = test::value_of(module.managed<int>("counters"));
  const auto add = test::value_of(module.kernel<int>("add"));
  for (int i = 0; i < 2; ++i) {
    const gpu::stream stream =
        test::value_of(gpu::stream::create(test::value_of(gpu::device::get(i))));
    test::value_of(gpu::launch(stream, {1, 1}, add, 10));
    test::value_of(stream.synchronize());
  }
  CHECK(counters[1] == 26);
  CHECK(counters[0] == 5);
}

TEST_CASE("what is no managed variable is refused", "[kernel][module]") {
  const gpu::module module = loaded();
  for (const char* name : {"plain", "nothing"}) {
    const gpu::cuda_error error = test::error_of(module.managed<int>(name));
    CHECK(error == gpu::errc::unknown_name);
    CHECK(test::says(error, name, "__managed__"));
  }
  const gpu::cuda_error size = test::error_of(module.managed<double>("counters"));
  CHECK(size == gpu::errc::size_mismatch);
  CHECK(size.asked() == 8);
  CHECK(size.limit() == 12);
  const gpu::module none;
  CHECK(test::error_of(none.managed<int>("counters")) == gpu::errc::empty_handle);
}

TEST_CASE("variables of no context are refused", "[kernel][module]") {
  const gpu::module module = loaded();
  const gpu::cuda_error error = test::error_of(module.global<int>("plain", gpu::context_ref()));
  CHECK(error == gpu::errc::empty_handle);
  CHECK(test::says(error, "gpu::module::global", "context", "managed_variable_test.cpp"));
}

TEST_CASE("a capture goes on while a module is asked", "[kernel][module][capture]") {
  const gpu::module module = loaded();
  const gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  const auto counters = module.managed<int>("counters");
  const auto plain = module.global<int>("plain", stream.context());
  const auto nothing = module.global<int>("nothing", stream.device());
  const auto add = module.kernel<int>("add");
  CUgraph graph = nullptr;
  const CUresult ended = test::driver().stream_end_capture(stream.native(), &graph);
  if (ended == CUDA_SUCCESS) CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
  CHECK(ended == CUDA_SUCCESS);
  CHECK(test::value_of(counters).size() == 3);
  CHECK(test::value_of(plain).size() == 1);
  CHECK(test::error_of(nothing) == gpu::errc::unknown_name);
  CHECK(test::value_of(add));
}

TEST_CASE("each driver call about a managed variable may fail", "[kernel][module]") {
  const gpu::compiled_program program =
      test::value_of(gpu::compile(source, {.architecture = gpu::architecture::compute(90)}));
  CHECK(test::sweep([&]() -> gpu::result<> {
          const gpu::module module = GPU_TRY(gpu::module::load(program));
          GPU_TRY(module.managed<int>("counters"));
          return {};
        }) == "");
}

}}  // namespace module_variables_test

// Memory that a graph allocates for several devices.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <initializer_list>
#include <vector>

namespace allocation_node_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

namespace {

/// Memory of a graph that was launched, which is the program's until it is freed.
struct launched {
  gpu::allocation_node<unsigned> memory;
  gpu::graph_exec exec;

  launched(const graph_fixture& f, std::initializer_list<gpu::device> peers)
      : memory(16, peers), exec(make(f, memory)) {
    value_of(gpu::launch(f.stream, exec));
    value_of(f.stream.synchronize());
  }
  static gpu::graph_exec make(const graph_fixture& f, gpu::allocation_node<unsigned>& memory) {
    const auto made = value_of(f.graph.add({}, memory));
    value_of(f.graph.add(made, gpu::fill_node(memory.span(), 21u)));
    return value_of(gpu::graph_exec::instantiate(f.graph));
  }
};

/// Doubles the first number, on a stream of another device.
gpu::result<> double_on(const graph_fixture& f, const gpu::stream& stream,
                        gpu::device_span<unsigned> memory) {
  GPU_TRY(gpu::launch(stream, {1, 1}, f.twice, memory));
  return stream.synchronize();
}

}  // namespace

TEST_CASE("graph: memory that a graph allocates is reached by the peers that it names",
          "[graph][two_devices][no_sanitizer]") {
  graph_fixture f;
  const gpu::device second = value_of(gpu::device::get(1));
  if (!value_of(gpu::can_access_peer(second, f.device))) {
    const gpu::cuda_error error =
        error_of(f.graph.add({}, gpu::allocation_node<unsigned>(16, {second})));
    CHECK(error == gpu::errc::not_supported);
    return;
  }
  const launched made(f, {second});
  const gpu::stream other = value_of(gpu::stream::create(second));
  value_of(double_on(f, other, made.memory.span()));
  std::vector<unsigned> host(16);
  value_of(gpu::copy(made.memory.span(), host));
  CHECK(host[0] == 42);
  CHECK(host[1] == 21);
  REQUIRE(test::driver().mem_free_async(made.memory.span().native(), f.stream.native()) ==
          CUDA_SUCCESS);
  value_of(f.stream.synchronize());
}

TEST_CASE("graph: memory that a graph allocates is its device's alone, if no peers are named",
          "[graph][cpu]") {
  test::cpu_driver_options options;
  options.devices = 2;
  const test::own_cpu_driver driver(options);
  graph_fixture f;
  const launched made(f, {});
  const gpu::stream other = value_of(gpu::stream::create(value_of(gpu::device::get(1))));
  CHECK(error_of(double_on(f, other, made.memory.span())).code() == CUDA_ERROR_ILLEGAL_ADDRESS);
  REQUIRE(driver.table().mem_free_async(made.memory.span().native(), f.stream.native()) ==
          CUDA_SUCCESS);
}

TEST_CASE("graph: peers reach its memory from contexts that come later", "[graph][cpu]") {
  test::cpu_driver_options options;
  options.devices = 2;
  const test::own_cpu_driver driver(options);
  graph_fixture f;
  const gpu::device second = value_of(gpu::device::get(1));
  const launched made(f, {second});
  const gpu::context late = value_of(gpu::context::create(second));
  const gpu::stream other = value_of(gpu::stream::create(late));
  value_of(double_on(f, other, made.memory.span()));
  CHECK(driver.table().mem_free_async(made.memory.span().native(), f.stream.native()) ==
        CUDA_SUCCESS);
}

TEST_CASE("graph: peers that cannot reach its memory are refused before the driver is asked",
          "[graph][refusals]") {
  graph_fixture f;
  const test::noted_calls<&gpu::driver::entry_points::graph_add_node> asked;
  const auto refused = [&](std::initializer_list<gpu::device> peers) {
    gpu::allocation_node<unsigned> memory(16, peers);
    const gpu::cuda_error error = error_of(f.graph.add({}, memory));
    CHECK(memory.span().empty());
    return error;
  };
  gpu::cuda_error error = refused({f.device});
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::allocation_node", "device 0 is the graph's own",
             "remove it from the peers", "allocation_node_test.cpp"));
  const gpu::device d = f.device;
  // As many as there may be.
  error = refused({d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d,
                   d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d});
  CHECK(says(error, "device 0 is the graph's own"));
  error = refused({d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d,
                   d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d});
  CHECK(error == gpu::errc::invalid_argument);
  CHECK((error.asked() == 33 && error.limit() == 32));
  CHECK(says(error, "the number of peers must be at most 32, got 33", "pass each device once"));
  CHECK(asked.count() == 0);
}

TEST_CASE("graph: a device that is no peer is refused", "[graph][refusals][cpu]") {
  test::cpu_driver_options options;
  options.devices = 2;
  const test::own_cpu_driver driver(options);
  graph_fixture f;
  gpu::driver::entry_points table = driver.table();
  table.device_can_access_peer = [](int* can, CUdevice from, CUdevice to) {
    CHECK((from == 1 && to == 0));
    *can = 0;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const gpu::device second = value_of(gpu::device::get(1));
  const gpu::cuda_error error =
      error_of(f.graph.add({}, gpu::allocation_node<unsigned>(16, {second})));
  CHECK(error == gpu::errc::not_supported);
  CHECK(error.asked() == 0);
  CHECK(says(error, "device 1 cannot reach the memory of device 0", "they are not peers",
             "remove it from the peers"));
}

TEST_CASE("graph: what peers of an allocation cost may fail", "[graph][faults][cpu]") {
  test::cpu_driver_options options;
  options.devices = 2;
  CHECK(test::sweep(
            []() -> gpu::result<gpu::graph_node> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::device second = GPU_TRY(gpu::device::get(1));
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              gpu::allocation_node<unsigned> memory(16, {second});
              return graph.add({}, memory);
            },
            {"cuCtxGetDevice"}, options) == "");
}

}  // namespace allocation_node_test

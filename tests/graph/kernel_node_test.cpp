// Kernel nodes: the attributes and the cluster of their launch, in a graph and in an executable
// one.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/compiler/compile.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/driver/stream_attribute.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/node_attribute.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/kernel/kernel_properties.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_attribute.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>

#include <cstring>
#include <utility>
#include <vector>

namespace kernel_node_test {

using test::error_of;
using test::graph_fixture;
using test::says;
using test::value_of;

TEST_CASE("graph: a kernel node has the attributes of its launch", "[graph]") {
  graph_fixture f;
  CUlaunchAttribute priority{};
  priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  priority.value.priority = -2;
  const gpu::launch_config config{
      .grid = 1, .block = 1, .attributes = gpu::launch_attributes_ref::from_native(&priority, 1)};
  const auto node = value_of(f.graph.add({}, gpu::kernel_node(config, f.twice, f.x)));
  CUkernelNodeAttrValue seen{};
  REQUIRE(test::driver().graph_kernel_node_get_attribute(
              node.native(), CU_LAUNCH_ATTRIBUTE_PRIORITY, &seen) == CUDA_SUCCESS);
  CHECK(seen.priority == -2);
  f.set(4);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(f.graph))) == 8);
}

TEST_CASE("graph: a kernel node refuses a faulty view", "[graph]") {
  graph_fixture f;
  const auto module = value_of(gpu::module::load(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .align 8 .b8 view[40]) { ret; })"));
  const auto nothing = value_of(module.kernel<gpu::array_view<float, 2>>("nothing"));
  const auto rows = gpu::array_view<float, 2>::from_native(f.x.native(), {1, 1}, {1, 1});
  value_of(f.graph.add({}, gpu::kernel_node({1, 1}, nothing, rows)));
  const auto refused =
      error_of(f.graph.add({}, gpu::kernel_node({1, 1}, nothing, rows(-2, gpu::new_axis()))));
  CHECK(says(refused, "gpu::kernel_node", "kernel nothing: argument 1", "a faulty gpu::array_view",
             "index -2 is out of range for axis 0, which has 1 elements"));
}

TEST_CASE("graph: a kernel node takes contiguous views for pointers, and no others", "[graph]") {
  graph_fixture f;
  const auto module = value_of(gpu::module::load(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 x) { ret; })"));
  const auto nothing = value_of(module.kernel<float*>("nothing"));
  const auto pairs = gpu::array_view<float, 2>::from_native(0x10000, {3, 2}, {2, 1});
  value_of(f.graph.add({}, gpu::kernel_node({1, 1}, nothing, pairs(1))));
  CHECK(says(error_of(f.graph.add({}, gpu::kernel_node({1, 1}, nothing, pairs(gpu::all(), 1)))),
             "gpu::kernel_node", "kernel nothing: argument 1", "not contiguous",
             "gpu::array_view"));
}

TEST_CASE("graph: a changed kernel node has the attributes of its new description alone",
          "[graph]") {
  graph_fixture f;
  const auto told = [](gpu::graph_node node, CUlaunchAttributeID which) {
    CUkernelNodeAttrValue value{};
    REQUIRE(test::driver().graph_kernel_node_get_attribute(node.native(), which, &value) ==
            CUDA_SUCCESS);
    return value;
  };
  CUlaunchAttribute both[2] = {};
  both[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  both[0].value.priority = -2;
  both[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  both[1].value.cooperative = 1;
  gpu::launch_config config{
      .grid = 1, .block = 1, .attributes = gpu::launch_attributes_ref::from_native(both, 2)};
  const auto node = value_of(f.graph.add({}, gpu::kernel_node(config, f.twice, f.x)));
  const auto fresh = value_of(f.graph.add({}, gpu::kernel_node({1, 1}, f.twice, f.x)));
  CHECK(told(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative == 1);
  config.attributes = gpu::launch_attributes_ref::from_native(both, 1);
  value_of(gpu::set(f.graph, node, gpu::kernel_node(config, f.twice, f.x)));
  CHECK(told(node, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority == -2);
  CHECK(told(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative == 0);
  both[0].id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
  both[0].value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
  value_of(gpu::set(f.graph, node, gpu::kernel_node(config, f.twice, f.x)));
  CHECK(told(node, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority == 0);
  CHECK(told(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain ==
        CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  value_of(gpu::set(f.graph, node, gpu::kernel_node({1, 1}, f.twice, f.x)));
  for (const auto which :
       {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_LAUNCH_ATTRIBUTE_PRIORITY,
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT}) {
    const CUkernelNodeAttrValue is = told(node, which), should = told(fresh, which);
    CAPTURE(which);
    CHECK(std::memcmp(&is, &should, sizeof is) == 0);
  }
}

TEST_CASE("graph: a changed kernel node keeps the one domain of a device that has no more",
          "[graph][cpu]") {
  graph_fixture f;
  const auto node = value_of(f.graph.add({}, gpu::kernel_node({1, 1}, f.twice, f.x)));
  static const gpu::driver::entry_points* real;
  static int changed;
  real = &test::driver();
  changed = 0;
  gpu::driver::entry_points table = *real;
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice device) {
    const CUresult code = real->device_get_attribute(value, which, device);
    if (which == CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT) *value = 1;
    return code;
  };
  table.graph_kernel_node_get_attribute = [](CUgraphNode of, CUlaunchAttributeID which,
                                             CUkernelNodeAttrValue* value) {
    const CUresult code = real->graph_kernel_node_get_attribute(of, which, value);
    if (which == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value->memSyncDomainMap = {};
    return code;
  };
  table.graph_kernel_node_set_attribute = [](CUgraphNode, CUlaunchAttributeID,
                                             const CUkernelNodeAttrValue*) {
    ++changed;
    return CUDA_ERROR_INVALID_VALUE;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  CHECK(gpu::set(f.graph, node, gpu::kernel_node({2, 1}, f.twice, f.x)).has_value());
  CHECK(changed == 0);
}

TEST_CASE("graph: an executable graph takes no attributes", "[graph]") {
  graph_fixture f;
  const auto node = value_of(f.graph.add({}, f.doubles()));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CUlaunchAttribute priority{};
  priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  priority.value.priority = -2;
  gpu::launch_config config{
      .grid = 1, .block = 1, .attributes = gpu::launch_attributes_ref::from_native(&priority, 1)};
  const gpu::cuda_error error = error_of(exec.set(node, gpu::kernel_node(config, f.twice, f.x)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(error.asked() == 1);
  CHECK(says(error, "gpu::graph_exec::set", "1 launch attribute", "set them in the graph"));
  // As it says.
  value_of(gpu::set(f.graph, node, gpu::kernel_node(config, f.add, f.x, 5u)));
  value_of(exec.update(f.graph));
  CHECK(f.run(exec) == 5);
  value_of(exec.set(node, gpu::kernel_node({1, 1}, f.add, f.x, 7u)));
  CHECK(f.run(exec) == 12);
}

TEST_CASE("graph: a kernel node has the cluster of its launch", "[graph]") {
  static CUlaunchAttributeID set;
  static CUkernelNodeAttrValue given;
  static gpu::driver::entry_points real;
  graph_fixture f;
  real = test::driver();
  gpu::driver::entry_points table = real;
  table.graph_kernel_node_set_attribute = [](CUgraphNode, CUkernelNodeAttrID which,
                                             const CUkernelNodeAttrValue* value) {
    set = which;
    given = *value;
    return CUDA_SUCCESS;
  };
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice of) {
    if (which != CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
      return real.device_get_attribute(value, which, of);
    *value = 1;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  value_of(f.graph.add(
      {}, gpu::kernel_node({.grid = {4, 3}, .block = 1, .cluster = {2, 3}}, f.twice, f.x)));
  CHECK(set == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  CHECK(given.clusterDim.x == 2);
  CHECK(given.clusterDim.y == 3);
  CHECK(given.clusterDim.z == 1);
  const auto node = value_of(f.graph.add({}, gpu::kernel_node({{4, 3}, 1}, f.twice, f.x)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  const gpu::cuda_error error = error_of(exec.set(
      node, gpu::kernel_node({.grid = {4, 3}, .block = 1, .cluster = {2, 3}}, f.twice, f.x)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "a cluster counts as one"));
}

TEST_CASE("graph: a changed kernel node has the cluster of its new description alone", "[graph]") {
  using attribute_value = std::pair<CUlaunchAttributeID, CUkernelNodeAttrValue>;
  static std::vector<attribute_value> set;
  static gpu::driver::entry_points real;
  graph_fixture f;
  real = test::driver();
  gpu::driver::entry_points table = real;
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice of) {
    if (which != CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
      return real.device_get_attribute(value, which, of);
    *value = 1;
    return CUDA_SUCCESS;
  };
  // The node has a cluster and a priority.
  table.graph_kernel_node_get_attribute = [](CUgraphNode of, CUkernelNodeAttrID which,
                                             CUkernelNodeAttrValue* value) {
    const CUresult code = real.graph_kernel_node_get_attribute(of, which, value);
    if (which == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) value->clusterDim = {2, 1, 1};
    if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = -2;
    return code;
  };
  table.graph_kernel_node_set_attribute = [](CUgraphNode, CUkernelNodeAttrID which,
                                             const CUkernelNodeAttrValue* value) {
    set.emplace_back(which, *value);
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const auto node = value_of(f.graph.add({}, gpu::kernel_node({{4, 3}, 1}, f.twice, f.x)));
  const auto last = [](CUlaunchAttributeID which) {
    CUkernelNodeAttrValue value{};
    int times = 0;
    for (const attribute_value& each : set) {
      if (each.first != which) continue;
      value = each.second;
      ++times;
    }
    CAPTURE(which);
    CHECK(times == 1);
    return value;
  };
  value_of(gpu::set(f.graph, node, gpu::kernel_node({{4, 3}, 1}, f.twice, f.x)));
  CHECK(last(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim.x == 0);
  CHECK(last(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority == 0);
  set.clear();
  value_of(
      gpu::set(f.graph, node,
               gpu::kernel_node({.grid = {4, 3}, .block = 1, .cluster = {1, 3}}, f.twice, f.x)));
  CHECK(last(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim.y == 3);
  CHECK(last(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority == 0);
}

TEST_CASE("graph: each driver call about a kernel node may fail", "[graph][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::module code = GPU_TRY(gpu::module::load(test::graph_kernels));
              const auto twice = GPU_TRY(code.kernel<unsigned*>("twice"));
              auto x = GPU_TRY(gpu::device_buffer<unsigned>::create(stream, 4));
              GPU_TRY(gpu::fill(stream, x, 1u));
              CUlaunchAttribute priority{};
              priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
              priority.value.priority = -1;
              const gpu::launch_config config{
                  .grid = 1,
                  .block = 1,
                  .attributes = gpu::launch_attributes_ref::from_native(&priority, 1)};
              const gpu::graph graph = GPU_TRY(gpu::graph::create(device));
              const auto node = GPU_TRY(graph.add({}, gpu::kernel_node(config, twice, x)));
              GPU_TRY(gpu::set(graph, node, gpu::kernel_node(config, twice, x)));
              GPU_TRY(gpu::set(graph, node, gpu::kernel_node({1, 1}, twice, x)));
              GPU_TRY(gpu::set_attribute<gpu::launch_attribute::priority>(node, -1));
              GPU_TRY(gpu::attribute<gpu::launch_attribute::priority>(node));
              gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
              GPU_TRY(exec.set(node, gpu::kernel_node({1, 1}, twice, x)));
              GPU_TRY(gpu::launch(stream, exec));
              GPU_TRY(stream.synchronize());
              return {};
            },
            {"cuCtxGetDevice"}) == "");
}

TEST_CASE("graph: a kernel node is cooperative if its shape says so", "[graph]") {
  using attribute = gpu::launch_attribute;
  graph_fixture f;
  gpu::launch_config config{.grid = 2, .block = 1, .cooperative = true};
  const auto node = value_of(f.graph.add({}, gpu::kernel_node(config, f.twice, f.x)));
  CHECK(value_of(gpu::attribute<attribute::cooperative>(node)));
  value_of(gpu::set(f.graph, node, gpu::kernel_node(config, f.twice, f.x)));
  CHECK(value_of(gpu::attribute<attribute::cooperative>(node)));
  gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(f.graph));
  CHECK(says(error_of(exec.set(node, gpu::kernel_node(config, f.twice, f.x))),
             "has 1 launch attributes", "cooperative"));
  config.grid = 1u << 20;
  CHECK(says(error_of(gpu::set(f.graph, node, gpu::kernel_node(config, f.twice, f.x))),
             "gpu::kernel_node", "the cooperative grid of {1048576, 1, 1}"));
  value_of(gpu::set(f.graph, node, gpu::kernel_node({2, 1}, f.twice, f.x)));
  CHECK_FALSE(value_of(gpu::attribute<attribute::cooperative>(node)));
  // A kernel that synchronizes its grid has to be; its node stays so in an executable graph.
  const gpu::module module = value_of(gpu::module::load(value_of(gpu::compile(R"(
#include <cooperative_groups.h>
extern "C" __global__ void sync(unsigned* p) {
  atomicAdd(p, 1u);
  cooperative_groups::this_grid().sync();
})"))));
  const auto sync = value_of(module.kernel<unsigned*>("sync"));
  CHECK(says(error_of(f.graph.add({}, gpu::kernel_node({2, 1}, sync, f.x))), "gpu::kernel_node",
             "kernel sync synchronizes its grid", "Add .cooperative = true"));
  gpu::graph alone = value_of(gpu::graph::create(f.device));
  const auto only = value_of(
      alone.add({}, gpu::kernel_node({.grid = 2, .block = 1, .cooperative = true}, sync, f.x)));
  gpu::graph_exec run = value_of(gpu::graph_exec::instantiate(alone));
  value_of(run.set(only, gpu::kernel_node({3, 1}, sync, f.x)));
  CHECK(f.run(run) == 3);
}

TEST_CASE("graph: attributes of kernel nodes are asked and set one by one", "[graph]") {
  using attribute = gpu::launch_attribute;
  graph_fixture f;
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  gpu::launch_attributes urgent;
  value_of(urgent.set<attribute::priority>(-1));
  value_of(gpu::launch(f.stream, {.grid = 1, .block = 1, .attributes = urgent}, f.add, f.x, 3u));
  const gpu::graph captured = value_of(capture.end());
  const gpu::graph_node node = value_of(captured.nodes())[0];
  value_of(gpu::set_attribute<attribute::priority>(node, -2));
  CHECK(value_of(gpu::attribute<attribute::priority>(node)) == -2);
  value_of(gpu::set_attribute<attribute::cooperative>(node, true));
  CHECK(value_of(gpu::attribute<attribute::cooperative>(node)));
  value_of(
      gpu::set_attribute<attribute::memory_sync_domain>(node, gpu::memory_sync_domain::remote));
  CHECK(value_of(gpu::attribute<attribute::memory_sync_domain>(node)) ==
        gpu::memory_sync_domain::remote);
  value_of(gpu::set_attribute<attribute::cluster_scheduling>(
      node, gpu::cluster_scheduling::load_balancing));
  CHECK(value_of(gpu::attribute<attribute::cluster_scheduling>(node)) ==
        gpu::cluster_scheduling::load_balancing);
  value_of(gpu::set_attribute<attribute::shared_carveout>(node, 50));
  CHECK(value_of(gpu::attribute<attribute::shared_carveout>(node)) == 50);
  CHECK_FALSE(value_of(gpu::attribute<attribute::device_updatable_node>(node)).updatable);
  CUkernelNodeAttrValue raw{};
  REQUIRE(test::driver().graph_kernel_node_get_attribute(
              node.native(), CU_LAUNCH_ATTRIBUTE_PRIORITY, &raw) == CUDA_SUCCESS);
  CHECK(raw.priority == -2);
  CHECK(f.run(value_of(gpu::graph_exec::instantiate(captured))) == 3);

  gpu::cuda_error error = error_of(gpu::set_attribute<attribute::shared_carveout>(node, 101));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::set_attribute",
             "101 is not a valid shared memory carve-out; pass 0 to 100 percent"));
  CHECK(error_of(gpu::set_attribute<attribute::priority>(gpu::graph_node{}, 0)) ==
        gpu::errc::empty_handle);
  CHECK(error_of(gpu::attribute<attribute::priority>(gpu::graph_node{})) ==
        gpu::errc::empty_handle);
  const auto other = value_of(f.graph.add({}, gpu::empty_node{}));
  CHECK(error_of(gpu::set_attribute<attribute::priority>(other, 0)).code() ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(gpu::attribute<attribute::priority>(other)).code() == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("graph: a node that kernels can change has a name for them", "[graph][hardware]") {
  using attribute = gpu::launch_attribute;
  graph_fixture f;
  gpu::launch_attributes attributes;
  value_of(attributes.set<attribute::device_updatable_node>({true}));
  const auto node = value_of(f.graph.add(
      {}, gpu::kernel_node({.grid = 1, .block = 1, .attributes = attributes}, f.add, f.x, 3u)));
  const gpu::device_node told = value_of(gpu::attribute<attribute::device_updatable_node>(node));
  CHECK(told.updatable);
  CHECK(told.native != nullptr);
}

}  // namespace kernel_node_test

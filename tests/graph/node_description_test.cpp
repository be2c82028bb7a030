// The parameters that descriptions of nodes pass to the driver.

#include "graph/graph_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/conditional_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/region_node.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/pitched_span.hpp>

#include <cstddef>

namespace node_description_test {

using test::value_of;

namespace {

/// Notes the description of the node that was added last.
class noted_description {
 public:
  noted_description() : in_force_{prepare(table_)} {}

  static inline CUgraphNodeParams last{};

 private:
  static const gpu::driver::entry_points& prepare(gpu::driver::entry_points& table) {
    table = test::driver();
    real = table.graph_add_node;
    table.graph_add_node = [](CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              const CUgraphEdgeData* edges, std::size_t count,
                              CUgraphNodeParams* description) {
      last = *description;
      return real(node, graph, after, edges, count, description);
    };
    return table;
  }

  static inline decltype(gpu::driver::entry_points::graph_add_node) real = nullptr;

  gpu::driver::entry_points table_{};
  gpu::driver::scoped_entry_points in_force_;
};

/// A graph in a context of its own, on the last device: that it is the first, or the primary
/// context, goes without saying.
struct fixture {
  gpu::device device = value_of(gpu::device::get(test::device_count() - 1));
  gpu::context context = value_of(gpu::context::create(device));
  gpu::stream stream = value_of(gpu::stream::create(context));
  gpu::module code = value_of(gpu::module::load(test::graph_kernels));
  gpu::device_buffer<unsigned> x = value_of(gpu::device_buffer<unsigned>::create(stream, 48));
  gpu::graph graph = value_of(gpu::graph::create(context));
  noted_description noted;

  ~fixture() { CHECK(stream.synchronize().has_value()); }

  const CUgraphNodeParams& add(gpu::node_description auto&& description) {
    value_of(graph.add({}, description));
    return noted_description::last;
  }
};

}  // namespace

TEST_CASE("graph: a kernel node is described with its context, shape and shared memory",
          "[graph][own_context]") {
  fixture f;
  const auto kernel = value_of(f.code.kernel<unsigned*, unsigned>("add"));
  const gpu::launch_config config{.grid = {2, 3, 4}, .block = {5, 6, 7}, .shared_bytes = 1024};
  const CUgraphNodeParams& told = f.add(gpu::kernel_node(config, kernel, f.x, 9u));
  CHECK(told.type == CU_GRAPH_NODE_TYPE_KERNEL);
  CHECK(told.kernel.ctx == f.context.native());
  CHECK((told.kernel.gridDimX == 2 && told.kernel.gridDimY == 3 && told.kernel.gridDimZ == 4));
  CHECK((told.kernel.blockDimX == 5 && told.kernel.blockDimY == 6 && told.kernel.blockDimZ == 7));
  CHECK(told.kernel.sharedMemBytes == 1024);
}

TEST_CASE("graph: copies and fills are described with their context", "[graph][own_context]") {
  fixture f;
  const auto box = gpu::pitched_span<unsigned>::from_native(f.x.span().data(), {4, 3}, 32);
  const auto other = gpu::pitched_span<unsigned>::from_native(f.x.span().data() + 24, {4, 3}, 32);
  CHECK(f.add(gpu::copy_node(f.x.span().first(8), f.x.span().last(8))).memcpy.copyCtx ==
        f.context.native());
  CHECK(f.add(gpu::copy_region_node(box, other)).memcpy.copyCtx == f.context.native());
  CHECK(f.add(gpu::fill_node(f.x, 5u)).memset.ctx == f.context.native());
  const CUgraphNodeParams& told = f.add(gpu::fill_region_node(box, 6u));
  CHECK(told.type == CU_GRAPH_NODE_TYPE_MEMSET);
  CHECK(told.memset.ctx == f.context.native());
  CHECK(told.memset.dst == box.native());
  CHECK((told.memset.width == 4 && told.memset.height == 3 && told.memset.pitch == 32));
  CHECK((told.memset.elementSize == 4 && told.memset.value == 6));
}

TEST_CASE("graph: a conditional node is described with its context",
          "[graph][own_context][conditional]") {
  fixture f;
  const auto condition = value_of(gpu::graph_condition::create(f.graph, 1));
  const CUgraphNodeParams& told =
      f.add(gpu::conditional_node(gpu::conditional_kind::while_, condition));
  CHECK(told.type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
  CHECK(told.conditional.ctx == f.context.native());
  CHECK(told.conditional.type == CU_GRAPH_COND_TYPE_WHILE);
  CHECK(told.conditional.size == 1);
}

TEST_CASE("graph: nodes that are listed know their context", "[graph][own_context]") {
  fixture f;
  f.add(gpu::empty_node{});
  CHECK(value_of(f.graph.nodes())[0].context() == f.context);
  CHECK(value_of(f.graph.root_nodes())[0].context() == f.context);
}

TEST_CASE("graph: an allocation is described with its device and size", "[graph][own_context]") {
  fixture f;
  gpu::allocation_node<unsigned> memory(12);
  const CUgraphNodeParams& told = f.add(memory);
  CHECK(told.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  CHECK(told.alloc.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
  CHECK(told.alloc.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  CHECK(told.alloc.poolProps.location.id == f.device.native());
  CHECK(told.alloc.bytesize == 48);
  CHECK(told.alloc.accessDescCount == 0);
}

}  // namespace node_description_test

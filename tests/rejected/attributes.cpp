// Misuse of attributes of launches, kernels, nodes and graphs that must not compile, each beside a
// use that does.

#include <gpu/graph.hpp>
#include <gpu/graph/graph_memory.hpp>
#include <gpu/graph/node_attribute.hpp>
#include <gpu/graph/region_node.hpp>
#include <gpu/kernel/kernel_attribute.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_attribute.hpp>

#include <vector>

#ifndef GPU_REJECTED
#  define GPU_REJECTED 0
#endif

inline gpu::result<> misuse(gpu::stream_ref stream, gpu::device device, gpu::kernel<> kernel,
                            gpu::graph_node node, gpu::event_ref event) {
  using of_kernel = gpu::kernel_attribute;
  using of_launch = gpu::launch_attribute;
  std::vector<unsigned> host(4);
  [[maybe_unused]] const auto box =
      gpu::pitched_host_span<unsigned>::from_native(host.data(), {2, 2});
  gpu::launch_attributes attributes;

#if GPU_REJECTED == 1
  // expect 1: this attribute of a kernel can be read, but not set
  GPU_TRY(gpu::set_attribute<of_kernel::registers>(kernel, 32, device));
#elif GPU_REJECTED == 2
  // expect 2: deleted function
  const gpu::launch_attributes_ref of_a_temporary = gpu::launch_attributes();
  GPU_TRY(gpu::launch(stream, {.grid = 1, .block = 1, .attributes = of_a_temporary}, kernel));
#elif GPU_REJECTED == 3
  // expect 3: only launches have this attribute, nodes do not
  GPU_TRY(gpu::set_attribute<of_launch::launch_completion_event>(node, event));
#elif GPU_REJECTED == 4
  // expect 4: the driver cannot read this attribute of a node
  GPU_TRY(gpu::attribute<of_launch::programmatic_stream_serialization>(node));
#elif GPU_REJECTED == 5
  // expect 5: fill_region_node
  GPU_TRY(gpu::graph_ref().add({}, gpu::fill_region_node(box, 1u)));
#elif GPU_REJECTED == 6
  // expect 6: the current amount of graph memory cannot be set
  GPU_TRY(gpu::set_attribute<gpu::graph_memory_attribute::used_mem_current>(device, 0));
#else
  GPU_TRY(gpu::set_attribute<of_kernel::shared_carveout>(kernel, 32, device));
  GPU_TRY(gpu::attribute<of_kernel::registers>(kernel, device));
  GPU_TRY(attributes.set<of_launch::launch_completion_event>(event));
  GPU_TRY(gpu::launch(stream, {.grid = 1, .block = 1, .attributes = attributes}, kernel));
  GPU_TRY(gpu::set_attribute<of_launch::priority>(node, -1));
  GPU_TRY(gpu::attribute<of_launch::priority>(node));
  GPU_TRY(gpu::set_attribute<gpu::graph_memory_attribute::used_mem_high>(device, 0));
#endif
  return {};
}

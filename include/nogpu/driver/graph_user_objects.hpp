#pragma once
/// \file
/// Entry points: objects of the program's that graphs keep alive, and pictures of graphs.

#include <nogpu/driver/graph_structure.hpp>

#include <cuda.h>

#include <cstdio>
#include <memory>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

inline const char* name_of(CUgraphNodeType type) {
  static constexpr const char* names[] = {
      "KERNEL",       "MEMCPY",       "MEMSET",           "HOST",           "GRAPH",     "EMPTY",
      "WAIT_EVENT",   "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE",
      "BATCH_MEM_OP", "CONDITIONAL"};
  return names[static_cast<unsigned>(type) % (sizeof names / sizeof *names)];
}

/// Writes a graph and the graphs inside its nodes in the DOT language.
inline void write_dot(std::FILE* file, const graph_state& graph, int& number) {
  const int own = number++;
  std::fprintf(file, "subgraph cluster_%d {\nlabel=\"graph_%d\"\n", own, own);
  std::map<const graph_node_state*, std::size_t> index;
  for (const node_ptr& each : graph.nodes) {
    const std::size_t at = index.size();
    index[each.get()] = at;
    std::fprintf(file, "\"graph_%d_node_%zu\"[label=\"%zu\\n%s\"];\n", own, at, at,
                 name_of(each->what.type));
  }
  for (const node_ptr& each : graph.nodes)
    for (const node_dependency& before : each->after)
      std::fprintf(file, "\"graph_%d_node_%zu\" -> \"graph_%d_node_%zu\";\n", own,
                   index[before.node.get()], own, index[each.get()]);
  std::fputs("}\n", file);
  for (const node_ptr& each : graph.nodes) {
    if (each->what.child) write_dot(file, *each->what.child, number);
    for (const graph_ptr& body : each->what.bodies) write_dot(file, *body, number);
  }
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult graph_debug_dot_print(call& c, CUgraph handle, const char* path, unsigned) {
  graph_ptr graph;
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_graph(c, handle, graph)) return bad;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return CUDA_ERROR_OPERATING_SYSTEM;
  int number = 1;
  std::fputs("digraph dot {\n", file);
  write_dot(file, *graph, number);
  std::fputs("}\n", file);
  return std::fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

inline CUresult user_object_create(call& c, CUuserObject* object, void* data, CUhostFn destroy,
                                   unsigned count, unsigned flags) {
  if (object == nullptr || destroy == nullptr || count == 0 ||
      flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<user_object_state>();
  made->object = std::make_shared<user_object>(data, destroy);
  made->count = count;
  made->place = c.driver.place();
  *object = c.driver.user_objects.add(made);
  made->object->owned = true;
  return CUDA_SUCCESS;
}

/// Releases references of the program, which must have so many.
inline CUresult drop_references(call& c, CUuserObject handle, unsigned count) {
  const auto found = c.driver.user_objects.find(handle);
  if (!found || count == 0 || count > found->count) return CUDA_ERROR_INVALID_VALUE;
  found->count -= count;
  if (found->count == 0) (void)c.driver.user_objects.take(handle);
  return CUDA_SUCCESS;
}

inline CUresult user_object_release(call& c, CUuserObject handle, unsigned count) {
  return drop_references(c, handle, count);
}

inline CUresult graph_retain_user_object(call& c, CUgraph graph_handle, CUuserObject handle,
                                         unsigned count, unsigned flags) {
  graph_ptr graph;
  if (count == 0 || (flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_graph(c, graph_handle, graph)) return bad;
  const auto found = c.driver.user_objects.find(handle);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  graph->kept.push_back({handle, found->object, count});
  rollback dropped([&graph] { graph->kept.pop_back(); });
  if (flags == CU_GRAPH_USER_OBJECT_MOVE)
    if (const CUresult bad = drop_references(c, handle, count)) return bad;
  dropped.keep();
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry

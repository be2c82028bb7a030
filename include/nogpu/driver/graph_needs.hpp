#pragma once
/// \file
/// Finds code and events that the nodes of a graph use and the program has destroyed.

#include <nogpu/driver/graph_kernels.hpp>
#include <nogpu/driver/graph_structure.hpp>
#include <nogpu/machine/readable_names.hpp>

#include <cuda.h>

#include <memory>
#include <string>

namespace nogpu { inline namespace v1 { namespace driver {

/// Returns how a node uses a destroyed object, as the end of a sentence; empty if it does not.
inline std::string use_of_missing(driver_state& driver, const node_work& what) {
  if (is_unloaded(driver, what)) {
    return "launches kernel " + machine::detail::readable_kernel(what.kernel->kernel->entry->name) +
           ", whose library or module was unloaded";
  }
  const bool destroyed = what.event && what.event->context->alive &&
                         driver.events.find(what.event->handle) != what.event;
  if (!destroyed) return {};
  return std::string(what.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? "records" : "waits for") +
         " an event that was destroyed";
}

/// Does the same for the first such node of a graph or of the graphs inside its nodes.
inline std::string use_of_missing(driver_state& driver, const graph_state& graph) {
  std::string found;
  for (const node_ptr& each : graph.nodes) {
    found = use_of_missing(driver, each->what);
    if (found.empty() && each->what.child) found = use_of_missing(driver, *each->what.child);
    for (const graph_ptr& body : each->what.bodies)
      if (found.empty()) found = use_of_missing(driver, *body);
    if (!found.empty()) break;
  }
  return found;
}

/// Does the same for an executable graph.
inline std::string use_of_missing(driver_state& driver, const exec_body& body) {
  std::string found;
  for (const exec_node& each : body.nodes) {
    found = use_of_missing(driver, each.what);
    for (const std::shared_ptr<exec_body>& inner : each.bodies)
      if (found.empty()) found = use_of_missing(driver, *inner);
    if (!found.empty()) break;
  }
  return found;
}

/// Rejects a graph with such a node: NVIDIA's driver crashes when it is instantiated, and may crash
/// when it is launched.
template <class Graph> CUresult refuse_missing(call& c, const Graph& graph) {
  const std::string use = use_of_missing(c.driver, graph);
  if (use.empty()) return CUDA_SUCCESS;
  c.lock.unlock();
  c.driver.report("the graph has a node that " + use + ", with which NVIDIA's driver crashes");
  c.lock.lock();
  return CUDA_ERROR_INVALID_HANDLE;
}

}}}  // namespace nogpu::v1::driver

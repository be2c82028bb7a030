#pragma once
/// \file
/// What graphs need and a program may have destroyed before they run: code, and events.

#include <gpu/testing/detail/cpu/graph_kernels.hpp>
#include <gpu/testing/detail/cpu/graph_structure.hpp>

#include <cuda.h>

#include <memory>
#include <string>

namespace gpu::inline v0::testing::cpu {

/// What a node does with something that is gone, as the end of a sentence; empty where all is
/// there.
inline std::string use_of_missing(driver_state& driver, const node_work& what) {
  if (is_unloaded(driver, what)) {
    return "launches kernel " + what.kernel->kernel->entry->name +
           ", whose library or module was unloaded";
  }
  const bool destroyed = what.event && what.event->context->alive &&
                         driver.events.find(what.event->handle) != what.event;
  if (!destroyed) return {};
  return std::string(what.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? "records" : "waits for") +
         " an event that was destroyed";
}

/// The same for the first such node of a graph, or of what is inside its nodes.
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

/// The same of what an executable graph will do.
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

/// A device's driver ends the process where an executable graph is made of such a node, and may do
/// so where one is launched.
template <class Graph> CUresult refuse_missing(call& c, const Graph& graph) {
  const std::string use = use_of_missing(c.driver, graph);
  if (use.empty()) return CUDA_SUCCESS;
  c.lock.unlock();
  c.driver.report("the graph has a node that " + use + ": a device's driver crashes");
  c.lock.lock();
  return CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace gpu::inline v0::testing::cpu

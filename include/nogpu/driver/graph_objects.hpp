#pragma once
/// \file
/// The objects behind handles of graphs: graphs, their nodes, executable graphs, user objects; and
/// stream captures, which make graphs. The driver's lock guards all members.

#include <nogpu/driver/handles.hpp>
#include <nogpu/driver/host_calls.hpp>
#include <nogpu/driver/scheduler.hpp>

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

struct call;
struct context_state;
struct stream_state;
struct event_state;
struct graph_state;
struct graph_node_state;
struct exec_body;

using graph_ptr = std::shared_ptr<graph_state>;
using node_ptr = std::shared_ptr<graph_node_state>;

/// An object of the program's that graphs keep alive: destroyed with the last reference. Until it
/// is `owned` it belongs to the program, which destroys it if the call that should pass it on
/// fails.
struct user_object {
  void* data = nullptr;
  CUhostFn destroy = nullptr;
  bool owned = false;

  user_object(void* what, CUhostFn how) : data{what}, destroy{how} {}
  user_object(const user_object&) = delete;
  user_object& operator=(const user_object&) = delete;
  ~user_object() {
    if (!owned) return;
    const host_function_scope inside;
    destroy(data);
  }
};

/// The references to a user object that the program itself holds.
struct user_object_state {
  CUuserObject handle = nullptr;
  std::shared_ptr<user_object> object;
  unsigned count = 0;
  std::string place;
};

/// The references to a user object that a graph holds.
struct kept_object {
  CUuserObject handle = nullptr;
  std::shared_ptr<user_object> object;
  unsigned count = 0;
};

/// The number that a conditional node tests and kernels set.
struct conditional_value {
  CUgraphConditionalHandle handle = 0;
  std::shared_ptr<context_state> context;
  unsigned initial = 0;
  bool set_at_launch = false;
  bool has_node = false;
  std::atomic<unsigned> now{0};  // also read and written without the lock
};

/// Memory that a graph allocates: its address is valid from the creation of the node to the end of
/// the last graph that has the node.
struct graph_allocation {
  CUdeviceptr address = 0;
  bool in_use = false;  // allocated by a launch, and not freed yet
};

/// The work of a node, which can be done any number of times.
struct node_work {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::shared_ptr<context_state> context;  // null if it does not matter
  std::function<void()> work;              // as in `operation`
  std::vector<host_range> reads;
  bool reads_any_host_memory = false;
  bool reads_mapped_host_memory = false;
  /// Called when a launch queues the work as an operation; may be null.
  std::function<void(call&, operation&)> when_enqueued;
  std::vector<int> shape;  // the properties of the node that an executable graph cannot change
  std::shared_ptr<kernel_launch> kernel;         // of a kernel
  std::vector<CUlaunchAttribute> attributes;     // of a kernel
  graph_ptr child;                               // of a child graph
  std::vector<graph_ptr> bodies;                 // of a conditional node
  std::vector<CUgraph> body_handles;             // the same, as the program is given them
  std::shared_ptr<conditional_value> condition;  // of a conditional node
  CUgraphConditionalNodeType condition_type{};   // of a conditional node
  std::shared_ptr<event_state> event;            // of a node that records or waits
  std::shared_ptr<graph_allocation> allocation;  // of a node that allocates or frees
  std::string label;                             // for people
};

/// A node that another one waits for, and the part of it that is waited for.
struct node_dependency {
  node_ptr node;
  CUgraphEdgeData edge{};
};

struct graph_node_state {
  CUgraphNode handle = nullptr;
  graph_state* graph = nullptr;  // null once the node or the graph is destroyed
  node_work what;
  std::vector<node_dependency> after;  // in the order in which they were added
  CUgraphNode original = nullptr;      // of a clone: the node that it was made from
};

/// Reduces the dependencies of the next kernel on the kernels before it to those of their edges.
inline void depend_programmatically(std::vector<node_dependency>& after) {
  for (node_dependency& each : after) {
    if (each.node->what.type != CU_GRAPH_NODE_TYPE_KERNEL || each.edge.type != 0) continue;
    each.edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    each.edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  }
}

struct graph_state {
  CUgraph handle = nullptr;
  std::vector<node_ptr> nodes;  // in order of creation
  std::vector<kept_object> kept;
  std::vector<std::shared_ptr<conditional_value>> conditions;
  CUgraph original = nullptr;  // of a clone
  bool owned_by_node = false;  // a child graph or a conditional body
  bool moved = false;          // a child graph that was moved in, not copied
  bool conditional_body = false;
  bool captured_into = false;  // by a capture in progress
  std::string place;
};

/// A node of an executable graph.
struct exec_node {
  CUgraphNode source = nullptr;
  node_work what;
  bool enabled = true;
  std::vector<std::shared_ptr<exec_body>> bodies;  // of a child graph or a conditional node
};

/// Nodes in an order that their dependencies allow.
struct exec_body {
  std::vector<exec_node> nodes;
};

struct graph_exec_state {
  CUgraphExec handle = nullptr;
  unsigned long long flags = 0;
  std::shared_ptr<exec_body> body;
  graph_ptr snapshot;                // the graph as it was
  std::vector<CUgraphNode> sources;  // of the snapshot's nodes: the nodes that the program knows
  operation_ptr last;                // of the latest launch
  std::string place;
};
using exec_ptr = std::shared_ptr<graph_exec_state>;

/// One stream capture, from its beginning to its end.
struct capture_state {
  graph_ptr graph;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  cuuint64_t id = 0;
  stream_state* origin = nullptr;
  std::thread::id thread;
  bool into_existing = false;  // the program made the graph
  bool invalidated = false;
  bool ended = false;
  std::vector<std::shared_ptr<stream_state>> streams;  // the origin is the first
  std::vector<node_dependency>
      let_go;  // nodes that the program itself took out of a stream's order
};
using capture_ptr = std::shared_ptr<capture_state>;

}}}  // namespace nogpu::v1::driver

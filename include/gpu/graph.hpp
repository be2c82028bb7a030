#pragma once
/// \file
/// Graphs: work that is described or captured once and launched many times.

// IWYU pragma: begin_exports
#include <gpu/graph/child_graph_node.hpp>
#include <gpu/graph/conditional_node.hpp>
#include <gpu/graph/dependencies.hpp>
#include <gpu/graph/event_node.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_dot.hpp>
#include <gpu/graph/graph_edge.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/graph_memory.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/graph_ref.hpp>
#include <gpu/graph/graph_results.hpp>
#include <gpu/graph/host_node.hpp>
#include <gpu/graph/kernel_node.hpp>
#include <gpu/graph/memory_node.hpp>
#include <gpu/graph/memory_operation_node.hpp>
#include <gpu/graph/node_attribute.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/graph/region_node.hpp>
#include <gpu/graph/stream_capture.hpp>
// IWYU pragma: end_exports

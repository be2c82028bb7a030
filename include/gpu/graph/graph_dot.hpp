#pragma once
/// \file
/// `write_dot`: a picture of a graph, for people.

#include <gpu/core/flags.hpp>
#include <gpu/graph/graph.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpu::inline v0 {

/// What a picture of a graph shows beside its nodes and edges.
enum class graph_dot_flags : unsigned {
  none = 0,
  verbose = CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE,  ///< all of the rest
  runtime_types = CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES,
  kernel_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS,
  memcpy_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS,
  memset_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS,
  host_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS,
  event_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
  ext_semas_signal_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS,
  ext_semas_wait_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS,
  kernel_node_attributes = CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES,
  handles = CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES,
  mem_alloc_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS,
  mem_free_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS,
  batch_mem_op_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS,
  extra_topo_info = CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO,  ///< the numbers of edges
  conditional_node_params = CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS,
};
template <> inline constexpr bool is_flag_set<graph_dot_flags> = true;

namespace detail {

/// Refuses the name of a file that this process cannot write. What is in the file stays.
inline result<> require_writable(const char* path, const char* function,
                                 source_location where) noexcept {
  text_builder out;
  if (path == nullptr || *path == '\0') {
    out << "the path is " << (path == nullptr ? "null" : "empty")
        << ". Pass the name of the file to write, such as \"graph.dot\".";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  const auto refuse = [&] { return refusal(errc::file_error, function, out.finish(), where); };
  struct stat about{};
  if (::stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
    out << '"' << path << "\" is a folder. Pass the name of a file in it.";
    return fail(refuse());
  }
  if (::faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) return {};
  if (errno != ENOENT) {
    out << '"' << path << "\" cannot be written: " << std::strerror(errno)
        << ". Pass the name of another file, or give this process the right to write it.";
    return fail(refuse());
  }
  // The file is not there yet, and is made in its folder.
  const char* slash = __builtin_strrchr(path, '/');
  const text folder = slash == nullptr ? text(".")
                      : slash == path  ? text("/")
                                       : text(path, static_cast<std::size_t>(slash - path));
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  const bool missing = errno == ENOENT;
  out << '"' << path << "\" cannot be written: its folder \"" << folder << "\" ";
  if (missing) {
    out << "is not there. Create it, or name another.";
  } else {
    out << "takes no file: " << std::strerror(errno) << ". Name a folder that does.";
  }
  return fail(refuse());
}

}  // namespace detail

/// Writes a picture of a graph to a file, in the DOT language of Graphviz, in place of what the
/// file held. Blocks until it is written.
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for bits that are no flag, and for a
/// path that is null or empty; `errc::file_error` for a file that cannot be written, with the
/// reason. **Capture**: not affected. **Threads**: a graph is used by one thread at a time.
/// (cuGraphDebugDotPrint)
inline result<> write_dot(graph_ref of, const char* path,
                          graph_dot_flags flags = graph_dot_flags::none,
                          source_location where = source_location::current()) noexcept {
  constexpr unsigned known = (CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS << 1) - 1;
  GPU_TRY(detail::require(of, "gpu::write_dot", where));
  GPU_TRY(detail::require_flags(flags, known, "graph_dot_flags", "gpu::write_dot", where));
  GPU_TRY(detail::require_writable(path, "gpu::write_dot", where));
  return driver::call<&driver::entry_points::graph_debug_dot_print>(where, of.native(), path,
                                                                    static_cast<unsigned>(flags));
}

}  // namespace gpu::inline v0

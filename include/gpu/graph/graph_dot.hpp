#pragma once
/// \file
/// `write_dot`: writes a drawing of a graph to a file.

#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/graph/graph_ref.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpu { inline namespace v1 {

/// The details that a drawing of a graph shows besides its nodes and edges.
enum class graph_dot_flags : unsigned {
  none = 0,
  verbose = CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE,  ///< all of the others
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

/// Fails for the name of a file that this process cannot write. Does not change the file.
inline result<> require_writable(const char* path, const char* function,
                                 source_location where) noexcept {
  text_builder out;
  if (path == nullptr || *path == '\0') {
    out << "the path is " << (path == nullptr ? "null" : "empty")
        << "; pass the name of the file to write, such as \"graph.dot\".";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
  const auto error = [&] { return refusal(errc::file_error, function, out.finish(), where); };
  struct stat about{};
  if (::stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
    out << '"' << escaped{path} << "\" is a directory; pass the name of a file in it.";
    return fail(error());
  }
  if (::faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) return {};
  if (errno != ENOENT) {
    out << '"' << escaped{path} << "\" cannot be written: " << std::strerror(errno)
        << "; pass the name of another file, or give this process permission to write it.";
    return fail(error());
  }
  // The file does not exist yet, so its directory must be writable.
  const char* slash = __builtin_strrchr(path, '/');
  const text directory = slash == nullptr ? text(".")
                         : slash == path  ? text("/")
                                          : text(path, static_cast<std::size_t>(slash - path));
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  const int reason = errno;
  const bool missing = reason == ENOENT;
  out << '"' << escaped{path} << "\" cannot be written: its directory \"" << escaped{directory}
      << "\" ";
  if (missing) {
    out << "does not exist; create it, or pass another.";
  } else {
    out << "is not writable: " << std::strerror(reason) << "; pass a file in another directory.";
  }
  return fail(error());
}

}  // namespace detail

/// Writes a drawing of a graph to a file, in the DOT language of Graphviz, and replaces what the
/// file contained. Blocks until it is written.
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for unknown flags, and for a path
/// that is null or empty; `errc::file_error`, with the reason, for a file that cannot be written.
/// **Capture**: not affected. **Threads**: a graph is used by one thread at a time.
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

}}  // namespace gpu::v1

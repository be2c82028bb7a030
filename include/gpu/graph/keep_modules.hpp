#pragma once
/// \file
/// How a graph keeps the modules of its kernels loaded.

#include <gpu/core/unique_handle.hpp>
#include <gpu/graph/keep_alive.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/kernel/kernel_record.hpp>

namespace gpu::detail {

/// The share that a graph has in the code of its kernels; one of a list.
struct code_share : kept_object {
  shared_code* code;

  explicit code_share(shared_code* of) noexcept
      : kept_object{[](kept_object* self) noexcept {
          auto* const share = static_cast<code_share*>(self);
          share->code->unload(share->code);
          delete share;
        }},
        code{of} {}

  /// Drops a list of shares where CUDA must not be called: code that nobody needs any more is put
  /// aside. As CUhostFn.
  static void CUDA_CB drop_at(void* list) noexcept {
    auto* share = static_cast<code_share*>(list);
    while (share != nullptr) {
      auto* const next = static_cast<code_share*>(share->next);
      if (share->code->drop_share()) {
        put_aside_at(static_cast<kept_object*>(share));
      } else {
        delete share;
      }
      share = next;
    }
  }
};

struct drop_code_shares {
  void operator()(code_share* list) const noexcept { code_share::drop_at(list); }
};
using code_shares = unique_handle<code_share*, drop_code_shares>;

/// Adds a share that was taken to a list, which has one of each code.
template <class Share = code_share>
result<> add_share(shared_code* taken, code_shares& list, const char* function,
                   source_location where) noexcept {
  const kept_object* same = list.get();
  while (same != nullptr && static_cast<const code_share*>(same)->code != taken) same = same->next;
  if (same == nullptr) {
    if (auto* const made = new (std::nothrow) Share(taken)) {
      made->next = list.release();
      list.reset(made);
      return {};
    }
  }
  if (taken->drop_share()) taken->unload(taken);
  if (same != nullptr) return {};
  return fail(no_room_error(function, sizeof(Share), where));
}

/// Sets `kernel` to what a kernel node launches; null where that is no `CUkernel`.
template <class Parameters = CUDA_KERNEL_NODE_PARAMS>
result<> find_kernel_of(CUgraphNode node, CUkernel& kernel, source_location where) noexcept {
  Parameters found{};
  GPU_TRY(driver::call<&driver::entry_points::graph_kernel_node_get_params>(where, node, &found));
  kernel = found.kern;
  return {};
}

/// Has the graph of a node that is described keep the module of its kernel loaded. A node that is
/// there has the graph do so already for the kernel that it launches.
template <class Node = node_parameters>
result<> keep_module_of(const kernel_record& kernel, Node& node, source_location where) noexcept {
  shared_code* const code = kernel.live.code;
  if (node.graph == nullptr || code == nullptr) return {};
  if (node.existing != nullptr) {
    CUkernel before = nullptr;
    GPU_TRY(find_kernel_of(node.existing, before, where));
    if (is_kernel_of(code, before)) return {};
  }
  code_shares share;
  if (code->take_share()) GPU_TRY(add_share(code, share, "gpu::kernel_node", where));
  node.kept = share.release();
  node.destroy_kept = &code_share::drop_at;
  return {};
}

/// Has a graph that was captured to keep the modules of all its kernels loaded.
template <class List = graph_node_list>
result<> keep_modules(CUgraph graph, const char* function, source_location where) noexcept {
  const List nodes = GPU_TRY(
      list_nodes<&driver::entry_points::graph_get_nodes, List>(graph, context_ref{}, where));
  code_shares shares;
  CUkernel last = nullptr;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    CUgraphNodeType type{};
    CUkernel kernel = nullptr;
    const CUgraphNode node = nodes.native()[i];
    GPU_TRY(driver::call<&driver::entry_points::graph_node_get_type>(where, node, &type));
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    GPU_TRY(find_kernel_of(node, kernel, where));
    if (kernel == last) continue;
    last = kernel;
    if (shared_code* const code = take_share_of(kernel))
      GPU_TRY(add_share(code, shares, function, where));
  }
  if (!shares) return {};
  return keep_in_graph(graph, shares.release(), &code_share::drop_at, where);
}

}  // namespace gpu::detail

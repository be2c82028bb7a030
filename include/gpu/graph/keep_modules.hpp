#pragma once
/// \file
/// `keep_modules`: has a graph keep the modules of its kernels loaded.

#include <gpu/core/unique_handle.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/kernel/shared_code.hpp>

namespace gpu {

namespace detail {

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

}  // namespace detail

/// Has a graph keep loaded the modules of the kernels that it has now, however they came into it,
/// so that the modules themselves can go first:
///
///     GPU_TRY(gpu::keep_modules(graph));
///
/// The graph, its clones, the graphs that it is a child of and what is instantiated from any of
/// them share the code with the module; the last of them has it unloaded, by the operation on any
/// graph that follows. Kernels of no module, such as those of `from_runtime`, keep nothing.
/// Children and bodies are graphs of their own here: see `child_of` and `conditional_node::body`.
/// **Cost**: as all that a graph keeps, it makes each launch dearer, by 1.5 to 2 us on an H200: do
/// it where nothing else keeps the modules.
/// **Errors**: `errc::empty_handle`; `errc::out_of_host_memory`; the driver's. **Capture**:
/// allowed.
/// **Threads**: as the graph's. (cuGraphGetNodes, cuGraphNodeGetType, cuGraphKernelNodeGetParams,
/// cuUserObjectCreate, cuGraphRetainUserObject)
template <class List = graph_node_list>
result<> keep_modules(graph_ref graph,
                      source_location where = source_location::current()) noexcept {
  constexpr const char* function = "gpu::keep_modules";
  GPU_TRY(detail::require(graph, function, where));
  detail::destroy_put_aside();
  const List nodes = GPU_TRY(graph.nodes(where));
  detail::code_shares shares;
  CUkernel last = nullptr;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    CUgraphNodeType type{};
    CUDA_KERNEL_NODE_PARAMS found{};
    const CUgraphNode node = nodes.native()[i];
    GPU_TRY(driver::call<&driver::entry_points::graph_node_get_type>(where, node, &type));
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    GPU_TRY(driver::call<&driver::entry_points::graph_kernel_node_get_params>(where, node, &found));
    if (found.kern == last) continue;
    last = found.kern;
    if (detail::shared_code* const code = detail::take_share_of(found.kern))
      GPU_TRY(detail::add_share(code, shares, function, where));
  }
  if (!shares) return {};
  return detail::keep_in_graph(graph.native(), shares.release(), &detail::code_share::drop_at,
                               where);
}

}  // namespace gpu

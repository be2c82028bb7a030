#pragma once
/// \file
/// `kernel_node`: a node that launches a kernel.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/kernel/detail/argument_owner.hpp>
#include <gpu/kernel/detail/argument_pack.hpp>  // IWYU pragma: keep
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/detail/launch_checks.hpp>
#include <gpu/kernel/detail/launch_mistakes.hpp>  // IWYU pragma: keep
#include <gpu/kernel/detail/prepared_launch.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

/// Runs a kernel at each launch, with the given arguments:
///
///     GPU_TRY(graph.add(before, gpu::kernel_node({64, 256}, saxpy, 2.0f, x, y, n)));
///
/// Arguments convert as in `gpu::launch`, but `in`, `out` and `inout` are not allowed. The memory
/// that they point to must live as long as the graph and its executable graphs: see `graph::keep`.
/// The kernel's module may be destroyed once the node was added: the graph keeps the code loaded.
/// **Errors**: `errc::invalid_launch` with the value and the limit for a shape that the device or
/// the kernel does not allow; `errc::empty_handle`, also for a buffer that was moved from;
/// `errc::wrong_context` for a buffer that the graph's device cannot access;
/// `errc::invalid_argument` for a view with strides whose parameter is a pointer; the driver's for
/// an attribute that only launches have, such as a programmatic event.
template <class... Parameters> class kernel_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::kernel;

  template <class... Arguments>
  kernel_node(const launch_config& config, const kernel<Parameters...>& kernel,
              Arguments&&... arguments) noexcept
      : config_{config},
        kernel_{kernel},
        arguments_{static_cast<Arguments&&>(arguments)...},
        owners_{as_pointers, arguments...} {
    static_assert(
        sizeof...(Arguments) == sizeof...(Parameters),
        "gpu::kernel_node: the number of arguments differs from the number of the kernel's "
        "parameters");
    static_assert(
        !(detail::is_host_argument<Arguments> || ...),
        "gpu::kernel_node: gpu::in, gpu::out and gpu::inout copy only once, but a graph runs "
        "many times: use a copy_node");
    static_assert((detail::check_kernel_argument<Arguments, Parameters>() && ...));
  }

 private:
  friend struct detail::node_access;

  static constexpr bool as_pointers[] = {std::is_pointer_v<Parameters>..., false};

  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) noexcept {
    if (!kernel_)
      return detail::fail(detail::empty_handle_error("gpu::kernel_node", "kernel", where));
    detail::kernel_record* const record = detail::kernel_access::record(kernel_);
    const detail::prepared_launch launch{stream_ref::legacy_default(context),
                                         config_,
                                         record,
                                         arguments_.pointers(),
                                         where,
                                         owners_.list,
                                         owners_.count,
                                         &owners_.refusal};
    const detail::kernel_limits& limits =
        *GPU_TRY(detail::prepare_kernel(launch, "gpu::kernel_node"));
    // A node of an executable graph keeps the attributes that it was instantiated with.
    if (to.graph != nullptr || detail::is_cooperative(config_))
      GPU_TRY(detail::check_cooperation(launch, "gpu::kernel_node", limits));
    to.attributes = config_.attributes.native();
    to.attribute_count = config_.attributes.size();
    if (config_.cluster.volume() != 1) {
      cluster_ = detail::cluster_attribute(config_.cluster);
      to.cluster = &cluster_;
    }
    if (config_.cooperative) {
      cooperative_ = detail::cooperative_attribute();
      to.cooperative = &cooperative_;
    }
    CUDA_KERNEL_NODE_PARAMS_v3& node = to.native.kernel;
    node.kern = record->native;
    to.code = record->live.code;
    node.ctx = context.native();
    node.gridDimX = config_.grid.x;
    node.gridDimY = config_.grid.y;
    node.gridDimZ = config_.grid.z;
    node.blockDimX = config_.block.x;
    node.blockDimY = config_.block.y;
    node.blockDimZ = config_.block.z;
    node.sharedMemBytes = config_.shared_bytes;
    node.kernelParams = arguments_.pointers();
    return {};
  }

  launch_config config_;
  kernel<Parameters...> kernel_;
  detail::argument_pack<Parameters...> arguments_;
  detail::argument_owners<sizeof...(Parameters)> owners_;
  CUlaunchAttribute cluster_;
  CUlaunchAttribute cooperative_;
};

}}  // namespace gpu::v1

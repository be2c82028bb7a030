#pragma once
/// \file
/// Nodes that copy, fill, allocate and free memory.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Copies all elements of `source` to `destination` at each launch. Each is a device range, of any
/// device, or a contiguous range of host memory, which need not be page-locked. Both have the same
/// element type and length. Peer access between devices is not needed.
/// Both must live as long as the graph and its executable graphs: see `graph::keep`.
/// **Errors**: `errc::size_mismatch` with both lengths; `errc::empty_handle` for a buffer that was
/// moved from; `errc::invalid_argument` for 0 elements.
class copy_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::copy;

  template <class Source, class Destination>
  copy_node(Source&& source, Destination&& destination) noexcept
      : source_{detail::copy_end_of(source)},
        destination_{detail::copy_end_of(destination)},
        element_size_{sizeof(detail::element_t<Destination>)} {
    detail::check_copy<Source, Destination>();
  }

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) const noexcept {
    GPU_TRY(detail::require_owner("gpu::copy_node", "source", source_, where));
    GPU_TRY(detail::require_owner("gpu::copy_node", "destination", destination_, where));
    GPU_TRY(detail::require_same_size(source_, destination_, where));
    if (source_.count == 0) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::copy_node",
          text("a node cannot copy 0 elements; omit the node, or add an empty_node."), where));
    }
    CUDA_MEMCPY3D& copy = to.native.memcpy.copyParams;
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::copy_node", source_.count, element_size_, bytes, where));
    copy.WidthInBytes = bytes;
    to.native.memcpy.copyCtx = context.native();
    copy.srcMemoryType = source_.on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcDevice = source_.on_device ? source_.device_address() : 0;
    copy.srcHost = source_.on_device ? nullptr : source_.host_address();
    copy.dstMemoryType = destination_.on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.dstDevice = destination_.on_device ? destination_.device_address() : 0;
    copy.dstHost = destination_.on_device ? nullptr : destination_.host_address();
    copy.Height = 1;
    copy.Depth = 1;
    return {};
  }

  detail::copy_end source_;
  detail::copy_end destination_;
  std::size_t element_size_;
};

/// Writes `value` to every element of `destination`, of 1, 2 or 4 bytes each, at each launch. The
/// memory may belong to any device, even without peer access, and must live as long as the graph
/// and its executable graphs: see `graph::keep`.
/// **Errors**: `errc::empty_handle` for a buffer that was moved from; `errc::invalid_argument` for
/// 0 elements.
class fill_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::fill;

  template <device_range Destination>
  fill_node(Destination&& destination,
            const std::remove_cv_t<detail::element_t<Destination>>& value) noexcept
      : destination_{detail::copy_end_of(destination)},
        element_size_{sizeof value},
        pattern_{detail::fill_pattern<detail::element_t<Destination>>(value)} {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) const noexcept {
    GPU_TRY(detail::require_owner("gpu::fill_node", "destination", destination_, where));
    if (destination_.count == 0) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::fill_node",
          text("a node cannot fill 0 elements; omit the node, or add an empty_node."), where));
    }
    CUDA_MEMSET_NODE_PARAMS_v2& fill = to.native.memset;
    fill.dst = destination_.device_address();
    fill.value = pattern_;
    fill.elementSize = static_cast<unsigned>(element_size_);
    fill.width = destination_.count;
    fill.height = 1;
    fill.ctx = context.native();
    return {};
  }

  detail::copy_end destination_;
  std::size_t element_size_;
  unsigned pattern_;
};

/// Allocates `count` elements on the graph's device at each launch. The address is known once the
/// node was added, and is the same at every launch:
///
///     gpu::allocation_node<float> scratch(n);
///     auto made = GPU_TRY(graph.add({}, scratch));
///     auto used = GPU_TRY(graph.add(made, gpu::fill_node(scratch.span(), 0.0f)));
///     GPU_TRY(graph.add(used, gpu::free_node(scratch.span())));
///
/// If no node frees the memory, it belongs to the program after the launch, until it is freed on a
/// stream. To let other devices access it, name them:
/// `gpu::allocation_node<float>(n, {second, third})`.
/// **Errors**: `errc::size_overflow`; `errc::invalid_argument` for 0 elements, for more than 32
/// peers, and if the graph's own device is among them; `errc::not_supported` for a device that
/// cannot access the graph's device.
/// (cuDeviceCanAccessPeer)
template <class T> class allocation_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::allocation;

  explicit allocation_node(std::size_t count, std::initializer_list<device> peers = {}) noexcept
      : count_{count}, peer_count_{peers.size()} {
    for (std::size_t i = 0; i < peers.size() && i < most_peers; ++i) {
      access_[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      access_[i].location.id = peers.begin()[i].native();
      access_[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
  }

  /// Returns the memory; empty before the node was added. Only nodes that run after this one, and
  /// before the memory is freed, may access it.
  device_span<T> span() const noexcept {
    return device_span<T>::from_native(address_, address_ == 0 ? 0 : count_);
  }

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) const noexcept {
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::allocation_node", count_, sizeof(T), bytes, where));
    if (bytes == 0) {
      return detail::fail(
          detail::refusal(errc::invalid_argument, "gpu::allocation_node",
                          text("a node cannot allocate 0 elements; request at least 1."), where));
    }
    CUDA_MEM_ALLOC_NODE_PARAMS_v2& allocation = to.native.alloc;
    allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    allocation.poolProps.location.id = context.device().native();
    allocation.bytesize = bytes;
    GPU_TRY(check_peers(context.device(), where));
    allocation.accessDescs = access_;
    allocation.accessDescCount = peer_count_;
    return {};
  }
  result<> check_peers(device own, source_location where) const noexcept {
    constexpr const char* function = "gpu::allocation_node";
    if (peer_count_ > most_peers) {
      detail::text_builder out;
      out << "the number of peers must be at most " << most_peers << ", got " << peer_count_
          << "; pass each device once.";
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                          peer_count_, most_peers));
    }
    for (std::size_t i = 0; i < peer_count_; ++i) {
      const device peer = device::from_native(access_[i].location.id);
      if (peer == own) {
        detail::text_builder out;
        out << "device " << own.native()
            << " is the graph's own device, which can access the memory anyway; remove it from the "
               "peers.";
        return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                            static_cast<std::uint64_t>(own.native())));
      }
      if (!GPU_TRY(can_access_peer(peer, own, where))) {
        return detail::fail(detail::no_peers_error(
            function, peer, own,
            "they are not peers; remove it from the peers, and copy what it needs with gpu::copy.",
            where));
      }
    }
    return {};
  }
  void made(const detail::node_parameters& as, context_ref) noexcept {
    address_ = as.native.alloc.dptr;
  }

  static constexpr std::size_t most_peers = 32;

  std::size_t count_;
  std::size_t peer_count_;
  CUmemAccessDesc access_[most_peers] = {};
  CUdeviceptr address_ = 0;
};

/// Frees memory that a node of this graph, or of a graph launched before it, allocates.
/// **Errors**: `errc::invalid_argument` for an empty span, such as that of an `allocation_node`
/// that was not added; CUDA_ERROR_INVALID_VALUE for memory that a graph does not allocate, or that
/// another node of the graph frees.
class free_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::free;

  template <class T>
  explicit free_node(device_span<T> memory) noexcept
      : address_{memory.empty() ? 0 : memory.native()} {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref,
                    source_location where) const noexcept {
    if (address_ == 0) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::free_node",
          text("the span is empty, so there is nothing to free; pass the span() of an "
               "allocation_node that was added."),
          where));
    }
    to.native.free.dptr = address_;
    return {};
  }

  CUdeviceptr address_;
};

}}  // namespace gpu::v1

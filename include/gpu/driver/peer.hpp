#pragma once
/// \file
/// Peers: devices that reach each other's memory.

#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>

namespace gpu {

/// What can be asked of the link between two devices.
enum class peer_attribute : int {
  performance_rank = CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,  ///< lower is faster
  access_supported = CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
  native_atomic_supported = CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
  cuda_array_access_supported = CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED,
  only_partial_native_atomic_supported =
      CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
};

/// The attribute's name, such as "access_supported"; null for a value that is none.
constexpr const char* name_of(peer_attribute attribute) noexcept {
  switch (attribute) {
    case peer_attribute::performance_rank:
      return "performance_rank";
    case peer_attribute::access_supported:
      return "access_supported";
    case peer_attribute::native_atomic_supported:
      return "native_atomic_supported";
    case peer_attribute::cuda_array_access_supported:
      return "cuda_array_access_supported";
    case peer_attribute::only_partial_native_atomic_supported:
      return "only_partial_native_atomic_supported";
  }
  return nullptr;
}

namespace detail {

template <peer_attribute> struct peer_attribute_value {
  using type = bool;
};
template <> struct peer_attribute_value<peer_attribute::performance_rank> {
  using type = int;
};

[[gnu::cold, gnu::noinline]] inline cuda_error no_peers_error(const char* function, device a,
                                                              device b, const char* reason,
                                                              source_location where) noexcept {
  text_builder out;
  out << "device " << a.native() << " cannot reach the memory of device " << b.native() << ": "
      << reason;
  return refusal(errc::not_supported, function, out.finish(), where,
                 static_cast<std::uint64_t>(b.native()));
}

}  // namespace detail

/// The C++ type of the attribute's value.
template <peer_attribute Attribute>
using peer_attribute_t = typename detail::peer_attribute_value<Attribute>::type;

/// What the link by which `from` reaches the memory of `to` is like.
/// **Errors**: `errc::not_supported` for a device and itself; the driver's.
/// **Capture**: not affected. **Threads**: any. (cuDeviceGetP2PAttribute)
template <peer_attribute Attribute>
result<peer_attribute_t<Attribute>> attribute(
    device from, device to, source_location where = source_location::current()) noexcept {
  if (from == to) {
    return detail::fail(detail::no_peers_error(
        "gpu::attribute", from, to, "a device is no peer of its own. Give two devices.", where));
  }
  int value = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_p2p_attribute>(
      where, &value, static_cast<CUdevice_P2PAttribute>(Attribute), from.native(), to.native()));
  return static_cast<peer_attribute_t<Attribute>>(value);
}

/// Whether kernels on `from` can be let use memory of `to`; never true of a device and itself.
/// **Capture**: not affected. **Threads**: any. (cuDeviceCanAccessPeer)
template <class Bool = bool>
result<Bool> can_access_peer(device from, device to,
                             source_location where = source_location::current()) noexcept {
  int can = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_can_access_peer>(where, &can, from.native(),
                                                                      to.native()));
  return can != 0;
}

namespace detail {

/// Two contexts, of which the first may use the memory of the second.
struct peer_pair {
  context_ref from;
  context_ref to;
  friend bool operator==(const peer_pair&, const peer_pair&) noexcept = default;
};

struct disable_peer_access {
  template <class Pair> void operator()(const Pair& pair) const noexcept {
    driver::destroy_in<&driver::entry_points::ctx_disable_peer_access>(pair.from.native(),
                                                                       pair.to.native());
  }
};

/// Sets `enabled` where the access was not there before. A peer that cannot be reached is told from
/// other failures by a sentence.
inline result<> enable_peer_access(context_ref from, context_ref to, bool& enabled,
                                   source_location where) noexcept {
  constexpr const char* function = "gpu::peer_access::enable";
  GPU_TRY(require(from, function, where));
  GPU_TRY(require(to, function, where));
  if (from.device() == to.device()) {
    return fail(no_peers_error(function, from.device(), to.device(),
                               "contexts of one device share its memory only through IPC or "
                               "virtual memory. Give contexts of two devices.",
                               where));
  }
  int can = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_can_access_peer>(
      where, &can, from.device().native(), to.device().native()));
  if (can == 0) {
    return fail(no_peers_error(function, from.device(), to.device(),
                               "there is no link between them that would do. Copy between them "
                               "instead, which goes through the host; nvidia-smi topo -m shows "
                               "the links.",
                               where));
  }
  result<> done = driver::call_in<&driver::entry_points::ctx_enable_peer_access>(
      from.native(), where, to.native(), 0u);
  enabled = done.has_value();
  const bool already = !done.has_value() && done.error().domain() == error_domain::driver &&
                       done.error().code() == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  return already ? result<>{} : done;
}

}  // namespace detail

/// Lets kernels of one context use the memory of another device's, for as long as it lives; one
/// direction. Where somebody else had enabled it before, it is left as it was at the end.
///
///     const gpu::peer_access access = GPU_TRY(gpu::peer_access::enable(first, second));
///
/// Memory of stream-ordered pools has access rights of its own. Move-only; empty after a move.
class [[nodiscard]] peer_access {
 public:
  /// **Errors**: `errc::not_supported`, where the devices have no link or are the same;
  /// `errc::empty_handle`; CUDA_ERROR_TOO_MANY_PEERS. **Threads**: any.
  /// (cuDeviceCanAccessPeer, cuCtxEnablePeerAccess; at the end cuCtxDisablePeerAccess)
  template <class Access = peer_access>
  static result<Access> enable(context_ref from, context_ref to,
                               source_location where = source_location::current()) noexcept {
    bool enabled = false;
    GPU_TRY(detail::enable_peer_access(from, to, enabled, where));
    return Access{enabled ? detail::peer_pair{from, to} : detail::peer_pair{}};
  }
  /// Between the primary contexts of two devices.
  template <class Access = peer_access>
  static result<Access> enable(device from, device to,
                               source_location where = source_location::current()) noexcept {
    const context_ref of_from = GPU_TRY(context::primary(from, where));
    const context_ref of_to = GPU_TRY(context::primary(to, where));
    return Access::enable(of_from, of_to, where);
  }

  /// Ends the access now and returns the error that the destructor could only report.
  /// (cuCtxDisablePeerAccess)
  result<> disable(source_location where = source_location::current()) noexcept {
    if (!pair_) return {};
    const detail::peer_pair pair = pair_.get();
    // Where the context could not be made current, the access stays, for another try.
    return driver::in_context(pair.from.native(), where, [&] {
      static_cast<void>(pair_.release());
      return driver::call<&driver::entry_points::ctx_disable_peer_access>(where, pair.to.native());
    });
  }

  /// Whether the end of this object ends the access: not where it had been there before.
  explicit operator bool() const noexcept { return static_cast<bool>(pair_); }

 private:
  explicit peer_access(detail::peer_pair pair) noexcept : pair_{pair} {}

  unique_handle<detail::peer_pair, detail::disable_peer_access> pair_;
};

}  // namespace gpu

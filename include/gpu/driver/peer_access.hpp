#pragma once
/// \file
/// Peers: devices that reach each other's memory.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/peer_hold.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/device.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// An attribute of the link between two devices.
enum class peer_attribute : int {
  performance_rank = CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,  ///< lower is faster
  access_supported = CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
  native_atomic_supported = CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
  cuda_array_access_supported = CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED,
  only_partial_native_atomic_supported =
      CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
};

/// Returns the attribute's name, such as "access_supported"; null for any other value.
constexpr const char* name_of(peer_attribute attribute) noexcept {
  using enum peer_attribute;
  return detail::find_name(
      attribute, {{performance_rank, "performance_rank"},
                  {access_supported, "access_supported"},
                  {native_atomic_supported, "native_atomic_supported"},
                  {cuda_array_access_supported, "cuda_array_access_supported"},
                  {only_partial_native_atomic_supported, "only_partial_native_atomic_supported"}});
}

namespace detail {

template <peer_attribute> struct peer_attribute_value {
  using type = bool;
};
template <> struct peer_attribute_value<peer_attribute::performance_rank> {
  using type = int;
};

inline cuda_error no_peers_error(const char* function, device a, device b, const char* reason,
                                 source_location where) noexcept {
  text_builder out;
  out << "device " << a.native() << " cannot reach the memory of device " << b.native() << ": "
      << reason;
  return refusal(errc::not_supported, function, out.finish(), where,
                 static_cast<std::uint64_t>(b.native()));
}

/// As `explain_device`, for a call about two devices: names the one that does not exist and the
/// number of devices.
inline result<> explain_devices(result<> failed, device a, device b,
                                source_location where) noexcept {
  if (failed.has_value()) return failed;
  return explain_device(explain_device(std::move(failed), a.native(), where), b.native(), where);
}

}  // namespace detail

/// The C++ type of the attribute's value.
template <peer_attribute Attribute>
using peer_attribute_t = typename detail::peer_attribute_value<Attribute>::type;

/// Returns an attribute of the link by which `from` reaches the memory of `to`.
/// **Errors**: `errc::not_supported` for a device and itself; `errc::index_out_of_range` for a
/// device that does not exist; the driver's.
/// **Capture**: not affected. **Threads**: any. (cuDeviceGetP2PAttribute)
template <peer_attribute Attribute>
result<peer_attribute_t<Attribute>> attribute(
    device from, device to, source_location where = source_location::current()) noexcept {
  if (from == to) {
    return detail::fail(detail::no_peers_error(
        "gpu::attribute", from, to, "a device is not its own peer. Pass two devices.", where));
  }
  int value = 0;
  GPU_TRY(detail::explain_devices(
      driver::call<&driver::entry_points::device_get_p2p_attribute>(
          where, &value, static_cast<CUdevice_P2PAttribute>(Attribute), from.native(), to.native()),
      from, to, where));
  return static_cast<peer_attribute_t<Attribute>>(value);
}

/// Returns whether kernels on `from` can be given access to memory of `to`; false for a device and
/// itself.
/// **Errors**: `errc::index_out_of_range` for a device that does not exist; the driver's.
/// **Capture**: not affected. **Threads**: any. (cuDeviceCanAccessPeer)
inline result<bool> can_access_peer(device from, device to,
                                    source_location where = source_location::current()) noexcept {
  int can = 0;
  GPU_TRY(detail::explain_devices(driver::call<&driver::entry_points::device_can_access_peer>(
                                      where, &can, from.native(), to.native()),
                                  from, to, where));
  return can != 0;
}

namespace detail {

/// Enables peer access, or says why the peer cannot be reached.
inline result<> enable_peer_access(const peer_pair& pair, bool& holds_it,
                                   source_location where) noexcept {
  constexpr const char* function = "gpu::peer_access::enable";
  const device from = pair.from.device(), to = pair.to.device();
  if (from == to) {
    return fail(no_peers_error(function, from, to,
                               "contexts of one device share its memory only through IPC or "
                               "virtual memory. Give contexts of two devices.",
                               where));
  }
  int can = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_can_access_peer>(where, &can, from.native(),
                                                                      to.native()));
  if (can == 0) {
    return fail(no_peers_error(function, from, to,
                               "no link between them supports peer access. Copy between them "
                               "instead, which goes through the host; nvidia-smi topo -m shows "
                               "the links.",
                               where));
  }
  return begin_peer_access(pair, holds_it, where);
}

}  // namespace detail

/// Lets kernels of one context use the memory of another device's, for as long as it lives; one
/// direction. If several objects exist for the same two contexts, in any libraries of the process,
/// the access ends with the last of them.
///
///     const gpu::peer_access access = GPU_TRY(gpu::peer_access::enable(first, second));
///
/// If other code had enabled the access before, with a driver call of its own, the object holds
/// nothing, and the access lasts until that code ends it. Code that enables it after this object
/// did gets an error from the driver, and loses the access with this object.
///
/// Memory of stream-ordered pools has access rights of its own. Move-only; empty after a move.
/// **Capture**: neither its beginning nor its end is allowed, unless the capture and the thread are
/// `relaxed`: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and the capture is spoiled. Where the end was
/// refused to the destructor, the access stays until the next object for the two contexts ends.
/// **Threads**: any; different objects at the same time, too.
class [[nodiscard]] peer_access {
 public:
  /// Creates an empty object, to be assigned to.
  peer_access() noexcept = default;

  /// **Errors**: `errc::not_supported` if the devices have no link or are the same;
  /// `errc::empty_handle`; `errc::out_of_host_memory`; CUDA_ERROR_TOO_MANY_PEERS.
  /// (cuDeviceCanAccessPeer, cuCtxEnablePeerAccess; at the end cuCtxDisablePeerAccess)
  static result<peer_access> enable(context_or_device from, context_or_device to,
                                    source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::peer_access::enable";
    const context_ref of_from = GPU_TRY(from.resolve(function, where));
    const context_ref of_to = GPU_TRY(to.resolve(function, where));
    const detail::peer_pair pair{of_from, of_to};
    bool holds_it = false;
    const result<> begun = detail::enable_peer_access(pair, holds_it, where);
    peer_access made{holds_it ? pair : detail::peer_pair{}};
    if (!begun.has_value()) return detail::fail(begun.error());
    return made;
  }

  /// Ends the access now and returns the error that the destructor could only report. If a capture
  /// forbids it, or the context cannot be made current, the object still holds the access, and you
  /// can try again. (cuCtxDisablePeerAccess)
  result<> disable(source_location where = source_location::current()) noexcept {
    if (!pair_) return {};
    bool over = false;
    result<> ended = detail::end_peer_access(pair_.get(), over, where);
    if (over) static_cast<void>(pair_.release());
    return ended;
  }

  /// Returns whether the object holds the access; false if other code had enabled it.
  explicit operator bool() const noexcept { return static_cast<bool>(pair_); }

 private:
  explicit peer_access(detail::peer_pair pair) noexcept : pair_{pair} {}

  unique_handle<detail::peer_pair, detail::disable_peer_access> pair_;
};

}}  // namespace gpu::v1

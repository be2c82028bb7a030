#pragma once
/// \file
/// `stream_attribute`: the attributes of a stream, each with the type of its value.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/device_refusals.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/system/output.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace gpu { inline namespace v1 {

/// An attribute of a stream; converts to `CUstreamAttrID` and back by cast.
enum class stream_attribute : int {
  access_policy_window = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
  synchronization_policy = CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
  priority = CU_LAUNCH_ATTRIBUTE_PRIORITY,  ///< lower is more urgent; the driver clamps it
  memory_sync_domain_map = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
  memory_sync_domain = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
};

/// The treatment of an access by the L2 cache.
enum class access_property : int {
  normal = CU_ACCESS_PROPERTY_NORMAL,
  streaming = CU_ACCESS_PROPERTY_STREAMING,    ///< used once, and the first to be evicted
  persisting = CU_ACCESS_PROPERTY_PERSISTING,  ///< used again, and the last to be evicted
};

/// The way in which a thread waits for a stream.
enum class synchronization_policy : int {
  automatic = CU_SYNC_POLICY_AUTO,
  spin = CU_SYNC_POLICY_SPIN,
  yield = CU_SYNC_POLICY_YIELD,
  blocking_sync = CU_SYNC_POLICY_BLOCKING_SYNC,  ///< sleeps
};

/// The domain in which a kernel's memory operations are ordered.
enum class memory_sync_domain : int {
  default_ = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT,
  remote = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE,  ///< for kernels that talk to other devices
};

/// Returns the attribute's name, such as "priority"; null for any other value.
constexpr const char* name_of(stream_attribute attribute) noexcept {
  using enum stream_attribute;
  return detail::find_name(attribute, {{access_policy_window, "access_policy_window"},
                                       {synchronization_policy, "synchronization_policy"},
                                       {priority, "priority"},
                                       {memory_sync_domain_map, "memory_sync_domain_map"},
                                       {memory_sync_domain, "memory_sync_domain"}});
}

constexpr const char* name_of(access_property property) noexcept {
  using enum access_property;
  return detail::find_name(
      property, {{normal, "normal"}, {streaming, "streaming"}, {persisting, "persisting"}});
}

constexpr const char* name_of(synchronization_policy policy) noexcept {
  using enum synchronization_policy;
  return detail::find_name(policy, {{automatic, "automatic"},
                                    {spin, "spin"},
                                    {yield, "yield"},
                                    {blocking_sync, "blocking_sync"}});
}

constexpr const char* name_of(memory_sync_domain domain) noexcept {
  using enum memory_sync_domain;
  return detail::find_name(domain, {{default_, "default"}, {remote, "remote"}});
}

/// The range of addresses that the L2 cache treats specially for a stream's kernels:
///
///     gpu::access_policy_window{.base = span.native(), .bytes = span.size_bytes(),
///                               .hit = gpu::access_property::persisting}
///
/// With 0 bytes the range is empty. The device may round `base` and `bytes`.
struct access_policy_window {
  CUdeviceptr base = 0;
  std::size_t bytes = 0;  ///< at most the device's `max_access_policy_window_size`
  float hit_ratio = 1;    ///< 0 to 1: the share of accesses in the window that are `hit`
  access_property hit = access_property::normal;
  access_property miss = access_property::normal;  ///< the rest; not `persisting`

  friend constexpr bool operator==(const access_policy_window& a,
                                   const access_policy_window& b) noexcept {
    return a.base == b.base && a.bytes == b.bytes && !(a.hit_ratio < b.hit_ratio) &&
           !(b.hit_ratio < a.hit_ratio) && a.hit == b.hit && a.miss == b.miss;
  }
};

/// The hardware domain of each enumerator of `memory_sync_domain`, less than the device's
/// `mem_sync_domain_count`.
struct memory_sync_domain_map {
  unsigned char default_ = 0;
  unsigned char remote = 1;

  friend constexpr bool operator==(memory_sync_domain_map a, memory_sync_domain_map b) noexcept {
    return a.default_ == b.default_ && a.remote == b.remote;
  }
};

namespace detail {

/// Traits of an attribute: its type, how it is read from and written to the driver's union, and a
/// check that rejects values which it cannot have.
template <stream_attribute> struct stream_attribute_value;

template <> struct stream_attribute_value<stream_attribute::access_policy_window> {
  using type = access_policy_window;
  static type read(const CUstreamAttrValue& from) noexcept {
    const CUaccessPolicyWindow& window = from.accessPolicyWindow;
    return {static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(window.base_ptr)),
            window.num_bytes, window.hitRatio, static_cast<access_property>(window.hitProp),
            static_cast<access_property>(window.missProp)};
  }
  static void write(CUstreamAttrValue& to, const type& value) noexcept {
    to.accessPolicyWindow.base_ptr =
        reinterpret_cast<void*>(static_cast<std::uintptr_t>(value.base));
    to.accessPolicyWindow.num_bytes = value.bytes;
    to.accessPolicyWindow.hitRatio = value.hit_ratio;
    to.accessPolicyWindow.hitProp = static_cast<CUaccessProperty>(value.hit);
    to.accessPolicyWindow.missProp = static_cast<CUaccessProperty>(value.miss);
  }
  static result<> check(const type& value, const char* function, source_location where) noexcept {
    GPU_TRY(require_enumerator(value.hit, "access_property", function, where));
    GPU_TRY(require_enumerator(value.miss, "access_property", function, where));
    const ieee_number hit_ratio = value.hit_ratio;
    const bool is_share = hit_ratio >= 0 && hit_ratio <= 1;
    if (is_share && value.miss != access_property::persisting) return {};
    text_builder out;
    if (is_share) {
      out << "accesses that miss an access policy window cannot be persisting. Use normal or "
             "streaming.";
    } else {
      char ratio[32];
      format_into(ratio, sizeof ratio, "%.9g", static_cast<double>(value.hit_ratio));
      out << "the hit ratio of an access policy window is " << ratio
          << ", not between 0 and 1. Give the share of accesses that are hits.";
    }
    return fail(refusal(errc::invalid_argument, function, out.finish(), where));
  }
};

template <> struct stream_attribute_value<stream_attribute::synchronization_policy> {
  using type = synchronization_policy;
  /// A stream without a policy reports a value that is not an enumerator.
  static type read(const CUstreamAttrValue& from) noexcept {
    int value = 0;
    std::memcpy(&value, &from, sizeof value);
    const auto policy = static_cast<type>(value);
    return name_of(policy) == nullptr ? type::automatic : policy;
  }
  static void write(CUstreamAttrValue& to, type value) noexcept {
    to.syncPolicy = static_cast<CUsynchronizationPolicy>(value);
  }
  static result<> check(type value, const char* function, source_location where) noexcept {
    return require_enumerator<type>(value, "synchronization_policy", function, where);
  }
};

template <> struct stream_attribute_value<stream_attribute::priority> {
  using type = int;
  static type read(const CUstreamAttrValue& from) noexcept { return from.priority; }
  static void write(CUstreamAttrValue& to, type value) noexcept { to.priority = value; }
};

template <> struct stream_attribute_value<stream_attribute::memory_sync_domain_map> {
  using type = memory_sync_domain_map;
  static type read(const CUstreamAttrValue& from) noexcept {
    return {from.memSyncDomainMap.default_, from.memSyncDomainMap.remote};
  }
  static void write(CUstreamAttrValue& to, type value) noexcept {
    to.memSyncDomainMap.default_ = value.default_;
    to.memSyncDomainMap.remote = value.remote;
  }
};

template <> struct stream_attribute_value<stream_attribute::memory_sync_domain> {
  using type = memory_sync_domain;
  static type read(const CUstreamAttrValue& from) noexcept {
    return static_cast<type>(from.memSyncDomain);
  }
  static void write(CUstreamAttrValue& to, type value) noexcept {
    to.memSyncDomain = static_cast<CUlaunchMemSyncDomain>(value);
  }
  static result<> check(type value, const char* function, source_location where) noexcept {
    return require_enumerator<type>(value, "memory_sync_domain", function, where);
  }
};

/// Rejects a value that the attribute cannot have, if its traits have such a check.
template <class Traits>
result<> require_value(const typename Traits::type& value, const char* function,
                       source_location where) noexcept {
  if constexpr (requires { Traits::check(value, function, where); })
    return Traits::check(value, function, where);
  return {};
}

}  // namespace detail

/// The C++ type of an attribute's value.
template <stream_attribute Attribute>
using stream_attribute_t = typename detail::stream_attribute_value<Attribute>::type;

/// Returns an attribute of a stream in its own type:
///
///     const int urgency = GPU_TRY(gpu::attribute<gpu::stream_attribute::priority>(stream));
///
/// **Errors**: `errc::empty_handle`, the driver's. **Capture**: allowed. **Threads**: any.
/// (cuStreamGetAttribute)
template <stream_attribute Attribute>
result<stream_attribute_t<Attribute>> attribute(
    stream_ref of, source_location where = source_location::current()) noexcept {
  CUstreamAttrValue value{};
  GPU_TRY(detail::require(of, "gpu::attribute", where));
  GPU_TRY(detail::on_stream(of, where, [&] {
    return driver::call<&driver::entry_points::stream_get_attribute>(
        where, of.native(), static_cast<CUstreamAttrID>(Attribute), &value);
  }));
  return detail::stream_attribute_value<Attribute>::read(value);
}

/// Sets an attribute for work that is queued on the stream from now on.
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a value that no stream can have;
/// the driver's CUDA_ERROR_INVALID_VALUE, with value and limit, for more than the device allows.
/// **Capture**: allowed. **Threads**: any. (cuStreamSetAttribute)
template <stream_attribute Attribute>
result<> set_attribute(stream_ref of, const stream_attribute_t<Attribute>& value,
                       source_location where = source_location::current()) noexcept {
  using traits = detail::stream_attribute_value<Attribute>;
  GPU_TRY(detail::require(of, "gpu::set_attribute", where));
  GPU_TRY(detail::require_value<traits>(value, "gpu::set_attribute", where));
  CUstreamAttrValue native{};
  traits::write(native, value);
  result<> done = detail::on_stream(of, where, [&] {
    return driver::call<&driver::entry_points::stream_set_attribute>(
        where, of.native(), static_cast<CUstreamAttrID>(Attribute),
        static_cast<const CUstreamAttrValue*>(&native));
  });
  if (done.has_value()) return done;
  return detail::fail(detail::explain_excess(
      std::move(done).error(), static_cast<CUlaunchAttributeID>(Attribute), native, of.device()));
}

/// Copies the attributes of `from` to `to`, including the priority.
/// **Errors**: `errc::empty_handle`; `errc::wrong_context` if the two belong to different contexts.
/// **Capture**: allowed. **Threads**: any. (cuStreamCopyAttributes)
inline result<> copy_attributes(stream_ref from, stream_ref to,
                                source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(from, "gpu::copy_attributes", where));
  GPU_TRY(detail::require(to, "gpu::copy_attributes", where));
  if (from.context() != to.context()) {
    return detail::fail(detail::wrong_context_error("gpu::copy_attributes", "source stream",
                                                    from.device().native(), "destination stream",
                                                    to.device().native(), where));
  }
  return driver::in_context(to.context().native(), where, [&] {
    return driver::call<&driver::entry_points::stream_copy_attributes>(where, to.native(),
                                                                       from.native());
  });
}

}}  // namespace gpu::v1

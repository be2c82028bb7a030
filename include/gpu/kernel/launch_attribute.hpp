#pragma once
/// \file
/// `launch_attribute`: the attributes of a launch, each with the type of its value;
/// `launch_attributes`: a set of them for a `launch_config`.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/dims.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream_attribute.hpp>
#include <gpu/kernel/kernel_properties.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// An attribute of a launch; converts to `CUlaunchAttributeID` and back by cast. The cluster is
/// `launch_config::cluster`.
enum class launch_attribute : int {
  access_policy_window = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
  /// What `launch_config::cooperative` sets; as an attribute for nodes of graphs.
  cooperative = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
  cluster_scheduling = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
  /// The kernel may begin before the previous kernel of the stream has ended: as soon as all blocks
  /// of that kernel have called `cudaTriggerProgrammaticLaunchCompletion()`. It waits for the
  /// results with `cudaGridDependencySynchronize()` of `<cuda_device_runtime_api.h>`. For compute
  /// capability 9.0 and later.
  programmatic_stream_serialization = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
  /// As above, for work that waits for an event.
  programmatic_event = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
  priority = CU_LAUNCH_ATTRIBUTE_PRIORITY,  ///< lower is more urgent; the driver clamps it
  memory_sync_domain_map = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
  memory_sync_domain = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
  /// The cluster to use if it fits, instead of `launch_config::cluster`, of which it is a multiple.
  /// For compute capability 10.0 and later.
  preferred_cluster = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
  /// An event that is recorded when all blocks have begun.
  launch_completion_event = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
  /// Kernels can change the node, by its `device_node::native`, which gpu/graph/node_attribute.hpp
  /// reads. For nodes of graphs, and launches that are captured.
  device_updatable_node = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
  /// The percentage of the memory of L1 cache and shared memory that should be shared memory.
  shared_carveout = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
  /// Distributes the blocks to balance traffic over NVLink. For compute capability 9.0 and later.
  nvlink_util_centric_scheduling = CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
};

/// Returns the attribute's name, such as "cooperative", or null for a value that is not valid.
constexpr const char* name_of(launch_attribute attribute) noexcept {
  using enum launch_attribute;
  return detail::find_name(
      attribute, {{access_policy_window, "access_policy_window"},
                  {cooperative, "cooperative"},
                  {cluster_scheduling, "cluster_scheduling"},
                  {programmatic_stream_serialization, "programmatic_stream_serialization"},
                  {programmatic_event, "programmatic_event"},
                  {priority, "priority"},
                  {memory_sync_domain_map, "memory_sync_domain_map"},
                  {memory_sync_domain, "memory_sync_domain"},
                  {preferred_cluster, "preferred_cluster"},
                  {launch_completion_event, "launch_completion_event"},
                  {device_updatable_node, "device_updatable_node"},
                  {shared_carveout, "shared_carveout"},
                  {nvlink_util_centric_scheduling, "nvlink_util_centric_scheduling"}});
}

/// An event, made without timing, that is recorded when all blocks of the kernel have called
/// `cudaTriggerProgrammaticLaunchCompletion()`, or have begun.
struct programmatic_event {
  event_ref event;
  bool trigger_at_block_start = false;
};

/// A node that kernels can change: whether they can, and the handle for them, which the driver
/// writes.
struct device_node {
  bool updatable = false;
  CUgraphDeviceNode native = nullptr;
};

namespace detail {

inline result<> require_untimed(const event_ref& event, const char* function,
                                source_location where) noexcept {
  GPU_TRY(require(event, function, where));
  if (!event.has_timing()) return {};
  text_builder out;
  out << "the event of a launch attribute must not have timing; create it with "
         "event_options{.timing = false}.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

/// The type of an attribute, how it is written to the driver's union and (for nodes of graphs) read
/// from it, and the check of its value.
template <launch_attribute> struct launch_attribute_value;

template <>
struct launch_attribute_value<launch_attribute::access_policy_window>
    : stream_attribute_value<stream_attribute::access_policy_window> {};
template <>
struct launch_attribute_value<launch_attribute::priority>
    : stream_attribute_value<stream_attribute::priority> {};
template <>
struct launch_attribute_value<launch_attribute::memory_sync_domain_map>
    : stream_attribute_value<stream_attribute::memory_sync_domain_map> {};
template <>
struct launch_attribute_value<launch_attribute::memory_sync_domain>
    : stream_attribute_value<stream_attribute::memory_sync_domain> {};

/// A boolean that the driver stores as a number.
template <auto Member> struct boolean_attribute {
  using type = bool;
  static bool read(const CUlaunchAttributeValue& from) noexcept { return from.*Member != 0; }
  static void write(CUlaunchAttributeValue& to, bool value) noexcept { to.*Member = value ? 1 : 0; }
};
template <>
struct launch_attribute_value<launch_attribute::cooperative>
    : boolean_attribute<&CUlaunchAttributeValue::cooperative> {};
template <>
struct launch_attribute_value<launch_attribute::programmatic_stream_serialization>
    : boolean_attribute<&CUlaunchAttributeValue::programmaticStreamSerializationAllowed> {};
template <>
struct launch_attribute_value<launch_attribute::nvlink_util_centric_scheduling>
    : boolean_attribute<&CUlaunchAttributeValue::nvlinkUtilCentricScheduling> {};

template <> struct launch_attribute_value<launch_attribute::cluster_scheduling> {
  using type = cluster_scheduling;
  static type read(const CUlaunchAttributeValue& from) noexcept {
    return static_cast<type>(from.clusterSchedulingPolicyPreference);
  }
  static void write(CUlaunchAttributeValue& to, type value) noexcept {
    to.clusterSchedulingPolicyPreference = static_cast<CUclusterSchedulingPolicy>(value);
  }
  static result<> check(type value, const char* function, source_location where) noexcept {
    return require_enumerator<type>(value, "cluster_scheduling", function, where);
  }
};

template <> struct launch_attribute_value<launch_attribute::programmatic_event> {
  using type = programmatic_event;
  static void write(CUlaunchAttributeValue& to, const type& value) noexcept {
    to.programmaticEvent.event = value.event.native();
    to.programmaticEvent.triggerAtBlockStart = value.trigger_at_block_start ? 1 : 0;
  }
  static result<> check(const type& value, const char* function, source_location where) noexcept {
    return require_untimed(value.event, function, where);
  }
};

template <> struct launch_attribute_value<launch_attribute::launch_completion_event> {
  using type = event_ref;
  static void write(CUlaunchAttributeValue& to, const type& value) noexcept {
    to.launchCompletionEvent.event = value.native();
  }
  static result<> check(const type& value, const char* function, source_location where) noexcept {
    return require_untimed(value, function, where);
  }
};

template <> struct launch_attribute_value<launch_attribute::preferred_cluster> {
  using type = dims;
  static void write(CUlaunchAttributeValue& to, const type& value) noexcept {
    to.preferredClusterDim.x = value.x;
    to.preferredClusterDim.y = value.y;
    to.preferredClusterDim.z = value.z;
  }
  static result<> check(const type& value, const char* function, source_location where) noexcept {
    if (value.volume() != 0) return {};
    text_builder out;
    out << "a preferred cluster of {" << value.x << ", " << value.y << ", " << value.z
        << "} has no blocks; each extent must be at least 1.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, 0, 1));
  }
};

template <> struct launch_attribute_value<launch_attribute::device_updatable_node> {
  using type = device_node;
  static type read(const CUlaunchAttributeValue& from) noexcept {
    const auto& node = from.deviceUpdatableKernelNode;
    return {node.deviceUpdatable != 0, node.devNode};
  }
  static void write(CUlaunchAttributeValue& to, const type& value) noexcept {
    to.deviceUpdatableKernelNode.deviceUpdatable = value.updatable ? 1 : 0;
    to.deviceUpdatableKernelNode.devNode = value.native;
  }
};

template <> struct launch_attribute_value<launch_attribute::shared_carveout> {
  using type = int;
  static type read(const CUlaunchAttributeValue& from) noexcept {
    return static_cast<int>(from.sharedMemCarveout);
  }
  static void write(CUlaunchAttributeValue& to, type value) noexcept {
    to.sharedMemCarveout = static_cast<unsigned>(value);
  }
  static result<> check(type value, const char* function, source_location where) noexcept {
    if (value >= 0 && value <= 100) return {};
    text_builder out;
    out << value
        << " is not a valid shared memory carve-out; pass 0 to 100 percent of the memory that L1 "
           "cache and shared memory divide, or leave the attribute out for the driver's choice.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                        static_cast<std::uint64_t>(std::int64_t{value}), 100));
  }
};

constexpr std::size_t count_launch_attributes() noexcept {
  std::size_t count = 0;
  for (int value = 0; value < 64; ++value)
    count += name_of(static_cast<launch_attribute>(value)) != nullptr ? 1u : 0u;
  return count;
}

}  // namespace detail

/// The C++ type of an attribute's value.
template <launch_attribute Attribute>
using launch_attribute_t = typename detail::launch_attribute_value<Attribute>::type;

/// Attributes for a `launch_config`, each at most once:
///
///     gpu::launch_attributes urgent;
///     GPU_TRY(urgent.set<gpu::launch_attribute::priority>(-1));
///     GPU_TRY(gpu::launch(stream, {.grid = 132, .block = 256, .attributes = urgent}, kernel, x));
///
/// They have to live until the launch returns or the node is added, and events in them until the
/// kernel has run.
class launch_attributes {
 public:
  launch_attributes() noexcept = default;

  /// Sets an attribute, or replaces its value.
  /// **Errors**: `errc::empty_handle` for an empty event; `errc::invalid_argument` for a value that
  /// is not valid. **Capture**: not affected.
  template <launch_attribute Attribute>
  result<> set(const launch_attribute_t<Attribute>& value,
               source_location where = source_location::current()) noexcept {
    using traits = detail::launch_attribute_value<Attribute>;
    GPU_TRY(detail::require_value<traits>(value, "gpu::launch_attributes::set", where));
    CUlaunchAttribute& slot = slot_of(static_cast<CUlaunchAttributeID>(Attribute));
    slot.value = {};
    traits::write(slot.value, value);
    return {};
  }

  std::size_t size() const noexcept { return count_; }
  const CUlaunchAttribute* native() const noexcept { return natives_; }
  operator launch_attributes_ref() const& noexcept {
    return launch_attributes_ref::from_native(natives_, count_);
  }
  operator launch_attributes_ref() const&& = delete;  // a ref must not outlive its owner

 private:
  CUlaunchAttribute& slot_of(CUlaunchAttributeID id) noexcept {
    std::size_t i = 0;
    while (i < count_ && natives_[i].id != id) ++i;
    if (i == count_) ++count_;
    natives_[i].id = id;
    return natives_[i];
  }

  // Mutable, because the driver writes the handle of a device-updatable node.
  mutable CUlaunchAttribute natives_[detail::count_launch_attributes()] = {};
  std::size_t count_ = 0;
};

}}  // namespace gpu::v1

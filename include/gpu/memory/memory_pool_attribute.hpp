#pragma once
/// \file
/// `memory_pool_attribute`: the attributes of a pool, each with the C++ type of its value: how it
/// reuses and keeps memory, and how much it holds.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/memory/memory_pool.hpp>

#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The attributes of a pool; converts to `CUmemPool_attribute` by cast.
enum class memory_pool_attribute : int {
  /// Allows reuse of memory freed on another stream if an event orders it before the allocation.
  reuse_follow_event_dependencies = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
  /// Allows reuse of memory freed on another stream if the work on it has already finished.
  reuse_allow_opportunistic = CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
  /// Allows the driver to make a stream wait for another one in order to reuse its memory.
  reuse_allow_internal_dependencies = CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
  /// The bytes that the pool keeps when streams are synchronized; 0 by default.
  release_threshold = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
  reserved_mem_current = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,  ///< bytes got from the device
  reserved_mem_high = CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,  ///< the maximum since the last reset
  used_mem_current = CU_MEMPOOL_ATTR_USED_MEM_CURRENT,    ///< bytes in allocations
  used_mem_high = CU_MEMPOOL_ATTR_USED_MEM_HIGH,          ///< the maximum since the last reset
};

/// The enumerator, such as "release_threshold"; null for a value that this library does not know.
constexpr const char* name_of(memory_pool_attribute attribute) noexcept {
  using enum memory_pool_attribute;
  return detail::find_name(
      attribute, {{reuse_follow_event_dependencies, "reuse_follow_event_dependencies"},
                  {reuse_allow_opportunistic, "reuse_allow_opportunistic"},
                  {reuse_allow_internal_dependencies, "reuse_allow_internal_dependencies"},
                  {release_threshold, "release_threshold"},
                  {reserved_mem_current, "reserved_mem_current"},
                  {reserved_mem_high, "reserved_mem_high"},
                  {used_mem_current, "used_mem_current"},
                  {used_mem_high, "used_mem_high"}});
}

namespace detail {

constexpr bool is_reuse_flag(memory_pool_attribute attribute) noexcept {
  return attribute == memory_pool_attribute::reuse_follow_event_dependencies ||
         attribute == memory_pool_attribute::reuse_allow_opportunistic ||
         attribute == memory_pool_attribute::reuse_allow_internal_dependencies;
}
constexpr bool is_high_watermark(memory_pool_attribute attribute) noexcept {
  return attribute == memory_pool_attribute::reserved_mem_high ||
         attribute == memory_pool_attribute::used_mem_high;
}

/// Returns `errc::invalid_argument` unless `value` is 0: a high watermark can only be reset.
inline result<> require_reset(std::uint64_t value, const char* name,
                              source_location where) noexcept {
  if (value == 0) return {};
  text_builder out;
  out << name << " can only be reset, not set to " << value << ". Set it to 0.";
  return fail(refusal(errc::invalid_argument, "gpu::set_attribute", out.finish(), where, value));
}

}  // namespace detail

/// The C++ type of an attribute's value: `bool` for permissions, else a number of bytes.
template <memory_pool_attribute Attribute>
using memory_pool_attribute_t =
    std::conditional_t<detail::is_reuse_flag(Attribute), bool, std::uint64_t>;

/// Returns an attribute of a pool, in its own type:
///
///     gpu::attribute<gpu::memory_pool_attribute::used_mem_current>(pool)
///
/// **Errors**: `errc::empty_handle`; the driver's CUDA_ERROR_INVALID_VALUE for an imported pool.
/// **Capture**: not allowed. **Threads**: any. (cuMemPoolGetAttribute)
template <memory_pool_attribute Attribute>
result<memory_pool_attribute_t<Attribute>> attribute(
    memory_pool_ref of, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(of, "gpu::attribute", where));
  std::uint64_t value = 0;  // the flags are an int, and the machine is little-endian
  GPU_TRY(driver::call<&driver::entry_points::mem_pool_get_attribute>(
      where, of.native(), static_cast<CUmemPool_attribute>(Attribute), &value));
  return static_cast<memory_pool_attribute_t<Attribute>>(value);
}

/// Sets an attribute of a pool. The current sizes cannot be set, which does not compile; the high
/// watermarks can be reset to 0.
/// **Errors**: as for `attribute`; `errc::invalid_argument` for a watermark other than 0.
/// **Capture**: not allowed. **Threads**: any. (cuMemPoolSetAttribute)
template <memory_pool_attribute Attribute>
result<> set_attribute(memory_pool_ref of, memory_pool_attribute_t<Attribute> value,
                       source_location where = source_location::current()) noexcept {
  static_assert(Attribute != memory_pool_attribute::reserved_mem_current &&
                    Attribute != memory_pool_attribute::used_mem_current,
                "the current size of a pool cannot be set: it follows from its allocations");
  GPU_TRY(detail::require(of, "gpu::set_attribute", where));
  if constexpr (detail::is_high_watermark(Attribute))
    GPU_TRY(detail::require_reset(value, name_of(Attribute), where));
  if constexpr (detail::is_reuse_flag(Attribute)) {
    int flag = value ? 1 : 0;
    return driver::call<&driver::entry_points::mem_pool_set_attribute>(
        where, of.native(), static_cast<CUmemPool_attribute>(Attribute), &flag);
  } else {
    return driver::call<&driver::entry_points::mem_pool_set_attribute>(
        where, of.native(), static_cast<CUmemPool_attribute>(Attribute), &value);
  }
}

}}  // namespace gpu::v1

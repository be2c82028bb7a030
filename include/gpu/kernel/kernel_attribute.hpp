#pragma once
/// \file
/// `kernel_attribute`: the attributes of a kernel on a device, each with the type of its value.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/kernel/kernel.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 {

/// An attribute of a kernel; converts to `CUfunction_attribute` and back by cast.
/// `kernel_properties` explains the values.
enum class kernel_attribute : int {
#define GPU_KERNEL_ATTRIBUTE(name, native, ...) name = CU_FUNC_ATTRIBUTE_##native,
#include <gpu/kernel/detail/kernel_attribute.inc>
};

/// Returns the attribute's name, such as "registers", or null for a value that is not valid.
constexpr const char* name_of(kernel_attribute attribute) noexcept {
  switch (attribute) {
#define GPU_KERNEL_ATTRIBUTE(name, ...) \
  case kernel_attribute::name: return #name;
#include <gpu/kernel/detail/kernel_attribute.inc>
  }
  return nullptr;
}

namespace detail {

template <kernel_attribute> struct kernel_attribute_value;
#define GPU_KERNEL_ATTRIBUTE(name, native, value_type, can_be_set)    \
  template <> struct kernel_attribute_value<kernel_attribute::name> { \
    using type = value_type;                                          \
    static constexpr bool settable = can_be_set;                      \
  };
#include <gpu/kernel/detail/kernel_attribute.inc>

inline result<> require_carveout(int percent, source_location where) noexcept {
  if (percent >= -1 && percent <= 100) return {};
  text_builder out;
  out << percent
      << " is not a valid shared memory carve-out; pass 0 to 100 percent of the memory that L1 "
         "cache "
         "and shared memory divide, or -1 for the driver's choice.";
  return fail(refusal(errc::invalid_argument, "gpu::set_attribute", out.finish(), where,
                      static_cast<std::uint64_t>(std::int64_t{percent}), 100));
}

}  // namespace detail

/// The C++ type of an attribute's value.
template <kernel_attribute Attribute>
using kernel_attribute_t = typename detail::kernel_attribute_value<Attribute>::type;

/// Returns one attribute of a kernel on a device, in its own type:
///
///     const auto used = GPU_TRY(gpu::attribute<gpu::kernel_attribute::registers>(kernel, device));
///
/// **Errors**: `errc::empty_handle`; the driver's. **Capture**: not affected. **Threads**: any.
/// (cuKernelGetAttribute)
template <kernel_attribute Attribute>
result<kernel_attribute_t<Attribute>> attribute(
    const kernel_handle& kernel, device on,
    source_location where = source_location::current()) noexcept {
  using type = kernel_attribute_t<Attribute>;
  int value = 0;
  if (!kernel) return detail::fail(detail::empty_handle_error("gpu::attribute", "kernel", where));
  GPU_TRY(driver::call_in_any<&driver::entry_points::kernel_get_attribute>(
      where, &value, static_cast<CUfunction_attribute>(Attribute), kernel.native(), on.native()));
  if constexpr (__is_same(type, compute_capability)) {
    return type{value / 10, value % 10};
  } else {
    return static_cast<type>(value);
  }
}

/// Sets one attribute of a kernel for a device:
///
///     GPU_TRY(gpu::set_attribute<gpu::kernel_attribute::shared_carveout>(kernel, 50, device));
///
/// Not every attribute can be set. More than 48 KiB of dynamic shared memory needs no call:
/// `launch` opts in to it.
/// **Errors**: `errc::invalid_argument` for a carve-out outside -1 to 100, and for a value that is
/// not an enumerator of `cluster_scheduling`; `errc::empty_handle`; the driver's, such as
/// CUDA_ERROR_NOT_PERMITTED for a cluster that the kernel itself declares. **Capture**: not
/// affected. **Threads**: any. (cuKernelSetAttribute)
template <kernel_attribute Attribute>
result<> set_attribute(const kernel_handle& kernel, kernel_attribute_t<Attribute> value, device on,
                       source_location where = source_location::current()) noexcept {
  static_assert(detail::kernel_attribute_value<Attribute>::settable,
                "gpu::set_attribute: this attribute of a kernel can be read, but not set");
  if (!kernel)
    return detail::fail(detail::empty_handle_error("gpu::set_attribute", "kernel", where));
  if constexpr (Attribute == kernel_attribute::cluster_scheduling) {
    GPU_TRY(detail::require_enumerator(value, "cluster_scheduling", "gpu::set_attribute", where));
  }
  if constexpr (Attribute == kernel_attribute::shared_carveout) {
    GPU_TRY(detail::require_carveout(value, where));
  }
  return driver::call_in_any<&driver::entry_points::kernel_set_attribute>(
      where, static_cast<CUfunction_attribute>(Attribute), static_cast<int>(value), kernel.native(),
      on.native());
}

}}  // namespace gpu::v1

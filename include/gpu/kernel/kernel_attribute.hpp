#pragma once
/// \file
/// `kernel_attribute`: what can be asked and set about a kernel on a device, each with the type of
/// its value.

#include <gpu/kernel/kernel.hpp>

namespace gpu::inline v0 {

/// An attribute of a kernel; converts to `CUfunction_attribute` and back by cast.
/// `kernel_attributes` says what each value means.
enum class kernel_attribute : int {
#define GPU_KERNEL_ATTRIBUTE(name, native, ...) name = CU_FUNC_ATTRIBUTE_##native,
#include <gpu/kernel/detail/kernel_attribute.inc>
};

/// The attribute's name, such as "registers"; null for a value that is none.
constexpr const char* name_of(kernel_attribute attribute) noexcept {
  switch (attribute) {
#define GPU_KERNEL_ATTRIBUTE(name, ...) \
  case kernel_attribute::name:          \
    return #name;
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

[[gnu::cold, gnu::noinline]] inline cuda_error carveout_error(int percent,
                                                              source_location where) noexcept {
  text_builder out;
  out << "a carve-out of " << percent
      << " is not from 0 to 100 percent of the memory that L1 and shared memory divide, nor -1 for "
         "the driver's choice. Choose one of these.";
  return refusal(errc::invalid_argument, "gpu::set_attribute", out.finish(), where,
                 static_cast<std::uint64_t>(std::int64_t{percent}), 100);
}

}  // namespace detail

/// The C++ type of an attribute's value.
template <kernel_attribute Attribute>
using kernel_attribute_t = typename detail::kernel_attribute_value<Attribute>::type;

/// One attribute of a kernel on a device, in its own type:
///
///     const auto used = GPU_TRY(gpu::attribute<gpu::kernel_attribute::registers>(kernel, device));
///
/// **Errors**: `errc::empty_handle`, the driver's. **Capture**: not affected, and goes on.
/// **Threads**: any. (cuKernelGetAttribute)
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
/// The others can only be asked for. More than 48 KiB of dynamic shared memory needs no call:
/// `launch` sees to it.
/// **Errors**: `errc::invalid_argument` for a carve-out outside -1 to 100 and for a value that is
/// no `cluster_scheduling`; `errc::empty_handle`; the driver's, such as CUDA_ERROR_NOT_PERMITTED
/// for a cluster that the kernel itself states. **Capture**: not affected, and goes on.
/// **Threads**: any. (cuKernelSetAttribute)
template <kernel_attribute Attribute>
result<> set_attribute(const kernel_handle& kernel, kernel_attribute_t<Attribute> value, device on,
                       source_location where = source_location::current()) noexcept {
  static_assert(detail::kernel_attribute_value<Attribute>::settable,
                "gpu::set_attribute: this attribute of a kernel can be asked for, not set");
  if (!kernel)
    return detail::fail(detail::empty_handle_error("gpu::set_attribute", "kernel", where));
  if constexpr (Attribute == kernel_attribute::cluster_scheduling) {
    GPU_TRY(detail::require_enumerator(value, "cluster_scheduling", "gpu::set_attribute", where));
  }
  if constexpr (Attribute == kernel_attribute::shared_carveout) {
    if (value < -1 || value > 100) return detail::fail(detail::carveout_error(value, where));
  }
  return driver::call_in_any<&driver::entry_points::kernel_set_attribute>(
      where, static_cast<CUfunction_attribute>(Attribute), static_cast<int>(value), kernel.native(),
      on.native());
}

}  // namespace gpu::inline v0

#pragma once
/// \file
/// The errors of a launch that the driver rejected.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/device_refusals.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/system/environment.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Fails if cuLaunchKernel (or, if `extended`, cuLaunchKernelEx) is missing: the driver is not
/// installed, this is a forked child, or the driver is too old. The error says which.
inline result<> require_launch_function(bool extended, source_location where) noexcept {
  const driver::entry_points& table = driver::current_entry_points();
  if (extended) {
    if (table.launch_kernel_ex != nullptr) return {};
    return driver::call<&driver::entry_points::launch_kernel_ex>(where, nullptr, nullptr, nullptr,
                                                                 nullptr);
  }
  if (table.launch_kernel != nullptr) return {};
  return driver::call<&driver::entry_points::launch_kernel>(where, nullptr, 0, 0, 0, 0, 0, 0, 0,
                                                            nullptr, nullptr, nullptr);
}

/// Returns whether every launch waits for its kernel, so that a fault is the launch's own.
inline bool launches_are_blocking() noexcept {
  const char* const value = environment_variable("CUDA_LAUNCH_BLOCKING");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

/// Turns the driver's `code` for a launch into an error, and removes the launch's record.
/// `extended` is what cuLaunchKernelEx was given, or null for cuLaunchKernel.
inline result<> explain_launch_failure(CUresult code, std::uint64_t ticket,
                                       const launch_label& label, CUstream stream,
                                       source_location where,
                                       const CUlaunchConfig* extended = nullptr) noexcept {
  forget_launch(launches(), ticket);
  GPU_TRY(require_launch_function(extended != nullptr, where));
  const std::size_t call = extended != nullptr
                               ? driver::entry_point_index(&driver::entry_points::launch_kernel_ex)
                               : driver::entry_point_index(&driver::entry_points::launch_kernel);
  if (is_kernel_fault(code) && launches_are_blocking()) {
    text_builder out;
    out << "The fault comes from kernel " << label.kernel << ", which this launch ran to its end.";
    const cuda_error error(error_domain::driver, code, driver::entry_point_list[call].name, where);
    return fail(record_error(cuda_error(error).with_details(out.finish())));
  }
  cuda_error error = driver::error_of(code, call, where, recorded_stream(stream));
  const unsigned count = extended != nullptr ? extended->numAttrs : 0;
  for (unsigned i = 0; i < count; ++i) {
    const CUlaunchAttribute& each = extended->attrs[i];
    error =
        explain_excess(std::move(error), each.id, each.value, device::from_native(label.device));
  }
  return fail(std::move(error));
}

}}}  // namespace gpu::v1::detail

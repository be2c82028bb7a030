#pragma once
/// \file
/// What a launch says that the driver refused.

#include <gpu/driver/attribute_limits.hpp>

namespace gpu::inline v0::detail {

/// Without a driver, in a forked child, or where an old driver lacks cuLaunchKernelEx, says why
/// there is no launch.
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

/// Turns what the driver said to a launch into an error, and takes the record of it back. With
/// CUDA_LAUNCH_BLOCKING=1 a fault comes from this very launch; else from one before it. What has to
/// be known is read from the record, so that the launch path need not keep it: even the name of the
/// file, which is lost where 256 other launches were made since. `extended` is what
/// cuLaunchKernelEx was given, where it made the launch.
[[gnu::cold, gnu::noinline]] inline result<> launch_failed(
    int code, std::uint64_t ticket, std::uint32_t line,
    const CUlaunchConfig* extended = nullptr) noexcept {
  launch_ring& ring = launches();
  const launch_record& record = ring.records[ticket % launch_ring::size];
  const launch_label* label = __atomic_load_n(&record.label, __ATOMIC_RELAXED);
  const char* file = __atomic_load_n(&record.file, __ATOMIC_RELAXED);
  CUstream stream = __atomic_load_n(&record.stream, __ATOMIC_RELAXED);
  // Whether the record is still that of this launch, after so many others.
  if (!forget_launch(ring, ticket)) {
    label = nullptr;
    file = "";
    stream = nullptr;
  }
  const auto where = source_location::current(file, static_cast<int>(line));
  GPU_TRY(require_launch_function(extended != nullptr, where));
  const std::size_t call = extended != nullptr
                               ? driver::entry_point_index(&driver::entry_points::launch_kernel_ex)
                               : driver::entry_point_index(&driver::entry_points::launch_kernel);
  const char* blocking = environment_variable("CUDA_LAUNCH_BLOCKING");
  if (label == nullptr || !is_kernel_fault(code) || blocking == nullptr ||
      __builtin_strcmp(blocking, "1") != 0) {
    cuda_error error = driver::error_of(static_cast<CUresult>(code), call, where, stream);
    const unsigned count = extended == nullptr || label == nullptr ? 0 : extended->numAttrs;
    for (unsigned i = 0; i < count; ++i) {
      const CUlaunchAttribute& each = extended->attrs[i];
      error =
          with_excess(detail::move(error), each.id, each.value, device::from_native(label->device));
    }
    return fail(detail::move(error));
  }
  text_builder out;
  out << "The fault comes from kernel " << label->kernel << ", which this launch ran to its end.";
  return fail(
      noted_error(cuda_error(error_domain::driver, code, driver::entry_point_list[call].name, where)
                      .with_details(out.finish())));
}

}  // namespace gpu::inline v0::detail

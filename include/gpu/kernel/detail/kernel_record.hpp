#pragma once
/// \file
/// What a module remembers of one of its kernels: its parameters, and what each device allows it.

#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/kernel/detail/signature.hpp>

namespace gpu::inline v0::detail {

/// Shared by all handles of a kernel; lives as long as its code.
struct kernel_record {
  /// By `limits_place`. First, since the launch path looks here.
  const kernel_limits* limits[most_limits_places];
  CUkernel native = nullptr;
  process_state* process = nullptr;
  /// The argument list that was last found to fit, for launches without types.
  const void* fitting_arguments = nullptr;

  text name;
  parameter_place* parameters = nullptr;
  std::size_t parameter_count = 0;
  bool parameters_known = false;  ///< drivers before CUDA 12.4 cannot tell
  kernel_record* next = nullptr;
  live_kernel live{};  ///< without code where no module has it

  constexpr kernel_record() noexcept {
    for (const kernel_limits*& of_device : limits) of_device = &no_limits;
  }
  kernel_record(const kernel_record&) = delete;
  kernel_record& operator=(const kernel_record&) = delete;
  ~kernel_record() { delete[] parameters; }
};

/// What empty handles point at: a kernel that no device allows anything, which the launch path
/// finds out by a comparison that it makes anyway.
inline constinit kernel_record no_kernel{};

/// Asks the driver for the parameters of a kernel, once, when it is looked up. To be called where a
/// context is current.
inline result<> read_parameters(kernel_record& kernel, source_location where) noexcept {
  const auto function = driver::current_entry_points().kernel_get_param_info;
  if (function == nullptr) return {};
  std::size_t capacity = 0;
  for (;; ++kernel.parameter_count) {
    parameter_place place;
    const CUresult code =
        function(kernel.native, kernel.parameter_count, &place.offset, &place.size);
    if (code == CUDA_ERROR_INVALID_VALUE) break;  // past the last
    if (code != CUDA_SUCCESS) {
      constexpr auto member = &driver::entry_points::kernel_get_param_info;
      return fail(driver::error_of(code, driver::entry_point_index(member), where));
    }
    if (kernel.parameter_count == capacity) {
      capacity = capacity * 2 + 8;
      auto* grown = new (std::nothrow) parameter_place[capacity];
      if (grown == nullptr) {
        return fail(out_of_host_memory_error("gpu::module::kernel",
                                             capacity * sizeof(parameter_place), where));
      }
      for (std::size_t i = 0; i < kernel.parameter_count; ++i) grown[i] = kernel.parameters[i];
      delete[] kernel.parameters;
      kernel.parameters = grown;
    }
    kernel.parameters[kernel.parameter_count] = place;
  }
  kernel.parameters_known = true;
  return {};
}

struct delete_kernel_record {
  void operator()(kernel_record* unwanted) const noexcept { delete unwanted; }
};
using owned_kernel_record = unique_handle<kernel_record*, delete_kernel_record>;

/// The record of a kernel of the driver's. What the launch has to know is read once, from the
/// driver.
inline result<owned_kernel_record> read_kernel(CUkernel native, const text& name,
                                               source_location where) noexcept {
  owned_kernel_record owner(new (std::nothrow) kernel_record);
  kernel_record* const made = owner.get();
  if (made == nullptr) {
    return fail(out_of_host_memory_error("gpu::module::kernel", sizeof(kernel_record), where));
  }
  made->native = native;
  made->process = &state_of_process();
  made->name = name;
  // Unlike the kernel itself, its parameters are known to no thread that has no context.
  GPU_TRY(driver::in_any_context(where, [&] { return read_parameters(*made, where); }));
  return owner;
}

/// Records of kernels: a list that only grows, read and added to by any number of threads at once.
/// Whoever has it deletes them.
struct kernel_list {
  kernel_record* first = nullptr;

  /// The first record of which `is_it(record)` says so, or null.
  template <class Predicate> kernel_record* find(Predicate is_it) const noexcept {
    kernel_record* record = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
    while (record != nullptr && !is_it(*record)) record = record->next;
    return record;
  }

  /// Adds a record. Where two threads add one kernel at once, it has two records, which is
  /// harmless.
  void add(kernel_record* record) noexcept {
    record->next = __atomic_load_n(&first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&first, &record->next, record, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
};

}  // namespace gpu::inline v0::detail

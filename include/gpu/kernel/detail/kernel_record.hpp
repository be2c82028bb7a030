#pragma once
/// \file
/// The record of a kernel: its parameters, and its limits on each device.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/parameter_type.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/kernel/detail/signature.hpp>

#include <cstddef>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// The record that all handles of a kernel share; lives as long as the kernel's code.
struct kernel_record {
  /// Limits per device; slot 0 rejects everything and forces the checked path.
  const kernel_limits* limits[device_slot_count];
  CUkernel native = nullptr;
  process_state* process = nullptr;
  /// The list of argument types that was last found to fit an `untyped_kernel`.
  const void* fitting_arguments = nullptr;

  text name;   ///< in the module
  text label;  ///< in messages: as the source has it
  module_parameter* parameters = nullptr;
  std::size_t parameter_count = 0;
  bool parameters_known = false;   ///< not by drivers before CUDA 12.4
  bool synchronizes_grid = false;  ///< as far as the module's PTX shows
  kernel_record* next = nullptr;
  live_kernel live{};  ///< without code if no module owns the kernel

  constexpr kernel_record() noexcept {
    for (const kernel_limits*& of_device : limits) of_device = &no_limits;
  }
  kernel_record(const kernel_record&) = delete;
  kernel_record& operator=(const kernel_record&) = delete;
  ~kernel_record() { delete[] parameters; }
};

/// The record of empty handles. Its limits reject every launch, so that the fast path need not
/// check for an empty handle.
inline constinit kernel_record no_kernel{};

/// Returns the limits of a kernel on the stream's device, or `no_limits` if they are not known yet.
[[gnu::always_inline]] inline const kernel_limits& limits_of(const kernel_record* kernel,
                                                             const stream_ref& stream) noexcept {
  const std::size_t slot = stream_access::device_slot(stream);
  return *atomic_load<memory_order::acquire>(kernel->limits[slot]);
}

/// Reads the parameters of a kernel from the driver. The caller has made a context current.
inline result<> read_parameters(kernel_record& kernel, source_location where) noexcept {
  const auto function = driver::current_entry_points().kernel_get_param_info;
  if (function == nullptr) return {};
  std::size_t capacity = 0;
  for (;; ++kernel.parameter_count) {
    module_parameter place;
    const CUresult code =
        function(kernel.native, kernel.parameter_count, &place.offset, &place.size);
    if (code == CUDA_ERROR_INVALID_VALUE) break;  // past the last
    if (code != CUDA_SUCCESS) {
      constexpr auto member = &driver::entry_points::kernel_get_param_info;
      return fail(driver::error_of(code, driver::entry_point_index(member), where));
    }
    if (kernel.parameter_count == capacity) {
      capacity = capacity * 2 + 8;
      auto* grown = new (std::nothrow) module_parameter[capacity];
      if (grown == nullptr) {
        return fail(out_of_host_memory_error("gpu::module::kernel",
                                             capacity * sizeof(module_parameter), where));
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

/// Reads the kernel's name in the source and the types of its parameters from its name in the
/// module.
inline result<> read_declaration(kernel_record& kernel, source_location where) noexcept {
  const declared_name declared = split_symbol(kernel.name.c_str());
  text_builder label;
  declared.write_short(label);
  kernel.label = label.finish();
  if (declared.lost() || kernel.label.lost()) {
    return fail(out_of_host_memory_error("gpu::module::kernel", kernel.name.size(), where));
  }
  declared_types types(declared);
  for (std::size_t i = 0; i < kernel.parameter_count; ++i) {
    kernel.parameters[i].type = parameter_type_named(types.next());
  }
  return {};
}

/// Compares the parameters of a kernel with those that the caller stated or passed. `asked` is the
/// caller's name of the kernel.
inline result<> check_parameters(const kernel_record& kernel, const signature_words& words,
                                 string_ref asked, const stated_parameter* list, std::size_t count,
                                 source_location where) noexcept {
  if (!kernel.parameters_known ||
      all_fit(list, count, kernel.parameters, kernel.parameter_count, words.with_offsets)) {
    return {};
  }
  return fail(signature_error(words, asked, kernel.name, list, count, kernel.parameters,
                              kernel.parameter_count, where));
}

struct delete_kernel_record {
  void operator()(kernel_record* unwanted) const noexcept { delete unwanted; }
};
using owned_kernel_record = unique_handle<kernel_record*, delete_kernel_record>;

/// Creates the record of a kernel, with all that a launch needs to know of it.
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
  // Unlike the look-up of the kernel, reading its parameters needs a context.
  GPU_TRY(driver::in_any_context(where, [&] { return read_parameters(*made, where); }));
  GPU_TRY(read_declaration(*made, where));
  return owner;
}

/// A list of kernel records that only grows. Any number of threads may read it and add to it at
/// once. The list's owner deletes the records.
struct kernel_list {
  kernel_record* first = nullptr;

  /// Returns the first record for which `is_it(record)` is true, or null.
  template <class Predicate> kernel_record* find(Predicate is_it) const noexcept {
    kernel_record* record = atomic_load<memory_order::acquire>(first);
    while (record != nullptr && !is_it(*record)) record = record->next;
    return record;
  }

  /// Adds a record. If two threads add the same kernel at once, it has two records, which is
  /// harmless.
  void add(kernel_record* record) noexcept {
    record->next = atomic_load<memory_order::relaxed>(first);
    while (!atomic_compare_exchange_weak<memory_order::release, memory_order::relaxed>(
        first, record->next, record)) {
    }
  }
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// What a module remembers of one of its kernels: its parameters, and what each device allows it.

#include <gpu/core/dims.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/any_context.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/refusals.hpp>
#include <gpu/kernel/signature.hpp>

#include <new>

namespace gpu::detail {

/// What one device allows a kernel. Only `dynamic_shared` changes later, to be raised.
struct kernel_limits {
  std::uint32_t threads;         ///< of a block, for the launch path; 0 sends all the slow way
  std::uint32_t dynamic_shared;  ///< what may be asked for as things stand, in bytes
  const launch_label* label;
  std::uint32_t kernel_threads;  ///< of a block, as the kernel's registers allow
  std::uint32_t static_shared;   ///< declared in the kernel, in bytes
  std::uint32_t device_threads;  ///< of a block
  std::uint32_t usual_shared;    ///< of a block, without asking for more
  std::uint32_t opt_in_shared;   ///< of a block, for a kernel that asked
  dims block;                    ///< largest extents
  dims grid;
};

/// What stands for the limits of a device where the kernel was not launched yet: nothing is
/// allowed.
inline constinit kernel_limits no_limits{};

inline constinit const driver::entry_points* const no_table = &driver::detail::null_entry_points;

/// Shared by all handles of a kernel; lives as long as the module.
struct kernel_record {
  CUkernel native = nullptr;
  /// Where the process has its driver table, which was loaded before there could be a kernel.
  const driver::entry_points* const* table = &no_table;
  launch_ring* ring = nullptr;
  /// By the device's index. More devices than that are asked for their limits at every launch.
  static constexpr std::uint32_t most_devices = 32;
  kernel_limits* limits[most_devices];
  /// The argument list that was last found to fit, for launches without types.
  const void* fitting_arguments = nullptr;

  text name;
  parameter_place* parameters = nullptr;
  std::size_t parameter_count = 0;
  bool parameters_known = false;  ///< drivers before CUDA 12.4 cannot tell
  kernel_record* next = nullptr;

  constexpr kernel_record() noexcept {
    for (kernel_limits*& of_device : limits) of_device = &no_limits;
  }
  kernel_record(const kernel_record&) = delete;
  kernel_record& operator=(const kernel_record&) = delete;
  ~kernel_record() {
    for (kernel_limits* of_device : limits) {
      if (of_device != &no_limits) std::free(of_device);
    }
    std::free(parameters);
  }
};

/// What empty handles point at: a kernel that no device allows anything, which the launch path
/// finds out by a comparison that it makes anyway.
inline constinit kernel_record no_kernel{};

/// Held while limits are filled or raised and while labels are made; never on the launch path.
/// Doubled where several shared libraries have their own: each then guards its own modules.
inline mutex& kernel_lock() noexcept {
  static mutex lock{};
  return lock;
}

/// The label of all kernels called `name` on a device, which lives until the process ends: launch
/// records point at it when the module is gone. Null where memory runs out. To be called locked.
inline const launch_label* label_of(const text& name, CUdevice device) noexcept {
  struct node {
    launch_label label;
    text name;
    node* next;
  };
  static node* first = nullptr;
  for (node* n = first; n != nullptr; n = n->next) {
    if (n->label.device == device && n->name == name) return &n->label;
  }
  void* memory = std::malloc(sizeof(node));
  if (memory == nullptr) return nullptr;
  first = ::new (memory) node{{name.c_str(), device}, name, first};
  return &first->label;
}

template <class Builder = text_builder>
inline cuda_error out_of_host_memory_error(const char* function, std::size_t bytes,
                                           source_location where) noexcept {
  Builder out;
  out << "the host had no " << bytes << " bytes left for bookkeeping. Free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, bytes);
}

/// Asks the driver for the parameters of a kernel, once, when it is looked up. To be called where a
/// context is current.
template <class Builder = text_builder>
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
      void* grown = std::realloc(kernel.parameters, capacity * sizeof(parameter_place));
      if (grown == nullptr) {
        return fail(out_of_host_memory_error("gpu::module::kernel",
                                             capacity * sizeof(parameter_place), where));
      }
      kernel.parameters = static_cast<parameter_place*>(grown);
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
template <class Record = owned_kernel_record>
inline result<Record> read_kernel(CUkernel native, const text& name,
                                  source_location where) noexcept {
  Record owner(new (std::nothrow) kernel_record);
  kernel_record* const made = owner.get();
  if (made == nullptr) {
    return fail(out_of_host_memory_error("gpu::module::kernel", sizeof(kernel_record), where));
  }
  made->native = native;
  made->table = &state_of_process().table;
  made->ring = &launches();
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

/// Fills what one device allows the kernel. To be called locked.
template <class Builder = text_builder>
inline result<> read_limits(kernel_record& kernel, kernel_limits& limits, CUdevice device,
                            source_location where) noexcept {
  struct device_attribute {
    CUdevice_attribute which;
    std::uint32_t* value;
  };
  const device_attribute of_device[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits.device_threads},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &limits.block.x},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &limits.block.y},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &limits.block.z},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &limits.grid.x},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &limits.grid.y},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &limits.grid.z},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &limits.usual_shared},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &limits.opt_in_shared}};
  struct kernel_attribute {
    CUfunction_attribute which;
    std::uint32_t* value;
  };
  std::uint32_t raised = 0;
  const kernel_attribute of_kernel[] = {
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits.kernel_threads},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &limits.static_shared},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &raised}};
  int value = 0;
  for (const device_attribute& attribute : of_device) {
    GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(where, &value,
                                                                      attribute.which, device));
    *attribute.value = static_cast<std::uint32_t>(value);
  }
  for (const kernel_attribute& attribute : of_kernel) {
    GPU_TRY(driver::call<&driver::entry_points::kernel_get_attribute>(
        where, &value, attribute.which, kernel.native, device));
    *attribute.value = static_cast<std::uint32_t>(value);
  }
  const launch_label* label = label_of(kernel.name, device);
  if (label == nullptr) {
    return fail(out_of_host_memory_error("gpu::launch", sizeof(launch_label), where));
  }
  const std::uint32_t available =
      limits.usual_shared > limits.static_shared ? limits.usual_shared - limits.static_shared : 0;
  limits.dynamic_shared = raised > available ? raised : available;
  limits.label = label;
  // The launch path knows these by heart. A device that had others would take the careful path.
  const bool as_always =
      limits.block == dims{1024, 1024, 64} && limits.grid == dims{0x7fff'ffff, 0xffff, 0xffff};
  limits.threads = as_always ? limits.kernel_threads : 0;
  return {};
}

}  // namespace gpu::detail

#pragma once
/// \file
/// What a module owns: the driver's library, the records of its kernels, and the names by which
/// instances of templates can be asked for.

#include <gpu/kernel/image.hpp>
#include <gpu/kernel/kernel_record.hpp>

#include <new>

namespace gpu::detail {

/// A name as the source has it, such as `axpy<float>`, and as the module has it.
struct module_name {
  text written;
  text lowered;
  module_name* next = nullptr;
};

struct module_state {
  CUlibrary library = nullptr;
  kernel_record* kernels = nullptr;  ///< a list that only grows
  module_name* names = nullptr;      ///< complete before the module is handed out

  module_state() noexcept = default;
  module_state(const module_state&) = delete;
  module_state& operator=(const module_state&) = delete;
  ~module_state() {
    while (kernels != nullptr) delete exchange(kernels, kernels->next);
    while (names != nullptr) delete exchange(names, names->next);
  }

  /// The name that the driver knows for `written`.
  text lowered(string_ref written) const noexcept {
    for (const module_name* n = names; n != nullptr; n = n->next) {
      if (string_ref(n->written) == written) return n->lowered;
    }
    return written.to_text();
  }

  kernel_record* find(const text& name) const noexcept {
    kernel_record* record = __atomic_load_n(&kernels, __ATOMIC_ACQUIRE);
    while (record != nullptr && !(record->name == name)) record = record->next;
    return record;
  }

  /// Adds a record. Where two threads add one kernel at once, it has two records, which is
  /// harmless.
  void add(kernel_record* record) noexcept {
    record->next = __atomic_load_n(&kernels, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&kernels, &record->next, record, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
};

struct unload_module {
  void operator()(module_state* state) const noexcept {
    if (state->library != nullptr) {
      driver::destroy<&driver::entry_points::library_unload>(state->library);
    }
    delete state;
  }
};

using owned_module_state = unique_handle<module_state*, unload_module>;

/// Loads an image, with the log of the driver's compiler in the error where it does not.
inline result<CUlibrary> load_library(bytes_ref image, source_location where) noexcept {
  const image_kind kind = GPU_TRY(check_image(image, where));
  // The driver is given no size: it reads PTX up to a zero, which a range of characters need not
  // have.
  text terminated;
  if (kind == image_kind::ptx) {
    terminated = text(image.characters(), image.size());
    if (terminated.empty()) {
      return fail(out_of_host_memory_error("gpu::module::load", image.size(), where));
    }
  }
  char log[4096] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{sizeof log - 1})};
  CUlibrary library = nullptr;
  result<> loaded = driver::call<&driver::entry_points::library_load_data>(
      where, &library, kind == image_kind::ptx ? terminated.data() : image.data(), options, values,
      2u, static_cast<CUlibraryOption*>(nullptr), static_cast<void**>(nullptr), 0u);
  if (!loaded.has_value()) {
    cuda_error error = std::move(loaded).error();
    if (log[0] != '\0') {
      text_builder out;
      out << "the driver's log:\n" << static_cast<const char*>(log) << '\n';
      error = std::move(error).with_details(out.finish());
    }
    return fail(std::move(error));
  }
  return library;
}

/// Looks a kernel up in the driver and reads what has to be known of it.
inline result<kernel_record*> find_kernel(module_state& state, const text& name, bool& found,
                                          source_location where) noexcept {
  found = true;
  if (kernel_record* known = state.find(name)) return known;
  CUkernel native = nullptr;
  found = GPU_TRY(driver::query<&driver::entry_points::library_get_kernel>(
      CUDA_ERROR_NOT_FOUND, where, &native, state.library, name.c_str()));
  if (!found) return nullptr;
  const int devices = GPU_TRY(device::count(where));
  struct delete_record {
    void operator()(kernel_record* record) const noexcept { delete record; }
  };
  unique_handle<kernel_record*, delete_record> made(new (std::nothrow) kernel_record);
  kernel_record* record = made.get();
  if (record != nullptr) {
    record->limits = static_cast<kernel_limits*>(
        std::calloc(static_cast<std::size_t>(devices), sizeof(kernel_limits)));
  }
  if (record == nullptr || (record->limits == nullptr && devices != 0)) {
    return fail(out_of_host_memory_error("gpu::module::kernel", sizeof(kernel_record), where));
  }
  record->native = native;
  record->ring = &launches();
  record->device_count = static_cast<std::uint32_t>(devices);
  record->name = name;
  GPU_TRY(read_parameters(*record, where));
  state.add(made.release());
  return record;
}

}  // namespace gpu::detail

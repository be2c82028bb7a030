#pragma once
/// \file
/// What a module owns: the driver's library, the records of its kernels, and the names by which
/// instances of templates can be asked for.

#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/any_context.hpp>
#include <gpu/kernel/image.hpp>
#include <gpu/kernel/jit_options.hpp>
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
  jit_log* log = nullptr;            ///< where the driver may still write, or null

  module_state() noexcept = default;
  module_state(const module_state&) = delete;
  module_state& operator=(const module_state&) = delete;
  ~module_state() {
    while (kernels != nullptr) delete exchange(kernels, kernels->next);
    while (names != nullptr) delete exchange(names, names->next);
    jit_log::destroy(log);
  }

  /// The name that the driver knows for `written`.
  text lowered(string_ref written) const noexcept {
    for (const module_name* n = names; n != nullptr; n = n->next) {
      if (string_ref(n->written) == written) return n->lowered;
    }
    return written.to_text();
  }

  /// Whether there was memory for it.
  bool add_name(string_ref written, string_ref lowered) noexcept {
    auto* name = new (std::nothrow) module_name{written.to_text(), lowered.to_text(), names};
    if (name != nullptr) names = name;
    return name != nullptr;
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

/// Adds to `error`, which PTX was refused with, what the driver's compiler says about it. It is
/// asked apart from the library, which the driver may read, and log about, at any later time. To be
/// called where a context is current.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error with_compiler_log(cuda_error error,
                                                                 const void* ptx) noexcept {
  const driver::entry_points& table = driver::current_entry_points();
  if (table.module_load_data_ex == nullptr || error.kind() != error_kind::compile) return error;
  char log[4096] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{sizeof log - 1})};
  CUmodule module = nullptr;
  if (table.module_load_data_ex(&module, ptx, 2, options, values) == CUDA_SUCCESS) {
    driver::destroy<&driver::entry_points::module_unload>(module);
  }
  if (log[0] == '\0') return error;
  Builder out;
  out << "the driver's log:\n" << static_cast<const char*>(log) << '\n';
  return detail::move(error).with_details(out.finish());
}

/// Makes a library of an image and has the driver read it now: left alone, it would look at most
/// images only when the first kernel is launched, and refuse them there. To be called where a
/// context is current.
template <class Builder = text_builder>
inline result<> read_library(const void* image, jit_log* log, CUlibrary& loaded,
                             source_location where) noexcept {
  jit_arguments* const with = log != nullptr ? &log->arguments : nullptr;
  CUjit_option* const names = with != nullptr ? with->names : nullptr;
  void** const values = with != nullptr ? with->values : nullptr;
  const unsigned count = with != nullptr ? with->count : 0;
  GPU_TRY(driver::call<&driver::entry_points::library_load_data>(
      where, &loaded, image, names, values, count, static_cast<CUlibraryOption*>(nullptr),
      static_cast<void**>(nullptr), 0u));
  CUmodule module = nullptr;
  return driver::call<&driver::entry_points::library_get_module>(where, &module, loaded);
}

/// Loads an image into `library`. PTX that the driver refuses comes with the log of its compiler:
/// `log`, which has to live as long as the library, or one that is made for the purpose.
template <class Builder = text_builder>
inline result<> load_library(bytes_ref image, CUlibrary& library, source_location where,
                             jit_log* log = nullptr) noexcept {
  GPU_TRY(check_image(image, where));
  const void* bytes = image.data();
  // The driver is given no size: it reads PTX up to a zero, which a range of characters need not
  // have.
  text terminated;
  const bool is_ptx = kind_of_image(image) == image_kind::ptx;
  if (is_ptx) {
    terminated = text(image.characters(), image.size());
    if (terminated.empty()) {
      return fail(out_of_host_memory_error("gpu::module::load", image.size(), where));
    }
    bytes = terminated.data();
  }
  CUlibrary loaded = nullptr;
  result<> done = driver::in_any_context(where, [&]() -> result<> {
    result<> read = read_library(bytes, log, loaded, where);
    if (read.has_value() || !is_ptx || log != nullptr) return read;
    return fail(with_compiler_log(detail::move(read).error(), bytes));
  });
  if (done.has_value()) {
    library = loaded;
  } else if (loaded != nullptr) {
    driver::destroy<&driver::entry_points::library_unload>(loaded);
  }
  return done;
}

/// Whether machine code was refused because it is for another device.
inline bool is_for_other_device(const result<>& loaded) noexcept {
  return !loaded.has_value() && loaded.error().domain() == error_domain::driver &&
         loaded.error().code() == CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/// Loads machine code, or PTX where there is none or the driver cannot run it.
template <class Builder = text_builder>
inline result<> load_library(bytes_ref cubin, bytes_ref ptx, CUlibrary& library,
                             source_location where) noexcept {
  if (cubin.empty()) return load_library(ptx, library, where);
  result<> done = load_library(cubin, library, where);
  if (is_for_other_device(done) && !ptx.empty()) return load_library(ptx, library, where);
  return done;
}

/// Sets `record` to the kernel of that name, or to null where the module has none. What the launch
/// has to know is read once, from the driver.
template <class Builder = text_builder>
inline result<> find_kernel(module_state& state, const text& name, kernel_record*& record,
                            source_location where) noexcept {
  record = state.find(name);
  if (record != nullptr) return {};
  CUkernel native = nullptr;
  const result<> got = driver::call<&driver::entry_points::library_get_kernel>(
      where, &native, state.library, name.c_str());
  if (!got.has_value()) {
    const cuda_error& error = got.error();
    const bool unknown =
        error.domain() == error_domain::driver && error.code() == CUDA_ERROR_NOT_FOUND;
    return unknown ? result<>() : got;
  }
  struct delete_record {
    void operator()(kernel_record* unwanted) const noexcept { delete unwanted; }
  };
  unique_handle<kernel_record*, delete_record> owner(new (std::nothrow) kernel_record);
  kernel_record* made = owner.get();
  if (made == nullptr) {
    return fail(out_of_host_memory_error("gpu::module::kernel", sizeof(kernel_record), where));
  }
  made->native = native;
  made->table = &state_of_process().table;
  made->ring = &launches();
  made->name = name;
  // Unlike the kernel itself, its parameters are known to no thread that has no context.
  GPU_TRY(driver::in_any_context(where, [&] { return read_parameters(*made, where); }));
  state.add(owner.release());
  record = made;
  return {};
}

}  // namespace gpu::detail

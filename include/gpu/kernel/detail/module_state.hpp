#pragma once
/// \file
/// The state that a module shares with its kernels and with the graphs that use them: the driver's
/// library, the records of its kernels, and the names of instances of templates.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/kernel/detail/image.hpp>
#include <gpu/kernel/detail/kernel_names.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/kernel/jit_options.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// A name as written in the source, such as `axpy<float>`, and as it is in the module.
struct module_name {
  text written;
  text lowered;
  module_name* next = nullptr;
};

struct module_state : shared_object {
  CUlibrary library = nullptr;
  kernel_list kernels;
  sequence<text> grid_barriers;  ///< the kernels that synchronize their grid, as far as PTX shows
  module_name* names = nullptr;  ///< only grows; any number of threads read it and add to it
  jit_log* log = nullptr;  ///< the driver may write to it as long as the library lives; or null

  module_state() noexcept : shared_object{&unload} {}
  module_state(const module_state&) = delete;
  module_state& operator=(const module_state&) = delete;
  ~module_state() {
    while (kernels.first != nullptr) delete std::exchange(kernels.first, kernels.first->next);
    while (names != nullptr) delete std::exchange(names, names->next);
    jit_log::destroy(log);
  }

  /// Removes the kernels of the library from those that graphs can find.
  void forget_kernels() noexcept {
    for (kernel_record* each = kernels.first; each != nullptr; each = each->next) {
      remove_live_kernel(each->live);
    }
  }

  /// Returns the name that the driver knows for `written`. A variable is requested as `&n::x`, and
  /// asked for without the sign. The text is `lost()` if memory runs out.
  text lowered(string_ref written) const noexcept {
    for (const module_name* n = atomic_load<memory_order::acquire>(names); n != nullptr;
         n = n->next) {
      const string_ref known(n->written);
      if (known == written) return n->lowered;
      if (starts_with(known, "&") && without_front(known, 1) == written) return n->lowered;
    }
    return written.to_text();
  }

  /// Adds a name; returns false if memory runs out.
  bool add_name(string_ref written, string_ref lowered) noexcept {
    auto* name = new (std::nothrow) module_name{written.to_text(), lowered.to_text()};
    if (name == nullptr) return false;
    if (name->written.lost() || name->lowered.lost()) {
      delete name;
      return false;
    }
    name->next = atomic_load<memory_order::relaxed>(names);
    while (!atomic_compare_exchange_weak<memory_order::release, memory_order::relaxed>(
        names, name->next, name)) {
    }
    return true;
  }

 private:
  static void unload(shared_object* self) noexcept {
    auto* const state = static_cast<module_state*>(self);
    state->forget_kernels();
    if (state->library != nullptr) {
      driver::destroy<&driver::entry_points::library_unload>(state->library);
    }
    delete state;
  }
};

struct drop_module {
  void operator()(module_state* state) const noexcept { let_go(*state); }
};

using owned_module_state = unique_handle<module_state*, drop_module>;

/// Adds the log of the driver's compiler to `error`, with which it rejected PTX. Compiles once more
/// for the log, apart from the library: the driver may read a library, and write to its log, at any
/// later time. The caller has made a context current.
inline cuda_error explain_ptx_error(cuda_error error, const void* ptx) noexcept {
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
  text_builder out;
  out << "the driver's log:\n" << static_cast<const char*>(log) << '\n';
  return record_error(std::move(error).with_details(out.finish()));
}

/// Loads an image as a library and makes the driver read it now: by default it reads most images at
/// the first launch of a kernel, and rejects them there. The caller has made a context current.
inline result<> read_library(const void* image, jit_log* log, CUlibrary& loaded,
                             source_location where) noexcept {
  jit_arguments* const with = log != nullptr ? &log->arguments : nullptr;
  CUjit_option* const names = with != nullptr ? with->names : nullptr;
  void** const values = with != nullptr ? with->values : nullptr;
  const unsigned count = with != nullptr ? with->count : 0;
  GPU_TRY(driver::call<&driver::entry_points::library_load_data>(
      where, &loaded, image, names, values, count, nullptr, nullptr, 0));
  CUmodule module = nullptr;
  return driver::call<&driver::entry_points::library_get_module>(where, &module, loaded);
}

/// Loads an image into `library`. The error for PTX that the driver rejects has the log of its
/// compiler: `log`, which has to live as long as the library, or a temporary one if it is null.
inline result<> load_library(bytes_ref image, CUlibrary& library, source_location where,
                             jit_log* log = nullptr) noexcept {
  GPU_TRY(check_image(image, where));
  const void* bytes = image.data();
  // The driver gets no size: it reads PTX up to a zero byte, which a range need not have.
  text terminated;
  const bool is_ptx = kind_of_image(image) == image_kind::ptx;
  if (is_ptx) {
    terminated = text(image.characters(), image.size());
    if (terminated.lost()) {
      return fail(out_of_host_memory_error("gpu::module::load", image.size(), where));
    }
    bytes = terminated.data();
  }
  CUlibrary loaded = nullptr;
  result<> done = driver::in_any_context(where, [&]() -> result<> {
    result<> read = read_library(bytes, log, loaded, where);
    if (read.has_value() || !is_ptx || log != nullptr) return read;
    return fail(explain_ptx_error(std::move(read).error(), bytes));
  });
  if (done.has_value()) {
    library = loaded;
  } else if (loaded != nullptr) {
    driver::destroy<&driver::entry_points::library_unload>(loaded);
  }
  return done;
}

/// Rejects a name with a zero byte: the driver would use only the part before it.
inline result<> require_whole_name(const char* function, string_ref name,
                                   source_location where) noexcept {
  if (name.size() == 0) {
    return fail(refusal(errc::unknown_name, function,
                        text("the name is empty. Pass the name that the kernel or the variable has "
                             "in the source."),
                        where));
  }
  const void* const zero = std::memchr(name.data(), 0, name.size());
  if (zero == nullptr) return {};
  const auto at = static_cast<std::size_t>(static_cast<const char*>(zero) - name.data());
  text_builder out;
  out << "the name that begins with \"" << escaped{name.substring(0, at)}
      << "\" has a zero byte at " << at << " of " << name.size()
      << ", where the driver would stop reading. Remove it.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, at, name.size()));
}

/// Returns whether the driver rejected machine code because it is for another device.
inline bool is_for_other_device(const result<>& loaded) noexcept {
  return !loaded.has_value() && loaded.error().domain() == error_domain::driver &&
         loaded.error().code() == CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/// Loads machine code, or the PTX without machine code, or if the driver cannot run it.
inline result<> load_library(bytes_ref cubin, bytes_ref ptx, CUlibrary& library,
                             source_location where) noexcept {
  if (cubin.empty()) return load_library(ptx, library, where);
  const last_error_mark before;
  result<> done = load_library(cubin, library, where);
  if (!is_for_other_device(done) || ptx.empty()) return done;
  before.restore();
  return load_library(ptx, library, where);
}

/// Returns whether the driver does not know a name.
inline bool is_unknown_name(const result<>& found) noexcept {
  return !found.has_value() && found.error().domain() == error_domain::driver &&
         found.error().code() == CUDA_ERROR_NOT_FOUND;
}

/// Sets `record` to the kernel called `name`, or to null if the module has no such kernel.
inline result<> find_kernel(module_state& state, const text& name, kernel_record*& record,
                            source_location where) noexcept {
  if (name.lost()) return fail(out_of_host_memory_error("gpu::module::kernel", 0, where));
  record = state.kernels.find([&](const kernel_record& known) { return known.name == name; });
  if (record != nullptr) return {};
  CUkernel native = nullptr;
  const result<> got = driver::call<&driver::entry_points::library_get_kernel>(
      where, &native, state.library, name.c_str());
  if (!got.has_value()) return is_unknown_name(got) ? result<>() : got;
  owned_kernel_record made = GPU_TRY(read_kernel(native, name, where));
  record = made.release();
  for (const text& each : state.grid_barriers) {
    if (each == name) record->synchronizes_grid = true;
  }
  record->live = {native, &state, nullptr};
  add_live_kernel(record->live);
  state.kernels.add(record);
  return {};
}

/// Sets `record` to the kernel that is called `asked` in the source, or to null if the module has
/// no such kernel. Remembers the name.
inline result<> find_kernel_of_source(module_state& state, string_ref asked, kernel_record*& record,
                                      source_location where) noexcept {
  const last_error_mark before;
  GPU_TRY(find_kernel(state, state.lowered(asked), record, where));
  if (record != nullptr) return {};
  before.restore();
  const text symbol = GPU_TRY(symbol_of_kernel(state.library, asked, where));
  if (symbol.empty()) return {};
  GPU_TRY(find_kernel(state, symbol, record, where));
  if (record != nullptr) state.add_name(asked, symbol);  // else it is sought again
  return {};
}

}}}  // namespace gpu::v1::detail

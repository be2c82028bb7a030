#pragma once
/// \file
/// `module`: loaded device code, and the way to its kernels and global variables.

#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/read_file.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/module_state.hpp>
#include <gpu/kernel/name_suggestions.hpp>
#include <gpu/memory/device_span.hpp>

namespace gpu {

/// Code in the two forms that a compiler gives, and what its names have become: what
/// `compiled_program` is.
template <class Program>
concept compiled_code = requires(const Program& program) {
  bytes_ref(program.cubin());
  bytes_ref(program.ptx());
  program.for_each_name([](string_ref, string_ref) {});
};

/// Owns loaded device code. It belongs to no context: a kernel of it runs on every device that the
/// image has code for. Move-only; empty after a move; kernels stay valid when it moves and end with
/// it.
/// **Threads**: any number may look up kernels and variables at once.
class module {
 public:
  /// Loads a cubin, a fatbin or PTX; the bytes are copied and may go. Not affected by stream
  /// capture. (cuLibraryLoadData)
  /// **Errors**: `errc::invalid_image` for bytes that are none of these or are cut off; the
  /// driver's, with the log of its PTX compiler.
  static result<module> load(bytes_ref image,
                             source_location where = source_location::current()) noexcept {
    return adopt(GPU_TRY(detail::load_library(image, where)));
  }

  /// Loads what `compile` made: its cubin, or its PTX where there is no cubin or the driver cannot
  /// run it. Kernels can be asked for by the names they were instantiated with: `"axpy<float>"`.
  template <compiled_code Program>
  static result<module> load(const Program& program,
                             source_location where = source_location::current()) noexcept {
    const bytes_ref cubin(program.cubin()), ptx(program.ptx());
    CUlibrary library = nullptr;
    if (!cubin.empty()) {
      result<CUlibrary> loaded = detail::load_library(cubin, where);
      const bool other_architecture = !loaded.has_value() &&
                                      loaded.error().domain() == error_domain::driver &&
                                      loaded.error().code() == CUDA_ERROR_NO_BINARY_FOR_GPU;
      if (!other_architecture || ptx.empty()) library = GPU_TRY(std::move(loaded));
    }
    if (library == nullptr) library = GPU_TRY(detail::load_library(ptx, where));
    module made = adopt(library);
    bool complete = static_cast<bool>(made.handle_);
    program.for_each_name([&](string_ref written, string_ref lowered) {
      auto* name = complete ? new (std::nothrow) detail::module_name : nullptr;
      complete = name != nullptr;
      if (!complete) return;
      name->written = written.to_text();
      name->lowered = lowered.to_text();
      name->next = detail::exchange(made.state().names, name);
    });
    if (!complete) {
      return detail::fail(detail::out_of_host_memory_error("gpu::module::load",
                                                           sizeof(detail::module_name), where));
    }
    return made;
  }

  /// Loads the image in a file: a cubin, a fatbin or PTX.
  /// **Errors**: `errc::file_error` with the path and the reason; those of `load`.
  static result<module> load_file(string_ref path,
                                  source_location where = source_location::current()) noexcept {
    const text image = GPU_TRY(detail::read_file("gpu::module::load_file", path, where));
    return load(image, where);
  }

  /// Takes over a library of the driver. Where memory for the bookkeeping runs out, the library is
  /// unloaded and the module is empty.
  static module adopt(CUlibrary library) noexcept {
    module made;
    if (library == nullptr) return made;
    auto* state = new (std::nothrow) detail::module_state;
    if (state == nullptr) {
      driver::destroy<&driver::entry_points::library_unload>(library);
      return made;
    }
    state->library = library;
    made.handle_.reset(state);
    return made;
  }
  /// Gives the library up; the caller unloads it. Kernels looked up here end all the same.
  [[nodiscard]] CUlibrary release() noexcept {
    if (!handle_) return nullptr;
    CUlibrary library = detail::exchange(state().library, nullptr);
    handle_.reset();
    return library;
  }

  /// Empty.
  module() noexcept = default;

  CUlibrary native() const noexcept { return handle_ ? state().library : nullptr; }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  /// The kernel of that name, which takes `Parameters`: the types of the `__global__` function's
  /// parameters, in their order. Their number, offsets and sizes are compared with the module's
  /// (where the driver is too old to know them, CUDA 12.4, they are believed).
  /// (cuLibraryGetKernel, cuKernelGetParamInfo)
  /// **Errors**: `errc::unknown_name`, with the names that there are, nearest first;
  /// `errc::argument_mismatch`, with both lists side by side; `errc::empty_handle`.
  template <kernel_parameter... Parameters>
  result<gpu::kernel<Parameters...>> kernel(
      string_ref name, source_location where = source_location::current()) const noexcept {
    detail::kernel_record* record = GPU_TRY(find(name, where));
    const auto& stated = detail::layout_of<Parameters...>;
    if (record->parameters_known && !detail::fits(stated.list, stated.count, record->parameters,
                                                  record->parameter_count)) [[unlikely]] {
      return detail::fail(detail::signature_error("gpu::module::kernel", name, stated.list,
                                                  stated.count, record->parameters,
                                                  record->parameter_count, true, where));
    }
    return detail::kernel_access::make<gpu::kernel<Parameters...>>(record);
  }

  /// The kernel of that name, whatever it takes; its first launch compares the arguments' sizes.
  result<untyped_kernel> kernel(string_ref name,
                                source_location where = source_location::current()) const noexcept {
    return detail::kernel_access::make<untyped_kernel>(GPU_TRY(find(name, where)));
  }

  /// The `__device__` or `__constant__` variable of that name as `T`s: one for a variable of type
  /// `T`, several for an array. Each context has its own copy of it; a device stands for its
  /// primary context. The span ends with the module. (cuLibraryGetGlobal)
  /// **Errors**: `errc::unknown_name`; `errc::size_mismatch` where it is not a whole number of `T`.
  template <class T>
  result<device_span<T>> global(string_ref name, context_ref context,
                                source_location where = source_location::current()) const noexcept {
    const auto [address, bytes] = GPU_TRY(find_global(name, context, sizeof(T), where));
    return device_span<T>::from_native(address, bytes / sizeof(T));
  }
  template <class T>
  result<device_span<T>> global(string_ref name, device on,
                                source_location where = source_location::current()) const noexcept {
    return global<T>(name, GPU_TRY(context::primary(on, where)), where);
  }

 private:
  struct global_place {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
  };

  detail::module_state& state() const noexcept { return *handle_.get(); }

  result<detail::kernel_record*> find(string_ref name, source_location where) const noexcept {
    if (!handle_) {
      return detail::fail(detail::empty_handle_error("gpu::module::kernel", "module", where));
    }
    bool found = false;
    detail::kernel_record* record =
        GPU_TRY(detail::find_kernel(state(), state().lowered(name), found, where));
    if (!found) {
      return detail::fail(detail::unknown_kernel_error(state().library, name, where));
    }
    return record;
  }

  result<global_place> find_global(string_ref name, context_ref context, std::size_t element,
                                   source_location where) const noexcept {
    constexpr const char* function = "gpu::module::global";
    if (!handle_) return detail::fail(detail::empty_handle_error(function, "module", where));
    GPU_TRY(detail::require(context, function, where));
    const text lowered = state().lowered(name);
    global_place place;
    const bool found = GPU_TRY(driver::in_context(context.native(), where, [&] {
      return driver::query<&driver::entry_points::library_get_global>(
          CUDA_ERROR_NOT_FOUND, where, &place.address, &place.bytes, state().library,
          lowered.c_str());
    }));
    detail::text_builder out;
    if (!found) {
      out << "the module has no __device__ or __constant__ variable \"" << name
          << "\". Declare it extern \"C\" to give it the name it has in the source, and use it in "
             "a "
             "kernel, or the compiler drops it.";
      return detail::fail(detail::refusal(errc::unknown_name, function, out.finish(), where));
    }
    if (place.bytes % element != 0 || place.bytes == 0) {
      out << "variable \"" << name << "\" has " << place.bytes
          << " bytes, which is no whole number of elements of " << element
          << " bytes. State the type that it has in the source.";
      return detail::fail(detail::refusal(errc::size_mismatch, function, out.finish(), where,
                                          element, place.bytes));
    }
    return place;
  }

  detail::owned_module_state handle_;
};

}  // namespace gpu

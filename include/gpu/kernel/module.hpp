#pragma once
/// \file
/// `module`: loaded device code, its kernels and its global variables.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/kernel/detail/grid_barriers.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/detail/module_state.hpp>
#include <gpu/kernel/detail/name_suggestions.hpp>
#include <gpu/kernel/detail/program_loading.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/kernel/detail/signature.hpp>
#include <gpu/kernel/jit_options.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/managed_variable.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/system/read_file.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {
/// Takes names, for `compiled_code`: nvcc's front end rejects a lambda there.
struct name_visitor {
  void operator()(string_ref, string_ref) const noexcept {}
};
}  // namespace detail

/// A compiled program: machine code, PTX, and the names of its instances of templates. Satisfied by
/// `compiled_program` and `linked_program`.
template <class Program>
concept compiled_code = requires(const Program& program) {
  bytes_ref(program.cubin());
  bytes_ref(program.ptx());
  program.for_each_name(detail::name_visitor());
};

namespace detail {

/// Sets `record` to a kernel of the module, or fails with the names that the module has.
inline result<> require_kernel(module_state* state, string_ref name, kernel_record*& record,
                               source_location where) noexcept {
  constexpr const char* function = "gpu::module::kernel";
  if (state == nullptr) return fail(empty_handle_error(function, "module", where));
  GPU_TRY(require_whole_name(function, name, where));
  GPU_TRY(find_kernel_of_source(*state, name, record, where));
  if (record == nullptr) return refuse_unknown_kernel(state->library, name, where);
  return {};
}

}  // namespace detail

/// The functions of `module`. A base class, because a member named `module` would be read as a
/// directive by some compilers.
/// **Threads**: any number may look up kernels and variables at once. **Capture**: not affected by
/// a look-up.
template <class Self> class module_operations {
 public:
  /// Loads a cubin, a fatbin or PTX; the bytes are copied. The driver reads the image at once, for
  /// the device of the current context; if no context is current, for a device that is in use
  /// already, or else for device 0. For every other device it reads the image when a kernel first
  /// runs there. Not allowed during a stream capture, unless that is `relaxed`. (cuLibraryLoadData,
  /// cuLibraryGetModule)
  /// **Errors**: `errc::invalid_image` for other bytes and for truncated images; the driver's, with
  /// the log of its PTX compiler.
  static result<Self> load(bytes_ref image,
                           source_location where = source_location::current()) noexcept {
    CUlibrary library = nullptr;
    GPU_TRY(detail::load_library(image, library, where));
    return own(library, image, where);
  }

  /// As above, with options for the driver's compiler, which affect PTX only. (CUjit_option)
  /// **Errors**: `errc::invalid_argument` for options that contradict each other; those of `load`.
  static result<Self> load(bytes_ref image, const jit_options& options,
                           source_location where = source_location::current()) noexcept {
    CUlibrary library = nullptr;
    detail::jit_log* log = nullptr;
    const result<> done = detail::load_library_with_options(image, options, library, log, where);
    Self made = Self::adopt(library);
    if (made.state() != nullptr) {
      made.state()->log = log;
    } else {
      detail::jit_log::destroy(log);
    }
    if (!done.has_value()) return detail::fail(done.error());
    if (made.state() == nullptr) return detail::fail(out_of_memory(where));
    made.state()->grid_barriers = GPU_TRY(detail::find_grid_barriers(image, where));
    return made;
  }

  /// Loads a program from `compile` or `link`: its cubin, or its PTX if it has no cubin or the
  /// driver cannot run it. Instances of templates are looked up by the names that they were
  /// requested with: `"axpy<float>"`.
  template <compiled_code Program>
  static result<Self> load(const Program& program,
                           source_location where = source_location::current()) noexcept {
    CUlibrary library = nullptr;
    GPU_TRY(detail::load_program(program, library, where));
    Self made = GPU_TRY(own(library, bytes_ref(program.ptx()), where));
    GPU_TRY(detail::take_names(made.state(), program, where));
    return made;
  }

  /// As above, with options for the driver's compiler, which gets the PTX if there is any.
  template <compiled_code Program>
  static result<Self> load(const Program& program, const jit_options& options,
                           source_location where = source_location::current()) noexcept {
    const bytes_ref ptx(program.ptx());
    Self made = GPU_TRY(load(ptx.empty() ? bytes_ref(program.cubin()) : ptx, options, where));
    GPU_TRY(detail::take_names(made.state(), program, where));
    return made;
  }

  /// Does not compile, and says so: the program is a result.
  template <class T> static result<Self> load(const expected<T, cuda_error>&) noexcept {
    detail::refuse_result<T>();
    return {};
  }

  /// Loads the image in a file: a cubin, a fatbin or PTX. Otherwise as `load`.
  /// **Errors**: `errc::file_error` with the path and the reason; those of `load`.
  static result<Self> load_file(string_ref path,
                                source_location where = source_location::current()) noexcept {
    text image;
    GPU_TRY(detail::read_file("gpu::module::load_file", path, image, where));
    return load(bytes_ref(image), where);
  }
  static result<Self> load_file(string_ref path, const jit_options& options,
                                source_location where = source_location::current()) noexcept {
    text image;
    GPU_TRY(detail::read_file("gpu::module::load_file", path, image, where));
    return load(bytes_ref(image), options, where);
  }

  /// Returns the kernel called `name` in the source: `"saxpy"`, and as much more as it takes to
  /// distinguish it from others, in C++'s words: `"n::saxpy"`, `"sub<float>"`, `"sub(float*)"`. It
  /// takes `Parameters`: the parameter types of the `__global__` function, in order. Compares their
  /// number, offsets and sizes with the module's, and numbers and pointers to numbers by their
  /// types too, unless the kernel is `extern "C"`. Drivers before CUDA 12.4 know neither parameters
  /// nor names; there, a kernel that is not `extern "C"` is found by its mangled name or if it was
  /// requested by `program::instance`. (cuLibraryGetKernel, cuKernelGetParamInfo)
  /// **Errors**: `errc::unknown_name`, with the names that the module has, nearest first, or those
  /// that `name` may mean;
  /// `errc::argument_mismatch`, with both lists side by side; `errc::invalid_argument` for a name
  /// with a zero byte; `errc::empty_handle`.
  template <kernel_parameter... Parameters>
  result<gpu::kernel<Parameters...>> kernel(
      string_ref name, source_location where = source_location::current()) const noexcept {
    detail::kernel_record* record = nullptr;
    GPU_TRY(detail::require_kernel(state(), name, record, where));
    const auto& stated = detail::stated_list<Parameters...>;
    GPU_TRY(detail::check_parameters(*record, detail::stated_words, name, stated.list, stated.count,
                                     where));
    return detail::kernel_access::make<gpu::kernel<Parameters...>>(record);
  }

  /// As above, with the parameters in a function type:
  ///
  ///     using axpy_signature = void(float, const float*, float*, int);
  ///     gpu::kernel<float, const float*, float*, int> axpy =
  ///         GPU_TRY(code.kernel<axpy_signature>("axpy"));
  template <class Function>
    requires std::is_function_v<Function>
  auto kernel(string_ref name, source_location where = source_location::current()) const noexcept {
    return detail::kernel_parameters<Function>::look_up(*this, name, where);
  }

  /// As above, with any parameters; the first launch compares the arguments with the module's.
  result<untyped_kernel> kernel(string_ref name,
                                source_location where = source_location::current()) const noexcept {
    detail::kernel_record* record = nullptr;
    GPU_TRY(detail::require_kernel(state(), name, record, where));
    return detail::kernel_access::make<untyped_kernel>(record);
  }

  /// Returns the `__device__` or `__constant__` variable called `name` in the source, with its
  /// namespaces (`"n::table"`), as `T`s: one for a variable of type `T`, several for an array. Each
  /// context has its own copy of the variable; a device stands for its primary context. The span
  /// does not keep the code loaded: the module or one of its kernels has to live.
  /// (cuLibraryGetGlobal)
  /// **Errors**: `errc::unknown_name`; `errc::size_mismatch` if the size is not a multiple of that
  /// of `T`; `errc::invalid_argument` for a name with a zero byte; `errc::empty_handle`.
  template <class T>
  result<device_span<T>> global(
      string_ref name, context_or_device on,
      source_location where = source_location::current()) const& noexcept {
    detail::variable_location found;
    GPU_TRY(detail::find_global(state(), name, on, sizeof(T), found, where));
    return device_span<T>::from_native(found.address, found.bytes / sizeof(T));
  }
  template <class T, class On>
  void global(string_ref, const On&,
              source_location = {}) const&& = delete;  // the span would dangle

  /// Returns the `__managed__` variable called `name`, which the host reads and writes at the same
  /// address as all devices: not while a kernel that uses it runs. It keeps the code loaded, as a
  /// kernel does. (cuLibraryGetManaged)
  /// **Errors**: as `global`.
  template <class T>
  result<managed_variable<T>> managed(
      string_ref name, source_location where = source_location::current()) const noexcept {
    detail::variable_location found;
    GPU_TRY(detail::find_managed(state(), name, sizeof(T), found, where));
    return managed_variable<T>(found.address, found.bytes / sizeof(T),
                               detail::object_owner(state()));
  }

  // Refuses common guesses; the error says what to write.
  template <class... Types, class... Arguments> auto variable(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write module.global<T>(name, device)");
  }
  template <class... Arguments> auto get_global(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write module.global<T>(name, device)");
  }
  template <class... Types, class... Arguments>
  auto get_function(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Arguments...>, "write module.kernel<Parameters...>(name)");
  }

 private:
  friend Self;
  module_operations() = default;

  static cuda_error out_of_memory(source_location where) noexcept {
    return detail::out_of_host_memory_error("gpu::module::load", sizeof(detail::module_state),
                                            where);
  }
  static result<Self> own(CUlibrary library, bytes_ref ptx, source_location where) noexcept {
    Self made = Self::adopt(library);
    if (made.state() == nullptr) return detail::fail(out_of_memory(where));
    made.state()->grid_barriers = GPU_TRY(detail::find_grid_barriers(ptx, where));
    return made;
  }

  detail::module_state* state() const noexcept {
    return static_cast<const Self&>(*this).handle_.get();
  }
};

/// Owns loaded device code. It does not belong to a context: its kernels run on every device that
/// the image has code for. Move-only; empty after a move. The code is unloaded when the last of its
/// owners ends: the module, the kernels and managed variables that were looked up in it, and the
/// graphs and executable graphs that use its kernels. During a `stream_capture`, unloading waits
/// for the end of the capture.
class module : public module_operations<module> {
 public:
  /// Creates an empty module.
  constexpr module() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <class Image>
    requires compiled_code<Image> || std::is_convertible_v<const Image&, bytes_ref>
  explicit module(const Image&) noexcept {
    static_assert(detail::always_false<Image>, "write gpu::module::load(program)");
  }

  /// Takes ownership of a library of the driver. If host memory runs out, the library is unloaded
  /// and the module is empty.
  static module adopt(CUlibrary library) noexcept {
    auto made = module();  // not `module made;`: a directive to some compilers
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
  /// Gives up ownership of the library; the caller unloads it, after the end of the graphs that use
  /// its kernels. Kernels and managed variables that were looked up here are valid until then.
  [[nodiscard]] CUlibrary release() noexcept {
    if (!handle_) return nullptr;
    handle_.get()->forget_kernels();
    CUlibrary library = std::exchange(handle_.get()->library, nullptr);
    handle_.reset();
    return library;
  }

  CUlibrary native() const noexcept { return handle_ ? handle_.get()->library : nullptr; }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

 private:
  friend class module_operations<module>;

  detail::owned_module_state handle_;
};

}}  // namespace gpu::v1

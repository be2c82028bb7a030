#pragma once
/// \file
/// `kernel<Parameters...>`: a kernel of a module, whose signature is checked when it is looked up;
/// `untyped_kernel`: a kernel whose arguments are checked at its first launch.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/cache_preference.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/kernel/kernel_properties.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

class module;

namespace detail {
struct kernel_access;
}

/// A handle of a kernel, the base of `kernel` and `untyped_kernel`. It keeps the module's code
/// loaded, so the module may be destroyed first. Copies refer to the same kernel, and a move is a
/// copy. A default-constructed handle is empty.
class kernel_handle {
 public:
  constexpr kernel_handle() noexcept = default;

  constexpr explicit operator bool() const noexcept { return record_ != &detail::no_kernel; }
  /// Returns the `CUkernel`, which serves every device; null if the handle is empty.
  CUkernel native() const noexcept { return record_->native; }
  /// Returns the name in the module, mangled unless the kernel is `extern "C"`; valid as long as a
  /// handle of the kernel lives.
  const char* name() const noexcept { return record_->name.c_str(); }

  friend constexpr bool operator==(const kernel_handle& a, const kernel_handle& b) noexcept {
    return a.record_ == b.record_;
  }

 protected:
  explicit kernel_handle(detail::kernel_record* record) noexcept
      : record_{record}, code_{record->live.code} {}

 private:
  friend struct detail::kernel_access;

  detail::kernel_record* record_ = &detail::no_kernel;
  detail::object_owner code_;
};

/// The member functions of `kernel` and `untyped_kernel`.
/// **Threads**: any thread may call any member. **Errors**: `errc::empty_handle`, and those of the
/// driver call named in parentheses. **Capture**: not affected.
template <class Self> class kernel_operations : public kernel_handle {
 public:
  constexpr kernel_operations() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <class... Arguments> void operator()(const Arguments&...) const noexcept {
    static_assert(detail::always_false<Self, Arguments...>,
                  "write gpu::launch(stream, {blocks, threads}, kernel, ...)");
  }

  /// Returns the properties of the kernel on a device: registers, shared and local memory, the
  /// largest block and more. Makes some fifteen driver calls. (cuKernelGetAttribute)
  result<kernel_properties> properties(
      device on, source_location where = source_location::current()) const noexcept {
    kernel_properties found;
    GPU_TRY(require("gpu::kernel::properties", where));
    GPU_TRY(driver::in_any_context(
        where, [&] { return detail::read_properties(native(), on.native(), found, where); }));
    return found;
  }

  /// Sets whether the kernel prefers L1 cache or shared memory on a device. Other settings are
  /// attributes: see kernel_attribute.hpp. (cuKernelSetCacheConfig)
  /// **Errors**: `errc::invalid_argument` for a value that is not an enumerator.
  result<> set_cache_preference(cache_preference prefer, device on,
                                source_location where = source_location::current()) const noexcept {
    GPU_TRY(require("gpu::kernel::set_cache_preference", where));
    GPU_TRY(detail::require_enumerator(prefer, "cache_preference",
                                       "gpu::kernel::set_cache_preference", where));
    return driver::call_in_any<&driver::entry_points::kernel_set_cache_config>(
        where, native(), static_cast<CUfunc_cache>(prefer), on.native());
  }

 private:
  friend Self;
  using kernel_handle::kernel_handle;

  result<> require(const char* function, source_location where) const noexcept {
    if (!*this) return detail::fail(detail::empty_handle_error(function, "kernel", where));
    return {};
  }
};

/// A kernel that takes `Parameters`, as its `__global__` function declares them. Returned by
/// `module::kernel<Parameters...>(name)`, which compares them with the module's.
template <kernel_parameter... Parameters>
class kernel : public kernel_operations<kernel<Parameters...>> {
 public:
  constexpr kernel() noexcept = default;

 private:
  friend struct detail::kernel_access;
  explicit kernel(detail::kernel_record* record) noexcept : kernel_operations<kernel>(record) {}
};

/// A kernel whose parameters are not stated. Returned by `module::kernel(name)`. The first launch
/// with certain argument types compares their sizes with the module's parameters.
class untyped_kernel : public kernel_operations<untyped_kernel> {
 public:
  constexpr untyped_kernel() noexcept = default;

 private:
  friend struct detail::kernel_access;
  explicit untyped_kernel(detail::kernel_record* record) noexcept
      : kernel_operations<untyped_kernel>(record) {}
};

namespace detail {

/// Looks up a kernel by the parameters in the type of a function.
template <class Function> struct kernel_parameters {
  static_assert(!std::is_function_v<Function>,
                "gpu::module::kernel: a kernel's function type is void(Parameters...), without "
                "noexcept and without an ellipsis");
  template <class Module>
  static result<untyped_kernel> look_up(const Module&, string_ref, source_location) noexcept;
};
template <class... Parameters> struct kernel_parameters<void(Parameters...)> {
  static_assert(
      (kernel_parameter<Parameters> && ...),
      "gpu::module::kernel: a parameter is not a trivially copyable object; a reference, for "
      "example, would refer to host memory");
  template <class Module>
  static auto look_up(const Module& code, string_ref name, source_location where) noexcept {
    return code.template kernel<Parameters...>(name, where);
  }
};

/// Gives `module` and `launch` access to the record behind a handle.
struct kernel_access {
  template <class Kernel> static Kernel make(kernel_record* record) noexcept {
    return Kernel{record};
  }
  static constexpr kernel_record* record(const kernel_handle& kernel) noexcept {
    return kernel.record_;
  }
};

}  // namespace detail
}}  // namespace gpu::v1

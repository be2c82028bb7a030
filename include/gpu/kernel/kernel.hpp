#pragma once
/// \file
/// `kernel<Parameters...>`: a kernel of a module whose signature was checked when it was looked up;
/// `untyped_kernel`: one whose arguments are checked at its first launch.

#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/kernel_properties.hpp>

namespace gpu::inline v0 {

class module;

namespace detail {
struct kernel_access;
}

/// What typed and untyped kernels have in common. A kernel shares the code of its module with it,
/// and keeps it loaded: the module may be destroyed first. Copies are the same kernel, and a move
/// is a copy. Default constructed it is empty.
class kernel_handle {
 public:
  constexpr kernel_handle() noexcept = default;

  constexpr explicit operator bool() const noexcept { return record_ != &detail::no_kernel; }
  /// One `CUkernel` serves every device; null where the handle is empty.
  CUkernel native() const noexcept { return record_->native; }
  /// The name in the module, mangled unless the kernel is `extern "C"`; valid while this or another
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
  detail::object_owner<> code_;
};

/// What typed and untyped kernels can both be asked.
/// **Threads**: any thread may call any member. **Errors**: `errc::empty_handle`, and those of the
/// driver call named in parentheses. **Capture**: not affected, and goes on.
template <class Self> class kernel_operations : public kernel_handle {
 public:
  constexpr kernel_operations() noexcept = default;

  /// What the compiler and the driver say about the kernel on a device: registers, shared and local
  /// memory, the largest block and more; some fifteen driver calls. (cuKernelGetAttribute)
  result<kernel_attributes> attributes(
      device on, source_location where = source_location::current()) const noexcept {
    kernel_attributes found;
    GPU_TRY(require("gpu::kernel::attributes", where));
    GPU_TRY(driver::in_any_context(
        where, [&] { return detail::read_attributes(native(), on.native(), found, where); }));
    return found;
  }

  /// Prefers L1 cache or shared memory on a device. Other choices about a kernel are attributes:
  /// see kernel_attribute.hpp. (cuKernelSetCacheConfig)
  /// **Errors**: `errc::invalid_argument` for a value that is no preference.
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

/// A kernel that takes `Parameters`, as its `__global__` function states them. Made by
/// `module::kernel<Parameters...>(name)`, which compares them with the module's.
template <kernel_parameter... Parameters>
class kernel : public kernel_operations<kernel<Parameters...>> {
 public:
  constexpr kernel() noexcept = default;

 private:
  friend struct detail::kernel_access;
  explicit kernel(detail::kernel_record* record) noexcept : kernel_operations<kernel>(record) {}
};

/// A kernel whose parameters nobody has stated. Made by `module::kernel(name)`; `launch` compares
/// the sizes of what is passed with the module's at the first launch with those argument types.
class untyped_kernel : public kernel_operations<untyped_kernel> {
 public:
  constexpr untyped_kernel() noexcept = default;

 private:
  friend struct detail::kernel_access;
  explicit untyped_kernel(detail::kernel_record* record) noexcept
      : kernel_operations<untyped_kernel>(record) {}
};

namespace detail {

/// The list of parameters in the type of a function.
template <class Function> struct kernel_parameters {
  static_assert(!is_function<Function>,
                "gpu::module::kernel: a kernel's function type is void(Parameters...), without "
                "noexcept and without an ellipsis");
  template <class Module>
  static result<untyped_kernel> look_up(const Module&, string_ref, source_location) noexcept;
};
template <class... Parameters> struct kernel_parameters<void(Parameters...)> {
  static_assert(
      (kernel_parameter<Parameters> && ...),
      "gpu::module::kernel: a parameter is no object that is copied as bytes; a reference, "
      "for one, would name the host's memory");
  template <class Module>
  static auto look_up(const Module& code, string_ref name, source_location where) noexcept {
    return code.template kernel<Parameters...>(name, where);
  }
};

/// The way of `module` and `launch` to the record behind a handle.
struct kernel_access {
  template <class Kernel> static Kernel make(kernel_record* record) noexcept {
    return Kernel{record};
  }
  static constexpr kernel_record* record(const kernel_handle& kernel) noexcept {
    return kernel.record_;
  }
};

}  // namespace detail
}  // namespace gpu::inline v0

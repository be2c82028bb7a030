#pragma once
/// \file
/// `context_or_device`: the parameter type of functions that create objects in a context.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>

namespace gpu { inline namespace v1 {

/// A context, or a device that stands for its primary context. Made implicitly from a `device`, a
/// `context` or a `context_ref`:
///
///     gpu::stream::create(device);   // in the device's primary context
///     gpu::stream::create(context);  // in a context of the caller's choice
class context_or_device {
 public:
  constexpr context_or_device(device on) noexcept
      : context_{context_ref::from_native(nullptr, on)}, is_device_{true} {}
  constexpr context_or_device(context_ref in) noexcept : context_{in} {}
  context_or_device(const context& in) noexcept : context_{in} {}
  context_or_device(const context&& in) = delete;  // a name must not outlive its owner
  template <class T>  // a GPU_TRY is missing: does not compile, and says so
    requires(detail::one_of<T, device, context, context_ref>)
  context_or_device(const expected<T, cuda_error>&) noexcept {
    detail::refuse_result<T>();
  }

  /// Returns the context. A device's primary context is retained on first use and kept, see
  /// `context::primary`. `function` is the caller's name, for the error.
  /// **Errors**: `errc::empty_handle` for an empty context; those of `context::primary`.
  /// **Capture**: not affected. **Threads**: any.
  result<context_ref> resolve(const char* function, source_location where) const noexcept {
    if (is_device_) return context::primary(context_.device(), where);
    GPU_TRY(detail::require(context_, function, where));
    return context_;
  }

 private:
  context_ref context_;
  bool is_device_ = false;
};

}}  // namespace gpu::v1

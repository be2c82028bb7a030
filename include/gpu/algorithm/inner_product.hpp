#pragma once
/// \file
/// `async_inner_product`: an inner product whose value reaches the host later.

#include <gpu/algorithm/reduction.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arriving_values.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

/// Computes inner products of vectors in device memory without making the host wait:
///
///     auto product = GPU_TRY(gpu::async_inner_product<float>::create(stream));
///     GPU_TRY(product.start(stream, x, y));
///     ...                                      // the host does something else
///     if (GPU_TRY(product.is_done())) { ... }  // asks, does not wait
///     float sum = GPU_TRY(product.value());    // waits
///
/// The product is the sum of x[i] * y[i], for complex numbers of conj(x[i]) * y[i]. It has the same
/// bits in every run, as all reductions. Move-only; empty after a move. The destructor waits for
/// a value that is on its way. **Threads**: one at a time.
template <class T> class async_inner_product {
 public:
  /// Creates an empty object, to be assigned to.
  async_inner_product() noexcept = default;

  /// Compiles the kernel and allocates memory for the value on the device and on the host.
  /// **Errors**: CUDA_ERROR_OUT_OF_MEMORY; those of `compile`. **Capture**: not allowed.
  static result<async_inner_product> create(const stream_ref& stream,
                                            source_location where = source_location::current()) {
    GPU_TRY(detail::require(stream, "gpu::async_inner_product::create", where));
    const bool is_complex = detail::starts_with(detail::element_type_of<T>().name, "gpu::complex");
    auto kernel = GPU_TRY((reduction<T, const T*, const T*>::create(
        {.parameters = "x, y",
         .map = is_complex ? "conj(x[i]) * y[i]" : "x[i] * y[i]",
         .reduce = "a + b",
         .neutral = T(0),
         .options = {.name = "gpu_inner_product"}},
        where)));
    auto on_device = GPU_TRY(device_buffer<T>::create(stream, 1, where));
    return async_inner_product(std::move(kernel), std::move(on_device),
                               GPU_TRY(detail::arriving_values<T>::create(stream, 1, where)));
  }

  /// Queues the product of two vectors and the copy of its value. If an earlier value was not asked
  /// for, it is lost, and this waits for it first.
  /// **Ordering**: after the work queued on the stream, which may be another one than that of
  /// `create` once that has made the memory; does not wait. The vectors must live until then.
  /// **Errors**: as for `reduction`; `errc::empty_handle`; `errc::capture_prohibited`.
  template <class X, class Y>
  result<> start(const stream_ref& stream, X&& x, Y&& y,
                 source_location where = source_location::current()) {
    constexpr const char* function = "gpu::async_inner_product::start";
    GPU_TRY(require_made(function, where));
    GPU_TRY(detail::require(stream, function, where));
    GPU_TRY(detail::require_no_capture(
        stream, function, "Use gpu::reduction::into, which leaves the value on the device.",
        where));
    if (value_.is_pending()) GPU_TRY(value_.wait(where));
    started_ = false;
    GPU_TRY(kernel_.into({stream, where}, on_device_, x, y));
    GPU_TRY(value_.start(stream, on_device_.span(), where));
    started_ = true;
    return {};
  }

  /// Returns whether the value is there, and does not wait.
  /// **Errors**: `errc::invalid_argument` if no product was started; `errc::empty_handle`; those of
  /// earlier work of the context.
  result<bool> is_done(source_location where = source_location::current()) const {
    GPU_TRY(require_started("gpu::async_inner_product::is_done", where));
    if (!value_.is_pending()) return true;
    return value_.is_done(where);
  }
  /// Waits for the value, and returns it. Errors as above.
  result<T> value(source_location where = source_location::current()) {
    GPU_TRY(require_started("gpu::async_inner_product::value", where));
    if (value_.is_pending()) GPU_TRY(value_.wait(where));
    return *value_.data();
  }

 private:
  async_inner_product(reduction<T, const T*, const T*> kernel, device_buffer<T> on_device,
                      detail::arriving_values<T> value) noexcept
      : kernel_{std::move(kernel)}, on_device_{std::move(on_device)}, value_{std::move(value)} {}

  result<> require_made(const char* function, source_location where) const {
    if (kernel_) return {};
    return detail::fail(detail::empty_handle_error(function, "async_inner_product", where));
  }
  result<> require_started(const char* function, source_location where) const {
    GPU_TRY(require_made(function, where));
    if (started_) return {};
    return detail::fail(
        detail::refusal(errc::invalid_argument, function,
                        text("no product was started. Call start(stream, x, y) first."), where));
  }

  reduction<T, const T*, const T*> kernel_;
  device_buffer<T> on_device_;
  detail::arriving_values<T> value_;
  bool started_ = false;
};

}}  // namespace gpu::v1

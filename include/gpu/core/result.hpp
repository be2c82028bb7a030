#pragma once
/// \file
/// `result<T>`: a value or a `cuda_error`. Every fallible function of the library returns one.

#include <gpu/core/error.hpp>
#include <gpu/core/expected.hpp>

#include <gpu/core/utility.hpp>

namespace gpu {

/// A `T`, or the error that kept it from being made. `[[nodiscard]]`, like the function it came
/// from.
template <class T = void> using result = expected<T, cuda_error>;

namespace detail {

/// `fail(refusal(...))` reads better than the `unexpected` it makes.
inline unexpected<cuda_error> fail(cuda_error error) noexcept {
  return unexpected<cuda_error>(detail::move(error));
}

/// What `GPU_TRY` yields: the value moved out, or nothing for `result<void>`.
template <class T> T take_value(result<T>& r) noexcept {
  if constexpr (!__is_same(T, void)) return *detail::move(r);
}

}  // namespace detail
}  // namespace gpu

/// Yields the value of a `result`, or returns its error from the enclosing function:
///
///     gpu::stream stream = GPU_TRY(gpu::stream::create(device));
///
/// The one macro of the interface. It uses the statement expressions of GCC and Clang. One may
/// stand inside another.
#define GPU_TRY(...) GPU_DETAIL_TRY(__COUNTER__, __VA_ARGS__)

// The number keeps a GPU_TRY inside another from shadowing its variable.
#define GPU_DETAIL_TRY(number, ...) GPU_DETAIL_TRY_AS(number, __VA_ARGS__)
#define GPU_DETAIL_TRY_AS(number, ...)                                                  \
  (__extension__({                                                                      \
    auto gpu_try_result_##number = (__VA_ARGS__);                                       \
    if (!gpu_try_result_##number.has_value()) [[unlikely]] {                            \
      return ::gpu::detail::fail(::gpu::detail::move(gpu_try_result_##number).error()); \
    }                                                                                   \
    ::gpu::detail::take_value(gpu_try_result_##number);                                 \
  }))

#pragma once
/// \file
/// The last error of a thread, for programs that look after the fact, as the CUDA runtime's do:
/// `peek_last_error` and `take_last_error`.
///
///     (void)gpu::launch(stream, {blocks, 256}, step, x);
///     (void)gpu::launch(stream, {blocks, 256}, step, y);
///     GPU_TRY(gpu::take_last_error());
///
/// An error is noted where this library makes it, whether its result is looked at or not. Unlike
/// the runtime's, it is not one of other libraries, nor of work that still runs: that takes a
/// synchronisation. What an owner's destructor meets goes to the error reporter instead. Where a
/// context is lost, the next call on it notes that again.
/// **Threads**: each has a last error of its own; so has each shared library that hides its
/// symbols.

#include <gpu/core/result.hpp>

namespace gpu::inline v0 {

/// The last error that a function of `gpu` returned in this thread, since it was taken; success
/// where there was none. Asks no driver, does not block, and is not affected by stream capture.
[[nodiscard]] inline result<> peek_last_error() noexcept {
  if (detail::last_error_is_gone || detail::last_error_of_thread.error.call() == nullptr) return {};
  return detail::fail(detail::last_error_of_thread.error);
}

/// The same, and forgets it.
[[nodiscard]] inline result<> take_last_error() noexcept {
  result<> last = peek_last_error();
  if (!last.has_value())
    detail::last_error_of_thread.error = cuda_error(error_domain::gpu, 0, nullptr, {});
  return last;
}

}  // namespace gpu::inline v0

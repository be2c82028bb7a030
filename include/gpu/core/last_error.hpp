#pragma once
/// \file
/// The last error of a thread, for programs that check for errors afterwards, as with the CUDA
/// runtime: `peek_last_error` and `take_last_error`.
///
///     (void)gpu::launch(stream, {blocks, 256}, step, x);
///     (void)gpu::launch(stream, {blocks, 256}, step, y);
///     GPU_TRY(gpu::take_last_error());
///
/// The library records each error that it returns, whether the result is checked or not. Unlike the
/// runtime's last error, this is never an error of another library, or of work that is still
/// running: synchronize to see that. Errors in destructors go to the error reporter instead. After
/// a sticky error, the next call on the context records it again. **Threads**: each thread has its
/// own last error; so does each shared library that hides its symbols. **Errors**: recording
/// the first error of a thread allocates memory; if that fails, the error is returned as always but
/// not recorded.

#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// Saves the last error of the thread, to restore it if what failed has an alternative that
/// succeeds.
class last_error_mark {
 public:
  void restore() const noexcept { set_last_error(error_); }

 private:
  cuda_error error_ = last_error();
};

}  // namespace detail

/// Returns the last error that a function of `gpu` returned on this thread since the last
/// `take_last_error`, or success if there was none. Does not call the driver or block; legal during
/// stream capture.
[[nodiscard]] inline result<> peek_last_error() noexcept {
  cuda_error last = detail::last_error();
  if (last.call() == nullptr) return {};
  return detail::fail(std::move(last));
}

/// Returns the last error like `peek_last_error`, and resets it to success.
[[nodiscard]] inline result<> take_last_error() noexcept {
  result<> last = peek_last_error();
  if (!last.has_value()) detail::set_last_error(detail::no_error());
  return last;
}

}}  // namespace gpu::v1

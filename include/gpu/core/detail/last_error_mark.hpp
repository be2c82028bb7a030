#pragma once
/// \file
/// `last_error_mark`: for functions that try something, and go another way where it fails.

#include <gpu/core/error.hpp>

namespace gpu::inline v0::detail {

/// The last error as it was, to go back to where there is another way than what failed.
class last_error_mark {
 public:
  last_error_mark() noexcept {
    if (!last_error_is_gone) error_ = last_error_of_thread.error;
  }
  void restore() const noexcept {
    if (!last_error_is_gone) last_error_of_thread.error = error_;
  }

 private:
  cuda_error error_{error_domain::gpu, 0, nullptr, source_location{}};
};

}  // namespace gpu::inline v0::detail

#pragma once
/// \file
/// `last_error_mark`: for functions that try something and have an alternative if it fails.

#include <gpu/core/error.hpp>

namespace gpu::inline v0::detail {

/// Saves the last error of the thread, to restore it if an alternative succeeds.
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

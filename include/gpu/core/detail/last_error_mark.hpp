#pragma once
/// \file
/// `last_error_mark`: for functions that try something and have an alternative if it fails.

#include <gpu/core/error.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Saves the last error of the thread, to restore it if an alternative succeeds.
class last_error_mark {
 public:
  void restore() const noexcept { set_last_error(error_); }

 private:
  cuda_error error_ = last_error();
};

}}}  // namespace gpu::v1::detail

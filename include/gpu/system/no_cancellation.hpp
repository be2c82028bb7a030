#pragma once
/// \file
/// `no_cancellation`: for work that must not be cut off in the middle.

#include <pthread.h>

namespace gpu { inline namespace v1 { namespace detail {

/// Has a `pthread_cancel` of this thread wait while it lives: NVRTC and nvJitLink hold locks, and
/// functions that let no exception out would end the program.
class [[nodiscard]] no_cancellation {
 public:
  no_cancellation() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  no_cancellation(const no_cancellation&) = delete;
  no_cancellation& operator=(const no_cancellation&) = delete;
  ~no_cancellation() { ::pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = 0;
};

}}}  // namespace gpu::v1::detail

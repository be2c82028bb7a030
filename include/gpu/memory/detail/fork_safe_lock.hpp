#pragma once
/// \file
/// `fork_safe_lock`: for a mutex that is held while the driver works, and that destructors take.

#include <gpu/driver/calls.hpp>
#include <gpu/system/operating_system.hpp>

namespace gpu::inline v0::detail {

/// Holds a mutex while it lives; but in a forked child none that another thread of the parent held,
/// since nobody there lets go of it. What the mutex guards is left alone then.
class [[nodiscard]] fork_safe_lock {
 public:
  explicit fork_safe_lock(mutex& wanted) noexcept : held_{&wanted} {
    if (driver::current_entry_points().unavailable != errc::process_forked) [[likely]] {
      gpu_c_mutex_lock(&wanted.native);
    } else if (gpu_c_mutex_trylock(&wanted.native) != 0) {
      held_ = nullptr;
    }
  }
  fork_safe_lock(const fork_safe_lock&) = delete;
  fork_safe_lock& operator=(const fork_safe_lock&) = delete;
  ~fork_safe_lock() {
    if (held_ != nullptr) gpu_c_mutex_unlock(&held_->native);
  }

  explicit operator bool() const noexcept { return held_ != nullptr; }

 private:
  mutex* held_;
};

}  // namespace gpu::inline v0::detail

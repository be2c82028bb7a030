#pragma once
/// \file
/// Takes back what a call has done by halves.

#include <gpu/testing/detail/machine/host_limits.hpp>

namespace gpu::inline v0::testing::cpu {

/// Calls `undo` at the end of a scope, unless `keep` was called: so that a call that ends early,
/// by a refusal or for want of host memory, leaves nothing behind.
template <class Undo> class [[nodiscard]] rollback {
 public:
  explicit rollback(Undo undo) : undo_{undo} {}
  rollback(const rollback&) = delete;
  rollback& operator=(const rollback&) = delete;
  ~rollback() {
    if (!kept_) (void)machine::within_memory(undo_);
  }
  void keep() noexcept { kept_ = true; }

 private:
  Undo undo_;
  bool kept_ = false;
};

}  // namespace gpu::inline v0::testing::cpu

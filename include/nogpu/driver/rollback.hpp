#pragma once
/// \file
/// Undoes a call that was only partly done.

#include <nogpu/machine/host_limits.hpp>

namespace nogpu { inline namespace v1 { namespace driver {

/// Calls `undo` at the end of a scope, unless `keep` was called, so that a call that ends early,
/// with an error or for lack of host memory, has no effect.
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

}}}  // namespace nogpu::v1::driver

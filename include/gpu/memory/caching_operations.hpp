#pragma once
/// \file
/// The members that `caching_allocator` and `caching_pinned_allocator` share.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>
#include <gpu/memory/detail/caching/segments.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// The members that `caching_allocator` and `caching_pinned_allocator` share. Move-only; empty
/// after a move. **Threads**: any thread may call any member, and destroy buffers, at the same
/// time.
template <class State> class caching_operations {
 public:
  /// Frees all free segments; returns their size in bytes. Blocks until the device is idle, or,
  /// for page-locked memory, until the streams of `free_after` have caught up.
  /// **Capture**: not allowed. (cuMemFree, cuMemFreeHost)
  std::size_t trim() noexcept { return state_ == nullptr ? 0 : state_->trim_all(); }

  /// Frees all free segments, as `trim` does, and from now on each segment as soon as its last
  /// buffer is destroyed. **Capture**: not allowed; afterwards, destroying buffers during capture
  /// is not allowed either. (cuMemFree, cuMemFreeHost)
  void stop_holding() noexcept {
    if (state_ != nullptr)
      detail::atomic_store<detail::memory_order::relaxed>(state_->stopped, true);
    trim();
  }

  /// Returns the current state and the history of the allocator.
  caching_statistics statistics() const noexcept {
    if (state_ == nullptr) return {};
    const detail::scoped_lock intact(state_->growing);
    return intact ? state_->statistics() : caching_statistics{};
  }

  context_ref context() const noexcept {
    return state_ == nullptr ? context_ref{} : state_->context;
  }

  caching_operations(caching_operations&& other) noexcept
      : state_{std::exchange(other.state_, nullptr)} {}
  caching_operations& operator=(caching_operations&& other) noexcept {
    caching_operations taken{std::move(other)};
    std::swap(state_, taken.state_);
    return *this;
  }

 protected:
  caching_operations() noexcept = default;
  explicit caching_operations(State* state) noexcept : state_{state} {}
  ~caching_operations() {
    if (state_ != nullptr) state_->close();
  }

  static result<State*> create_state(context_ref in, const caching_options& options,
                                     const char* function, source_location where) noexcept {
    GPU_TRY(detail::check_caching_options(options, function, where));
    auto* state = new (std::nothrow) State;
    if (state == nullptr) {
      return detail::fail(detail::out_of_host_memory_error(function, sizeof *state, where));
    }
    state->context = in;
    state->options = options;
    return state;
  }

  result<> require_state(const char* function, source_location where) const noexcept {
    if (state_ != nullptr) return {};
    return detail::fail(detail::empty_handle_error(function, "allocator", where));
  }

  State* state_ = nullptr;

 private:
  friend struct detail::caching_access;
};

}}  // namespace gpu::v1

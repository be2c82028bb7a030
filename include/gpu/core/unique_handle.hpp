#pragma once
/// \file
/// `unique_handle`: the one place where the ownership of a driver object moves.

namespace gpu::inline v0 {

/// Owns a handle and gives it to `Destroy` at the end. Move-only; empty after a move.
/// `Handle` is default constructible to its empty value, comparable and cheap to copy; where it
/// carries more than the raw handle (the context, say), all of it moves together.
/// `Destroy` is a stateless callable that takes a `Handle`, never throws and reports its failures.
template <class Handle, class Destroy> class unique_handle {
 public:
  constexpr unique_handle() noexcept = default;
  constexpr explicit unique_handle(Handle handle) noexcept : handle_{handle} {}
  constexpr unique_handle(unique_handle&& other) noexcept : handle_{other.handle_} {
    other.handle_ = Handle{};
  }
  constexpr unique_handle& operator=(unique_handle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  // Inline, so that what was just moved from costs nothing, and lives in registers until then.
  [[gnu::always_inline]] constexpr ~unique_handle() {
    if (!(handle_ == Handle{})) Destroy{}(handle_);
  }

  constexpr const Handle& get() const noexcept { return handle_; }
  constexpr explicit operator bool() const noexcept { return !(handle_ == Handle{}); }

  /// Gives the handle up without destroying it.
  [[nodiscard]] constexpr Handle release() noexcept {
    const Handle owned = handle_;
    handle_ = Handle{};
    return owned;
  }

  /// Destroys what is owned and takes `handle` instead.
  [[gnu::always_inline]] constexpr void reset(Handle handle = Handle{}) noexcept {
    const Handle old = handle_;
    handle_ = handle;
    if (!(old == Handle{})) Destroy{}(old);
  }

 private:
  Handle handle_{};
};

}  // namespace gpu::inline v0

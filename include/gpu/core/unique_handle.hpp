#pragma once
/// \file
/// `unique_handle`: sole ownership of a driver object, the base of all owners.

namespace gpu { inline namespace v1 {

/// Owns a handle and passes it to `Destroy` in its destructor. Move-only; empty after a move.
/// `Handle` must be default constructible to its empty value, comparable and cheap to copy; it can
/// hold more than the raw handle, such as the context. `Destroy` is a stateless callable that takes
/// a `Handle`, never throws, and reports its errors.
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
  constexpr ~unique_handle() {
    if (!(handle_ == Handle{})) Destroy{}(handle_);
  }

  constexpr const Handle& get() const noexcept { return handle_; }
  constexpr explicit operator bool() const noexcept { return !(handle_ == Handle{}); }

  /// Returns the handle and gives up ownership without destroying it.
  [[nodiscard]] constexpr Handle release() noexcept {
    const Handle owned = handle_;
    handle_ = Handle{};
    return owned;
  }

  /// Destroys the owned handle and takes ownership of `handle`.
  constexpr void reset(Handle handle = Handle{}) noexcept {
    const Handle old = handle_;
    handle_ = handle;
    if (!(old == Handle{})) Destroy{}(old);
  }

 private:
  Handle handle_{};
};

}}  // namespace gpu::v1

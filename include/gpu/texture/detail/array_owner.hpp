#pragma once
/// \file
/// What arrays and mipmapped arrays have in common as handles: their names know what they are, and
/// their owners destroy them.

#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/texture/array_shape.hpp>

namespace gpu::inline v0::detail {

/// The T of arrays whose format is known at run time only.
template <class T>
concept untyped_texel = is_void<T>;

/// Says what is wrong with a T that is no type of texels.
template <class T> struct texel_check {
  static_assert(
      untyped_texel<T> || (texel<T> && same<T, remove_cv_t<T>>),
      "a texel has 1, 2 or 4 channels of integers up to 32 bits, float or gpu::half_bits, "
      "or a gpu::texel_format_of");
  static constexpr bool passed = true;
};

/// The driver's handle of an array, and what it stands for.
template <class Native> class array_name {
 public:
  constexpr Native native() const noexcept { return native_; }
  constexpr context_ref context() const noexcept { return context_; }
  constexpr gpu::device device() const noexcept { return context_.device(); }
  /// Of the first level where there are several.
  constexpr const array_shape& shape() const noexcept { return shape_; }
  constexpr texel_format format() const noexcept { return format_; }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }

 protected:
  constexpr array_name() noexcept = default;
  constexpr array_name(Native native, context_ref context, const array_shape& shape,
                       texel_format format) noexcept
      : native_{native}, context_{context}, shape_{shape}, format_{format} {}

 private:
  Native native_ = nullptr;
  context_ref context_;
  array_shape shape_;
  texel_format format_;
};

/// The owner `Self` of what a `Ref<T>` names.
template <class Self, template <class> class Ref, class T, class Destroy> class array_owner {
 public:
  using value_type = T;

  /// Takes over an array that the driver made.
  static Self adopt(const Ref<T>& owned) noexcept { return Self{owned}; }
  /// Gives the array up; the caller destroys it.
  [[nodiscard]] Ref<T> release() noexcept { return handle_.release(); }

  auto native() const noexcept { return handle_.get().native(); }
  /// The context that the array belongs to; empty after a move.
  context_ref context() const noexcept { return handle_.get().context(); }
  gpu::device device() const noexcept { return handle_.get().device(); }
  /// Of the first level where there are several.
  const array_shape& shape() const noexcept { return handle_.get().shape(); }
  texel_format format() const noexcept { return handle_.get().format(); }

  operator Ref<T>() const& noexcept { return handle_.get(); }
  operator Ref<T>() const&& = delete;  // a name must not outlive its owner
  operator Ref<void>() const& noexcept
    requires(!untyped_texel<T>)
  {
    return handle_.get();
  }
  operator Ref<void>() const&&
    requires(!untyped_texel<T>)
  = delete;

 protected:
  explicit array_owner(const Ref<T>& owned) noexcept : handle_{owned} {}

  const Ref<T>& name() const noexcept { return handle_.get(); }

 private:
  unique_handle<Ref<T>, Destroy> handle_;
};

}  // namespace gpu::inline v0::detail

#pragma once
/// \file
/// Base classes of the refs and owners of arrays and mipmapped arrays.

#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// The T of arrays whose format is known only at run time.
template <class T>
concept untyped_texel = std::is_void_v<T>;

/// Rejects at compile time a T that cannot be the type of texels.
template <class T> struct texel_check {
  static_assert(
      untyped_texel<T> || (texel<T> && std::same_as<T, std::remove_cv_t<T>>),
      "a texel has 1, 2 or 4 channels of integers up to 32 bits, float or gpu::half_bits, "
      "or a gpu::texel_format_of");
  static constexpr bool passed = true;
};

/// The base of `cuda_array_ref` and `mipmapped_array_ref`: the driver's handle and the properties
/// of the array.
template <class Native> class array_ref_base {
 public:
  constexpr Native native() const noexcept { return native_; }
  constexpr context_ref context() const noexcept { return context_; }
  constexpr gpu::device device() const noexcept { return context_.device(); }
  /// Returns the shape; of a mipmapped array, that of level 0.
  constexpr const array_shape& shape() const noexcept { return shape_; }
  constexpr texel_format format() const noexcept { return format_; }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }

 protected:
  constexpr array_ref_base() noexcept = default;
  constexpr array_ref_base(Native native, context_ref context, const array_shape& shape,
                           texel_format format) noexcept
      : native_{native}, context_{context}, shape_{shape}, format_{format} {}

 private:
  Native native_ = nullptr;
  context_ref context_;
  array_shape shape_;
  texel_format format_;
};

/// The base of the owner `Self` of an array that a `Ref<T>` refers to.
template <class Self, template <class> class Ref, class T, class Destroy> class array_owner {
 public:
  using value_type = T;

  /// Takes ownership of an array that the driver created.
  static Self adopt(const Ref<T>& owned) noexcept { return Self{owned}; }
  /// Gives up ownership; the caller destroys the array.
  [[nodiscard]] Ref<T> release() noexcept { return handle_.release(); }

  auto native() const noexcept { return handle_.get().native(); }
  /// Returns the context that the array belongs to; empty after a move.
  context_ref context() const noexcept { return handle_.get().context(); }
  gpu::device device() const noexcept { return handle_.get().device(); }
  /// Returns the shape; of a mipmapped array, that of level 0.
  const array_shape& shape() const noexcept { return handle_.get().shape(); }
  texel_format format() const noexcept { return handle_.get().format(); }

  operator Ref<T>() const& noexcept { return handle_.get(); }
  operator Ref<T>() const&& = delete;  // a ref must not outlive its owner
  operator Ref<void>() const& noexcept
    requires(!untyped_texel<T>)
  {
    return handle_.get();
  }
  operator Ref<void>() const&&
    requires(!untyped_texel<T>)
  = delete;

 protected:
  array_owner() noexcept = default;
  explicit array_owner(const Ref<T>& owned) noexcept : handle_{owned} {}

  const Ref<T>& ref() const noexcept { return handle_.get(); }

 private:
  unique_handle<Ref<T>, Destroy> handle_;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Base classes of the refs and owners of textures and surfaces.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>

#include <concepts>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The base of `texture_ref` and `surface_ref`: the driver's 64-bit handle.
template <class Self> class image_ref_base {
 public:
  static constexpr Self from_native(unsigned long long native) noexcept {
    Self made;
    made.native_ = native;
    return made;
  }
  constexpr unsigned long long native() const noexcept { return native_; }
  constexpr explicit operator bool() const noexcept { return native_ != 0; }
  /// Converts to the type of a kernel's parameter, but not to other integer types.
  template <class U>
    requires std::same_as<U, unsigned long long>
  constexpr operator U() const noexcept {
    return native_;
  }
  friend constexpr bool operator==(Self a, Self b) noexcept { return a.native() == b.native(); }

 protected:
  constexpr image_ref_base() noexcept = default;
  constexpr explicit image_ref_base(unsigned long long native) noexcept : native_{native} {}

 private:
  unsigned long long native_ = 0;
};
static_assert(std::same_as<CUtexObject, unsigned long long> &&
              std::same_as<CUsurfObject, unsigned long long>);

/// A texture or surface object and the context that it belongs to.
struct image_object {
  unsigned long long native = 0;
  context_ref context;

  friend constexpr bool operator==(const image_object& a, const image_object& b) noexcept {
    return a.native == b.native && a.context == b.context;
  }
};

template <auto Member> struct destroy_image {
  void operator()(const image_object& object) const noexcept {
    driver::destroy_in<Member>(object.context.native(), object.native);
  }
};

/// The base of `texture` and `surface`: owns an object that a `Ref` refers to and, in a `Kept`, the
/// array behind it if that was moved into it.
template <class Ref, class Kept, auto Destroy> class image_owner {
 public:
  /// Gives up ownership of the object; the caller destroys it. An array that was moved into it
  /// stays here, and is destroyed with this.
  [[nodiscard]] Ref release() noexcept { return Ref::from_native(handle_.release().native); }

  unsigned long long native() const noexcept { return handle_.get().native; }
  /// Returns the context that the object belongs to; empty after a move.
  context_ref context() const noexcept { return handle_.get().context; }
  gpu::device device() const noexcept { return context().device(); }

  operator Ref() const& noexcept { return Ref::from_native(native()); }
  operator Ref() const&& = delete;  // a ref must not outlive its owner

 protected:
  image_owner() noexcept = default;
  explicit image_owner(const image_object& owned) noexcept : handle_{owned} {}
  image_owner(image_owner&&) noexcept = default;
  image_owner& operator=(image_owner&& other) noexcept {
    handle_ = std::move(other.handle_);  // destroys the object before the array behind it
    kept_ = std::move(other.kept_);
    return *this;
  }
  ~image_owner() = default;

  /// Sets `native` to a descriptor of the object; `what` is its name in errors.
  template <auto Member, class Native>
  result<> get(const char* function, const char* what, source_location where,
               Native* native) const noexcept {
    if (!handle_) return fail(empty_handle_error(function, what, where));
    return driver::call_in<Member>(context().native(), where, native, this->native());
  }

  Kept kept_;

 private:
  unique_handle<image_object, destroy_image<Destroy>> handle_;
};

}}}  // namespace gpu::v1::detail

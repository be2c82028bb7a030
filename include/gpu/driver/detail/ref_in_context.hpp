#pragma once
/// \file
/// `ref_in_context`: the base of refs to objects that belong to a context.

#include <gpu/driver/context.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Base of refs: a handle of the driver and the context that it belongs to.
template <class Self, class Native> class ref_in_context {
 public:
  constexpr ref_in_context() noexcept = default;

  /// Returns a ref to an object that was made elsewhere, for work in `context`.
  static constexpr Self from_native(Native native, context_ref context) noexcept {
    Self made;
    made.native_ = native;
    made.context_ = context;
    return made;
  }
  constexpr Native native() const noexcept { return native_; }
  constexpr context_ref context() const noexcept { return context_; }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }
  friend constexpr bool operator==(const Self& a, const Self& b) noexcept {
    return a.native() == b.native();
  }

 private:
  Native native_ = nullptr;
  context_ref context_;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `located<T>`: an argument together with the source location of the call.

#include <gpu/core/source_location.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

/// Converts from anything that `T` converts from, and records the source location of the
/// conversion. Functions that end in a parameter pack take one as their first parameter, because a
/// defaulted location cannot follow a pack.
template <class T> struct located {
  T value;
  source_location where;

  template <class U>
    requires std::is_convertible_v<U&&, T>
  constexpr located(U&& source, source_location place = source_location::current()) noexcept
      : value(static_cast<U&&>(source)), where{place} {}
};

}}  // namespace gpu::v1

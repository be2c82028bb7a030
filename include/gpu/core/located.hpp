#pragma once
/// \file
/// `located<T>`: an argument that also carries the place of the call.

#include <gpu/core/source_location.hpp>
#include <gpu/core/utility.hpp>

#include <type_traits>

namespace gpu {

/// Converts from whatever `T` converts from and notes where that happened. Functions that end in a
/// parameter pack take one as their first parameter, since no defaulted location can follow a pack.
template <class T> struct located {
  T value;
  source_location where;

  template <class U>
    requires std::is_convertible_v<U&&, T>
  constexpr located(U&& source, source_location place = source_location::current()) noexcept
      : value(std::forward<U>(source)), where{place} {}
};

}  // namespace gpu

#pragma once
/// \file
/// `std::move`, `std::forward`, `std::swap` and `std::in_place_t` for what they are worth.
///
/// `<utility>` costs half of `cuda.h`, nearly all of it for `pair`, `compare` and `concepts`, which
/// the lower layers do not use. libstdc++ keeps the few words that they do use in two headers of
/// their own; elsewhere it is `<utility>` as usual.

#if __has_include(<bits/move.h>) && __has_include(<bits/utility.h>)
#  include <bits/move.h>
#  include <bits/utility.h>
#else
#  include <utility>
#endif

namespace gpu::detail {

/// As `std::exchange`.
template <class T, class U = T> constexpr T exchange(T& object, U&& replacement) noexcept {
  T old = std::move(object);
  object = std::forward<U>(replacement);
  return old;
}

}  // namespace gpu::detail

#pragma once
/// \file
/// What a vector makes its elements of, as concepts: iterators, and nothing.

#include <cstddef>

namespace gpu::inline v0::detail {

/// Iterators, one-pass ones among them, whose elements make a `T`.
template <class Iterator, class T>
concept reads_as = requires(Iterator i) {
  static_cast<T>(*i);
  ++i;
};

/// Iterators that tell how many elements there are.
template <class Iterator>
concept subtractable = requires(const Iterator& i) { static_cast<std::size_t>(i - i); };

/// Iterators that throw nothing while elements are made of theirs.
template <class Iterator, class T>
concept reads_quietly = requires(Iterator i) {
  { static_cast<T>(*i) } noexcept;
  { ++i } noexcept;
  { i != i } noexcept;
  { Iterator(i) } noexcept;
  requires !subtractable<Iterator> || requires {
    { i - i } noexcept;
  };
};

/// Types that have a `T{}`.
template <class T>
concept made_of_nothing = requires { T{}; };
template <class T>
concept made_quietly = requires {
  { T{} } noexcept;
};

}  // namespace gpu::inline v0::detail

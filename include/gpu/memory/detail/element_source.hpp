#pragma once
/// \file
/// Concepts for what a vector can make its elements from.

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Iterators, also single-pass ones, whose elements convert to `T`.
template <class Iterator, class T>
concept reads_as = requires(Iterator i) {
  static_cast<T>(*i);
  ++i;
};

/// Iterators that can be subtracted, which gives the number of elements in advance.
template <class Iterator>
concept subtractable = requires(const Iterator& i) { static_cast<std::size_t>(i - i); };

/// Iterators that do not throw while elements are made from theirs.
template <class Iterator, class T>
concept nothrow_reads_as = requires(Iterator i) {
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
concept default_makeable = requires { T{}; };
template <class T>
concept nothrow_default_makeable = requires {
  { T{} } noexcept;
};

}}}  // namespace gpu::v1::detail

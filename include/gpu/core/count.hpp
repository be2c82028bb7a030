#pragma once
/// \file
/// `basic_count`: a number of elements or bytes that is set from an integer of any type.

#include <gpu/core/detail/traits.hpp>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// An integer, or an enumerator that converts to one.
template <class I>
concept counts =
    detail::word_integer<I> || (std::is_enum_v<I> && std::is_convertible_v<I, unsigned long long>);

/// Returns `value` in an unsigned type; the largest of that if it is negative or does not fit.
template <class Word, counts I> constexpr Word saturated(I value) noexcept {
  constexpr Word largest = static_cast<Word>(-1);
  if (static_cast<long long>(value) < 0) return largest;
  const auto wide = static_cast<unsigned long long>(value);
  return wide > largest ? largest : static_cast<Word>(wide);
}

}  // namespace detail

/// A number of elements or bytes that an integer of any type sets, without a warning about
/// narrowing. A negative number, or one that does not fit, becomes the largest `Word`, which the
/// function that takes it refuses.
template <class Word> class basic_count {
 public:
  constexpr basic_count() noexcept = default;
  template <detail::counts I>
  constexpr basic_count(I value) noexcept : value_{detail::saturated<Word>(value)} {}

  constexpr operator Word() const noexcept { return value_; }
  constexpr Word value() const noexcept { return value_; }

 private:
  Word value_ = 0;
};

}}  // namespace gpu::v1

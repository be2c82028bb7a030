#pragma once
/// \file
/// Concepts for the memory that a range of elements is in: `host_range` and `pinned_range`. They
/// require only `data()` and `size()`, so that `<ranges>` and `<span>` are not included.

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// Specialize as `true` for a type whose elements are all in page-locked host memory.
template <class Range> inline constexpr bool enable_pinned_range = false;

namespace detail {

template <class T, std::size_t N> constexpr T* data_of(T (&array)[N]) noexcept { return array; }
template <class Range> constexpr auto data_of(Range& range) noexcept -> decltype(range.data()) {
  return range.data();
}
template <class T, std::size_t N> constexpr std::size_t size_of(T (&)[N]) noexcept { return N; }
template <class Range>
constexpr auto size_of(Range& range) noexcept -> decltype(std::size_t{range.size()}) {
  return range.size();
}

/// The type of a host range's elements; const if they cannot be written.
template <class Range>
using host_element_t = std::remove_pointer_t<decltype(detail::data_of(std::declval<Range&>()))>;

}  // namespace detail

/// Contiguous elements in host memory: an array, a `std::vector`, a `std::span`, a `pinned_vector`.
/// Ranges in device memory have no `begin` and do not match.
template <class Range>
concept host_range = requires(std::remove_reference_t<Range>& range) {
  requires std::is_pointer_v<decltype(detail::data_of(range))>;
  detail::size_of(range);
  requires std::is_array_v<std::remove_reference_t<Range>> || requires { range.begin(); };
};

/// A host range in page-locked memory, which asynchronous copies need: a view, or an lvalue of an
/// owner. A temporary owner does not match, because its memory would be gone before the copy runs.
template <class Range>
concept pinned_range =
    host_range<Range> && enable_pinned_range<std::remove_cvref_t<Range>> &&
    (std::is_lvalue_reference_v<Range> || std::is_trivially_copyable_v<std::remove_cvref_t<Range>>);

}}  // namespace gpu::v1

#pragma once
/// \file
/// Where a range of elements lives, as concepts: `host_range`, `pinned_range` and `device_range`.
/// They ask no more than `data()` and `size()`, so that no `<ranges>` or `<span>` is included.

#include <gpu/core/detail/traits.hpp>

#include <cstddef>

namespace gpu::inline v0 {

/// Specialise as `true` for a type whose elements all lie in page-locked host memory.
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

/// The type of a host range's elements, const where they cannot be written.
template <class Range>
using host_element_t = remove_pointer_t<decltype(detail::data_of(declval<Range&>()))>;

}  // namespace detail

/// Contiguous elements in host memory: an array, a `std::vector`, a `std::span`, a `pinned_vector`.
/// What lives on a device has no `begin`.
template <class Range>
concept host_range = requires(detail::remove_reference_t<Range>& range) {
  requires detail::is_pointer<decltype(detail::data_of(range))>;
  detail::size_of(range);
  requires detail::is_array<detail::remove_reference_t<Range>> || requires { range.begin(); };
};

/// A host range in page-locked memory, which asynchronous copies need: a view, or an lvalue of an
/// owner, for a temporary's memory would be gone before the copy runs.
template <class Range>
concept pinned_range = host_range<Range> && enable_pinned_range<detail::remove_cvref_t<Range>> &&
                       (detail::is_lvalue_reference<Range> ||
                        detail::trivially_copyable<detail::remove_cvref_t<Range>>);

}  // namespace gpu::inline v0

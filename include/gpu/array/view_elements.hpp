#pragma once
/// \file
/// Views of the same memory with another element type: `view_as<T>`, `real`, `imag`.

#include <gpu/array/detail/view_changes.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_layout.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Returns a view of the same bytes as elements of type `U`, as NumPy's `view(dtype)`. If the sizes
/// differ the last axis, whose elements are contiguous, gets longer or shorter. The view is faulty
/// if the bytes of that axis are not a multiple of the new size, or are not aligned to it.
template <class U, detail::viewable A> auto view_as(A&& a) noexcept {
  using element = detail::viewed_element_t<A>;
  static_assert(std::is_const_v<U> || !std::is_const_v<element>,
                "gpu::view_as: the elements are const; view them as const elements");
  constexpr int rank = detail::viewed_rank<A>;
  static_assert(rank > 0 || sizeof(U) == sizeof(element),
                "gpu::view_as: a view of rank 0 has no axis that could get longer or shorter");
  detail::view_layout layout =
      detail::view_access::layout_of(detail::array_view_of(static_cast<A&&>(a)));
  detail::change_elements(layout, sizeof(U), alignof(U));
  return detail::view_access::make<U, rank>(layout);
}

namespace detail {

/// Describes element types that are a pair of a real and an imaginary part, in this order, such as
/// `std::complex<float>`.
template <class C> struct complex_parts {};
template <template <class> class Complex, class T>
  requires requires(const Complex<T>& c) {
    { c.real() } -> std::same_as<T>;
    { c.imag() } -> std::same_as<T>;
    requires sizeof(Complex<T>) == 2 * sizeof(T);
  }
struct complex_parts<Complex<T>> {
  using part = T;
};

template <class A>
concept complex_viewable = has_elements<A> && requires {
  typename complex_parts<std::remove_cv_t<viewed_element_t<A>>>::part;
};

template <class A>
concept real_viewable = has_elements<A> && ordered_number<std::remove_cv_t<viewed_element_t<A>>>;

/// Returns a view of one of the parts of complex numbers.
template <class A> auto part_view(A&& a, std::ptrdiff_t which) noexcept {
  using element = viewed_element_t<A>;
  using part = typename complex_parts<std::remove_cv_t<element>>::part;
  using result_part = std::conditional_t<std::is_const_v<element>, const part, part>;
  constexpr int rank = viewed_rank<A>;
  view_layout layout = view_access::layout_of(detail::array_view_of(static_cast<A&&>(a)));
  layout.element_bytes = sizeof(part);
  if (!layout.fault) layout.advance(which);
  for (int axis = 0; axis < rank; ++axis) {  // as unsigned numbers: of one element, it may be any
    layout.strides[axis] =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(layout.strides[axis]) * 2);
  }
  return view_access::make<result_part, rank>(layout);
}

}  // namespace detail

/// Returns a view of the real parts of complex elements, which can be written.
template <detail::complex_viewable A> auto real(A&& a) noexcept {
  return detail::part_view(static_cast<A&&>(a), 0);
}

/// Returns a view of the elements, which are real.
template <detail::real_viewable A> auto real(A&& a) noexcept {
  return detail::array_view_of(static_cast<A&&>(a));
}

/// Returns a view of the imaginary parts of complex elements, which can be written.
template <detail::complex_viewable A> auto imag(A&& a) noexcept {
  return detail::part_view(static_cast<A&&>(a), 1);
}

}}  // namespace gpu::v1

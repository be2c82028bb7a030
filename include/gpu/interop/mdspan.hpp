#pragma once
/// \file
/// `std::mdspan` of host memory, to arrays and back, where the standard library has it (C++23).

#include <gpu/array/creation.hpp>      // IWYU pragma: keep
#include <gpu/array/detail/fetch.hpp>  // IWYU pragma: keep

#include <version>  // IWYU pragma: keep

#if defined(__cpp_lib_mdspan)

#  include <array>
#  include <mdspan>
#  include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns the shape of a view of the host's memory.
template <class T, class Extents, class Layout, class Accessor>
shape<int{Extents::rank()}> shape_of(
    const std::mdspan<T, Extents, Layout, Accessor>& view) noexcept {
  shape<int{Extents::rank()}> extents;
  for (std::size_t axis = 0; axis < Extents::rank(); ++axis)
    extents[static_cast<int>(axis)] = static_cast<std::size_t>(view.extent(axis));
  return extents;
}

/// Views whose elements are one after the other in C order.
template <class> inline constexpr bool is_plain_view = false;
template <class T, class Extents>
inline constexpr bool is_plain_view<std::mdspan<T, Extents>> = true;
template <class View> inline constexpr bool is_plain = is_plain_view<std::remove_cvref_t<View>>;

/// Calls `visit(element, k)` for each element of a view, whose number in C order is `k`.
template <class View, class Visit> void for_each_element(const View& view, Visit visit) {
  std::array<std::size_t, View::rank()> index{};
  for (std::size_t k = 0, count = view.size(); k < count; ++k) {
    visit(view[index], k);
    for (std::size_t axis = View::rank(); axis-- > 0;) {
      if (++index[axis] < static_cast<std::size_t>(view.extent(axis))) break;
      index[axis] = 0;
    }
  }
}

}  // namespace detail

/// Makes an array of the elements of a `std::mdspan`, of any layout, in C order.
/// **Ordering**: waits for the stream. **Errors**: those of `array::from`;
/// `errc::out_of_host_memory`: elements that are not in C order are gathered first.
/// **Capture**: not allowed.
template <class T, class Extents, class Layout, class Accessor>
result<array<std::remove_cv_t<T>, int{Extents::rank()}>> to_array(
    const stream_ref& stream, const std::mdspan<T, Extents, Layout, Accessor>& view,
    source_location where = source_location::current()) {
  using element = std::remove_cv_t<T>;
  constexpr const char* function = "gpu::to_array";
  GPU_TRY(detail::require_waiting(function, stream, where));
  auto made = GPU_TRY((gpu::empty<element>(stream, detail::shape_of(view), where)));
  if constexpr (detail::is_plain<decltype(view)>) {
    GPU_TRY(detail::upload(stream, view.data_handle(), detail::copy_end_of(made), sizeof(element),
                           where));
    return made;
  }
  const auto packed = GPU_TRY(detail::host_bytes::create(function, made.size_bytes(), where));
  detail::for_each_element(view, [&](const element& value, std::size_t k) {
    __builtin_memcpy(packed.data() + k * sizeof(element), &value, sizeof(element));
  });
  GPU_TRY(detail::upload(stream, packed.data(), detail::copy_end_of(made), sizeof(element), where));
  return made;
}

/// Copies the elements of a view or an array to those of a `std::mdspan` of any layout.
/// **Ordering**: waits for the stream. **Errors**: `errc::size_mismatch` with both shapes; the
/// reason of a faulty view; `errc::empty_handle`; `errc::out_of_host_memory`.
/// **Capture**: not allowed.
template <detail::viewable A, class Extents, class Layout, class Accessor>
  requires(detail::viewed_rank<const A&> == int{Extents::rank()})
result<> to_mdspan(const stream_ref& stream, const A& a,
                   const std::mdspan<detail::value_of_view<A>, Extents, Layout, Accessor>& out,
                   source_location where = source_location::current()) {
  using element = detail::value_of_view<A>;
  constexpr const char* function = "gpu::to_mdspan";
  const array_view<const element, detail::viewed_rank<const A&>> view = detail::array_view_of(a);
  GPU_TRY(detail::require_readable(function, stream, detail::array_view_of(a), a, where));
  if (!(view.shape() == detail::shape_of(out))) {
    detail::text_builder words;
    words << "the array has the shape ";
    detail::write_shape(words, view.shape());
    words << ", but the mdspan has ";
    detail::write_shape(words, detail::shape_of(out));
    words << ". Pass one of the same shape.";
    return detail::fail(detail::refusal(errc::size_mismatch, function, words.finish(), where));
  }
  const auto packed = GPU_TRY(detail::fetch(function, stream, view, where));
  if constexpr (detail::is_plain<decltype(out)>) {
    __builtin_memcpy(out.data_handle(), packed.data(), view.size() * sizeof(element));
    return {};
  }
  detail::for_each_element(out, [&](element& value, std::size_t k) {
    __builtin_memcpy(&value, packed.data() + k * sizeof(element), sizeof(element));
  });
  return {};
}

/// Returns the copy of an array in host memory as a `std::mdspan` with the shape and the order of
/// the array: what `gpu::copy(stream, a, pinned)` fills.
///
///     auto host = GPU_TRY(gpu::pinned_vector<float>::create(device, a.size()));
///     GPU_TRY(gpu::copy(stream, a, host));
///     GPU_TRY(stream.synchronize());
///     const auto m = GPU_TRY(gpu::as_mdspan(a, host));  // m[i, j]
///
/// **Errors**: `errc::size_mismatch`.
template <class T, int Rank, host_range Range>
auto as_mdspan(const array<T, Rank>& a, Range& host,
               source_location where = source_location::current()) noexcept
    -> result<std::mdspan<detail::host_element_t<Range>, std::dextents<std::size_t, Rank>,
                          std::layout_stride>> {
  GPU_TRY(detail::require_shape("gpu::as_mdspan", detail::size_of(host), a.shape(), where));
  std::array<std::size_t, Rank> extents{}, strides{};
  for (int axis = 0; axis < Rank; ++axis) {
    extents[static_cast<std::size_t>(axis)] = a.extent(axis);
    strides[static_cast<std::size_t>(axis)] = static_cast<std::size_t>(a.stride(axis));
  }
  using mapping = std::layout_stride::mapping<std::dextents<std::size_t, Rank>>;
  return std::mdspan<detail::host_element_t<Range>, std::dextents<std::size_t, Rank>,
                     std::layout_stride>(
      detail::data_of(host), mapping(std::dextents<std::size_t, Rank>(extents), strides));
}

}}  // namespace gpu::v1

#endif

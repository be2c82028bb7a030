#pragma once
/// \file
/// One side of a 2D or 3D copy: memory with a pitch, or a CUDA array. The overloads of `copy` for
/// pitched memory and for arrays both reduce their arguments to two of these.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/pitched_span.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

template <class> inline constexpr bool is_pitched_view = false;
template <class T, memory_side Side>
inline constexpr bool is_pitched_view<pitched_view<T, Side>> = true;

/// A pitched view, or an lvalue of a type whose `span()` returns one, such as `pitched_buffer`.
template <class Range>
concept pitched_range = is_pitched_view<std::remove_cvref_t<Range>> || requires(Range&& range) {
  requires is_pitched_view<decltype(static_cast<Range&&>(range).span())>;
};

/// Returns the pitched view of `range`: itself, or its `span()`.
template <pitched_range Range> constexpr auto pitched_view_of(Range&& range) noexcept {
  if constexpr (is_pitched_view<std::remove_cvref_t<Range>>) {
    return range;
  } else {
    return static_cast<Range&&>(range).span();
  }
}

template <class Range>
using pitched_view_t = decltype(detail::pitched_view_of(std::declval<Range>()));

template <class Range> constexpr bool is_host_region() noexcept {
  return pitched_view_t<Range>::side == memory_side::host;
}
template <class Range> constexpr bool is_device_region() noexcept {
  return pitched_view_t<Range>::side == memory_side::device;
}

struct region_side {
  std::uintptr_t address = 0;
  std::size_t pitch = 0;
  box_extent size;
  std::size_t rows = 0;  // from one plane to the next
  std::size_t element = 0;
  bool on_device = false;
  CUarray array = nullptr;     // instead of address, pitch and rows
  bool needs_context = false;  // an owner, which has one until it is moved from
  context_ref context{};       // empty if it is not known, and for host memory

  bool moved_from() const noexcept { return needs_context && !context; }
};

template <pitched_range Range> region_side side_of(Range&& range) noexcept {
  const auto view = pitched_view_of(static_cast<Range&&>(range));
  using type = pitched_view_t<Range>;
  region_side side{.address = reinterpret_cast<std::uintptr_t>(view.data()),
                   .pitch = view.pitch(),
                   .size = view.size(),
                   .rows = view.plane_rows(),
                   .element = sizeof(typename type::element_type),
                   .on_device = type::side == memory_side::device};
  if constexpr (requires { context_ref{range.context()}; }) {
    side.context = range.context();
    side.needs_context = true;
  }
  return side;
}

/// Checks pitch, rows and size of pitched memory.
/// **Errors**: `errc::empty_handle` for an owner that was moved from; `errc::invalid_argument` if
/// rows or planes overlap; `errc::size_overflow` if the region has more bytes than memory can
/// have.
inline result<> check_side(const char* function, const char* what, const region_side& side,
                           source_location where) noexcept {
  if (side.array != nullptr) return {};
  if (side.moved_from()) return fail(empty_handle_error(function, what, where));
  const std::size_t row = saturated_product(side.size.width, side.element);
  if (row > most_memory_bytes || side.pitch < row) {
    text_builder out;
    out << "each row of the " << what << " has " << side.size.width << " elements of "
        << side.element << " bytes, but the pitch is " << side.pitch
        << " bytes. Pass a pitch of at least one row, or 0 for rows without gaps.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, row, side.pitch));
  }
  if (side.rows < side.size.height) {
    text_builder out;
    out << "each plane of the " << what << " has " << side.size.height
        << " rows, but plane_rows is " << side.rows
        << ". Pass at least the height for plane_rows, or 0 for planes without gaps.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, side.size.height,
                        side.rows));
  }
  const std::size_t plane = saturated_product(side.pitch, side.rows);
  if (saturated_product(plane, side.size.depth) > most_memory_bytes && !side.size.empty()) {
    text_builder out;
    out << "the " << what << " has " << side.size.depth << " planes of " << side.rows << " rows of "
        << side.pitch << " bytes, which is more bytes than memory can have. Check the extents.";
    return fail(refusal(errc::size_overflow, function, out.finish(), where, side.size.depth));
  }
  return {};
}

constexpr CUmemorytype memory_type_of(const region_side& side) noexcept {
  if (side.array != nullptr) return CU_MEMORYTYPE_ARRAY;
  return side.on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// One end of a copy of a box: what may be one, and what is left of it once the types have done
/// their part, memory with a pitch or a CUDA array. The overloads of `copy` for boxes and for
/// arrays both come down to two of these.

#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/memory/pitched_span.hpp>

namespace gpu::inline v0::detail {

template <class> inline constexpr bool is_pitched_view = false;
template <class T, memory_side Side>
inline constexpr bool is_pitched_view<pitched_view<T, Side>> = true;

/// A pitched view, or an lvalue of something that has one by its `span()`, as `pitched_buffer` has.
template <class Range>
concept box_range = is_pitched_view<remove_cvref_t<Range>> || requires(Range&& range) {
  requires is_pitched_view<decltype(static_cast<Range&&>(range).span())>;
};

/// What `range` names: a pitched view as it is, an owner by its `span()`.
template <box_range Range> constexpr auto box_of(Range&& range) noexcept {
  if constexpr (is_pitched_view<remove_cvref_t<Range>>) {
    return range;
  } else {
    return static_cast<Range&&>(range).span();
  }
}

template <class Range> using box_view_t = decltype(detail::box_of(declval<Range>()));

struct box_side {
  std::uintptr_t address = 0;
  std::size_t pitch = 0;
  box_extent size;
  std::size_t rows = 0;
  std::size_t element = 0;
  bool on_device = false;
  CUarray array = nullptr;     // in place of address, pitch and rows
  bool needs_context = false;  // an owner, which has one until it is moved from
  context_ref context{};       // empty where it is not known, and on the host

  bool moved_from() const noexcept { return needs_context && !context; }
};

template <box_range Range> box_side side_of(Range&& range) noexcept {
  const auto view = box_of(static_cast<Range&&>(range));
  using type = box_view_t<Range>;
  box_side side{.address = reinterpret_cast<std::uintptr_t>(view.data()),
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

/// `errc::invalid_argument` where rows or planes would overlap, `errc::size_overflow` where all of
/// them are more bytes than there are addresses.
inline result<> check_box(const char* function, const char* what, const box_side& box,
                          source_location where) noexcept {
  if (box.array != nullptr) return {};
  if (box.moved_from()) [[unlikely]]
    return fail(empty_handle_error(function, what, where));
  std::size_t row = 0;
  const bool overflows = __builtin_mul_overflow(box.size.width, box.element, &row);
  if (overflows || box.pitch < row) [[unlikely]] {
    text_builder out;
    out << "the rows of the " << what << " are " << box.size.width << " elements of " << box.element
        << " bytes, but its pitch is " << box.pitch
        << " bytes. Give a pitch of at least a row, or 0 for rows without a gap.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, row, box.pitch));
  }
  if (box.rows < box.size.height) [[unlikely]] {
    text_builder out;
    out << "the planes of the " << what << " have " << box.size.height
        << " rows, but the next begins after " << box.rows
        << ". Give at least the height for plane_rows, or 0 for planes without a gap.";
    return fail(
        refusal(errc::invalid_argument, function, out.finish(), where, box.size.height, box.rows));
  }
  std::size_t plane = 0, all = 0;
  if ((__builtin_mul_overflow(box.pitch, box.rows, &plane) ||
       __builtin_mul_overflow(plane, box.size.depth, &all)) &&
      !box.size.empty()) [[unlikely]] {
    text_builder out;
    out << "the " << what << " is " << box.size.depth << " planes of " << box.rows << " rows of "
        << box.pitch << " bytes, which are more bytes than a size_t can count. Give extents of "
        << "memory that there is.";
    return fail(refusal(errc::size_overflow, function, out.finish(), where, box.size.depth));
  }
  return {};
}

constexpr CUmemorytype memory_type_of(const box_side& side) noexcept {
  if (side.array != nullptr) return CU_MEMORYTYPE_ARRAY;
  return side.on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

}  // namespace gpu::inline v0::detail

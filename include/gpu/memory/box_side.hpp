#pragma once
/// \file
/// One end of a copy of a box once the types have done their part: memory with a pitch, or a CUDA
/// array. The overloads of `copy` for boxes and for arrays both come down to two of these.

#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/memory/pitched_span.hpp>

namespace gpu::detail {

struct box_side {
  std::uintptr_t address = 0;
  std::size_t pitch = 0;
  box_extent size;
  std::size_t rows = 0;
  std::size_t element = 0;
  bool on_device = false;
  CUarray array = nullptr;  // in place of address, pitch and rows
  context_ref context{};    // empty where it is not known, and on the host
};

template <class T, memory_side Side> box_side side_of(const pitched_view<T, Side>& view) noexcept {
  return {.address = reinterpret_cast<std::uintptr_t>(view.data()),
          .pitch = view.pitch(),
          .size = view.size(),
          .rows = view.plane_rows(),
          .element = sizeof(T),
          .on_device = Side == memory_side::device};
}

/// `errc::invalid_argument` where rows or planes would overlap.
template <class Builder = text_builder>
result<> check_box(const char* function, const char* what, const box_side& box,
                   source_location where) noexcept {
  if (box.array != nullptr) return {};
  std::size_t row = 0;
  const bool overflows = __builtin_mul_overflow(box.size.width, box.element, &row);
  if (overflows || box.pitch < row) [[unlikely]] {
    Builder out;
    out << "the rows of the " << what << " are " << box.size.width << " elements of " << box.element
        << " bytes, but its pitch is " << box.pitch
        << " bytes. Give a pitch of at least a row, or 0 for rows without a gap.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, row, box.pitch));
  }
  if (box.rows < box.size.height) [[unlikely]] {
    Builder out;
    out << "the planes of the " << what << " have " << box.size.height
        << " rows, but the next begins after " << box.rows
        << ". Give at least the height for plane_rows, or 0 for planes without a gap.";
    return fail(
        refusal(errc::invalid_argument, function, out.finish(), where, box.size.height, box.rows));
  }
  return {};
}

constexpr CUmemorytype memory_type_of(const box_side& side) noexcept {
  if (side.array != nullptr) return CU_MEMORYTYPE_ARRAY;
  return side.on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

}  // namespace gpu::detail

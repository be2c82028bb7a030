#pragma once
/// \file
/// `view_fault`: the mistake that made a view faulty, kept in the view itself until it is used.

#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

enum class fault_kind : unsigned char {
  none,
  index,            ///< out of range for an axis
  step,             ///< of a slice, 0
  axis,             ///< out of range for the rank
  repeated_axis,    ///< named twice
  size,             ///< of the new shape is another than that of the view
  unknown_extents,  ///< more than one
  unknown_extent,   ///< cannot be computed
  strides,          ///< cannot describe the new shape
  squeezed_extent,  ///< is not 1
  repeated_extent,  ///< to be broadcast is not 1
  element_axis,     ///< is not contiguous, so its elements have no other type
  element_count,    ///< does not divide into elements of the other type
  window,           ///< is longer than the axis, or 0
  layout,           ///< does not start where elements of the other type may
  unsigned_index,   ///< is above the largest signed number
  too_large,        ///< has more bytes of elements than memory can have
  outside,          ///< reaches beyond all addresses
  address,          ///< is none; the limit is what was given
};
inline constexpr int fault_kinds = static_cast<int>(fault_kind::address) + 1;

/// The function that made a faulty view.
enum class view_function : unsigned char {
  index,
  permute,
  move_axis,
  swap_axes,
  reverse,
  expand_dims,
  squeeze,
  diagonal,
  reshape,
  broadcast_to,
  view_as,
  sliding_windows,
  index_along,
  take,
  meshgrid,
  from_native,
};
inline constexpr int view_functions = static_cast<int>(view_function::from_native) + 1;

/// The mistake that made a view faulty. A faulty view has extents of 0; its pointer, which is not
/// an address, encodes the fault, and its first stride is the limit.
struct view_fault {
  fault_kind kind = fault_kind::none;
  view_function function{};
  int axis = 0;
  std::int64_t asked = 0;
  std::int64_t limit = 0;

  explicit constexpr operator bool() const noexcept { return kind != fault_kind::none; }
};

// The bits of the pointer of a faulty view: 7 that no device address has, 5 of the kind, 5 of the
// function, 6 of the axis, 41 of what was asked for.
inline constexpr int fault_asked_bits = 41;
inline constexpr std::uint64_t fault_mark = std::uint64_t{0b1010101} << 57;

/// Returns the pointer of a view with this fault. What was asked for is clamped to 41 bits.
constexpr std::uint64_t fault_address(const view_fault& fault) noexcept {
  constexpr std::int64_t most = (std::int64_t{1} << (fault_asked_bits - 1)) - 1;
  const std::int64_t asked = fault.asked > most        ? most
                             : fault.asked < -most - 1 ? -most - 1
                                                       : fault.asked;
  constexpr std::uint64_t mask = (std::uint64_t{1} << fault_asked_bits) - 1;
  return fault_mark | std::uint64_t{static_cast<unsigned char>(fault.kind)} << 52 |
         std::uint64_t{static_cast<unsigned char>(fault.function)} << 47 |
         static_cast<std::uint64_t>(fault.axis & 63) << fault_asked_bits |
         (static_cast<std::uint64_t>(asked) & mask);
}

constexpr bool is_fault_address(std::uint64_t address) noexcept {
  return address >> 57 == fault_mark >> 57;
}

/// Returns the fault of a view with this pointer and first stride. A pointer that only looks like
/// one with a fault is no address.
constexpr view_fault fault_at(std::uint64_t address, std::int64_t limit) noexcept {
  if (!is_fault_address(address)) return {};
  const int kind = static_cast<int>(address >> 52 & 31);
  const int function = static_cast<int>(address >> 47 & 31);
  if (kind == 0 || kind >= fault_kinds || function >= view_functions)
    return {fault_kind::address, view_function::from_native, 0, 0,
            static_cast<std::int64_t>(address)};
  view_fault fault;
  fault.kind = static_cast<fault_kind>(kind);
  fault.function = static_cast<view_function>(function);
  fault.axis = static_cast<int>(address >> fault_asked_bits & 63);
  fault.asked = static_cast<std::int64_t>(address << (64 - fault_asked_bits)) >>
                (64 - fault_asked_bits);  // with its sign
  fault.limit = limit;
  return fault;
}

inline const char* name_of(view_function function) noexcept {
  constexpr const char* names[] = {"gpu::array_view::operator()",
                                   "gpu::permute_axes",
                                   "gpu::move_axis",
                                   "gpu::swap_axes",
                                   "gpu::reverse",
                                   "gpu::expand_dims",
                                   "gpu::squeeze",
                                   "gpu::diagonal",
                                   "gpu::reshape",
                                   "gpu::broadcast_to",
                                   "gpu::view_as",
                                   "gpu::sliding_windows",
                                   "gpu::index_along",
                                   "gpu::take",
                                   "gpu::meshgrid",
                                   "gpu::array_view::from_native"};
  static_assert(sizeof names / sizeof *names == view_functions && view_functions <= 32);
  return names[static_cast<int>(function)];
}

// The message for each `fault_kind`: what is wrong, and what to do. `%a` stands for what was asked
// for, `%l` for the limit, `%-` for the limit below 0, `%m` for the largest index, `%x` for the
// axis, `%h` for the limit in hexadecimal.
inline constexpr const char* fault_sentences[] = {
    "",
    "index %a is out of range for axis %x, which has %l elements. Pass an index from %- to %m, or "
    "a "
    "slice, which leaves out what is not there.",
    "the step of the slice of axis %x is 0, so it would never end. Pass a step of 1 or more, or a "
    "negative one to go backwards.",
    "axis %a is out of range for %l axes. Pass an axis from %- to %m.",
    "axis %a is named twice. Name each axis once.",
    "the shape has %a elements, but the view has %l. Pass extents whose product is the number of "
    "elements; one of them may be -1.",
    "%a extents are negative, but only one can follow from the others. Pass -1 for one extent at "
    "most.",
    "an extent of -1 cannot follow from the others: their product is %a, and the view has %l "
    "elements. Pass extents that divide them.",
    "no strides describe the elements of the view in the new shape, because axis %x does not "
    "continue the one before it. Copy the elements in C order first, and reshape the copy.",
    "axis %x has %a elements; only an axis with 1 element can be removed. Take an index of it "
    "instead.",
    "axis %x of the new shape has %a elements, but the view has %l there; only an axis with 1 "
    "element can be repeated.",
    "the elements of the last axis are %a elements apart, so they cannot be joined to larger or "
    "divided into smaller ones. Pass a view whose last axis has a stride of 1.",
    "the last axis has %a bytes, or another axis steps by a number of bytes, that elements of %l "
    "bytes do not divide. Pass a part that they divide.",
    "a window of %a elements does not fit axis %x, which has %l. Pass at least 1, and an axis "
    "with at least as many.",
    "the view begins %a bytes past a multiple of %l bytes, to which elements of the new type are "
    "aligned. Pass a part that begins there.",
    "index %a is out of range for axis %x, which has %l elements: a number of an unsigned type is "
    "never negative. Pass an index below %l, or one of a signed type to count from the end.",
    "the view would have more than %l bytes of elements, the most that memory can have. Pass "
    "smaller extents.",
    "the extents and strides reach beyond the last address there is. Pass those of the memory; "
    "strides count elements.",
    "%h is not an address of memory. Pass the address that the driver returned."};
static_assert(sizeof fault_sentences / sizeof *fault_sentences == fault_kinds && fault_kinds <= 32);
inline constexpr const char* no_elements_sentence =
    "index %a is out of range for axis %x, which has 0 elements. Take a slice, which may be empty.";
inline constexpr const char* no_axes_sentence =
    "axis %a is out of range for 0 axes: a view of rank 0 has none.";

constexpr bool is_index_fault(const view_fault& fault) noexcept {
  return fault.kind == fault_kind::index || fault.kind == fault_kind::unsigned_index;
}

/// Writes what is wrong and what to do.
inline void explain_fault(text_builder& out, const view_fault& fault) noexcept {
  const char* at = fault_sentences[static_cast<int>(fault.kind)];
  if (fault.limit == 0 && is_index_fault(fault)) at = no_elements_sentence;
  if (fault.limit == 0 && fault.kind == fault_kind::axis) at = no_axes_sentence;
  for (; *at != '\0'; ++at) {
    if (*at != '%') {
      out << *at;
      continue;
    }
    const char which = *++at;
    if (which == 'h') {
      char digits[20];
      __builtin_snprintf(digits, sizeof digits, "0x%llx",
                         static_cast<unsigned long long>(fault.limit));
      out << digits;
      continue;
    }
    if (which == 'a' && fault.kind == fault_kind::unsigned_index) {
      out << static_cast<std::uint64_t>(fault.asked);
      continue;
    }
    out << (which == 'a'   ? fault.asked
            : which == 'l' ? fault.limit
            : which == '-' ? -fault.limit
            : which == 'm' ? fault.limit - 1
                           : fault.axis);
  }
}

/// Returns the error of a fault. `user`, if it is not null, is the function that found it, and
/// `what` its argument.
inline cuda_error fault_error(const view_fault& fault, const char* user, const char* what,
                              source_location where) noexcept {
  text_builder out;
  const char* const made_by = name_of(fault.function);
  if (user != nullptr) out << what << " is the result of a faulty " << made_by << ": ";
  explain_fault(out, fault);
  return refusal(is_index_fault(fault) ? errc::index_out_of_range : errc::invalid_argument,
                 user != nullptr ? user : made_by, out.finish(), where,
                 static_cast<std::uint64_t>(fault.asked), static_cast<std::uint64_t>(fault.limit));
}

}}}  // namespace gpu::v1::detail

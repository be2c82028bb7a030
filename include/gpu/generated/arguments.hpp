#pragma once
/// \file
/// Checks of the device memory that a caller passes to an algorithm.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Contiguous elements in device memory that an algorithm reads or writes, under the name of the
/// parameter.
struct named_elements {
  const char* name;
  copy_end memory;
  std::size_t element_bytes;
  std::size_t alignment = 1;  ///< of the elements' type

  std::uintptr_t begin() const noexcept { return memory.address; }
  std::size_t count() const noexcept { return memory.count; }
  std::uintptr_t end() const noexcept { return memory.address + memory.count * element_bytes; }
};

template <class Range> named_elements name_elements(const char* name, Range& range) noexcept {
  return {name, copy_end_of(range), sizeof(element_t<Range>), alignof(element_t<Range>)};
}

/// Checks the type of the results of an algorithm that does not wait.
template <class Range> constexpr void check_results() noexcept {
  static_assert(device_range<Range>,
                "the results go to device memory: pass a device_buffer, not a temporary one, or a "
                "device_span");
}

/// Checks the type of an operand of an algorithm that takes no views and does not wait.
template <class Range> constexpr void check_contiguous() noexcept {
  static_assert(device_range<Range>,
                "the elements are contiguous device memory: pass a device_buffer, not a temporary "
                "one, or a device_span; neither host memory nor a view with strides");
}

/// Fails with `errc::empty_handle` for an owner that was moved from, with `errc::wrong_context` for
/// memory that is known to belong to another context than the stream, with `errc::size_overflow`
/// for more elements than memory can have, and with `errc::invalid_argument` for an address at
/// which a kernel could not read such elements.
inline result<> require_usable(const char* function, const stream_ref& stream,
                               const named_elements& elements, source_location where) noexcept {
  GPU_TRY(require_owner(function, elements.name, elements.memory, where));
  std::size_t bytes = 0;
  GPU_TRY(get_bytes(function, elements.count(), elements.element_bytes, bytes, where));
  if (elements.count() != 0 && elements.begin() % elements.alignment != 0) {
    text_builder out;
    out << elements.name << " begins at an address that is "
        << elements.begin() % elements.alignment << " more than a multiple of "
        << elements.alignment << ", the alignment of its elements. Copy the bytes to memory that "
        << "is aligned so.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, elements.begin(),
                        elements.alignment));
  }
  return require_context(function, stream, elements.name, elements.memory.context, where);
}

/// Fails with `errc::size_mismatch` unless both have the same number of elements.
inline result<> require_same_count(const char* function, const named_elements& a,
                                   const named_elements& b, source_location where) noexcept {
  if (a.count() == b.count()) return {};
  const std::size_t fewer = a.count() < b.count() ? a.count() : b.count();
  text_builder out;
  out << a.name << " has " << a.count() << " elements, but " << b.name << " has " << b.count()
      << ". Pass ranges of the same length: take first(" << fewer << ") of the longer one.";
  return fail(refusal(errc::size_mismatch, function, out.finish(), where, a.count(), b.count()));
}

/// Fails with `errc::invalid_argument` if the bytes of the two overlap.
inline result<> require_disjoint(const char* function, const named_elements& a,
                                 const named_elements& b, source_location where) noexcept {
  if (a.count() == 0 || b.count() == 0 || a.end() <= b.begin() || b.end() <= a.begin()) return {};
  text_builder out;
  out << a.name << " and " << b.name
      << " overlap in memory, so results would be overwritten before they are read. Pass memory "
         "that does not overlap.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

}}}  // namespace gpu::v1::detail

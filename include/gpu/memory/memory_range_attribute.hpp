#pragma once
/// \file
/// `memory_range_attribute`: the advice that was given for a range of managed memory, and its last
/// prefetch; each with the C++ type of its value.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/ranges.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

/// The attributes of managed memory; converts to `CUmem_range_attribute` by cast.
enum class memory_range_attribute : int {
  read_mostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
  preferred_location = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
  accessed_by = CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
  last_prefetch_location = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
  preferred_location_type = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
  preferred_location_id = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
  last_prefetch_location_type = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
  last_prefetch_location_id = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
};

/// Returns the enumerator's name, such as "read_mostly"; null for an unknown value.
constexpr const char* name_of(memory_range_attribute attribute) noexcept {
  using enum memory_range_attribute;
  return detail::find_name(attribute, {{read_mostly, "read_mostly"},
                                       {preferred_location, "preferred_location"},
                                       {accessed_by, "accessed_by"},
                                       {last_prefetch_location, "last_prefetch_location"},
                                       {preferred_location_type, "preferred_location_type"},
                                       {preferred_location_id, "preferred_location_id"},
                                       {last_prefetch_location_type, "last_prefetch_location_type"},
                                       {last_prefetch_location_id, "last_prefetch_location_id"}});
}

namespace detail {

/// Returns the location for a single number of the driver, which older attributes use.
constexpr memory_location location_of_id(int id) noexcept {
  if (id == CU_DEVICE_CPU) return memory_location::host();
  return id < 0 ? memory_location{} : memory_location{device::from_native(id)};
}

}  // namespace detail

/// The locations for which managed memory is kept mapped.
class memory_location_list {
 public:
  static constexpr std::size_t capacity =
      65;  // the most devices that a machine can have, and the host

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const memory_location* begin() const noexcept { return locations_; }
  const memory_location* end() const noexcept { return locations_ + size_; }
  bool contains(const memory_location& wanted) const noexcept {
    for (const memory_location& each : *this) {
      if (each == wanted) return true;
    }
    return false;
  }
  /// Makes a list from the driver's numbers, up to the first CU_DEVICE_INVALID.
  static memory_location_list from_native(const int* ids, std::size_t count) noexcept {
    memory_location_list list;
    for (std::size_t i = 0; i < count && i < capacity && ids[i] != CU_DEVICE_INVALID; ++i) {
      list.locations_[list.size_++] = detail::location_of_id(ids[i]);
    }
    return list;
  }

 private:
  memory_location locations_[capacity];
  std::size_t size_ = 0;
};

namespace detail {

template <memory_range_attribute> struct memory_range_attribute_value {
  using type = int;
};
template <> struct memory_range_attribute_value<memory_range_attribute::read_mostly> {
  using type = bool;
};
template <> struct memory_range_attribute_value<memory_range_attribute::preferred_location> {
  using type = memory_location;
};
template <> struct memory_range_attribute_value<memory_range_attribute::last_prefetch_location> {
  using type = memory_location;
};
template <> struct memory_range_attribute_value<memory_range_attribute::accessed_by> {
  using type = memory_location_list;
};
template <> struct memory_range_attribute_value<memory_range_attribute::preferred_location_type> {
  using type = memory_location_type;
};
template <>
struct memory_range_attribute_value<memory_range_attribute::last_prefetch_location_type> {
  using type = memory_location_type;
};

/// Fails with `errc::invalid_argument` for an empty range.
inline result<> require_elements(const char* function, const copy_end& range,
                                 source_location where) noexcept {
  if (range.count != 0) return {};
  return fail(refusal(
      errc::invalid_argument, function,
      text("the range is empty, so it has no attributes. Pass a range with elements."), where));
}

}  // namespace detail

/// The C++ type of an attribute's value: `bool`, a `memory_location` or its parts, or a list.
template <memory_range_attribute Attribute>
using memory_range_attribute_t = typename detail::memory_range_attribute_value<Attribute>::type;

/// Returns one attribute of managed memory, in its own type:
///
///     gpu::attribute<gpu::memory_range_attribute::preferred_location>(buffer)
///
/// If the pages of `of` differ, the answer is an empty location, or false for read mostly.
/// `preferred_location` and `last_prefetch_location` report only devices and the host; for NUMA
/// nodes, use the attributes for type and id, which came with CUDA 12.2.
/// **Errors**: `errc::invalid_argument` for an empty range; the driver's CUDA_ERROR_INVALID_VALUE
/// for memory that is not managed.
/// **Capture**: not affected. **Threads**: any. (cuMemRangeGetAttribute)
template <memory_range_attribute Attribute, class Range>
  requires(device_range<Range> || host_range<Range>)
result<memory_range_attribute_t<Attribute>> attribute(
    Range&& of, source_location where = source_location::current()) noexcept {
  using value = memory_range_attribute_t<Attribute>;
  constexpr std::size_t count =
      std::same_as<value, memory_location_list> ? memory_location_list::capacity : std::size_t{1};
  const detail::copy_end end = detail::copy_end_of(of);
  GPU_TRY(detail::require_elements("gpu::attribute", end, where));
  std::size_t bytes = 0;
  GPU_TRY(detail::get_bytes("gpu::attribute", end.count, sizeof(detail::element_t<Range>), bytes,
                            where));
  int answer[count] = {};
  GPU_TRY(driver::call_in_any<&driver::entry_points::mem_range_get_attribute>(
      where, answer, sizeof answer, static_cast<CUmem_range_attribute>(Attribute),
      end.device_address(), bytes));
  if constexpr (std::same_as<value, memory_location_list>) {
    return memory_location_list::from_native(answer, count);
  } else if constexpr (std::same_as<value, memory_location>) {
    return detail::location_of_id(answer[0]);
  } else if constexpr (std::same_as<value, bool>) {
    return answer[0] != 0;
  } else {
    return static_cast<value>(answer[0]);
  }
}

/// All attributes of a range of managed memory.
struct memory_range_attributes {
  bool read_mostly = false;
  memory_location preferred_location;      ///< none if it was not set, or if pages differ
  memory_location last_prefetch_location;  ///< none if there was no prefetch, or if pages differ
  memory_location_list accessed_by;

  /// Queries all attributes with one call, including NUMA nodes.
  /// **Errors**: as `attribute`; also CUDA_ERROR_INVALID_VALUE from a driver older than CUDA 12.2.
  /// **Capture**: not affected. **Threads**: any. (cuMemRangeGetAttributes)
  template <class Range>
    requires(device_range<Range> || host_range<Range>)
  static result<memory_range_attributes> of(
      Range&& range, source_location where = source_location::current()) noexcept {
    const detail::copy_end end = detail::copy_end_of(range);
    GPU_TRY(detail::require_elements("gpu::memory_range_attributes::of", end, where));
    int read_mostly = 0, ids[memory_location_list::capacity] = {};
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes("gpu::memory_range_attributes::of", end.count,
                              sizeof(detail::element_t<Range>), bytes, where));
    int preferred[2] = {}, prefetched[2] = {};  // type and id
    void* values[] = {&read_mostly,   &preferred[0],  &preferred[1],
                      &prefetched[0], &prefetched[1], &ids[0]};
    std::size_t sizes[] = {sizeof(int), sizeof(int), sizeof(int),
                           sizeof(int), sizeof(int), sizeof ids};
    CUmem_range_attribute wanted[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                      CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                                      CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                                      CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                                      CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
                                      CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    GPU_TRY(driver::call_in_any<&driver::entry_points::mem_range_get_attributes>(
        where, values, sizes, wanted, sizeof wanted / sizeof wanted[0], end.device_address(),
        bytes));
    memory_range_attributes found;
    found.read_mostly = read_mostly != 0;
    found.preferred_location = location_of(preferred);
    found.last_prefetch_location = location_of(prefetched);
    found.accessed_by = memory_location_list::from_native(ids, memory_location_list::capacity);
    return found;
  }

 private:
  static memory_location location_of(const int (&pair)[2]) noexcept {
    CUmemLocation native{};
    native.type = static_cast<CUmemLocationType>(pair[0]);
    const bool numbered =
        native.type == CU_MEM_LOCATION_TYPE_DEVICE || native.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    native.id = numbered ? pair[1] : 0;
    return memory_location::from_native(native);
  }
};

}}  // namespace gpu::v1

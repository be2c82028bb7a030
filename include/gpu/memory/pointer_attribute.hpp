#pragma once
/// \file
/// `pointer_attribute` and `pointer_info`: query the driver about an address.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>  // IWYU pragma: keep
#include <gpu/memory/memory_access.hpp>     // IWYU pragma: keep

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 {

/// The kind of memory that an address is in; converts to `CUmemorytype` by cast.
enum class memory_type : unsigned {
  unregistered = 0,  ///< memory that the driver does not know
  host = CU_MEMORYTYPE_HOST,
  device = CU_MEMORYTYPE_DEVICE,
  array = CU_MEMORYTYPE_ARRAY,
  unified = CU_MEMORYTYPE_UNIFIED,
};

/// Returns the enumerator's name, such as "host"; null for an unknown value.
constexpr const char* name_of(memory_type type) noexcept {
  using enum memory_type;
  return detail::find_name(type, {{unregistered, "unregistered"},
                                  {host, "host"},
                                  {device, "device"},
                                  {array, "array"},
                                  {unified, "unified"}});
}

/// The attributes of an address; converts to `CUpointer_attribute` and back by cast.
enum class pointer_attribute : int {
#define GPU_POINTER_ATTRIBUTE(name, native, ...) name = CU_POINTER_ATTRIBUTE_##native,
#include <gpu/memory/detail/pointer_attribute.inc>
};

/// Returns the enumerator's name, such as "is_managed"; null for an unknown value.
constexpr const char* name_of(pointer_attribute attribute) noexcept {
  switch (attribute) {
#define GPU_POINTER_ATTRIBUTE(name, ...) \
  case pointer_attribute::name: return #name;
#include <gpu/memory/detail/pointer_attribute.inc>
  }
  return nullptr;
}

namespace detail {

template <pointer_attribute> struct pointer_attribute_value;
#define GPU_POINTER_ATTRIBUTE(name, native, ...)                        \
  template <> struct pointer_attribute_value<pointer_attribute::name> { \
    using type = __VA_ARGS__;                                           \
  };
#include <gpu/memory/detail/pointer_attribute.inc>

inline CUdeviceptr address_of(const volatile void* pointer) noexcept {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// Reads an answer from the bytes that the driver wrote, which may be fewer than 16.
template <class T> T attribute_value(const unsigned char (&bytes)[16]) noexcept {
  if constexpr (std::same_as<T, bool>) {
    unsigned flag = 0;  // the driver's boolean
    std::memcpy(&flag, bytes, sizeof flag);
    return flag != 0;
  } else {
    T value{};
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
}

}  // namespace detail

/// The C++ type of an attribute's value.
template <pointer_attribute Attribute>
using pointer_attribute_t = typename detail::pointer_attribute_value<Attribute>::type;

/// Returns one attribute of an address, in its own type:
///
///     gpu::attribute<gpu::pointer_attribute::is_managed>(pointer)
///
/// The address may be anywhere in the memory; sizes are in bytes. `device_pointer` is for the
/// current context, or for some context if none is current; it is available only if kernels there
/// can access the memory. `access_flags` does not show that: it is `read_write` for all plain and
/// pool memory.
/// **Errors**: the driver's CUDA_ERROR_INVALID_VALUE for memory that it does not know, and for
/// attributes that memory of that kind does not have. `pointer_info::of` does not fail for these.
/// **Capture**: not affected. **Threads**: any. (cuPointerGetAttribute)
template <pointer_attribute Attribute>
result<pointer_attribute_t<Attribute>> attribute(
    const volatile void* of, source_location where = source_location::current()) noexcept {
  alignas(16) unsigned char answer[16] = {};
  static_assert(sizeof(pointer_attribute_t<Attribute>) <= sizeof answer);
  GPU_TRY(driver::call_in_any<&driver::entry_points::pointer_get_attribute>(
      where, answer, static_cast<CUpointer_attribute>(Attribute), detail::address_of(of)));
  return detail::attribute_value<pointer_attribute_t<Attribute>>(answer);
}

/// Sets whether blocking copies and fills of the memory always wait until they are done on the
/// device. (cuPointerSetAttribute)
/// **Errors**: as `attribute`. **Capture**: not allowed. **Threads**: any.
inline result<void> set_sync_memops(const volatile void* of, bool on,
                                    source_location where = source_location::current()) noexcept {
  const unsigned value = on ? 1 : 0;
  return driver::call_in_any<&driver::entry_points::pointer_set_attribute>(
      where, &value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, detail::address_of(of));
}

/// The most important attributes of an address, from one call: the counterpart of
/// `cudaPointerAttributes`.
struct pointer_info {
  memory_type type = memory_type::unregistered;
  bool is_managed = false;
  /// The device of the memory, or of the context that page-locked memory was allocated in. Has no
  /// meaning if `type` is `unregistered`.
  gpu::device device = gpu::device::from_native(0);
  /// The address for kernels of the current context, or of some context if none is current; 0 if
  /// they cannot access the memory, for example memory of another device without peer access.
  CUdeviceptr device_pointer = 0;
  void* host_pointer = nullptr;  ///< the address for the host; null if it cannot access the memory
  CUdeviceptr range_start = 0;   ///< of the whole allocation
  std::size_t range_bytes = 0;   ///< of the whole allocation
  unsigned long long buffer_id = 0;  ///< never used twice in a process

  /// Queries any address, also one that the driver does not know, which is not an error.
  /// **Errors**: the driver's. **Capture**: not affected. **Threads**: any.
  /// (cuPointerGetAttributes)
  static result<pointer_info> of(const volatile void* pointer,
                                 source_location where = source_location::current()) noexcept {
    pointer_info found;
    unsigned type = 0, managed = 0;
    int ordinal = 0;
    CUpointer_attribute wanted[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,     CU_POINTER_ATTRIBUTE_BUFFER_ID};
    void* values[] = {&type,
                      &managed,
                      &ordinal,
                      &found.device_pointer,
                      &found.host_pointer,
                      &found.range_start,
                      &found.range_bytes,
                      &found.buffer_id};
    constexpr unsigned count = sizeof wanted / sizeof wanted[0];
    static_assert(count == sizeof values / sizeof values[0]);
    GPU_TRY(driver::call_in_any<&driver::entry_points::pointer_get_attributes>(
        where, count, wanted, values, detail::address_of(pointer)));
    found.type = static_cast<memory_type>(type);
    found.is_managed = managed != 0;
    found.device = gpu::device::from_native(ordinal < 0 ? 0 : ordinal);
    return found;
  }
};

}}  // namespace gpu::v1

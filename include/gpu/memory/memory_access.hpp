#pragma once
/// \file
/// `memory_access`: what a device may do with memory.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

namespace gpu { inline namespace v1 {

/// The access that a device has to memory; converts to `CUmemAccess_flags` by cast.
enum class memory_access : int {
  none = CU_MEM_ACCESS_FLAGS_PROT_NONE,
  read = CU_MEM_ACCESS_FLAGS_PROT_READ,
  read_write = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

/// Returns the enumerator's name, such as "read_write"; null for an unknown value.
constexpr const char* name_of(memory_access access) noexcept {
  using enum memory_access;
  return detail::find_name(access, {{none, "none"}, {read, "read"}, {read_write, "read_write"}});
}

}}  // namespace gpu::v1

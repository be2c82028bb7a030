#pragma once
/// \file
/// Adds sentences to errors of the driver whose code alone says too little.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/library_pools.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Adds `sentence` to an error of the driver with this code; returns every other error unchanged.
inline cuda_error explain_code(cuda_error error, CUresult code, const char* sentence) noexcept {
  if (error.domain() != error_domain::driver || error.code() != code) return error;
  return record_error(std::move(error).with_details(text(sentence)));
}

inline bool is_out_of_memory(const cuda_error& error) noexcept {
  return error.domain() == error_domain::driver && error.code() == CUDA_ERROR_OUT_OF_MEMORY;
}

/// Writes how much memory the library's pool of a device holds, if it has one. What it did not use
/// was given back before.
inline void write_held_memory(text_builder& out, CUdevice device, source_location where) noexcept {
  const CUmemoryPool pool = library_pools::of_process().pool_of(device);
  if (pool == nullptr) return;
  const auto allowed = capture_mode_scope::enter(capture_mode::relaxed, where);
  std::uint64_t held = 0, used = 0;
  using entries = driver::entry_points;
  if (!allowed.has_value() ||
      !driver::call<&entries::mem_pool_get_attribute>(where, pool,
                                                      CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held)
           .has_value() ||
      !driver::call<&entries::mem_pool_get_attribute>(where, pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
                                                      &used)
           .has_value())
    return;
  out << "; arrays and buffers use " << used << " bytes, and the library keeps ";
  if (held > used) {
    out << held - used << " more for them, which gpu::trim(device) gives back";
  } else {
    out << "none for later ones";
  }
}

/// Adds to an out-of-memory error how much was requested, how much the device has, and how much the
/// library keeps of it. (cuMemGetInfo, cuMemPoolGetAttribute)
inline cuda_error explain_out_of_memory(cuda_error error, context_ref context,
                                        std::size_t bytes) noexcept {
  if (!is_out_of_memory(error)) return error;
  text_builder out;
  out << "asked for " << bytes << " bytes";
  std::size_t free = 0, total = 0;
  if (driver::call_in<&driver::entry_points::mem_get_info>(context.native(), error.where(), &free,
                                                           &total)
          .has_value()) {
    out << "; " << free << " of " << total << " are free on device " << context.device().native();
  }
  write_held_memory(out, context.device().native(), source_location{});
  return record_error(std::move(error).with_details(out.finish()).with_values(bytes, free));
}

}}}  // namespace gpu::v1::detail

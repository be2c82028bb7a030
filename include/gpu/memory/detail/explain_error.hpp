#pragma once
/// \file
/// Adds sentences to errors of the driver whose code alone says too little.

#include <gpu/driver/context.hpp>

namespace gpu::inline v1::detail {

/// Adds `sentence` to an error of the driver with this code; returns every other error unchanged.
inline cuda_error explain_code(cuda_error error, CUresult code, const char* sentence) noexcept {
  if (error.domain() != error_domain::driver || error.code() != code) return error;
  return record_error(detail::move(error).with_details(text(sentence)));
}

/// Adds to an out-of-memory error how much was requested and how much the device has.
/// (cuMemGetInfo)
inline cuda_error explain_out_of_memory(cuda_error error, context_ref context,
                                        std::size_t bytes) noexcept {
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_OUT_OF_MEMORY) {
    return error;
  }
  text_builder out;
  out << "asked for " << bytes << " bytes";
  std::size_t free = 0, total = 0;
  if (driver::call_in<&driver::entry_points::mem_get_info>(context.native(), error.where(), &free,
                                                           &total)
          .has_value()) {
    out << "; " << free << " of " << total << " are free on device " << context.device().native();
  }
  return record_error(detail::move(error).with_details(out.finish()).with_values(bytes, free));
}

}  // namespace gpu::inline v1::detail

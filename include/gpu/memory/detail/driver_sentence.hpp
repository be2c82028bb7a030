#pragma once
/// \file
/// Sentences for errors of the driver whose code says too little.

#include <gpu/core/result.hpp>

#include <cuda.h>

namespace gpu::inline v0::detail {

/// Adds a sentence to an error of the driver with that code.
template <class Error>
[[gnu::cold, gnu::noinline]] Error with_sentence(Error error, CUresult code,
                                                 const char* sentence) noexcept {
  if (error.domain() != error_domain::driver || error.code() != code) return error;
  return noted_error(detail::move(error).with_details(text(sentence)));
}

}  // namespace gpu::inline v0::detail

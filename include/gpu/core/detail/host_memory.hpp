#pragma once
/// \file
/// Errors for host memory that runs out, and texts that are checked for it.

#include <gpu/core/result.hpp>

namespace gpu::inline v1::detail {

/// Returns the error for an allocation of host memory that failed.
inline cuda_error out_of_host_memory_error(const char* function, std::size_t bytes,
                                           source_location where) noexcept {
  text_builder out;
  out << "the host had no " << bytes << " bytes left for bookkeeping. Free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, bytes);
}

/// Copies characters into a text.
/// **Errors**: `errc::out_of_host_memory`.
inline result<text> copied_text(const char* characters, std::size_t size, const char* function,
                                source_location where) noexcept {
  text made(characters, size);
  if (made.lost()) return fail(out_of_host_memory_error(function, size, where));
  return made;
}

}  // namespace gpu::inline v1::detail

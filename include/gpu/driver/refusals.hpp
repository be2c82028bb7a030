#pragma once
/// \file
/// The refusals that many functions share: an empty handle, and handles that do not go together.

#include <gpu/core/result.hpp>

#include <cuda.h>

namespace gpu::detail {

/// `what` ("stream", say) was moved from, released or never filled.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error empty_handle_error(const char* function,
                                                                  const char* what,
                                                                  source_location where) noexcept {
  Builder out;
  out << "the " << what
      << " is empty: it was moved from, released or never filled. Use the object that owns it now, "
         "or create a new one.";
  return refusal(errc::empty_handle, function, out.finish(), where);
}

/// `first` and `second` belong to different contexts. The values are the two devices.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error wrong_context_error(
    const char* function, const char* first, CUdevice first_device, const char* second,
    CUdevice second_device, source_location where) noexcept {
  Builder out;
  out << "the " << first << " belongs to device " << first_device << ", the " << second << " to ";
  if (first_device == second_device) out << "another context of ";
  out << "device " << second_device << ". Make both in the same context.";
  return refusal(errc::wrong_context, function, out.finish(), where,
                 static_cast<std::uint64_t>(first_device),
                 static_cast<std::uint64_t>(second_device));
}

}  // namespace gpu::detail

#pragma once
/// \file
/// Errors of resources of OpenGL, and explanations of the driver's.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/detail/explain_error.hpp>

#include <cuda.h>
#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

inline result<> check_gl_name(const char* function, const char* what, unsigned name,
                              source_location where) noexcept {
  if (name != 0) return {};
  text_builder out;
  out << "OpenGL's name of the " << what
      << " is 0, which stands for none. Generate a name, and give the object its storage.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

/// Fails if flags have bits above `most`, or contradict each other.
inline result<> check_register_flags(const char* function, unsigned flags, unsigned most,
                                     const char* what, source_location where) noexcept {
  constexpr unsigned both =
      CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD;
  text_builder out;
  if ((flags & ~15u) != 0) {
    out << flags << " has bits outside of gpu::graphics_register_flags; combine its enumerators.";
  } else if ((flags & ~most) != 0) {
    out << "surface_load_store and texture_gather are for images, not for " << what
        << "s. Remove these flags.";
  } else if ((flags & both) == both) {
    out << "read_only and write_discard contradict each other. Remove one of them.";
  } else {
    return {};
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, flags, most));
}

/// Adds to errors of the driver that a context of OpenGL has to be current.
inline cuda_error explain_gl_context(cuda_error error) noexcept {
  constexpr const char* none =
      "a context of OpenGL that an NVIDIA GPU renders has to be current in the calling thread: "
      "call eglMakeCurrent or glXMakeCurrent first";
  for (const CUresult code : {CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, CUDA_ERROR_OPERATING_SYSTEM,
                              CUDA_ERROR_NO_DEVICE, CUDA_ERROR_UNKNOWN}) {
    if (error.domain() == error_domain::driver && error.code() == code)
      return explain_code(std::move(error), code, none);
  }
  return error;
}

/// Adds to errors of registering what can be wrong with the object.
inline cuda_error explain_registration(cuda_error error, const char* what, unsigned name) noexcept {
  if (error.domain() != error_domain::driver ||
      (error.code() != CUDA_ERROR_INVALID_VALUE && error.code() != CUDA_ERROR_INVALID_HANDLE)) {
    return explain_gl_context(std::move(error));
  }
  text_builder out;
  out << "the current context of OpenGL has no " << what << ' ' << name
      << " that can be registered: it needs storage, and an image the right target and a format "
         "of 1, 2 or 4 channels of 8, 16 or 32 bits, such as GL_RGBA8 or GL_R32F. If no context is "
         "current in this thread, call eglMakeCurrent or glXMakeCurrent first";
  return record_error(std::move(error).with_details(out.finish()));
}

inline cuda_error explain_mapping(cuda_error error) noexcept {
  error = explain_code(std::move(error), CUDA_ERROR_ALREADY_MAPPED,
                       "one of the resources is mapped already; end that mapping first");
  return explain_gl_context(std::move(error));
}

/// Adds to errors of a mapped resource that it is of the other kind.
inline cuda_error explain_mapped_kind(cuda_error error) noexcept {
  error = explain_code(std::move(error), CUDA_ERROR_NOT_MAPPED_AS_POINTER,
                       "the resource is an image; use array or mipmapped_array");
  return explain_code(std::move(error), CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
                      "the resource is a buffer; use span");
}

inline cuda_error explain_mapped_array(cuda_error error, unsigned index, unsigned level) noexcept {
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_INVALID_VALUE)
    return explain_mapped_kind(std::move(error));
  text_builder out;
  out << "the image has no array at index " << index << " and level " << level;
  return record_error(std::move(error).with_details(out.finish()).with_values(index, level));
}

inline cuda_error named_twice_error(const char* function, source_location where) noexcept {
  return refusal(errc::invalid_argument, function,
                 text("a resource is named twice. Name each resource once."), where);
}
inline cuda_error no_resource_error(const char* function, source_location where) noexcept {
  return refusal(errc::invalid_argument, function,
                 text("there is no resource to map. Name at least one."), where);
}
inline cuda_error not_mapped_error(const char* function, source_location where) noexcept {
  return refusal(errc::invalid_argument, function,
                 text("the resource is not one of this mapping. Name it when the mapping is made."),
                 where);
}

inline cuda_error partial_element_error(const char* function, std::size_t bytes, std::size_t size,
                                        source_location where) noexcept {
  text_builder out;
  out << "the buffer has " << bytes << " bytes, which is not a whole number of elements of " << size
      << " bytes. Use the type of its elements.";
  return refusal(errc::size_mismatch, function, out.finish(), where, bytes, size);
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// The parts that all batches of work share: temporary arrays for the driver to read, and the check
/// of the stream.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// Owns `count` elements on the heap; `data` is null if there was no memory.
template <class T> struct scratch_array {
  T* const data;

  explicit scratch_array(std::size_t count) noexcept : data{new(std::nothrow) T[count]{}} {}
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;
  ~scratch_array() { delete[] data; }
};

/// Checks the stream of a batch of `what`, such as "copies". The driver does not accept batches on
/// the legacy default stream.
inline result<> require_batch_stream(const stream_ref& stream, const char* function,
                                     const char* what, source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  if (stream.native() != nullptr && stream.native() != CU_STREAM_LEGACY) return {};
  text_builder out;
  out << "the legacy default stream does not take batches of " << what
      << ". Use a stream that you created.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

}}}  // namespace gpu::v1::detail

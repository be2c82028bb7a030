#pragma once
/// \file
/// What batches of every kind share: room for the lists that the driver reads, and the stream that
/// takes them.

#include <gpu/driver/detail/host_call.hpp>
#include <gpu/driver/stream.hpp>

namespace gpu::inline v0::detail {

/// So many elements on the heap; null where there was no room.
template <class T> struct scratch_array {
  T* const data;

  explicit scratch_array(std::size_t count) noexcept : data{new(std::nothrow) T[count]{}} {}
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;
  ~scratch_array() { delete[] data; }
};

/// What every batch, "copies" perhaps, asks of its stream. The driver takes none on the legacy
/// default stream.
inline result<> require_batch_stream(const stream_ref& stream, const char* function,
                                     const char* what, source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  if (stream.native() != nullptr && stream.native() != CU_STREAM_LEGACY) [[likely]]
    return {};
  text_builder out;
  out << "the legacy default stream takes no batches of " << what << ". Use a stream of your own.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

}  // namespace gpu::inline v0::detail

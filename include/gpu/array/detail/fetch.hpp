#pragma once
/// \file
/// Elements of views in host memory.

#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/evaluate.hpp>  // IWYU pragma: keep
#include <gpu/array/io/host_bytes.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/capture_check.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Fails unless a stream can be used by a function that waits.
inline result<> require_waiting(const char* function, const stream_ref& stream,
                                source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  return require_no_capture(stream, function, "Call it before or after the capture.", where);
}

/// Fails, before anything is done, unless the stream can read the elements of a view, and be waited
/// for.
template <class T, int Rank, class A>
result<> require_readable(const char* function, const stream_ref& stream,
                          const array_view<T, Rank>& view, const A& a, source_location where) {
  GPU_TRY(require_operand(function, stream, "the operand", view, a, where));
  return require_waiting(function, stream, where);
}

/// Copies the elements of a view to the host, in C order, and waits.
template <class T, int Rank>
result<host_bytes> fetch(const char* function, const stream_ref& stream,
                         const array_view<const T, Rank>& view, source_location where) {
  const std::size_t bytes = view.size() * sizeof(T);
  auto made = GPU_TRY(host_bytes::create(function, bytes, where));
  if (bytes == 0) return made;
  if (view.is_contiguous()) {
    GPU_TRY(copy_to_host(stream, view.native(), made.data(), bytes, where));
    return made;
  }
  const auto packed = GPU_TRY(gpu::evaluate(stream, view, where));
  GPU_TRY(copy_to_host(stream, packed.native(), made.data(), bytes, where));
  return made;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `peer_memory`: a span that knows the context of its memory, for copies between devices.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/detail/copy_request.hpp>

#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// A `device_span` or a `pitched_span`.
template <class Span>
concept device_view = requires(const Span& span) {
  CUdeviceptr{span.native()};
  span.empty();
  requires std::is_trivially_copyable_v<Span>;
};

}  // namespace detail

/// A view of memory, with the context that it belongs to; made by `gpu::peer`. Copy it freely.
/// `copy`, `fill` and batches of copies accept it like `Span` itself. Copies between two contexts
/// go from device to device if these can reach each other (see `can_access_peer`), and otherwise
/// through the host.
template <detail::device_view Span> class peer_memory {
 public:
  constexpr Span span() const noexcept { return span_; }
  constexpr context_ref context() const noexcept { return context_; }

 private:
  template <detail::device_view S>
  friend result<peer_memory<S>> peer(context_or_device on, S memory,
                                     source_location where) noexcept;

  constexpr peer_memory(Span span, context_ref context) noexcept : span_{span}, context_{context} {}

  Span span_;
  context_ref context_;
};

/// Adds its context to `memory`, a `device_span` or a `pitched_span`, and checks that it belongs to
/// that context:
///
///     const auto from = GPU_TRY(gpu::peer(first, a.span()));
///     const auto to = GPU_TRY(gpu::peer(second, b.span()));
///     GPU_TRY(gpu::copy(stream, from, to));
///
/// Buffers know their context and need no `peer`. Memory of a pool belongs to all contexts of its
/// device.
/// **Errors**: `errc::empty_handle`; `errc::wrong_context` with both devices if the memory belongs
/// to another context; `errc::invalid_argument` for memory that the driver does not know.
/// **Capture**: not affected. **Threads**: any. (cuPointerGetAttributes)
template <detail::device_view Span>
result<peer_memory<Span>> peer(context_or_device on, Span memory,
                               source_location where = source_location::current()) noexcept {
  const context_ref in = GPU_TRY(on.resolve("gpu::peer", where));
  if (!memory.empty()) {
    CUcontext owner = nullptr;
    int ordinal = 0;
    GPU_TRY(
        detail::find_owner(static_cast<std::uintptr_t>(memory.native()), owner, ordinal, where));
    const bool own = owner == nullptr || owner == in.native();
    if (!own || ordinal != in.device().native()) {
      return detail::fail(detail::wrong_context_error("gpu::peer", "span", ordinal, "context",
                                                      in.device().native(), where));
    }
  }
  return peer_memory<Span>{memory, in};
}

}}  // namespace gpu::v1

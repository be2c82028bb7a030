#pragma once
/// \file
/// `in`, `out` and `inout`: kernel arguments in host memory, which the launch copies to the device
/// and back.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

enum class transfer : unsigned char { in, out, inout };

/// Host memory that a launch copies.
template <class T, transfer Way> struct host_argument {
  T* data;
  std::size_t size;
  bool moved_from = false;
};

template <class> inline constexpr bool is_host_argument_type = false;
template <class T, transfer Way>
inline constexpr bool is_host_argument_type<host_argument<T, Way>> = true;

template <class A>
concept is_host_argument = is_host_argument_type<std::remove_cvref_t<A>>;

/// The element of the memory that the kernel gets: `const` for `in`, where changes would be lost.
template <class A> struct passed_element {};
template <class T, transfer Way> struct passed_element<host_argument<T, Way>> {
  using type = std::conditional_t<Way == transfer::in, const T, T>;
};
template <class A> using passed_element_t = typename passed_element<A>::type;

template <class Range>
concept writable_host_range =
    host_range<Range> && !std::is_const_v<host_element_t<std::remove_reference_t<Range>>>;

template <transfer Way, class Range> constexpr auto host_argument_of(Range& range) noexcept {
  using element = host_element_t<Range>;
  static_assert(std::is_trivially_copyable_v<element>,
                "device memory holds trivially copyable objects: they are copied as bytes, and no "
                "constructor or destructor runs");
  host_argument<element, Way> made{detail::data_of(range), detail::size_of(range)};
  if constexpr (knows_context<Range>) made.moved_from = !range.context();
  return made;
}

}  // namespace detail

/// Passes a copy of `range` in device memory to a kernel, as a `device_span` or a pointer to
/// `const` elements: the kernel reads them.
///
///     GPU_TRY(gpu::launch(stream, config, saxpy, 2.0f, gpu::in(x), gpu::inout(y), n));
///
/// **Ordering**: a launch with such arguments copies on its stream and returns when the kernel has
/// run and the results are copied back, so `range` may be a temporary and may be pageable.
/// **Cost**: a stream-ordered allocation and a copy for each; for data that stays on the device,
/// use a `device_buffer`. **Errors**: of the launch; `errc::empty_handle` for an owner that was
/// moved from; `errc::capture_prohibited` during capture.
template <host_range Range> constexpr auto in(Range&& range) noexcept {
  return detail::host_argument_of<detail::transfer::in>(range);
}

/// Passes device memory of the size of `range` with undefined contents, which is copied to `range`
/// after the kernel. Otherwise as `in`.
template <detail::writable_host_range Range> constexpr auto out(Range&& range) noexcept {
  return detail::host_argument_of<detail::transfer::out>(range);
}

/// Passes a copy of `range`, which is copied back after the kernel. Otherwise as `in`.
template <detail::writable_host_range Range> constexpr auto inout(Range&& range) noexcept {
  return detail::host_argument_of<detail::transfer::inout>(range);
}

namespace detail {

/// An argument that is not copied.
template <class A> struct staged_argument {
  A&& passed;

  static constexpr bool moved_from() noexcept { return false; }
  result<> copy_to_device(const stream_ref&, source_location) noexcept { return {}; }
  result<> copy_back(const stream_ref&, source_location) noexcept { return {}; }
  A&& argument() noexcept { return static_cast<A&&>(passed); }
};

/// Host memory and its copy on the device.
template <is_host_argument A> struct staged_argument<A> {
  A&& passed;
  device_memory memory{};

  template <class T, transfer Way> static constexpr transfer way(const host_argument<T, Way>&) {
    return Way;
  }
  template <class T, transfer Way>
  static std::remove_const_t<T>* device_type(const host_argument<T, Way>&);
  using element =
      std::remove_pointer_t<decltype(device_type(std::declval<std::remove_cvref_t<A>>()))>;

  bool moved_from() const noexcept { return passed.moved_from; }
  std::size_t bytes() const noexcept { return passed.size * sizeof(element); }

  result<> copy_to_device(const stream_ref& stream, source_location where) noexcept {
    GPU_TRY(allocate(stream, bytes(), memory, where));
    if (way(passed) == transfer::out || bytes() == 0) return {};
    return on_stream(stream, where, [&] {
      return queue<&driver::entry_points::memcpy_htod_async>(
          stream, copy_label, where, memory.get().address, static_cast<const void*>(passed.data),
          bytes(), stream.native());
    });
  }

  result<> copy_back([[maybe_unused]] const stream_ref& stream,
                     [[maybe_unused]] source_location where) noexcept {
    if constexpr (!std::is_const_v<std::remove_pointer_t<decltype(passed.data)>>) {
      if (way(passed) == transfer::in || bytes() == 0) return {};
      return on_stream(stream, where, [&] {
        return queue<&driver::entry_points::memcpy_dtoh_async>(
            stream, copy_label, where, static_cast<void*>(passed.data), memory.get().address,
            bytes(), stream.native());
      });
    }
    return {};
  }

  device_span<passed_element_t<std::remove_cvref_t<A>>> argument() noexcept {
    return device_span<passed_element_t<std::remove_cvref_t<A>>>::from_native(memory.get().address,
                                                                              passed.size);
  }
};

inline result<> require_no_capture(const stream_ref& stream, source_location where) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  GPU_TRY(on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::stream_is_capturing>(where, stream.native(),
                                                                    &status);
  }));
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return {};
  return fail(refusal(errc::capture_prohibited, "gpu::launch",
                      text("the stream is being captured, but gpu::in, gpu::out and gpu::inout "
                           "have to wait for the kernel. Copy to a device_buffer before the "
                           "capture and pass that."),
                      where));
}

inline result<> moved_from_error(unsigned position, const char* kernel,
                                 source_location where) noexcept {
  text_builder out;
  out << "owner that is argument " << position << " of kernel " << kernel;
  return refuse_empty_handle("gpu::launch", out.finish().c_str(), where);
}

template <class Launch, class... Staged>
result<> launch_staged(const stream_ref& stream, source_location where, const char* kernel,
                       const Launch& launch, Staged&&... staged) noexcept {
  GPU_TRY(require(stream, "gpu::launch", where));
  unsigned position = 0;
  const bool any_moved_from = ((++position, staged.moved_from()) || ...);
  if (any_moved_from) return moved_from_error(position, kernel, where);
  GPU_TRY(require_no_capture(stream, where));
  result<> done;
  const auto unless_failed = [&](auto&& step) {
    if (done.has_value()) step().swap(done);  // nvcc warns of an assignment
  };
  (unless_failed([&] { return staged.copy_to_device(stream, where); }), ...);
  unless_failed([&] { return launch(staged.argument()...); });
  (unless_failed([&] { return staged.copy_back(stream, where); }), ...);
  // Also after a failure, because copies in progress use the caller's memory.
  result<> finished = stream.synchronize(where);
  return done.has_value() ? std::move(finished) : std::move(done);
}

/// Calls `launch(arguments...)` between the copies that the arguments need, and waits for all.
template <class Launch, class... A>
result<> launch_with_host_memory(const stream_ref& stream, source_location where,
                                 const char* kernel, const Launch& launch,
                                 A&&... arguments) noexcept {
  return launch_staged(stream, where, kernel, launch,
                       staged_argument<A>{static_cast<A&&>(arguments)}...);
}

}  // namespace detail
}}  // namespace gpu::v1

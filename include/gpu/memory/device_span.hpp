#pragma once
/// \file
/// `device_span<T>`: a pointer and a length in device memory, which host code cannot dereference.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/memory/ranges.hpp>

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The extent of a span whose length is known only at run time.
inline constexpr std::size_t dynamic_extent = static_cast<std::size_t>(-1);

template <class T, std::size_t Extent = dynamic_extent> class device_span;

namespace detail {

/// Ends the program, as a hardened standard library does on a broken precondition: the device would
/// otherwise get an address that is not the caller's.
[[noreturn]] inline void end_past_range(const char* function, std::size_t offset, std::size_t count,
                                        std::size_t size, source_location where) noexcept {
  text_builder out;
  out << "elements " << offset << " to " << offset << " + " << count
      << " are not all inside the span, which has " << size << " elements";
  report(refusal(errc::index_out_of_range, function, out.finish(), where, offset + count, size));
  __builtin_abort();
}

template <class T>
struct readable_parts<device_span<T, dynamic_extent>> : known_template_parts<T> {};

}  // namespace detail

/// A view of `size()` elements of type `T` in device memory, which something else keeps alive. Copy
/// it freely. As a kernel argument it is 16 bytes, the pointer and then the length, whether the
/// extent is static or dynamic; if the parameter is a `T*`, it passes as the pointer. The host
/// cannot read elements through it, and it cannot be made from host memory.
/// **Errors**: `first`, `last` and `subspan` end the program if they would go past the end, with a
/// message to the error reporter.
template <class T, std::size_t Extent> class device_span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  static constexpr std::size_t extent = Extent;

  static_assert(std::is_object_v<T> && std::is_trivially_copyable_v<T>,
                "device memory holds trivially copyable objects: they are copied as bytes, and no "
                "constructor or destructor runs");

  /// Makes an empty span.
  constexpr device_span() noexcept
    requires(Extent == 0 || Extent == dynamic_extent)
  = default;

  /// Converts to a span of const elements, or of dynamic extent.
  template <class U, std::size_t OtherExtent>
    requires(std::is_convertible_v<U (*)[], T (*)[]> &&
             (Extent == dynamic_extent || Extent == OtherExtent))
  constexpr device_span(device_span<U, OtherExtent> other) noexcept
      : data_{other.data()}, size_{other.size()} {}

  /// Converts a dynamic extent to a static one. Ends the program if the length differs.
  template <class U>
    requires(std::is_convertible_v<U (*)[], T (*)[]> && Extent != dynamic_extent)
  constexpr explicit device_span(device_span<U, dynamic_extent> other,
                                 source_location where = source_location::current()) noexcept
      : data_{other.data()}, size_{other.size()} {
    if (size_ != Extent) detail::end_past_range("gpu::device_span", 0, Extent, size_, where);
  }

  // Deleted, because host memory is not device memory: copy it to a device_buffer, or map a
  // pinned_vector.
  template <host_range Range> device_span(Range&&) = delete;
  device_span(T*, std::size_t) = delete;

  /// Makes a span of `count` elements at an address from the driver.
  static device_span from_native(CUdeviceptr address, std::size_t count = Extent) noexcept
    requires(Extent != dynamic_extent)
  {
    return device_span<T>::from_native(address, count).template first<Extent>();
  }
  static device_span from_native(CUdeviceptr address, std::size_t count) noexcept
    requires(Extent == dynamic_extent)
  {
    device_span span;
    span.data_ = reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    span.size_ = count;
    return span;
  }

  /// Returns the device's pointer to the first element. The host may pass it on, but not
  /// dereference it.
  constexpr T* data() const noexcept { return data_; }
  CUdeviceptr native() const noexcept {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data_));
  }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr std::size_t size_bytes() const noexcept {
    return detail::saturated_product(size_, sizeof(T));
  }
  constexpr bool empty() const noexcept { return size_ == 0; }

  /// Returns the first `count` elements.
  constexpr device_span<T> first(
      std::size_t count, source_location where = source_location::current()) const noexcept {
    return part<dynamic_extent>("gpu::device_span::first", 0, count, where);
  }
  template <std::size_t Count>
  constexpr device_span<T, Count> first(
      source_location where = source_location::current()) const noexcept {
    return part<Count>("gpu::device_span::first", 0, Count, where);
  }

  /// Returns the last `count` elements.
  constexpr device_span<T> last(std::size_t count,
                                source_location where = source_location::current()) const noexcept {
    return part<dynamic_extent>("gpu::device_span::last", size_ < count ? 0 : size_ - count, count,
                                where);
  }
  template <std::size_t Count>
  constexpr device_span<T, Count> last(
      source_location where = source_location::current()) const noexcept {
    return part<Count>("gpu::device_span::last", size_ < Count ? 0 : size_ - Count, Count, where);
  }

  /// Returns `count` elements from `offset` on, or all that are left without a count.
  constexpr device_span<T> subspan(
      std::size_t offset, std::size_t count = dynamic_extent,
      source_location where = source_location::current()) const noexcept {
    return part<dynamic_extent>("gpu::device_span::subspan", offset,
                                count == dynamic_extent && offset <= size_ ? size_ - offset : count,
                                where);
  }
  template <std::size_t Offset, std::size_t Count = dynamic_extent>
  constexpr auto subspan(source_location where = source_location::current()) const noexcept {
    constexpr std::size_t left = Extent == dynamic_extent ? dynamic_extent : Extent - Offset;
    static_assert(Extent == dynamic_extent || Offset <= Extent, "the offset is past the end");
    return part < Count == dynamic_extent
               ? left
               : Count > ("gpu::device_span::subspan", Offset,
                          Count == dynamic_extent ? size_ - Offset : Count, where);
  }

 private:
  template <class, std::size_t> friend class device_span;

  template <std::size_t Count>
  constexpr device_span<T, Count> part(const char* function, std::size_t offset, std::size_t count,
                                       source_location where) const noexcept {
    static_assert(Count == dynamic_extent || Extent == dynamic_extent || Count <= Extent,
                  "the span has fewer elements than that");
    if (offset > size_ || count > size_ - offset) {
      detail::end_past_range(function, offset, count, size_, where);
    }
    device_span<T, Count> span{typename device_span<T, Count>::unchecked{}};
    span.data_ = data_ + offset;
    span.size_ = count;
    return span;
  }

  struct unchecked {};
  constexpr explicit device_span(unchecked) noexcept {}

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Returns the bytes of the elements, for reading.
template <class T, std::size_t Extent>
device_span<const std::byte> as_bytes(device_span<T, Extent> span) noexcept {
  return device_span<const std::byte>::from_native(span.native(), span.size_bytes());
}

/// Returns the bytes of the elements, for reading and writing.
template <class T, std::size_t Extent>
  requires(!std::is_const_v<T>)
device_span<std::byte> as_writable_bytes(device_span<T, Extent> span) noexcept {
  return device_span<std::byte>::from_native(span.native(), span.size_bytes());
}

template <class T, std::size_t Extent> struct kernel_argument<device_span<T, Extent>> {
  static constexpr T* pointer(device_span<T, Extent> span) noexcept { return span.data(); }
  static constexpr device_span<T, Extent> value(device_span<T, Extent> span) noexcept {
    return span;
  }
};

namespace detail {

template <class> inline constexpr bool is_device_span = false;
template <class T, std::size_t Extent>
inline constexpr bool is_device_span<device_span<T, Extent>> = true;

/// Returns the device span of `range`: itself, or its `span()`.
template <class Range> constexpr auto device_span_of(Range&& range) noexcept {
  if constexpr (is_device_span<std::remove_cvref_t<Range>>) {
    return range;
  } else {
    return static_cast<Range&&>(range).span();
  }
}

}  // namespace detail

/// A `device_span`, or an lvalue of a type whose `span()` returns one, such as `device_buffer`.
template <class Range>
concept device_range =
    detail::is_device_span<std::remove_cvref_t<Range>> || requires(Range&& range) {
      requires detail::is_device_span<decltype(static_cast<Range&&>(range).span())>;
    };

}}  // namespace gpu::v1

#pragma once
/// \file
/// `pinned_span<T>`: a view of a `pinned_vector`, or of other page-locked memory.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// A view of `size()` elements in page-locked host memory, which something else keeps alive. Copy
/// it freely. Unlike a `std::span`, it can be passed to asynchronous copies.
/// **Errors**: `first`, `last` and `subspan` end the program if they would go past the end, with a
/// message to the error reporter.
template <class T> class pinned_span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;
  using iterator = T*;

  constexpr pinned_span() noexcept = default;
  template <class U>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr pinned_span(pinned_span<U> other) noexcept : data_{other.data()}, size_{other.size()} {}

  /// Makes a span of memory that is page-locked by cuMemHostAlloc or cuMemHostRegister.
  static constexpr pinned_span from_native(T* data, std::size_t count) noexcept {
    pinned_span span;
    span.data_ = data;
    span.size_ = count;
    return span;
  }

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr std::size_t size_bytes() const noexcept {
    return detail::saturated_product(size_, sizeof(T));
  }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }
  constexpr T& front() const noexcept { return data_[0]; }
  constexpr T& back() const noexcept { return data_[size_ - 1]; }

  /// Returns the first `count` elements.
  constexpr pinned_span first(std::size_t count,
                              source_location where = source_location::current()) const noexcept {
    return part("gpu::pinned_span::first", 0, count, where);
  }
  /// Returns the last `count` elements.
  constexpr pinned_span last(std::size_t count,
                             source_location where = source_location::current()) const noexcept {
    return part("gpu::pinned_span::last", size_ < count ? 0 : size_ - count, count, where);
  }
  /// Returns `count` elements from `offset` on, or all that are left without a count.
  constexpr pinned_span subspan(std::size_t offset, std::size_t count = dynamic_extent,
                                source_location where = source_location::current()) const noexcept {
    return part("gpu::pinned_span::subspan", offset,
                count == dynamic_extent && offset <= size_ ? size_ - offset : count, where);
  }

 private:
  constexpr pinned_span part(const char* function, std::size_t offset, std::size_t count,
                             source_location where) const noexcept {
    if (offset > size_ || count > size_ - offset) {
      detail::end_past_range(function, offset, count, size_, where);
    }
    return from_native(data_ + offset, count);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T> inline constexpr bool enable_pinned_range<pinned_span<T>> = true;

}}  // namespace gpu::v1

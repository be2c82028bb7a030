#pragma once
/// \file
/// Iterates over contiguous elements from the last to the first.

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// A random access iterator that does what `std::reverse_iterator<T*>` does. It exists because
/// <iterator> alone costs a compiler as much as all memory headers together.
template <class T> class reverse_iterator {
 public:
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;

  constexpr reverse_iterator() noexcept = default;
  constexpr explicit reverse_iterator(T* base) noexcept : base_{base} {}
  template <class U>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr reverse_iterator(const reverse_iterator<U>& other) noexcept : base_{other.base()} {}

  /// Returns the address after the element.
  constexpr T* base() const noexcept { return base_; }
  constexpr T& operator*() const noexcept { return base_[-1]; }
  constexpr T* operator->() const noexcept { return base_ - 1; }
  constexpr T& operator[](difference_type n) const noexcept { return base_[-1 - n]; }

  constexpr reverse_iterator& operator+=(difference_type n) noexcept {
    base_ -= n;
    return *this;
  }
  constexpr reverse_iterator& operator-=(difference_type n) noexcept { return *this += -n; }
  constexpr reverse_iterator& operator++() noexcept { return *this += 1; }
  constexpr reverse_iterator& operator--() noexcept { return *this += -1; }
  constexpr reverse_iterator operator++(int) noexcept {  // NOLINT(cert-dcl21-cpp): as std's
    const reverse_iterator before = *this;
    *this += 1;
    return before;
  }
  constexpr reverse_iterator operator--(int) noexcept {  // NOLINT(cert-dcl21-cpp): as std's
    const reverse_iterator before = *this;
    *this += -1;
    return before;
  }
  friend constexpr reverse_iterator operator+(reverse_iterator i, difference_type n) noexcept {
    return i += n;
  }
  friend constexpr reverse_iterator operator+(difference_type n, reverse_iterator i) noexcept {
    return i += n;
  }
  friend constexpr reverse_iterator operator-(reverse_iterator i, difference_type n) noexcept {
    return i += -n;
  }
  friend constexpr difference_type operator-(reverse_iterator a, reverse_iterator b) noexcept {
    return b.base_ - a.base_;
  }

  friend constexpr bool operator==(reverse_iterator a, reverse_iterator b) noexcept {
    return a.base_ == b.base_;
  }
  friend constexpr bool operator<(reverse_iterator a, reverse_iterator b) noexcept {
    return b.base_ < a.base_;
  }
  friend constexpr bool operator>(reverse_iterator a, reverse_iterator b) noexcept { return b < a; }
  friend constexpr bool operator<=(reverse_iterator a, reverse_iterator b) noexcept {
    return !(b < a);
  }
  friend constexpr bool operator>=(reverse_iterator a, reverse_iterator b) noexcept {
    return !(a < b);
  }

 private:
  T* base_ = nullptr;
};

}}}  // namespace gpu::v1::detail

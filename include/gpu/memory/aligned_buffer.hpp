#pragma once
/// \file
/// `aligned_buffer<T>`: ordinary host memory that begins at a multiple of a page or of whatever is
/// asked for.

#include <gpu/driver/process_state.hpp>
#include <gpu/driver/refusals.hpp>

#include <cstdlib>

namespace gpu {

/// Owns `size()` elements in pageable host memory. What is in it is undefined until it is written.
/// Aligned to pages, as it is by default, it can be page-locked by `registered_memory` without any
/// of its neighbours. Move-only, empty after a move.
template <class T> class aligned_buffer {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  static_assert(detail::trivially_copyable<T> && detail::same<T, detail::remove_cv_t<T>>,
                "no constructor or destructor runs: the elements have to be trivially copyable");

  /// `count` elements; none are fine.
  /// **Errors**: `errc::invalid_argument` for an alignment that is no power of two;
  /// `errc::size_overflow`; `errc::out_of_host_memory`.
  static result<aligned_buffer> create(
      std::size_t count, std::size_t alignment = 4096,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::aligned_buffer::create";
    detail::text_builder out;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      out << "the alignment of " << alignment << " bytes is no power of two. Ask for one, such as "
          << "4096, a page.";
      return detail::fail(
          detail::refusal(errc::invalid_argument, function, out.finish(), where, alignment));
    }
    if (alignment < alignof(std::max_align_t)) alignment = alignof(std::max_align_t);
    std::size_t bytes = 0;
    const std::size_t most = (~std::size_t{0} - alignment) / sizeof(T);
    if (count > most || __builtin_mul_overflow(count, sizeof(T), &bytes)) {
      out << count << " elements of " << sizeof(T)
          << " bytes are more bytes than a size_t can count. At most " << most << " elements fit.";
      return detail::fail(
          detail::refusal(errc::size_overflow, function, out.finish(), where, count, most));
    }
    aligned_buffer made;
    if (count == 0) return made;
    // Whole units, so that what is registered in pages belongs to this buffer alone.
    bytes = (bytes + alignment - 1) / alignment * alignment;
    made.data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes));
    if (made.data_ == nullptr) {
      out << "the host has no " << bytes << " bytes aligned to " << alignment << '.';
      return detail::fail(
          detail::refusal(errc::out_of_host_memory, function, out.finish(), where, bytes));
    }
    made.size_ = count;
    return made;
  }

  aligned_buffer(aligned_buffer&& other) noexcept
      : data_{detail::exchange(other.data_, nullptr)}, size_{detail::exchange(other.size_, 0u)} {}
  aligned_buffer& operator=(aligned_buffer&& other) noexcept {
    aligned_buffer taken{detail::move(other)};
    detail::swap_values(data_, taken.data_);
    detail::swap_values(size_, taken.size_);
    return *this;
  }
  ~aligned_buffer() { std::free(data_); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return data_; }
  const T* begin() const noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  aligned_buffer() noexcept = default;

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gpu

#pragma once
/// \file
/// `pinned_buffer<T>`: page-locked host memory of a `caching_pinned_allocator`.

#include <gpu/memory/pinned_allocation.hpp>
#include <gpu/memory/pinned_span.hpp>

namespace gpu {

template <class T> class pinned_buffer;

namespace detail {

/// How an allocator makes buffers of the memory that it hands out.
struct pinned_buffer_maker {
  template <class T> static pinned_buffer<T> make(pinned_memory memory, std::size_t size) noexcept {
    return pinned_buffer<T>{detail::move(memory), size};
  }
  template <class T> static pinned_memory take(pinned_buffer<T>& buffer) noexcept {
    buffer.size_ = 0;
    return detail::move(buffer.memory_);
  }
};

}  // namespace detail

/// Owns `size()` elements in page-locked host memory, for asynchronous copies. What is in it is
/// undefined until it is written. Move-only, empty after a move. It does not grow: for that there
/// is `pinned_vector`.
/// **Ordering**: the destructor takes the memory back at once, so copies that use it have to be
/// done; `caching_pinned_allocator::free_after` waits for a stream without blocking.
template <class T> class pinned_buffer {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  static_assert(detail::trivially_copyable<T> && detail::same<T, detail::remove_cv_t<T>>,
                "the device copies bytes: the elements have to be trivially copyable");

  pinned_buffer(pinned_buffer&& other) noexcept
      : memory_{detail::move(other.memory_)}, size_{detail::exchange(other.size_, 0u)} {}
  pinned_buffer& operator=(pinned_buffer&& other) noexcept {
    memory_ = detail::move(other.memory_);
    size_ = detail::exchange(other.size_, 0u);
    return *this;
  }

  T* data() noexcept { return static_cast<T*>(memory_.get().address); }
  const T* data() const noexcept { return static_cast<const T*>(memory_.get().address); }
  std::size_t size() const noexcept { return size_; }
  std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }

  T* begin() noexcept { return data(); }
  const T* begin() const noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t index) noexcept { return data()[index]; }
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }

  pinned_span<T> span() & noexcept { return pinned_span<T>::from_native(data(), size_); }
  pinned_span<const T> span() const& noexcept {
    return pinned_span<const T>::from_native(data(), size_);
  }
  operator pinned_span<T>() & noexcept { return span(); }
  operator pinned_span<const T>() const& noexcept { return span(); }
  operator pinned_span<const T>() const&& = delete;  // a name must not outlive its owner

  context_ref context() const noexcept { return memory_.get().context; }

 private:
  friend struct detail::pinned_buffer_maker;

  pinned_buffer(detail::pinned_memory memory, std::size_t size) noexcept
      : memory_{detail::move(memory)}, size_{size} {}

  detail::pinned_memory memory_;
  std::size_t size_ = 0;
};

template <class T> inline constexpr bool enable_pinned_range<pinned_buffer<T>> = true;

}  // namespace gpu

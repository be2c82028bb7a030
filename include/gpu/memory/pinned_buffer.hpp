#pragma once
/// \file
/// `pinned_buffer<T>`: page-locked host memory of a `caching_pinned_allocator`.

#include <gpu/memory/detail/pinned_elements.hpp>

namespace gpu::inline v0 {

/// Owns `size()` elements in page-locked host memory, for asynchronous copies. What is in it is
/// undefined until it is written. Move-only, empty after a move. It does not grow: for that there
/// is `pinned_vector`.
/// **Ordering**: the destructor takes the memory back at once, so copies that use it have to be
/// done; `caching_pinned_allocator::free_after` waits for a stream without blocking.
template <class T> class pinned_buffer : public detail::pinned_elements<T> {
 public:
  static_assert(detail::trivially_copyable<T> && detail::same<T, detail::remove_cv_t<T>>,
                "the device copies bytes: the elements have to be trivially copyable");

  context_ref context() const noexcept { return this->memory_.get().context; }

 private:
  friend struct detail::buffer_maker;
  using detail::pinned_elements<T>::pinned_elements;
};

template <class T> inline constexpr bool enable_pinned_range<pinned_buffer<T>> = true;

}  // namespace gpu::inline v0

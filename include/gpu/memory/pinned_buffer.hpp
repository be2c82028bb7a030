#pragma once
/// \file
/// `pinned_buffer<T>`: owns page-locked host memory of a `caching_pinned_allocator`.

#include <gpu/core/detail/traits.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/pinned_allocation.hpp>
#include <gpu/memory/ranges.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Owns `size()` elements, which are `size_bytes()` bytes, in page-locked host memory, for
/// asynchronous copies. The contents are undefined until they are written. Move-only, empty after a
/// move. It cannot grow; use `pinned_vector` for that.
/// **Ordering**: the destructor frees the memory at once, so copies that use it must have finished;
/// `caching_pinned_allocator::free_after` frees it after a stream's work, without blocking.
template <class T> class pinned_buffer : public detail::pinned_elements<T> {
 public:
  /// Creates an empty object, to be assigned to.
  pinned_buffer() noexcept = default;

  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "the elements must be trivially copyable: they are copied as bytes");

  context_ref context() const noexcept { return this->memory_.get().context; }

  // Refuses common guesses; the error says what to write.
  template <class... Arguments> static void create(const Arguments&...) noexcept {
    static_assert(detail::always_false<Arguments...>,
                  "write gpu::pinned_vector<T>::create(device, count)");
  }

 private:
  friend struct detail::buffer_maker;
  using detail::pinned_elements<T>::pinned_elements;
};

template <class T> inline constexpr bool enable_pinned_range<pinned_buffer<T>> = true;

}}  // namespace gpu::v1

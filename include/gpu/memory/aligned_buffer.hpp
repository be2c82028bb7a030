#pragma once
/// \file
/// `aligned_buffer<T>`: pageable host memory, aligned to a page or to any power of two.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/memory/detail/element_owner.hpp>

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

struct host_allocation {
  void* address = nullptr;
  friend bool operator==(const host_allocation&, const host_allocation&) noexcept = default;
};

struct free_host_memory {
  void operator()(const host_allocation& a) const noexcept { std::free(a.address); }
};

using host_memory = unique_handle<host_allocation, free_host_memory>;

}  // namespace detail

/// Owns `size()` elements in pageable host memory. New elements have undefined values. With the
/// default alignment, `registered_memory` can page-lock it without locking memory beside it.
/// Move-only; empty after a move.
/// **Capture**: not affected; the driver is not called.
template <class T>
class aligned_buffer : public detail::host_elements<detail::element_owner<T, detail::host_memory>> {
 public:
  /// Creates an empty object, to be assigned to.
  aligned_buffer() noexcept = default;

  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "no constructor or destructor runs: the elements have to be trivially copyable");

  /// Allocates `count` elements, which may be 0, aligned to `alignment` bytes and to the alignment
  /// of `T`.
  /// **Errors**: `errc::invalid_argument` for an alignment that is not a power of two;
  /// `errc::size_overflow`; `errc::out_of_host_memory`.
  static result<aligned_buffer> create(
      std::size_t count, std::size_t alignment = 4096,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::aligned_buffer::create";
    detail::text_builder out;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      out << "the alignment of " << alignment
          << " bytes is not a power of two. Pass one, such as 4096, the size of a page.";
      return detail::fail(
          detail::refusal(errc::invalid_argument, function, out.finish(), where, alignment));
    }
    constexpr std::size_t least =
        alignof(T) > alignof(std::max_align_t) ? alignof(T) : alignof(std::max_align_t);
    if (alignment < least) alignment = least;
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes(function, count, sizeof(T), bytes, where, alignment));
    if (count == 0) return aligned_buffer{detail::host_memory{}, 0};
    // Rounded up, so that the pages that are registered belong to this buffer only.
    bytes = (bytes + alignment - 1) / alignment * alignment;
    detail::host_memory memory{{std::aligned_alloc(alignment, bytes)}};
    if (!memory) {
      out << "the host could not allocate " << bytes << " bytes aligned to " << alignment
          << ". Request fewer elements, or free host memory.";
      return detail::fail(
          detail::refusal(errc::out_of_host_memory, function, out.finish(), where, bytes));
    }
    return aligned_buffer{std::move(memory), count};
  }

 private:
  using detail::host_elements<detail::element_owner<T, detail::host_memory>>::host_elements;
};

}}  // namespace gpu::v1

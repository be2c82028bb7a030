#pragma once
/// \file
/// Errors for host memory that runs out, and texts and objects that are checked for it.

#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the error for an allocation of host memory that failed.
inline cuda_error out_of_host_memory_error(const char* function, std::size_t bytes,
                                           source_location where) noexcept {
  text_builder out;
  out << "the host had no " << bytes << " bytes left for bookkeeping. Free host memory.";
  return refusal(errc::out_of_host_memory, function, out.finish(), where, bytes);
}

/// Owns an object on the heap that is too large for small stacks. Converts to false if it could not
/// be allocated.
template <class T> class heap_object {
 public:
  heap_object() noexcept : object_{new(std::nothrow) T} {}
  heap_object(const heap_object&) = delete;
  heap_object& operator=(const heap_object&) = delete;
  ~heap_object() { delete object_; }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T* operator->() const noexcept { return object_; }

 private:
  T* object_;
};

/// Copies characters into a text.
/// **Errors**: `errc::out_of_host_memory`.
inline result<text> copied_text(const char* characters, std::size_t size, const char* function,
                                source_location where) noexcept {
  text made(characters, size);
  if (made.lost()) return fail(out_of_host_memory_error(function, size, where));
  return made;
}

/// Calls `work`, which allocates, and returns its result.
/// **Errors**: `errc::out_of_host_memory` in place of a `std::bad_alloc`.
template <class Work>
auto catch_bad_alloc(const char* function, source_location where, Work work) -> decltype(work()) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(refusal(errc::out_of_host_memory, function,
                        text("the host had no memory left for this. Free host memory."), where));
  }
#else
  static_cast<void>(function);
  static_cast<void>(where);
  return work();
#endif
}

}}}  // namespace gpu::v1::detail

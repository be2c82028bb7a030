#pragma once
/// \file
/// `catch_bad_alloc`: returns an error in place of a `std::bad_alloc` of a container.

#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>

#include <new>

namespace gpu { inline namespace v1 { namespace detail {

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

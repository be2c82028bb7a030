#pragma once
/// \file
/// Calls functions of the program from the driver; these must not call CUDA.

namespace nogpu { inline namespace v1 { namespace driver {

/// Returns whether the calling thread is inside a host function, which must not call CUDA.
inline bool& in_host_function() noexcept {
  thread_local bool inside = false;
  return inside;
}

struct host_function_scope {
  host_function_scope() noexcept { in_host_function() = true; }
  ~host_function_scope() { in_host_function() = false; }
  host_function_scope(const host_function_scope&) = delete;
  host_function_scope& operator=(const host_function_scope&) = delete;
};

}}}  // namespace nogpu::v1::driver

#pragma once
/// \file
/// Starts and stops data collection of an attached profiler: `profiler_range`, for a scope.

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/error_reporter.hpp>

namespace gpu { inline namespace v1 {

/// Starts the collection of a profiler that was started paused (`nsys profile -c cudaProfilerApi`,
/// `ncu --profile-from-start off`). Without a profiler it does nothing. It does not nest, and
/// concerns the whole process. **Capture**: not allowed, and invalidates the capture, unless that
/// is `relaxed`. (cuProfilerStart)
inline result<> start_profiler(source_location where = source_location::current()) noexcept {
  return driver::call_in_any<&driver::entry_points::profiler_start>(where);
}

/// Stops the collection that `start_profiler` began. **Capture**: as `start_profiler`.
/// (cuProfilerStop)
inline result<> stop_profiler(source_location where = source_location::current()) noexcept {
  return driver::call_in_any<&driver::entry_points::profiler_stop>(where);
}

namespace detail {

struct stop_profiling {
  void operator()(bool) const noexcept {
    const result<> done = stop_profiler(source_location{});
    if (!done.has_value() && done.error().domain() == error_domain::driver) report(done.error());
  }
};

}  // namespace detail

/// Profiles a scope:
///
///     const gpu::profiler_range range = GPU_TRY(gpu::profiler_range::start());
///
/// Work is asynchronous: synchronize before the end, or the profiler misses what is still running.
/// The error of a failed stop goes to the error reporter. **Capture**: neither the beginning nor
/// the end of a range is allowed, unless the capture is `relaxed`; after an end that was refused
/// the profiler continues to collect.
class [[nodiscard]] profiler_range {
 public:
  /// (cuProfilerStart, cuProfilerStop)
  static result<profiler_range> start(source_location where = source_location::current()) noexcept {
    GPU_TRY(start_profiler(where));
    return profiler_range{true};
  }

 private:
  explicit profiler_range(bool running) noexcept : running_{running} {}

  unique_handle<bool, detail::stop_profiling> running_;
};

}}  // namespace gpu::v1

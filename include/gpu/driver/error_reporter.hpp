#pragma once
/// \file
/// `set_error_reporter`: who receives the errors of destructors, which cannot return them.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/system/output.hpp>

namespace gpu { inline namespace v1 {

/// Receives an error that a destructor cannot return.
/// **Threads**: called in the thread that destroys; must not throw.
using error_reporter = void (*)(const cuda_error& error);

/// Sets the error reporter of the whole process and returns the one before. Null, the default,
/// means that errors are printed to stderr. **Threads**: may be called at any time.
inline error_reporter set_error_reporter(error_reporter reporter) noexcept {
  return detail::atomic_exchange<detail::memory_order::acq_rel>(detail::state_of_process().reporter,
                                                                reporter);
}

namespace detail {

/// Passes an error that arose in a destructor to the error reporter.
inline void report(const cuda_error& error) noexcept {
  error_reporter reporter = atomic_load<memory_order::acquire>(state_of_process().reporter);
  if (reporter != nullptr) return reporter(error);
  text_builder line;
  line << "gpu: " << error.message() << '\n';
  const text whole = line.finish();
  write_to_stderr(whole.data(), whole.size());
}

}  // namespace detail
}}  // namespace gpu::v1

#pragma once
/// \file
/// `exit_status`: the result of a program as the exit status of `main`.

#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/output.hpp>

namespace gpu { inline namespace v1 {

/// Returns 0 if `done` succeeded; otherwise prints the error's message to stderr and returns 1. For
/// `main`, which cannot return a result and so cannot use `GPU_TRY`:
///
///     gpu::result<> run() { ... }
///     int main() { return gpu::exit_status(run()); }
///
/// **Threads**: any.
template <class T> int exit_status(const result<T>& done) noexcept {
  if (done.has_value()) return 0;
  detail::text_builder line;
  line << done.error().message() << '\n';
  const text whole = line.finish();
  detail::write_to_stderr(whole.data(), whole.size());
  return 1;
}

}}  // namespace gpu::v1

#pragma once
/// \file
/// The time between two events as a `std::chrono::duration`.

#include <gpu/driver/elapsed_time.hpp>

#include <chrono>
#include <ratio>

namespace gpu { inline namespace v1 {

/// Returns the time in milliseconds with a fraction, which converts to any duration with
/// floating-point ticks; use `std::chrono::duration_cast` for whole ticks.
constexpr std::chrono::duration<float, std::milli> to_duration(elapsed_time time) noexcept {
  return std::chrono::duration<float, std::milli>(time.milliseconds());
}

}}  // namespace gpu::v1

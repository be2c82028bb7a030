#pragma once
/// \file
/// `elapsed_time`: the time between two events, without the cost of `<chrono>`.

namespace gpu { inline namespace v1 {

/// A span of time as the device measures it, to about half a microsecond.
/// gpu/interop/chrono.hpp converts it to a `std::chrono::duration`.
class elapsed_time {
 public:
  constexpr elapsed_time() noexcept = default;
  static constexpr elapsed_time from_milliseconds(float milliseconds) noexcept {
    elapsed_time t;
    t.milliseconds_ = milliseconds;
    return t;
  }
  constexpr float seconds() const noexcept { return milliseconds_ * 1e-3f; }
  constexpr float milliseconds() const noexcept { return milliseconds_; }
  constexpr float microseconds() const noexcept { return milliseconds_ * 1e3f; }

  friend constexpr bool operator==(elapsed_time a, elapsed_time b) noexcept = default;
  friend constexpr bool operator<(elapsed_time a, elapsed_time b) noexcept {
    return a.milliseconds_ < b.milliseconds_;
  }
  friend constexpr bool operator>(elapsed_time a, elapsed_time b) noexcept {
    return a.milliseconds_ > b.milliseconds_;
  }
  friend constexpr bool operator<=(elapsed_time a, elapsed_time b) noexcept {
    return a.milliseconds_ <= b.milliseconds_;
  }
  friend constexpr bool operator>=(elapsed_time a, elapsed_time b) noexcept {
    return a.milliseconds_ >= b.milliseconds_;
  }

 private:
  float milliseconds_ = 0;
};

}}  // namespace gpu::v1

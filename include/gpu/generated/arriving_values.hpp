#pragma once
/// \file
/// `arriving_values`: values on their way from the device to the host.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/pinned_vector.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Page-locked memory into which values are copied on a stream, and an event that marks the end of
/// the copy. The destructor waits for a copy that has not finished.
template <class T> class arriving_values {
 public:
  static result<arriving_values> create(const stream_ref& stream, std::size_t count,
                                        source_location where) {
    auto values =
        GPU_TRY(pinned_vector<T>::create(stream.context(), count, pinned_flags::none, where));
    return arriving_values(std::move(values),
                           GPU_TRY(event::create(stream.context(), {.timing = false}, where)));
  }
  arriving_values() noexcept = default;
  arriving_values(arriving_values&& other) noexcept
      : values_{std::move(other.values_)},
        event_{std::move(other.event_)},
        pending_{std::exchange(other.pending_, false)} {}
  arriving_values& operator=(arriving_values&& other) noexcept {
    finish();
    values_ = std::move(other.values_);
    event_ = std::move(other.event_);
    pending_ = std::exchange(other.pending_, false);
    return *this;
  }
  ~arriving_values() { finish(); }

  /// Queues a copy of values in device memory. An earlier one must have been waited for.
  result<> start(const stream_ref& stream, device_span<const T> from, source_location where) {
    GPU_TRY(copy(stream, from, values_, where));
    pending_ = true;  // also if the event cannot be recorded: then the next wait is too short
    result<> recorded = record(stream, event_, where);
    if (!recorded.has_value()) {
      GPU_TRY(stream.synchronize(where));
      pending_ = false;
    }
    return recorded;
  }
  /// Returns whether a copy was started whose values were not waited for.
  bool is_pending() const noexcept { return pending_; }
  /// Returns whether the values are there; does not wait.
  result<bool> is_done(source_location where) const { return event_.is_done(where); }
  /// Waits for the values.
  result<> wait(source_location where) {
    GPU_TRY(event_.synchronize(where));
    pending_ = false;
    return {};
  }
  const T* data() const noexcept { return values_.data(); }

 private:
  arriving_values(pinned_vector<T> values, event marked) noexcept
      : values_{std::move(values)}, event_{std::move(marked)} {}

  void finish() noexcept {
    if (!std::exchange(pending_, false)) return;
    const result<> done = event_.synchronize();
    if (!done.has_value()) report(done.error());
  }

  pinned_vector<T> values_;
  event event_;
  bool pending_ = false;
};

}}}  // namespace gpu::v1::detail

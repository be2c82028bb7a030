#pragma once
/// \file
/// `measure`: times work on a device until the median is steady, several candidates in turns.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/measure/detail/event_timer.hpp>
#include <gpu/measure/device_condition.hpp>
#include <gpu/measure/device_peaks.hpp>
#include <gpu/measure/measurement.hpp>
#include <gpu/measure/sample_statistics.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace detail

/// How to measure.
struct measure_options {
  /// The median is steady if half of its 95 % confidence interval is at most this share of it.
  double relative_confidence = 0.01;
  std::size_t least_samples = 10;
  std::size_t most_samples = 2000;  ///< of each candidate
  double most_seconds = 5;          ///< on the host, for all candidates together
  /// A sample has so many calls that it takes at least this long, because events tell times apart
  /// to about half a microsecond. With a flushed cache, it has one.
  double least_sample_seconds = 50e-6;
  /// Flushes the L2 cache before each sample: what the work reads is in memory. Otherwise each
  /// sample follows a call that is not timed, and finds in the caches what that left there.
  bool flush_cache = false;
  double (*clock)() = detail::steady_seconds;  ///< seconds since any moment, for `most_seconds`
};

/// Work to be measured: `work()` queues it on the stream and returns a `result<>`.
template <class Work> struct candidate {
  string_ref name;
  Work work;
  work_amount amount;

  candidate(string_ref name_of_work, Work queue_work, work_amount of_a_call = {})
      : name{name_of_work}, work(std::move(queue_work)), amount{of_a_call} {}
};

namespace detail {

/// A candidate without its type, so that what measures is compiled once.
struct candidate_ref {
  string_ref name;
  work_amount amount;
  void* work;
  result<> (*call)(void* work);
};

template <class Work> candidate_ref ref_of(candidate<Work>& each) noexcept {
  return {each.name, each.amount, &each.work,
          [](void* work) -> result<> { return (*static_cast<Work*>(work))(); }};
}

/// The least that is filled before a sample, if the device has 64 times as much memory. It keeps
/// the device busy for about 10 us, while the host queues the sample: else short work would be
/// timed with the gaps between the calls.
inline constexpr std::size_t least_fill_bytes = 32u << 20;

/// Takes samples on one stream.
class sampler {
 public:
  static result<sampler> create(const stream_ref& stream, bool flush, source_location where) {
    int cache_bytes = 0;
    GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
        where, &cache_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, stream.device().native()));
    std::size_t bytes =
        std::min(least_fill_bytes, GPU_TRY(stream.device().total_memory(where)) / 64);
    // Twice the cache, of which parts may be kept for other data.
    if (flush) bytes = std::max(bytes, 2 * static_cast<std::size_t>(cache_bytes));
    auto fills = GPU_TRY(device_buffer<unsigned>::create(stream, bytes / sizeof(unsigned), where));
    auto timer = GPU_TRY(event_timer::create(stream, where));
    auto monitor = GPU_TRY(device_monitor::create(stream.device(), where));
    return sampler(stream, flush, std::move(fills), std::move(timer), std::move(monitor));
  }

  /// Returns the seconds of one call, of `calls` calls in a row. Reads the condition of the device
  /// while they run, if `condition` is not null.
  result<double> take(const candidate_ref& each, std::size_t calls, device_condition* condition,
                      source_location where) {
    GPU_TRY(fill(stream_, fills_, ++value_, where));
    if (!flush_) GPU_TRY(each.call(each.work));
    const elapsed_time time = GPU_TRY(timer_.time(
        [&]() -> result<> {
          for (std::size_t i = 0; i < calls; ++i) GPU_TRY(each.call(each.work));
          return {};
        },
        [&] {
          if (condition != nullptr) *condition = monitor_.read();
        },
        where));
    return double{time.milliseconds()} * 1e-3 / static_cast<double>(calls);
  }

  device_condition read() const noexcept { return monitor_.read(); }

 private:
  sampler(const stream_ref& stream, bool flush, device_buffer<unsigned> fills, event_timer timer,
          device_monitor monitor) noexcept
      : stream_{stream},
        flush_{flush},
        fills_{std::move(fills)},
        timer_{std::move(timer)},
        monitor_{std::move(monitor)} {}

  stream_ref stream_;
  bool flush_;
  unsigned value_ = 0;
  device_buffer<unsigned> fills_;
  event_timer timer_;
  device_monitor monitor_;
};

inline result<> check_measure_options(const measure_options& options, std::size_t candidates,
                                      source_location where) {
  const auto refuse = [&](const char* sentence) {
    return fail(refusal(errc::invalid_argument, "gpu::measure", text(sentence), where));
  };
  if (candidates == 0) return refuse("there is no candidate; pass at least 1.");
  if (options.least_samples < 1 || options.most_samples < options.least_samples) {
    text_builder out;
    out << "least_samples is " << options.least_samples << " and most_samples "
        << options.most_samples << "; the first must be at least 1, and the second no less.";
    return fail(refusal(errc::invalid_argument, "gpu::measure", out.finish(), where,
                        options.most_samples, options.least_samples));
  }
  if (!(ieee_number(options.relative_confidence) >= 0) ||
      !(ieee_number(options.most_seconds) >= 0) ||
      !(ieee_number(options.least_sample_seconds) >= 0)) {
    return refuse(
        "relative_confidence, most_seconds or least_sample_seconds is negative or not a number; "
        "pass 0 or more.");
  }
  return {};
}

/// Returns how many calls make a sample as long as it has to be, if one call takes `seconds`.
inline std::size_t calls_for(double seconds, const measure_options& options) noexcept {
  constexpr std::size_t most = 1000;  // about as many as a stream queues without blocking
  const ieee_number least = options.least_sample_seconds;
  if (options.flush_cache || seconds >= least) return 1;
  if (!least.is_finite()) return most;
  const double wanted = std::ceil(least.value() / std::max(seconds, 1e-9));
  return wanted >= double{most} ? most : static_cast<std::size_t>(wanted);
}

/// Reads what is known before the first sample.
inline result<measurements> describe_device(const stream_ref& stream, source_location where) {
  measurements found;
  found.device = GPU_TRY(stream.device().name(where));
  found.device_index = stream.device().native();
  found.compute_capability = GPU_TRY(stream.device().compute_capability(where));
  found.driver = GPU_TRY(driver_version(where));
  found.peaks = GPU_TRY(device_peaks::of(stream.device(), where));
  return found;
}

inline result<measurements> take_turns(const stream_ref& stream, const measure_options& options,
                                       const candidate_ref* candidates, std::size_t count,
                                       source_location where) {
  GPU_TRY(check_measure_options(options, count, where));
  GPU_TRY(require(stream, "gpu::measure", where));
  measurements found = GPU_TRY(describe_device(stream, where));
  found.flushed_cache = options.flush_cache;
  sampler samples = GPU_TRY(sampler::create(stream, options.flush_cache, where));
  found.condition.unknown = samples.read().unknown;

  for (std::size_t i = 0; i < count; ++i) {
    measurement one;
    one.name = required(candidates[i].name.to_text());
    one.amount = candidates[i].amount;
    // The first call may load code; the second says how long one takes.
    GPU_TRY(samples.take(candidates[i], 1, nullptr, where));
    one.calls = calls_for(GPU_TRY(samples.take(candidates[i], 1, nullptr, where)), options);
    found.all.push_back(std::move(one));
  }

  constexpr double seconds_between_readings = 0.05;
  const double begin = options.clock();
  double last_reading = begin - 2 * seconds_between_readings;
  for (std::size_t round = 0; round < options.most_samples; ++round) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = round % 2 == 0 ? k : count - 1 - k;  // each is first in turn
      measurement& one = found.all[i];
      device_condition condition;
      const double now = options.clock();
      const bool reads = now - last_reading > seconds_between_readings;
      one.samples.push_back(
          GPU_TRY(samples.take(candidates[i], one.calls, reads ? &condition : nullptr, where)));
      if (!reads) continue;
      last_reading = now;
      found.condition.add(condition);
    }
    const bool late = options.clock() - begin >= ieee_number(options.most_seconds);
    const std::size_t taken = round + 1;
    // The figures are computed after 10, 11, 13, 15 ... samples, since that takes time too.
    const bool looks = late || taken == options.most_samples || taken == options.least_samples ||
                       (taken > options.least_samples && taken % (taken / 10 + 1) == 0);
    if (!looks) continue;
    bool all_steady = true;
    for (measurement& one : found.all) {
      one.seconds = sample_statistics::of(one.samples);
      one.steady = taken >= options.least_samples &&
                   one.seconds.relative_confidence() <= ieee_number(options.relative_confidence);
      all_steady = all_steady && one.steady;
    }
    if (late || all_steady) break;
  }
  return found;
}

}  // namespace detail

/// Times what candidates queue on `stream`, with events, and returns the median of each with its
/// 95 % confidence interval:
///
///     const gpu::measurements found = GPU_TRY(gpu::measure(
///         stream, {.relative_confidence = 0.005},
///         gpu::candidate("copy", [&] { return gpu::copy(stream, x, y); }, {.bytes = 8.0 * n}),
///         gpu::candidate("saxpy", [&] { return gpu::launch(stream, shape, saxpy, a, x, y, n); },
///                        {.bytes = 12.0 * n, .operations = 2.0 * n})));
///     std::fputs(gpu::to_table(found).c_str(), stdout);
///
/// Samples of all candidates take turns, so that whatever else the machine does falls on each,
/// until all medians are steady or a limit is reached: `measurement::steady` says which. Clocks are
/// read while work runs, at most every 50 ms.
/// **Ordering**: waits for the stream. Allocates 32 MiB, or twice the L2 cache to flush it, from
/// the device's pool. **Cost**: beside the calls in samples, one before each sample, unless the
/// cache is flushed; two samples of one call, which are not counted, find out how long it takes.
/// **Errors**: `errc::invalid_argument` for options that contradict each other; the first error of
/// a candidate; the driver's. If the host runs out of memory for the samples, `operator new`
/// throws, as for `sequence`. A missing NVML is not an error: see `measurements::condition`.
/// **Capture**: not allowed. **Threads**: any, each with its own stream; but measure one at a time.
/// (cuEventRecord, cuEventElapsedTime, cuMemsetD32Async)
template <class... Works>
result<measurements> measure(located<stream_ref> stream, const measure_options& options,
                             candidate<Works>... candidates) {
  const detail::candidate_ref refs[] = {detail::ref_of(candidates)..., {}};
  return detail::take_turns(stream.value, options, refs, sizeof...(Works), stream.where);
}

}}  // namespace gpu::v1

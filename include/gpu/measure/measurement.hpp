#pragma once
/// \file
/// `measurement`: what was found out about one candidate, and `measurements` of several.

#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/measure/device_condition.hpp>
#include <gpu/measure/device_peaks.hpp>
#include <gpu/measure/sample_statistics.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// What one call of a candidate moves and computes.
struct work_amount {
  double bytes = 0;       ///< that it reads and writes, together
  double operations = 0;  ///< of any kind
};

/// The times of one candidate. All are seconds for one call.
struct measurement {
  text name;
  work_amount amount;
  std::size_t calls = 0;      ///< in each sample
  sequence<double> samples;   ///< in the order in which they were taken
  sample_statistics seconds;  ///< of the samples
  bool steady = false;        ///< the median is as certain as was asked for; else a limit ended it

  /// Return the rates at the median; 0 if the amount is not known.
  double bytes_per_second() const noexcept { return rate(amount.bytes); }
  double operations_per_second() const noexcept { return rate(amount.operations); }

 private:
  double rate(double count) const noexcept {
    return seconds.median > 0 ? count / seconds.median : 0;
  }
};

/// The times of several candidates that took turns on one device.
struct measurements {
  text device;           ///< its name
  int device_index = 0;  ///< of `device::get`
  gpu::compute_capability compute_capability;
  version driver;              ///< the newest CUDA that it supports
  bool flushed_cache = false;  ///< each sample began with a cold L2 cache
  device_peaks peaks;          ///< for the shares; replace them with measured ones if you like
  device_condition condition;  ///< over all readings, while work ran
  sequence<measurement> all;   ///< in the order of the candidates

  /// Returns the bytes per second as a share of the peak, from 0 to 1; 0 if one of them is unknown.
  double share_of_bytes(const measurement& one) const noexcept {
    return peaks.bytes > 0 ? one.bytes_per_second() / peaks.bytes : 0;
  }
  /// Returns the operations per second as a share of the peak, likewise: for candidates whose
  /// operations are 32-bit floating-point ones.
  double share_of_operations(const measurement& one) const noexcept {
    return peaks.float_operations > 0 ? one.operations_per_second() / peaks.float_operations : 0;
  }
};

}}  // namespace gpu::v1

#pragma once
/// \file
/// `device_peaks`: the most that a device can move and compute in a second.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/measure/detail/event_timer.hpp>
#include <gpu/measure/sample_statistics.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The most that a device can do in a second, which measurements are a share of. 0 if unknown.
struct device_peaks {
  double bytes = 0;             ///< read and written, of device memory
  double float_operations = 0;  ///< of 32 bits outside of tensor cores; a fused one counts as two

  /// Computes the peaks from attributes: two transfers per clock of the memory, over the whole bus;
  /// and the highest clock, the multiprocessors, and how many operations each of them can begin in
  /// a clock. No program reaches them: 90 % of the bytes is much. See `measure_copy_peak`.
  /// **Errors**: the driver's. **Capture**: not affected. **Threads**: any. (cuDeviceGetAttribute)
  static result<device_peaks> of(device asked,
                                 source_location where = source_location::current()) noexcept {
    double memory_khz = 0, bus_bits = 0, khz = 0, multiprocessors = 0;
    const struct {
      CUdevice_attribute which;
      double* number;
    } numbers[] = {{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz},
                   {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &bus_bits},
                   {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &khz},
                   {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors}};
    for (const auto& [which, number] : numbers) {
      int value = 0;
      GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(where, &value, which,
                                                                        asked.native()));
      *number = value;
    }
    device_peaks found;
    found.bytes = 2 * memory_khz * 1e3 * bus_bits / 8;
    found.float_operations =
        2 * lanes(GPU_TRY(asked.compute_capability(where))) * multiprocessors * khz * 1e3;
    return found;
  }

  /// Returns how many 32-bit floating-point operations a multiprocessor begins in a clock: from the
  /// table "throughput of native arithmetic instructions" of the CUDA programming guide. Devices
  /// that are newer than the table have 128.
  static constexpr double lanes(compute_capability of) noexcept {
    return of == compute_capability{7, 5} || of == compute_capability{8, 0} ? 64 : 128;
  }
};

/// Returns the bytes per second that the copies of the device's own copy engine or kernels reach:
/// the median of `repetitions` copies of `bytes` bytes within device memory, each counted twice, as
/// they are read and written. It is what a program can hope for, where `device_peaks::of` is what
/// the memory could do.
/// **Ordering**: waits for the stream; allocates twice `bytes`. **Errors**:
/// `errc::invalid_argument` for no bytes or no repetitions; the driver's. **Capture**: not allowed.
/// **Threads**: any, each with its own stream. (cuMemcpyDtoDAsync, cuEventElapsedTime)
inline result<double> measure_copy_peak(stream_ref stream, std::size_t bytes = 256u << 20,
                                        int repetitions = 7,
                                        source_location where = source_location::current()) {
  constexpr const char* function = "gpu::measure_copy_peak";
  if (bytes == 0 || repetitions < 1) {
    detail::text_builder out;
    out << bytes << " bytes and " << repetitions << " repetitions; pass at least 1 of each.";
    return detail::fail(
        detail::refusal(errc::invalid_argument, function, out.finish(), where, bytes, 1));
  }
  GPU_TRY(detail::require(stream, function, where));
  const auto from = GPU_TRY(device_buffer<char>::create(stream, bytes, where));
  auto to = GPU_TRY(device_buffer<char>::create(stream, bytes, where));
  const auto timer = GPU_TRY(detail::event_timer::create(stream, where));
  sequence<double> seconds;
  for (int i = -1; i < repetitions; ++i) {  // the first warms up
    const elapsed_time time =
        GPU_TRY(timer.time([&] { return copy(stream, from, to, where); }, [] {}, where));
    if (i >= 0) seconds.push_back(double{time.milliseconds()} * 1e-3);
  }
  const double median = sample_statistics::of(seconds).median;
  return median > 0 ? 2 * static_cast<double>(bytes) / median : 0.0;
}

}}  // namespace gpu::v1

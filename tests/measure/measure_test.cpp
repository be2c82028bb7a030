// Measuring: turns, batches, limits and errors, with times and a clock that the tests dictate.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/measure.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace measure_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

/// A driver with one device whose events say what a test dictates, and whose fills do nothing but
/// be noted.
struct dictated_driver {
  static inline const gpu::driver::entry_points* real;
  static inline double (*milliseconds)(std::size_t sample);
  static inline std::size_t samples;
  static inline std::vector<std::size_t> filled;  ///< bytes

  explicit dictated_driver(double (*times)(std::size_t sample)) {
    real = &driver.table();
    milliseconds = times;
    samples = 0;
    filled.clear();
    table.event_elapsed_time = [](float* out, CUevent, CUevent) {
      *out = static_cast<float>(milliseconds(samples++));
      return CUDA_SUCCESS;
    };
    table.memset_d32_async = [](CUdeviceptr, unsigned, std::size_t count, CUstream) {
      filled.push_back(count * sizeof(unsigned));
      return CUDA_SUCCESS;
    };
    table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice device) {
      const CUresult code = real->device_get_attribute(value, which, device);
      if (which == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) *value = 40 << 20;
      return code;
    };
  }

  test::own_cpu_driver driver;
  gpu::driver::entry_points table = driver.table();
  gpu::driver::scoped_entry_points in_force{table};
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
};

double one_millisecond(std::size_t) { return 1; }

/// Work that queues nothing and notes its turn.
auto noted(std::string& turns, char letter) {
  return [&turns, letter]() -> gpu::result<> {
    turns += letter;
    return {};
  };
}

}  // namespace

TEST_CASE(
    "sample_statistics: the interval of the median has the ranks of the binomial distribution",
    "[measure]") {
  std::vector<double> hundred;
  for (int i = 100; i >= 1; --i) hundred.push_back(i);
  // The ranks are those of tables for the confidence interval of a median, 95 %.
  const struct {
    std::size_t count;
    double median, lower, upper;
  } rows[] = {{1, 1, 1, 1},      {2, 1.5, 1, 2},     {5, 3, 1, 5},       {6, 3.5, 1, 6},
              {8, 4.5, 1, 8},    {9, 5, 2, 8},       {10, 5.5, 2, 9},    {15, 8, 4, 12},
              {20, 10.5, 6, 15}, {50, 25.5, 18, 33}, {100, 50.5, 40, 61}};
  for (const auto& row : rows) {
    INFO(row.count);
    const gpu::sequence<double> samples(hundred.data() + 100 - row.count, hundred.data() + 100);
    const auto found = gpu::sample_statistics::of(samples);
    CHECK(found.count == row.count);
    CHECK(found.median == row.median);
    CHECK(found.lower == row.lower);
    CHECK(found.upper == row.upper);
    CHECK(found.minimum == 1);
    CHECK(found.maximum == static_cast<double>(row.count));
    CHECK(found.relative_confidence() == Approx((row.upper - row.lower) / 2 / row.median));
  }
  const auto four = gpu::sample_statistics::of({2, 4, 4, 6});
  CHECK(four.mean == Approx(4));
  CHECK(four.deviation == Approx(1.6329931618554521));  // sqrt(8 / 3)
  const auto none = gpu::sample_statistics::of({});
  CHECK(none.count == 0);
  CHECK(none.relative_confidence() == 0);
}

TEST_CASE("measure: candidates take turns until all are steady", "[measure][cpu]") {
  const dictated_driver dictated(&one_millisecond);
  std::string turns;
  const gpu::measurements found = value_of(gpu::measure(
      dictated.stream, {.least_samples = 4}, gpu::candidate("first", noted(turns, 'a')),
      gpu::candidate("second", noted(turns, 'b'), {.bytes = 3e6, .operations = 1e6})));
  // Each sample follows a call that is not timed. Two samples of each tell how long a call takes.
  CHECK(turns ==
        "aaaabbbb"
        "aabb"
        "bbaa"
        "aabb"
        "bbaa");
  REQUIRE(found.all.size() == 2);
  for (const gpu::measurement& one : found.all) {
    CHECK(one.calls == 1);
    CHECK(one.steady);
    CHECK(one.samples.size() == 4);
    CHECK(one.seconds.median == Approx(1e-3));
  }
  CHECK(found.all[0].name == "first");
  CHECK(found.all[0].bytes_per_second() == 0);
  CHECK(found.all[1].name == "second");
  CHECK(found.all[1].bytes_per_second() == Approx(3e9));
  CHECK(found.all[1].operations_per_second() == Approx(1e9));
  CHECK(found.share_of_bytes(found.all[1]) == Approx(3e9 / found.peaks.bytes));
  CHECK(found.share_of_operations(found.all[1]) == Approx(1e9 / found.peaks.float_operations));
  CHECK(found.device == value_of(test::first_device().name()));
  CHECK(found.compute_capability == value_of(test::first_device().compute_capability()));
  CHECK_FALSE(found.flushed_cache);
}

TEST_CASE("measure: short work is called often enough in a sample", "[measure][cpu]") {
  const dictated_driver dictated([](std::size_t sample) {
    return sample < 2 ? 0.004 : 0.052;  // 13 calls of 4 us
  });
  std::string turns;
  const gpu::measurements found =
      value_of(gpu::measure(dictated.stream, {.least_samples = 1, .least_sample_seconds = 50e-6},
                            gpu::candidate("short", noted(turns, 'a'))));
  CHECK(found.all[0].calls == 13);
  CHECK(turns.size() == 4 + 1 + 13);
  CHECK(found.all[0].seconds.median == Approx(4e-6));
  const dictated_driver no_time([](std::size_t) { return 0.0; });
  const gpu::measurements none =
      value_of(gpu::measure(no_time.stream, {.least_samples = 1, .most_samples = 3},
                            gpu::candidate("nothing", noted(turns, 'a'), {.bytes = 1})));
  CHECK(none.all[0].calls == 1000);
  CHECK(none.all[0].bytes_per_second() == 0);
}

TEST_CASE("measure: with a flushed cache each sample follows a fill of twice its size",
          "[measure][cpu]") {
  const dictated_driver dictated([](std::size_t) { return 0.001; });
  std::string turns;
  const gpu::measurements found =
      value_of(gpu::measure(dictated.stream, {.least_samples = 3, .flush_cache = true},
                            gpu::candidate("cold", noted(turns, 'a'))));
  CHECK(found.flushed_cache);
  CHECK(found.all[0].calls == 1);
  CHECK(turns == "aaaaa");
  CHECK(dictated_driver::filled == std::vector<std::size_t>(5, std::size_t{80} << 20));
}

TEST_CASE("measure: a median that is not steady ends at the limits, and says so",
          "[measure][cpu]") {
  const auto noisy = [](std::size_t sample) { return sample % 2 == 0 ? 1.0 : 2.0; };
  std::string turns;
  {
    const dictated_driver dictated(noisy);
    const gpu::measurements found = value_of(gpu::measure(
        dictated.stream, {.most_samples = 25}, gpu::candidate("noisy", noted(turns, 'a'))));
    CHECK(found.all[0].samples.size() == 25);
    CHECK_FALSE(found.all[0].steady);
    CHECK(found.all[0].seconds.count == 25);
  }
  {
    const dictated_driver dictated(noisy);
    static double now;
    now = 0;
    gpu::measure_options options;
    options.most_seconds = 10;
    options.clock = [] { return now += 1; };  // twice a sample
    const gpu::measurements found =
        value_of(gpu::measure(dictated.stream, options, gpu::candidate("slow", noted(turns, 'a'))));
    CHECK(found.all[0].samples.size() == 5);
    CHECK(found.all[0].seconds.count == 5);
    CHECK_FALSE(found.all[0].steady);
  }
  {
    const dictated_driver dictated(noisy);
    const gpu::measurements found =
        value_of(gpu::measure(dictated.stream, {.relative_confidence = 0.5},
                              gpu::candidate("good enough", noted(turns, 'a'))));
    CHECK(found.all[0].steady);
    CHECK(found.all[0].samples.size() == 10);
  }
}

TEST_CASE("measure: what cannot be measured is refused", "[measure][cpu]") {
  const dictated_driver dictated(&one_millisecond);
  std::string turns;
  const auto with = [&](gpu::measure_options options) {
    return error_of(gpu::measure(dictated.stream, options, gpu::candidate("x", noted(turns, 'a'))));
  };
  CHECK(says(error_of(gpu::measure(dictated.stream, {})), "there is no candidate",
             "measure_test.cpp"));
  CHECK(says(with({.least_samples = 0}), "least_samples is 0 and most_samples 2000"));
  CHECK(says(with({.least_samples = 5, .most_samples = 4}), "most_samples 4", "no less"));
  CHECK(says(with({.relative_confidence = -1}), "negative"));
  CHECK(says(with({.most_seconds = 0.0 / 0.0}), "not a number"));
  CHECK(says(with({.least_sample_seconds = -1}), "negative"));
  CHECK(with({.least_samples = 0}) == gpu::errc::invalid_argument);
  CHECK(turns.empty());
  CHECK(error_of(gpu::measure(gpu::stream_ref(), {}, gpu::candidate("x", noted(turns, 'a')))) ==
        gpu::errc::empty_handle);
  const gpu::cuda_error error =
      error_of(gpu::measure(dictated.stream, {}, gpu::candidate("fails", [&]() -> gpu::result<> {
                              return gpu::unexpected(error_of(gpu::device::get(12)));
                            })));
  CHECK(error == gpu::errc::index_out_of_range);
}

TEST_CASE("measure: real work is timed by the device's events", "[measure]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto x = value_of(gpu::device_buffer<int>::create(stream, 1000));
  const gpu::measurements found = value_of(gpu::measure(
      stream, {.least_samples = 2, .most_samples = 3},
      gpu::candidate("fill", [&] { return gpu::fill(stream, x, 7); }, {.bytes = 4000})));
  CHECK(found.all[0].seconds.median > 0);
  CHECK(found.all[0].seconds.median < 1);
  std::vector<int> host(1000);
  value_of(gpu::copy(x, host));
  CHECK(host == std::vector<int>(1000, 7));
  CHECK(value_of(gpu::measure_copy_peak(stream, 1 << 20, 3)) > 0);
  CHECK(error_of(gpu::measure_copy_peak(stream, 0)) == gpu::errc::invalid_argument);
  CHECK(error_of(gpu::measure_copy_peak(stream, 1, 0)) == gpu::errc::invalid_argument);
}

TEST_CASE("device_peaks: bytes and operations follow from clocks and widths", "[measure][cpu]") {
  // An H100 PCIe: 1593 MHz, 5120 bits, 114 multiprocessors at 1755 MHz. NVIDIA's data sheet has
  // 2.0 TB/s and 51 TFLOPS of float.
  const test::own_cpu_driver driver;
  gpu::driver::entry_points table = driver.table();
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice) {
    *value = which == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE          ? 1593000
             : which == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH  ? 5120
             : which == CU_DEVICE_ATTRIBUTE_CLOCK_RATE               ? 1755000
             : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 114
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
                                                                     : 0;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const auto peaks = value_of(gpu::device_peaks::of(gpu::device::from_native(0)));
  CHECK(peaks.bytes == Approx(2.039e12).epsilon(0.001));
  CHECK(peaks.float_operations == Approx(51.2e12).epsilon(0.01));
  CHECK(gpu::device_peaks::lanes({8, 0}) == 64);  // A100: 19.5 TFLOPS of 108 at 1410 MHz
}

TEST_CASE("measure: each call that fails is told", "[measure]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::stream stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
              auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 10));
              GPU_TRY(gpu::measure(
                  stream, {.least_samples = 1, .most_samples = 1, .least_sample_seconds = 0},
                  gpu::candidate("fill", [&] { return gpu::fill(stream, x, 1); })));
              GPU_TRY(gpu::measure_copy_peak(stream, 100, 1));
              return {};
            },
            {}, {.memory_per_device = 16 << 20}) == "");
}

}  // namespace measure_test

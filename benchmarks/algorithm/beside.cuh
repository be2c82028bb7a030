#pragma once
/// \file
/// Times work on a GPU beside a yardstick in the same run, in turns, by the device's clock.

#include <gpu/gpu.hpp>
#include <gpu/measure.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace beside {

inline void need(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}
inline void need(const gpu::result<>& outcome) {
  if (outcome.has_value()) return;
  std::fprintf(stderr, "%s\n", outcome.error().message().c_str());
  std::exit(2);
}
template <class T> T need(gpu::result<T> outcome) {
  if (!outcome.has_value()) {
    std::fprintf(stderr, "%s\n", outcome.error().message().c_str());
    std::exit(2);
  }
  return *std::move(outcome);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The milliseconds of the device between two events around `work`.
template <class Work> double milliseconds(cudaStream_t stream, Work work) {
  static cudaEvent_t events[2] = {};
  if (events[0] == nullptr) {
    for (cudaEvent_t& event : events) need(cudaEventCreate(&event));
  }
  need(cudaEventRecord(events[0], stream));
  work();
  need(cudaEventRecord(events[1], stream));
  need(cudaEventSynchronize(events[1]));
  float taken = 0;
  need(cudaEventElapsedTime(&taken, events[0], events[1]));
  return taken;
}

/// Prints a row: both medians, the rates for `bytes` that have to move, and how many times as fast
/// `ours` is.
template <class Yardstick, class Ours>
void row(const char* name, cudaStream_t stream, double bytes, Yardstick yardstick, Ours ours) {
  const auto candidate = [bytes](auto work) {
    const auto queue = [work]() -> gpu::result<> { return work(), gpu::result<>(); };
    return gpu::candidate("", queue, {.bytes = bytes});
  };
  const auto context = need(gpu::context::primary(need(gpu::device::get(0))));
  const gpu::measurements found =
      need(gpu::measure(gpu::stream_ref::from_native(stream, context), {.most_seconds = 2},
                        candidate(yardstick), candidate(ours)));
  const gpu::measurement &theirs = found.all[0], &own = found.all[1];
  std::printf("%-44s %9.1f us %6.0f GB/s   %9.1f us %6.0f GB/s   %5.3f x\n", name,
              theirs.seconds.median * 1e6, theirs.bytes_per_second() * 1e-9,
              own.seconds.median * 1e6, own.bytes_per_second() * 1e-9,
              theirs.seconds.median / own.seconds.median);
}

}  // namespace beside

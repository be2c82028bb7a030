#pragma once
/// \file
/// The times of two ways to do one thing, measured in turns, so that whatever else the machine does
/// falls on both.

#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ratio>
#include <utility>
#include <vector>

namespace benchmark {

inline void need(const gpu::result<>& outcome) {
  if (outcome.has_value()) return;
  std::fprintf(stderr, "%s\n", outcome.error().message().c_str());
  std::exit(2);
}
template <class T> T need(gpu::result<T> outcome) {
  if (!outcome.has_value()) need(gpu::result<>(gpu::unexpected(std::move(outcome).error())));
  return *std::move(outcome);
}
inline void need(CUresult code) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "a raw call failed with code %d\n", static_cast<int>(code));
  std::exit(2);
}

/// Device 0 of this machine, or of the CPU driver where there is no GPU; prints which. Figures
/// count on a GPU alone.
struct machine {
  bool has_gpu = !gpu::testing::use_cpu_driver_if_no_gpu();
  gpu::device device = need(gpu::device::get(0));

  machine() {
    const gpu::version version = need(gpu::driver_version());
    std::printf("%s, %s, driver for CUDA %d.%d%s\n", need(device.name()).c_str(),
                has_gpu ? "a GPU" : "the CPU driver of gpu/testing", version.major, version.minor,
                has_gpu ? "" : "; limits do not count here");
  }
};

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct pair_of_times {
  double raw;
  double ours;
};

/// Medians, in nanoseconds, of one call of each, from `pairs` samples of `calls` calls. Each sample
/// has the other as its neighbor, and they take turns to be first. `settle()` runs before each
/// sample and is not measured.
template <class Raw, class Ours, class Settle>
pair_of_times interleaved(int pairs, int calls, Raw raw, Ours ours, Settle settle) {
  using clock = std::chrono::steady_clock;
  std::vector<double> times[2];
  const auto sample = [&](auto& work, std::vector<double>& into, bool counts) {
    settle();
    const auto begin = clock::now();
    for (int i = 0; i < calls; ++i) work();
    const std::chrono::duration<double, std::nano> taken = clock::now() - begin;
    if (counts) into.push_back(taken.count() / calls);
  };
  const int warm = pairs / 10;
  for (int i = 0; i < warm + pairs; ++i) {
    const bool counts = i >= warm;
    if (i % 2 == 0) sample(raw, times[0], counts);
    sample(ours, times[1], counts);
    if (i % 2 == 1) sample(raw, times[0], counts);
  }
  return {median(std::move(times[0])), median(std::move(times[1]))};
}

/// Prints a row, and returns whether ours is within 1 % or 20 ns of raw, whichever is more.
inline bool within_limit(const char* what, pair_of_times times) {
  const double limit = std::max(times.raw * 0.01, 20.0);
  const double beyond = times.ours - times.raw;
  const bool good = beyond <= limit;
  std::printf("%-34s raw %9.1f ns   gpu %9.1f ns   %+8.1f ns   ratio %.4f   limit %+.1f ns%s\n",
              what, times.raw, times.ours, beyond, times.ours / times.raw, limit,
              good ? "" : "   ABOVE");
  return good;
}

}  // namespace benchmark

#pragma once
/// \file
/// A stream with device memory that is filled from vectors and read back.

#include "support/host_memory.hpp"
#include "support/results.hpp"  // IWYU pragma: export

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <vector>

namespace algorithm_test {

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = test::value_of(gpu::stream::create(device));

  /// The bytes hold a pattern, so that tests may also read what an operation leaves alone.
  template <class T> gpu::device_buffer<T> make(std::size_t count) const {
    auto made = test::value_of(gpu::device_buffer<T>::create(device, count));
    const auto bytes =
        gpu::device_span<unsigned char>::from_native(made.native(), count * sizeof(T));
    test::value_of(gpu::fill(stream, bytes, static_cast<unsigned char>(0x5a)));
    test::value_of(stream.synchronize());
    return made;
  }
  template <class T> gpu::device_buffer<T> upload(const std::vector<T>& values) const {
    auto made = make<T>(values.size());
    test::value_of(gpu::copy(values, made));
    return made;
  }
  template <class Range> auto download(const Range& values) const {
    std::vector<typename Range::value_type> read(values.size());
    test::value_of(gpu::copy(values, read));
    return read;
  }
};

/// Returns numbers from 0 to 126 without a pattern.
template <class T> std::vector<T> numbers(std::size_t count) {
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<T>(static_cast<int>(i * 7919 % 127));
  return made;
}

/// Returns indices from 0 to `size - 1`, without a pattern and some of them several times.
template <class Index> std::vector<Index> indices_below(std::size_t count, std::size_t size) {
  std::vector<Index> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<Index>(i * 0x9e3779b97f4a7c15 % size);
  return made;
}

/// Runs an operation for the first time in the process, with each of its first allocations failing
/// in turn: those that describe its kernels, before they are compiled.
template <class Operation> void check_first_allocations(Operation run) {
  if (!test::failing_allocation::possible_for_throwing()) return;
  std::size_t failed = 0;
  for (std::size_t nth = 0; nth < 100; ++nth) {
    const gpu::result<> outcome = [&] {
      const test::failing_allocation failing(nth);
      return run();
    }();
    if (outcome.has_value()) continue;
    CAPTURE(nth);
    INFO(outcome.error().message().c_str());
    CHECK(outcome.error() == gpu::errc::out_of_host_memory);
    ++failed;
  }
  CHECK(failed != 0);
  test::value_of(run());
}

}  // namespace algorithm_test

#pragma once
/// \file
/// Ranks of a communicator in threads of one process.

#include "support/results.hpp"

#include <gpu/array.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/nccl.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace nccl_test {

using operation = gpu::nccl_operation;

/// What one rank works with.
struct rank {
  gpu::stream stream;
  gpu::nccl_communicator comm;
  int number = 0;

  template <class T> gpu::result<gpu::array<T>> array(const std::vector<T>& values) const {
    return gpu::array<T>::from(stream, values);
  }
  template <class T> gpu::result<std::vector<T>> host(const gpu::array<T>& a) const {
    std::vector<T> read(a.size());
    GPU_TRY(stream.synchronize());
    GPU_TRY(gpu::copy(a, read));
    return read;
  }
};

inline gpu::result<rank> make_rank(const gpu::nccl_id& id, int number, int ranks,
                                   std::uint32_t timeout_ms = 60'000) {
  rank made;
  const gpu::device device = GPU_TRY(gpu::device::get(number));
  made.stream = GPU_TRY(gpu::stream::create(device));
  made.comm = GPU_TRY(
      gpu::nccl_communicator::create(device, id, number, ranks, {.timeout_ms = timeout_ms}));
  made.number = number;
  return made;
}

/// Runs `work(rank)` in a thread for each rank; returns their messages, or "" for those that
/// succeed.
inline std::vector<std::string> run_ranks(int ranks,
                                          const std::function<gpu::result<>(rank&)>& work,
                                          std::uint32_t timeout_ms = 60'000) {
  const auto id = test::value_of(gpu::nccl_id::create());
  std::vector<std::string> said(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int number = 0; number < ranks; ++number) {
    threads.emplace_back([&, number] {
      const auto all = [&]() -> gpu::result<> {
        rank self = GPU_TRY(make_rank(id, number, ranks, timeout_ms));
        GPU_TRY(work(self));
        return self.comm.finish();
      };
      const gpu::result<> done = all();
      if (!done.has_value())
        said[static_cast<std::size_t>(number)] = done.error().message().c_str();
    });
  }
  for (std::thread& each : threads) each.join();
  return said;
}

inline std::vector<std::string> nothing(int ranks) {
  return std::vector<std::string>(static_cast<std::size_t>(ranks));
}

}  // namespace nccl_test

#pragma once
/// \file
/// Launches of CUDA 2 and 3, which collect the block's shape and the arguments call by call; and
/// the number of a kernel's parameters.

#include "driver.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace nogpu::libcuda::legacy {

/// What was set for the next launch of a function.
struct pending_launch {
  unsigned x = 1, y = 1, z = 1;
  unsigned shared_bytes = 0;
  std::vector<char> parameters{};
};

struct pending_launches {
  std::mutex guard;
  std::map<CUfunction, pending_launch> of;
};
inline pending_launches& pending() {
  static auto& all = *new pending_launches;  // also for calls while the process ends
  return all;
}

/// Calls `change` with what was set for `function`, if there is such a function.
template <class Change> CUresult change_launch(CUfunction function, Change change) noexcept try {
  int threads = 0;
  if (const CUresult bad = ask<&table::func_get_attribute>(
          &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function))
    return bad;
  const std::lock_guard lock(pending().guard);
  return change(pending().of[function]);
} catch (const std::bad_alloc&) {
  return CUDA_ERROR_OUT_OF_MEMORY;
}

inline constexpr std::size_t most_parameter_bytes = 32764;

inline CUresult func_set_block_shape(CUfunction function, int x, int y, int z) noexcept {
  if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
  return change_launch(function, [&](pending_launch& launch) {
    launch.x = static_cast<unsigned>(x);
    launch.y = static_cast<unsigned>(y);
    launch.z = static_cast<unsigned>(z);
    return CUDA_SUCCESS;
  });
}

inline CUresult func_set_shared_size(CUfunction function, unsigned bytes) noexcept {
  return change_launch(function, [&](pending_launch& launch) {
    launch.shared_bytes = bytes;
    return CUDA_SUCCESS;
  });
}

inline CUresult param_set_size(CUfunction function, unsigned bytes) noexcept {
  if (bytes > most_parameter_bytes) return CUDA_ERROR_INVALID_VALUE;
  return change_launch(function, [&](pending_launch& launch) {
    launch.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}

inline CUresult param_set_bytes(CUfunction function, int offset, void* bytes,
                                unsigned count) noexcept {
  if (offset < 0 || (bytes == nullptr && count != 0)) return CUDA_ERROR_INVALID_VALUE;
  const auto begin = static_cast<std::size_t>(offset);
  if (begin + count > most_parameter_bytes) return CUDA_ERROR_INVALID_VALUE;
  return change_launch(function, [&](pending_launch& launch) {
    if (launch.parameters.size() < begin + count) launch.parameters.resize(begin + count);
    if (count != 0) std::memcpy(launch.parameters.data() + begin, bytes, count);
    return CUDA_SUCCESS;
  });
}

template <class Value>
CUresult param_set_value(CUfunction function, int offset, Value value) noexcept {
  return param_set_bytes(function, offset, &value, sizeof value);
}

inline CUresult launch_grid_async(CUfunction function, int width, int height,
                                  CUstream stream) noexcept {
  if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
  pending_launch launch;
  if (const CUresult bad = change_launch(function, [&](pending_launch& set) {
        launch = set;
        return CUDA_SUCCESS;
      }))
    return bad;
  std::size_t bytes = launch.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch.parameters.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return ask<&table::launch_kernel>(
      function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1u, launch.x, launch.y,
      launch.z, launch.shared_bytes, stream, nullptr, bytes != 0 ? extra : nullptr);
}

inline CUresult launch_grid(CUfunction function, int width, int height) noexcept {
  return launch_grid_async(function, width, height, nullptr);
}

inline CUresult launch(CUfunction function) noexcept { return launch_grid(function, 1, 1); }

/// Counts the parameters that `get(index, &offset, &size)` describes.
template <class Get> CUresult count_parameters(std::size_t* count, Get get) noexcept {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::size_t offset = 0, size = 0, found = 0;
  CUresult answer = CUDA_SUCCESS;
  while ((answer = get(found, &offset, &size)) == CUDA_SUCCESS) ++found;
  if (answer != CUDA_ERROR_INVALID_VALUE) return answer;  // which says that there are no more
  *count = found;
  return CUDA_SUCCESS;
}

inline CUresult func_get_param_count(CUfunction function, std::size_t* count) noexcept {
  return count_parameters(count, [&](std::size_t index, std::size_t* offset, std::size_t* size) {
    return ask<&table::func_get_param_info>(function, index, offset, size);
  });
}

inline CUresult kernel_get_param_count(CUkernel kernel, std::size_t* count) noexcept {
  return count_parameters(count, [&](std::size_t index, std::size_t* offset, std::size_t* size) {
    return ask<&table::kernel_get_param_info>(kernel, index, offset, size);
  });
}

/// A launch whose null stream is that of the calling thread.
inline CUresult launch_kernel_ex_per_thread(const CUlaunchConfig* config, CUfunction function,
                                            void** parameters, void** extra) noexcept {
  if (config == nullptr || config->hStream != nullptr)
    return ask<&table::launch_kernel_ex>(config, function, parameters, extra);
  CUlaunchConfig changed = *config;
  changed.hStream = CU_STREAM_PER_THREAD;
  return ask<&table::launch_kernel_ex>(&changed, function, parameters, extra);
}

}  // namespace nogpu::libcuda::legacy

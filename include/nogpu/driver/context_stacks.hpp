#pragma once
/// \file
/// The contexts that a thread has pushed, for each CPU driver.

#include <gpu/core/detail/thread_key.hpp>

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The number of CPU drivers that may be alive in a process at once: entry points are plain
/// functions, and each driver has its own set of them.
inline constexpr std::size_t slot_count = 8;

/// The contexts that a thread has pushed, the current one last; a null stands for "none".
struct context_stack {
  std::uint64_t driver = 0;  // number of the driver that the stack belongs to
  std::vector<CUcontext> contexts;
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

using stacks_of_thread = std::array<context_stack, slot_count>;

/// The context stacks of the thread, for all drivers, and the key that has them freed.
inline constinit thread_local stacks_of_thread* own_stacks = nullptr;
inline void free_own_stacks(void*) noexcept { delete std::exchange(own_stacks, nullptr); }
inline constinit gpu::detail::thread_key own_stacks_key{&free_own_stacks};

}}}  // namespace nogpu::v1::driver

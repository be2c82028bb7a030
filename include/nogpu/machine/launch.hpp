// The parameters with which a kernel is run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include <nogpu/machine/address_space.hpp>
#include <nogpu/machine/code.hpp>
#include <nogpu/machine/device_heap.hpp>
#include <nogpu/machine/fault.hpp>
#include <nogpu/machine/image.hpp>
#include <nogpu/machine/limits.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

struct extent {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr std::uint64_t count() const noexcept {
    return std::uint64_t{x} * std::uint64_t{y} * std::uint64_t{z};
  }
};

constexpr bool looks_for_unwritten(const checks& check) { return check.uninitialized_reads; }

/// The receivers of a kernel's messages. They are called from worker threads, for one launch never
/// two at once.
struct hooks {
  std::function<void(std::string_view)> print;  // text of device printf and assert
  std::function<void(const fault&)> report;     // findings that do not end the grid
  /// cudaGraphSetConditional(handle, value); returns false if the handle does not exist.
  std::function<bool(std::uint64_t, std::uint32_t)> set_conditional;
};

class cost_table;
struct host_processors;

/// One launch. Everything it points to outlives `run`.
struct launch {
  const executable* kernel = nullptr;
  extent grid{};
  extent block{};
  extent cluster{};  // blocks that run together and reach each other's shared memory
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters{};  // the packed parameter block of the kernel
  bool explicit_cluster = false;            // the kernel or the launch asks for clusters
  bool cooperative =
      false;  // all blocks are resident at once, so that they may wait for each other
  std::uint64_t context = 0;            // whose memory may be touched; 0 = all
  std::uint64_t grid_id = 1;            // %gridid
  std::uint32_t multiprocessors = 132;  // %nsmid
  device_heap* heap = nullptr;          // for device malloc; without one it returns null
  const image_table* images = nullptr;  // of texture and surface handles; null = there are none
  limits limit{};
  checks check{};
  hooks hook{};
  cost_table* costs = nullptr;  // takes what the instructions cost, by line; null: is not counted
  /// Set it from any thread to end the grid early; the result is then whatever was reached.
  const std::atomic<bool>* canceled = nullptr;
};

/// Runs a grid to its end on the threads of `processors` and the calling one.
/// Result: the first fault, which ended the grid, or nothing.
/// Precondition: the driver has checked the launch: a kernel that is not refused, non-zero extents
/// within the device's limits, clusters that divide the grid, parameters as long as the kernel's
/// parameter block. Threads: several launches may run at once, also of one executable and on the
/// same processors.
std::optional<fault> run(const launch& what, address_space& memory, host_processors& processors);

}}}  // namespace nogpu::v1::machine

// The state of running threads: frames, groups of lanes, warps, blocks.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/machine/address_space.hpp>
#include <nogpu/machine/code.hpp>
#include <nogpu/machine/launch.hpp>
#include <nogpu/machine/local_memory.hpp>
#include <nogpu/machine/shared_memory.hpp>
#include <nogpu/machine/tensor_map.hpp>
#include <nogpu/ptx/modifiers.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// Bits of a frame's registers that nobody wrote: what loads found, and what depends on that.
struct undefined_bits {
  std::vector<std::byte> bits;       // laid out as the registers; empty before the first
  std::vector<std::uint32_t> slots;  // of the registers that may have some
};

/// An activation of a function by the lanes that called it together.
struct frame {
  const lowered_function* function = nullptr;
  frame* caller = nullptr;
  std::uint32_t depth = 0;
  std::uint32_t call_index = 0;  // in the caller's `calls`: how to hand back the results
  std::uint32_t return_to = 0;   // instruction in the caller
  std::uint32_t lanes_inside = 0;
  std::uint32_t stack_bytes = 0;  // that a device needs for it and its callers, at least
  std::array<std::uint32_t, warp_size> base{};  // of its local memory, per lane
  std::unique_ptr<std::byte[]> registers;
  std::size_t register_room = 0;  // bytes that `registers` has
  undefined_bits undefined;
};

/// Lanes that are at the same instruction of the same frame and run together.
struct group {
  enum class state : std::uint8_t { ready, at_collective, at_barrier };
  frame* in = nullptr;
  std::uint32_t pc = 0;
  lane_mask lanes = 0;
  state waits = state::ready;
  std::uint32_t barrier = 0;   // which, when at one
  lane_mask members = 0;       // of the collective waited for
  std::uint64_t executed = 0;  // instructions, an upper bound for each of its lanes
  // The instructions that count against the budget, see `within_budget`: those of runs that changed
  // memory, and the others since other threads were last seen to change memory.
  std::uint64_t busy = 0;
  std::uint64_t idle = 0;
  std::uint64_t changes = 0;   // its part of the changes of the grid
  std::uint64_t seen = 0;      // the changes by others when it last looked
  std::uint64_t last_run = 0;  // the turn of the warp in which it last ran
  std::uint32_t credit = 0;    // turns that it is preferred for, after it had to wait long
};

/// A group as it takes part in a collective.
struct party {
  std::byte* registers = nullptr;
  frame* in = nullptr;
  const decoded* instruction = nullptr;
  lane_mask lanes = 0;
};

/// A cp.async that its thread has not waited for.
struct pending_copy {
  const std::byte* from = nullptr;
  std::uint32_t to = 0;     // in shared memory
  std::uint32_t taken = 0;  // bytes from the source; the others are zeros
  std::uint32_t size = 0;
  std::uint32_t group = 0;  // groups that the thread had committed before
  unsigned lane = 0;
};

/// A bulk copy, or an asynchronous store, to shared memory for which nobody has waited on its
/// mbarrier, or a part of one.
struct bulk_load {
  const std::byte* from = nullptr;  // null: the bytes of `fill`, again and again
  std::uint32_t to = 0;             // in shared memory, as `barrier`
  std::uint32_t size = 0;
  std::uint32_t barrier = 0;
  std::uint16_t thread = 0;
  std::uint16_t warp_epoch = 0;  // of its warp when it was asked for
  std::uint64_t fill = 0;
  tensor_change change = tensor_change::none;
  ptx::operation combine = ptx::operation::none;  // with what is there, as `element`
  ptx::type element = ptx::type::none;
};

/// A bulk copy to global memory that its thread has not waited for, or a part of one.
struct bulk_store {
  std::uint32_t from = 0;  // in shared memory
  std::byte* to = nullptr;
  std::uint32_t size = 0;
  std::uint32_t group = 0;  // groups that the thread had committed before
  unsigned lane = 0;
  ptx::operation combine = ptx::operation::none;  // with what is there, as `element`
  ptx::type element = ptx::type::none;
};

struct block_state;

/// The mistake that an instruction found; the scheduler completes it to a `fault`.
struct failure_note {
  fault_kind kind = fault_kind::none;
  unsigned lane = 0;
  address where = 0;
  std::uint32_t size = 0;
  access_kind access = access_kind::read;
  std::string detail;
};

/// Bytes that a lane may touch.
struct located {
  std::byte* bytes = nullptr;      // null: a fault, noted in the warp
  std::uint8_t* shadow = nullptr;  // of global and local memory that is tracked
  bool shared = false;
  bool global = false;           // other threads of the process may touch it at the same time
  block_state* other = nullptr;  // the block of the cluster whose shared memory it is, if another
};

/// A load that found bytes which nobody wrote.
struct unwritten_read {
  const decoded* load = nullptr;
  const lowered_function* function = nullptr;
  located at;
  address where = 0;
  std::uint32_t size = 0;
  std::size_t first = 0;   // of the bytes that nobody wrote
  std::uint32_t base = 0;  // of the function's local memory
};

/// 32 threads.
struct warp {
  // Members that every handler uses.
  std::byte* registers = nullptr;  // of the running frame
  const lowered_function* function = nullptr;
  frame* top = nullptr;
  block_state* block = nullptr;
  lane_mask carry = 0;      // the condition code CC.CF
  std::uint16_t epoch = 0;  // warp barriers passed
  std::uint32_t index = 0;  // in the block
  bool undefined = false;   // registers may have bits that nobody wrote
  lane_mask live = 0;
  lane_mask initial = 0;  // the lanes that exist

  std::vector<group> groups;
  std::vector<std::unique_ptr<frame>> frames;  // in use
  std::vector<std::unique_ptr<frame>> spare;
  std::uint64_t turn = 0;
  const decoded* at = nullptr;  // the instruction that failed
  bool changed = false;         // shared or global memory, since the instructions were last counted
  std::uint64_t changes = 0;    // that the grid does not know yet
  bool yielded = false;

  local_memory local;
  std::uint32_t stack_limit = 0;  // bytes per lane, of a device's stack
  std::array<std::uint32_t, warp_size> stack_top{};

  /// Makes room up to the top of the stack of every lane.
  void grow_local() {
    std::uint32_t needed = 0;
    for (const std::uint32_t t : stack_top) needed = t > needed ? t : needed;
    local.grow(needed);
  }

  lane_mask unwritten_lanes = 0;                           // of the running load
  std::array<std::uint32_t, warp_size> unwritten_bytes{};  // of that load, bit i for byte i
  std::array<unwritten_read, warp_size> unwritten{};       // the last one of each lane

  std::array<std::array<std::uint32_t, warp_size>, 3> thread{};  // threadIdx

  std::vector<pending_copy> copies;
  std::array<std::uint32_t, warp_size> copy_groups{};  // that each lane committed
  std::vector<bulk_store> bulk_stores;
  std::array<std::uint32_t, warp_size> bulk_groups{};
  lane_mask at_cluster_barrier = 0;  // the lanes that arrived and have not waited yet
  std::array<std::uint32_t, warp_size> cluster_phase{};  // in which they did

  // Filled by handlers for the scheduler.
  std::array<std::uint32_t, warp_size> targets{};            // of table_jump
  std::array<const lowered_function*, warp_size> callees{};  // of call
  std::uint32_t pending_barrier = 0;
  std::uint32_t barrier_threads = 0;  // expected, 0 = all of the block
  failure_note failure;
};

/// A barrier of a block. There are 16, which are named by number.
struct barrier_state {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;  // 0 = all threads
  std::uint32_t votes = 0;     // bar.red: threads with a true predicate
};

/// The products that not all of the four warps of a warp group have executed.
struct warp_group {
  static constexpr std::uint32_t size = 4;
  std::deque<const decoded*> begun;        // in the order in which they were
  std::array<std::uint32_t, size> done{};  // of them, by each warp
};

struct grid_state;
struct cluster_state;
class launch_costs;

/// A thread block that is resident on a worker.
struct block_state {
  grid_state* grid = nullptr;
  cluster_state* cluster = nullptr;
  std::uint32_t rank = 0;  // in the cluster
  std::array<std::uint32_t, 3> index{};
  std::vector<std::unique_ptr<warp>> warps;
  shared_memory shared;
  std::vector<bulk_load> bulk_loads;
  std::vector<warp_group> warp_groups;  // if there were products of one
  std::array<barrier_state, 16> barriers{};
  std::uint32_t threads = 0;
  std::uint32_t exited = 0;
  std::uint32_t epoch = 0;  // block barriers passed
  std::uint32_t multiprocessor = 0;
  launch_costs* costs = nullptr;  // of the worker; null: nobody asked
  unsigned worker = 0;            // its index
  // Views of recently used allocations, for all warps of the block, by instruction.
  std::array<memory_view, 16> views{};
};

/// Thread blocks that are resident on a worker together, in the order of their ranks.
struct cluster_state {
  std::vector<std::unique_ptr<block_state>> blocks;
  // The barrier of the cluster: its phases, and the threads that arrived in this one.
  std::uint32_t phase = 0;
  std::uint32_t arrived = 0;
};

/// The state that all blocks of a launch share.
struct grid_state {
  const launch* what = nullptr;
  address_space* memory = nullptr;
  address workspace = 0;  // of a cooperative launch: the counter of grid-wide barriers
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::atomic<bool> told{false};  // its long run was reported
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> changes{0};  // runs of instructions that changed memory
  /// For each worker, the count of changes at which it ran all of its blocks without another one.
  std::vector<std::atomic<std::uint64_t>> quiet;
  std::atomic<unsigned> workers{0};  // that have begun
  static constexpr std::uint64_t not_quiet = ~std::uint64_t{1}, not_there = ~std::uint64_t{0};
  std::mutex output;  // serializes the hooks, and guards the next members
  std::set<std::pair<const decoded*, fault_kind>>
      reported;                         // instructions that were reported, and for which mistake
  std::map<const decoded*, bool> uses;  // the result of `find_out` for each shuffle
  std::optional<fault> first;

  bool stopped() const {
    return stop.load(std::memory_order_relaxed) ||
           (what->canceled && what->canceled->load(std::memory_order_relaxed));
  }
  /// Returns whether the other workers have run all of their blocks since memory was last changed:
  /// a worker may stand still for long while the host does something else.
  bool others_are_quiet(unsigned worker) const {
    const std::uint64_t now = changes.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < quiet.size(); ++i) {
      const std::uint64_t at = quiet[i].load(std::memory_order_relaxed);
      if (i != worker && at != now && at != not_there) return false;
    }
    return true;
  }
  /// Returns whether the launch has run so long that it should be reported, and has not been.
  bool is_late() {
    const auto limit = what->limit.told_after;
    return limit.count() != 0 && !told.load(std::memory_order_relaxed) &&
           std::chrono::steady_clock::now() - start > limit && !told.exchange(true);
  }
  bool first_report_of(const decoded* d, fault_kind kind) {
    const std::lock_guard lock(output);
    return reported.insert({d, kind}).second;
  }
  /// Returns the result of `find_out` for a shuffle, which is called once in a launch.
  template <class F> bool matters(const decoded& d, F find_out) {
    const std::lock_guard lock(output);
    const auto [known, fresh] = uses.try_emplace(&d, false);
    if (fresh) known->second = find_out();
    return known->second;
  }
  void report(const fault& f) {
    const std::lock_guard lock(output);
    if (what->hook.report) what->hook.report(f);
  }
  void print(std::string_view text) {
    const std::lock_guard lock(output);
    if (what->hook.print) what->hook.print(text);
  }
  /// Ends the grid, with this fault if it is the first.
  void end(fault f) {
    const std::lock_guard lock(output);
    if (!first) first = std::move(f);
    stop.store(true, std::memory_order_relaxed);
  }
};

}}}  // namespace nogpu::v1::machine

// The barriers of a block: arriving, waiting, being released, and never being released.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include <nogpu/machine/handlers/cluster.hpp>
#include <nogpu/machine/handlers/control.hpp>
#include <nogpu/machine/report.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Returns the number of threads that barrier `b` waits for.
inline std::uint32_t threads_expected(const block_state& block, const barrier_state& b) {
  if (b.expected != 0) return b.expected;
  const checks& check = block.grid->what->check;
  const bool all = check.barrier_divergence && check.barrier_divergence_is_a_fault;
  return all ? block.threads : block.threads - block.exited;
}

/// The lanes at an instruction of another warp become those that `fail` and `make_fault` speak of.
class in_the_place_of {
 public:
  in_the_place_of(warp& w, const group& g) : warp_{w}, top_{w.top}, function_{w.function} {
    w.top = g.in;
    w.function = g.in->function;
  }
  in_the_place_of(const in_the_place_of&) = delete;
  in_the_place_of& operator=(const in_the_place_of&) = delete;
  ~in_the_place_of() {
    warp_.top = top_;
    warp_.function = function_;
  }

 private:
  warp& warp_;
  decltype(warp::top) top_;
  decltype(warp::function) function_;
};

/// Reports, once for each instruction of a launch, that a barrier is passed though threads have
/// exited without reaching it.
[[gnu::cold, gnu::noinline]] inline void report_exits(block_state& block, warp& w, const group& g) {
  grid_state& grid = *block.grid;
  const decoded& d = g.in->function->code[g.pc];
  if (!grid.first_report_of(&d, fault_kind::barrier_divergence)) return;
  const in_the_place_of place(w, g);
  (void)fail(w, fault_kind::barrier_divergence, static_cast<unsigned>(std::countr_zero(g.lanes)),
             std::to_string(block.exited) + " of the " + std::to_string(block.threads) +
                 " threads have exited before barrier " + std::to_string(g.barrier) +
                 "; the others pass it, as on hardware");
  grid.report(make_fault(w, &d));
}

/// Releases all threads that wait at complete barriers.
inline void release_barriers(block_state& block) {
  for (std::uint32_t number = 0; number < block.barriers.size(); ++number) {
    barrier_state& b = block.barriers[number];
    if (b.arrived == 0) continue;
    const std::uint32_t expected = threads_expected(block, b);
    if (b.arrived < expected) continue;
    bool report =
        b.expected == 0 && block.exited != 0 && block.grid->what->check.barrier_divergence;
    for (const auto& w : block.warps) {
      for (group& g : w->groups) {
        if (g.waits != group::state::at_barrier || g.barrier != number) continue;
        if (report) report_exits(block, *w, g);
        report = false;
        const decoded& d = g.in->function->code[g.pc];
        if (d.option == barrier_reduce && d.run == &run_barrier)
          write_barrier_result(g.in->registers.get(), d, g.lanes, b.votes, expected);
        g.waits = group::state::ready;
        ++g.pc;
      }
    }
    b = {};
    ++block.epoch;
  }
}

/// Lets the lanes in `mask` of group `g` wait at a barrier.
inline void park(warp& w, group& g, lane_mask mask, std::uint32_t barrier) {
  group waiting = g;
  waiting.lanes = mask;
  waiting.waits = group::state::at_barrier;
  waiting.barrier = barrier;
  w.groups.push_back(waiting);
  g.lanes &= ~mask;
  ++g.pc;
}

/// The lanes in `mask` of group `g` arrive at `pending_barrier`; all but those of bar.arrive wait.
inline bool finish_barrier(warp& w, const decoded& d, group& g, lane_mask mask) {
  if (w.pending_barrier == cluster_barrier) {
    park(w, g, mask, cluster_barrier);
    release_cluster(*w.block->cluster);
    return true;
  }
  barrier_state& b = w.block->barriers[w.pending_barrier];
  if (b.arrived != 0 && b.expected != w.barrier_threads) {
    (void)fail(w, fault_kind::illegal_instruction, static_cast<unsigned>(std::countr_zero(mask)),
               "threads wait at barrier " + std::to_string(w.pending_barrier) +
                   " with different thread counts");
    return false;
  }
  b.expected = w.barrier_threads;
  b.arrived += static_cast<std::uint32_t>(std::popcount(mask));
  // Threads are counted in whole warps, even if the last warp has fewer lanes.
  if (b.expected != 0 && mask == w.initial)
    b.arrived += warp_size - static_cast<std::uint32_t>(std::popcount(mask));
  if (d.run == &run_barrier && d.option == barrier_arrive) {
    ++g.pc;
    return true;
  }
  park(w, g, mask, w.pending_barrier);
  return true;
}

/// Describes why no thread of the block can continue. At least one thread must be left.
inline fault describe_deadlock(block_state& block) {
  warp* blocked = nullptr;
  const group* at = nullptr;
  std::uint32_t elsewhere = 0;
  for (const auto& w : block.warps) {
    for (const group& g : w->groups) {
      if (at == nullptr) {
        blocked = w.get();
        at = &g;
      }
      if (g.waits != at->waits || g.barrier != at->barrier)
        elsewhere += static_cast<std::uint32_t>(std::popcount(g.lanes));
    }
  }
  std::string text;
  if (at->waits == group::state::at_barrier && at->barrier == cluster_barrier) {
    const cluster_state& cluster = *block.cluster;
    text = "the barrier of the cluster waits for " + std::to_string(threads_left(cluster)) +
           " threads; " + std::to_string(cluster.arrived) + " arrived, ";
  } else if (at->waits == group::state::at_barrier) {
    const barrier_state& b = block.barriers[at->barrier];
    text = "barrier " + std::to_string(at->barrier) + " waits for " +
           std::to_string(threads_expected(block, b)) + " threads; " + std::to_string(b.arrived) +
           " arrived, ";
  } else {
    text = "lanes " + hexadecimal(at->lanes) + " wait for the lanes of the member mask " +
           hexadecimal(at->members) + "; ";
  }
  text += std::to_string(elsewhere) + " wait elsewhere, " + std::to_string(block.exited) +
          " have exited";
  const decoded& d = at->in->function->code[at->pc];
  blocked->top = at->in;
  blocked->function = at->in->function;
  (void)fail(*blocked, fault_kind::barrier_divergence,
             static_cast<unsigned>(std::countr_zero(at->lanes)), std::move(text));
  return make_fault(*blocked, &d);
}

}}}  // namespace nogpu::v1::machine::detail

// Handlers of clusters: their barrier, and the addresses of other blocks' shared memory.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include <nogpu/machine/lanes.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/machine/memory_layout.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The number by which groups of lanes wait at the barrier of the cluster.
inline constexpr std::uint32_t cluster_barrier = 16;

/// Returns how many threads of a cluster have not exited.
inline std::uint32_t threads_left(const cluster_state& cluster) {
  std::uint32_t left = 0;
  for (const auto& block : cluster.blocks) left += block->threads - block->exited;
  return left;
}

/// Ends the phase of the cluster's barrier if all threads that are left have arrived, and lets
/// lanes go on whose phase has ended.
inline void release_cluster(cluster_state& cluster) {
  if (cluster.arrived != 0 && cluster.arrived >= threads_left(cluster)) {
    cluster.arrived = 0;
    ++cluster.phase;
    for (const auto& block : cluster.blocks) ++block->epoch;
  }
  for (const auto& block : cluster.blocks) {
    for (const auto& w : block->warps) {
      const std::size_t count = w->groups.size();
      for (std::size_t i = 0; i < count; ++i) {
        group& g = w->groups[i];
        if (g.waits != group::state::at_barrier || g.barrier != cluster_barrier) continue;
        lane_mask ended = 0;
        for_lanes(g.lanes, [&](unsigned lane) {
          ended |= lane_mask{w->cluster_phase[lane] != cluster.phase} << lane;
        });
        if (ended == 0) continue;
        w->at_cluster_barrier &= ~ended;
        group go_on = g;
        go_on.lanes = ended;
        go_on.waits = group::state::ready;
        ++go_on.pc;
        if (ended == g.lanes) {
          g = go_on;
        } else {
          g.lanes &= ~ended;
          w->groups.push_back(go_on);
        }
      }
    }
  }
}

/// barrier.cluster.arrive
inline action run_cluster_arrive(warp& w, const decoded&, lane_mask mask) {
  cluster_state& cluster = *w.block->cluster;
  if (const lane_mask twice = mask & w.at_cluster_barrier; twice != 0)
    return fail(w, fault_kind::illegal_instruction, static_cast<unsigned>(std::countr_zero(twice)),
                "it arrived at the barrier of the cluster before, and has not waited since then");
  for_lanes(mask, [&](unsigned lane) { w.cluster_phase[lane] = cluster.phase; });
  w.at_cluster_barrier |= mask;
  cluster.arrived += static_cast<std::uint32_t>(std::popcount(mask));
  release_cluster(cluster);
  return action::next;
}

/// barrier.cluster.wait
inline action run_cluster_wait(warp& w, const decoded&, lane_mask mask) {
  if (const lane_mask absent = mask & ~w.at_cluster_barrier; absent != 0)
    return fail(w, fault_kind::illegal_instruction, static_cast<unsigned>(std::countr_zero(absent)),
                "it waits at the barrier of the cluster, at which it has not arrived");
  w.pending_barrier = cluster_barrier;
  return action::barrier;
}

/// Takes lanes that exit from the barrier of the cluster.
inline void leave_cluster(warp& w, lane_mask mask) {
  cluster_state& cluster = *w.block->cluster;
  for_lanes(mask & w.at_cluster_barrier, [&](unsigned lane) {
    if (w.cluster_phase[lane] == cluster.phase) --cluster.arrived;
  });
  w.at_cluster_barrier &= ~mask;
}

/// mapa: slots d, address, rank; `option` says whether addresses are generic.
template <class Address> inline action run_mapa(warp& w, const decoded& d, lane_mask mask) {
  const bool generic = d.option != 0;
  const std::uint64_t blocks = w.block->cluster->blocks.size();
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = read_lane<Address>(w.registers, d.slots[1], lane);
    const auto rank = read_lane<std::uint32_t>(w.registers, d.slots[2], lane);
    if (generic && !in_window(a, shared_window))
      return fail(w, fault_kind::wrong_space, lane,
                  "mapa of an address that is not in shared memory");
    if (rank >= blocks)
      return fail(
          w, fault_kind::illegal_instruction, lane,
          "mapa for block " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks));
    const address window = generic ? shared_window : 0;
    const address offset = (a - window) & shared_offset_mask;
    const address of_block = rank == w.block->rank ? 0 : (address{rank} + 1) << cluster_rank_shift;
    write_lane(w.registers, d.slots[0], lane, static_cast<Address>(window + of_block + offset));
  }
  return action::next;
}

/// getctarank: slots d, address.
template <class Address> inline action run_block_rank(warp& w, const decoded& d, lane_mask mask) {
  const bool generic = d.option != 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const address a = read_lane<Address>(w.registers, d.slots[1], lane);
    if (generic && !in_window(a, shared_window))
      return fail(w, fault_kind::wrong_space, lane,
                  "getctarank of an address that is not in shared memory");
    const std::uint64_t rank = (a & (small_window_size - 1)) >> cluster_rank_shift;
    write_lane(w.registers, d.slots[0], lane,
               rank == 0 ? w.block->rank : static_cast<std::uint32_t>(rank - 1));
  }
  return action::next;
}

}}}  // namespace nogpu::v1::machine::detail

// Sets up clusters of blocks, and runs their warps in turns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nogpu/machine/barriers.hpp>
#include <nogpu/machine/warp_scheduler.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline constexpr std::uint32_t instructions_per_turn = 1024;  // of a warp
inline constexpr unsigned rounds_per_turn = 8;                // of a block

/// What a turn of a block or a cluster came to. Stuck: no thread of it can go on by itself.
enum class block_status : std::uint8_t { finished, unfinished, stuck, ended };

/// Puts a warp at the start of the kernel, whose frame always has room.
inline void start_warp(warp& w, block_state& block, std::uint32_t index) {
  const launch& what = *block.grid->what;
  const executable& kernel = *what.kernel;
  w.block = &block;
  w.index = index;
  w.carry = 0;
  w.at = nullptr;
  w.undefined = false;
  w.changed = false;
  w.changes = 0;
  w.unwritten_lanes = 0;
  w.epoch = 0;
  w.turn = 0;
  w.failure = {};
  w.copies.clear();
  w.bulk_stores.clear();
  w.bulk_groups = {};
  w.copy_groups = {};
  w.at_cluster_barrier = 0;
  w.groups.clear();
  for (auto& f : w.frames) w.spare.push_back(std::move(f));
  w.frames.clear();
  w.stack_top = {};
  w.local.start(looks_for_unwritten(what.check));
  w.stack_limit = kernel.depth_is_known
                      ? (kernel.local_bytes + 15) / 16 * 16 + what.limit.stack_bytes
                      : std::max(what.limit.stack_bytes, kernel.start->stack_bytes);
  const std::uint32_t first = index * warp_size;
  const std::uint32_t lanes = block.threads - first < warp_size ? block.threads - first : warp_size;
  w.live = w.initial = lanes == warp_size ? all_lanes : (1u << lanes) - 1;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const std::uint32_t linear = first + lane;
    w.thread[0][lane] = linear % what.block.x;
    w.thread[1][lane] = linear / what.block.x % what.block.y;
    w.thread[2][lane] = linear / what.block.x / what.block.y;
  }
  frame* const f = push_frame(w, *kernel.start, nullptr, w.live);
  group g;
  g.in = f;
  g.lanes = w.live;
  w.groups.push_back(g);
  bind(w, *f);
}

/// The place in `size` of what has that linear index, in the order x, y, z.
inline std::array<std::uint32_t, 3> place_in(const extent& size, std::uint64_t linear) {
  return {static_cast<std::uint32_t>(linear % size.x),
          static_cast<std::uint32_t>(linear / size.x % size.y),
          static_cast<std::uint32_t>(linear / size.x / size.y)};
}

/// Makes `block` the block with that index, at its start.
inline void start_block(block_state& block, grid_state& grid,
                        const std::array<std::uint32_t, 3>& index) {
  const launch& what = *grid.what;
  const executable& kernel = *what.kernel;
  block.grid = &grid;
  block.index = index;
  block.threads = static_cast<std::uint32_t>(what.block.count());
  block.exited = 0;
  block.epoch = 0;
  block.barriers = {};
  block.views = {};
  block.bulk_loads.clear();
  block.warp_groups.clear();
  const std::uint64_t linear =
      index[0] + what.grid.x * (index[1] + std::uint64_t{what.grid.y} * index[2]);
  block.multiprocessor =
      static_cast<std::uint32_t>(linear % (what.multiprocessors ? what.multiprocessors : 1));
  block.shared.reset(kernel.uses_reserved_shared ? 0 : reserved_shared_bytes,
                     std::size_t{kernel.dynamic_shared_begin} + what.dynamic_shared_bytes,
                     what.check.shared_races, looks_for_unwritten(what.check));
  if (kernel.uses_reserved_shared && block.shared.tracks())
    block.shared.note_unordered(0, used_reserved_shared_bytes);  // the system begins with zeros
  const std::uint32_t warps = (block.threads + warp_size - 1) / warp_size;
  block.warps.resize(warps);
  for (std::uint32_t i = 0; i < warps; ++i) {
    if (!block.warps[i]) block.warps[i] = std::make_unique<warp>();
    start_warp(*block.warps[i], block, i);
  }
}

/// Makes `cluster` the cluster with that linear index, with all of its blocks at their start.
inline void start_cluster(cluster_state& cluster, grid_state& grid, std::uint64_t linear) {
  const extent& size = grid.what->cluster;
  const extent& blocks = grid.what->grid;
  const std::array<std::uint32_t, 3> place =
      place_in({blocks.x / size.x, blocks.y / size.y, blocks.z / size.z}, linear);
  cluster.phase = 0;
  cluster.arrived = 0;
  cluster.blocks.resize(size.count());
  for (std::uint32_t rank = 0; rank < cluster.blocks.size(); ++rank) {
    if (!cluster.blocks[rank]) cluster.blocks[rank] = std::make_unique<block_state>();
    block_state& block = *cluster.blocks[rank];
    const std::array<std::uint32_t, 3> within = place_in(size, rank);
    block.cluster = &cluster;
    block.rank = rank;
    start_block(block, grid,
                {place[0] * size.x + within[0], place[1] * size.y + within[1],
                 place[2] * size.z + within[2]});
  }
}

/// Runs every warp of the block in turn, again and again, until the block has ended, nothing of it
/// can go on, or its turn is over. A fault ends the grid.
inline block_status run_block(block_state& block) {
  grid_state& grid = *block.grid;
  for (unsigned round = 0; round < rounds_per_turn; ++round) {
    bool alive = false, ran = false;
    for (const auto& w : block.warps) {
      if (w->live == 0) continue;
      alive = true;
      bool ready = false;
      for (const group& g : w->groups) ready = ready || g.waits == group::state::ready;
      if (!ready) continue;
      ran = true;
      const bool sound = block.costs == nullptr ? run_warp<false>(*w, instructions_per_turn)
                                                : run_warp<true>(*w, instructions_per_turn);
      if (w->changes != 0)
        grid.changes.fetch_add(std::exchange(w->changes, 0), std::memory_order_relaxed);
      if (!sound) {
        grid.end(make_fault(*w, w->at));
        return block_status::ended;
      }
    }
    if (!alive) return block_status::finished;
    if (grid.stopped()) return block_status::ended;
    if (!ran) return round == 0 ? block_status::stuck : block_status::unfinished;
  }
  return block_status::unfinished;
}

/// Gives each block of a cluster its turn. A cluster of which no block can go on ends the grid.
inline block_status run_cluster(cluster_state& cluster) {
  bool finished = true, ran = false;
  for (const auto& block : cluster.blocks) {
    if (block->exited == block->threads) continue;
    const block_status status = run_block(*block);
    if (status == block_status::ended) return status;
    finished = finished && status == block_status::finished;
    ran = ran || status != block_status::stuck;
  }
  if (finished) return block_status::finished;
  if (ran) return block_status::unfinished;
  for (const auto& block : cluster.blocks) {
    if (block->exited == block->threads) continue;
    block->grid->end(describe_deadlock(*block));
    break;
  }
  return block_status::ended;
}

/// Reports where a block is that has been running for long. Returns whether it has a thread that
/// can go on.
inline bool report_progress(block_state& block) {
  grid_state& grid = *block.grid;
  const limits& limit = grid.what->limit;
  for (const auto& w : block.warps) {
    for (const group& g : w->groups) {
      if (g.waits != group::state::ready) continue;
      bind(*w, *g.in);
      std::string text = "it has run for more than " + std::to_string(limit.told_after.count()) +
                         " ms and continues; this thread has executed " +
                         std::to_string(g.executed) + " instructions";
      if (limit.instructions_per_thread != 0)
        text += " of the " + std::to_string(limit.instructions_per_thread) + " of its budget";
      w->failure = {fault_kind::still_running,
                    static_cast<unsigned>(std::countr_zero(g.lanes)),
                    0,
                    0,
                    access_kind::read,
                    std::move(text)};
      grid.report(make_fault(*w, &w->function->code[g.pc]));
      return true;
    }
  }
  return false;
}

}}}  // namespace nogpu::v1::machine::detail

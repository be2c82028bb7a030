// Sets up a block and runs its warps in turns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <gpu/testing/detail/machine/barriers.hpp>
#include <gpu/testing/detail/machine/warp_scheduler.hpp>

namespace gpu::inline v1::testing::machine::detail {

inline constexpr std::uint32_t instructions_per_turn = 1024;  // of a warp
inline constexpr unsigned rounds_per_turn = 8;                // of a block

enum class block_status : std::uint8_t { finished, unfinished, ended };

/// Puts a warp at the start of the kernel, whose frame always has room.
inline void start_warp(warp& w, block_state& block, std::uint32_t index) {
  const launch& what = *block.grid->what;
  const executable& kernel = *what.kernel;
  w.block = &block;
  w.index = index;
  w.carry = 0;
  w.epoch = 0;
  w.turn = 0;
  w.failure = {};
  w.copies.clear();
  w.bulk_stores.clear();
  w.bulk_groups = {};
  w.copy_groups = {};
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

/// Makes `block` the block with that linear index, at its start.
inline void start_block(block_state& block, grid_state& grid, std::uint64_t linear) {
  const launch& what = *grid.what;
  const executable& kernel = *what.kernel;
  block.grid = &grid;
  block.index = {static_cast<std::uint32_t>(linear % what.grid.x),
                 static_cast<std::uint32_t>(linear / what.grid.x % what.grid.y),
                 static_cast<std::uint32_t>(linear / what.grid.x / what.grid.y)};
  block.threads = static_cast<std::uint32_t>(what.block.count());
  block.exited = 0;
  block.epoch = 0;
  block.barriers = {};
  block.views = {};
  block.bulk_loads.clear();
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

/// Runs every warp of the block in turn, again and again, until the block has ended or its turn is
/// over. A fault ends the grid.
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
      if (!run_warp(*w, instructions_per_turn)) {
        grid.end(make_fault(*w, w->at));
        return block_status::ended;
      }
    }
    if (!alive) return block_status::finished;
    if (grid.stopped()) return block_status::ended;
    if (!ran) {
      grid.end(describe_deadlock(block));
      return block_status::ended;
    }
  }
  return block_status::unfinished;
}

/// Reports where a block is that has been running for long.
inline void report_progress(block_state& block) {
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
      return grid.report(make_fault(*w, &w->function->code[g.pc]));
    }
  }
}

}  // namespace gpu::inline v1::testing::machine::detail

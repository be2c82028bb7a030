// Runs a grid: hands its clusters of blocks to the threads of a pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <nogpu/machine/block_scheduler.hpp>
#include <nogpu/machine/host_processors.hpp>
#include <nogpu/machine/launch.hpp>
#include <nogpu/ptx/arithmetic/default_environment.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

namespace detail {

/// The clusters of a grid that wait to be started.
class cluster_source {
 public:
  cluster_source(std::uint64_t total, std::uint64_t most_resident)
      : total_{total}, most_resident_{most_resident} {}

  /// The next cluster, or nothing: none is left, or as many as may be are resident. A worker
  /// without any cluster always gets one.
  std::optional<std::uint64_t> take(bool has_none) {
    if (!has_none && resident_.load(std::memory_order_relaxed) >= most_resident_)
      return std::nullopt;
    const std::uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= total_) return std::nullopt;
    resident_.fetch_add(1, std::memory_order_relaxed);
    return index;
  }
  bool any_left() const { return next_.load(std::memory_order_relaxed) < total_; }
  void finished() { resident_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  const std::uint64_t total_;
  const std::uint64_t most_resident_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> resident_{0};
};

/// Adds what a worker counted to the launch's table, however the worker ends.
struct counted_end {
  grid_state& grid;
  const std::optional<launch_costs>& costs;
  ~counted_end() {
    if (!costs) return;
    (void)within_memory([this] {
      costs->add_to(*grid.what->costs, readable_kernel(grid.what->kernel->entry->name));
    });
  }
};

/// Notes for other workers when this one has run all of its blocks and no memory was changed.
class round_of_turns {
 public:
  round_of_turns(grid_state& grid, std::atomic<std::uint64_t>& quiet) : grid_{grid}, quiet_{quiet} {
    quiet_.store(grid_state::not_quiet, std::memory_order_relaxed);
  }
  ~round_of_turns() { quiet_.store(grid_state::not_there, std::memory_order_relaxed); }

  void count_turn(std::uint64_t residents) {
    const std::uint64_t now = grid_.changes.load(std::memory_order_relaxed);
    turns_ = now == changes_ ? turns_ + 1 : 0;
    changes_ = now;
    if (turns_ > residents) quiet_.store(now, std::memory_order_relaxed);
  }

 private:
  grid_state& grid_;
  std::atomic<std::uint64_t>& quiet_;
  std::uint64_t changes_ = 0;
  std::uint64_t turns_ = 0;  // without a change
};

/// One worker: runs its resident clusters in turns. Blocks that take long may wait for others, so
/// the longer they take the more are started beside them.
inline void work_on(grid_state& grid, cluster_source& source, spare_clusters& kept) {
  std::deque<std::unique_ptr<cluster_state>> resident;
  std::vector<std::unique_ptr<cluster_state>> spare;
  const bool all_at_once = grid.what->cooperative;
  std::uint64_t turns_since_start = 0;
  const unsigned worker = grid.workers.fetch_add(1, std::memory_order_relaxed);
  round_of_turns round{grid, grid.quiet[worker]};
  std::optional<launch_costs> costs;
  if (grid.what->costs != nullptr) costs.emplace(*grid.what->kernel->module);
  const counted_end counted{grid, costs};
  while (!grid.stopped()) {
    if (source.any_left() &&
        (resident.empty() || all_at_once || turns_since_start >= 4 * resident.size())) {
      if (const auto index = source.take(resident.empty())) {
        std::unique_ptr<cluster_state> cluster;
        if (spare.empty()) {
          cluster = kept.take();
          if (cluster == nullptr) cluster = std::make_unique<cluster_state>();
        } else {
          cluster = std::move(spare.back());
          spare.pop_back();
        }
        start_cluster(*cluster, grid, *index);
        for (const auto& block : cluster->blocks) {
          block->costs = costs ? &*costs : nullptr;
          block->worker = worker;
        }
        resident.push_front(std::move(cluster));
        turns_since_start = 0;
      }
    }
    if (resident.empty()) break;
    std::unique_ptr<cluster_state> cluster = std::move(resident.front());
    resident.pop_front();
    ++turns_since_start;
    const block_status status = run_cluster(*cluster);
    round.count_turn(resident.size() + 1);
    switch (status) {
      case block_status::finished:
        source.finished();
        spare.push_back(std::move(cluster));
        break;
      case block_status::stuck:
      case block_status::unfinished:
        if (grid.is_late()) {
          for (const auto& block : cluster->blocks)
            if (report_progress(*block)) break;
        }
        resident.push_back(std::move(cluster));
        break;
      case block_status::ended: return;
    }
  }
  for (std::unique_ptr<cluster_state>& cluster : spare) kept.keep(std::move(cluster));
}

/// Makes the workspace that cooperative groups expect of a driver for grid-wide barriers: its size
/// and a counter. Returns 0 without memory, which a kernel takes for "not cooperative".
inline address make_workspace(const launch& what, address_space& memory) {
  const std::uint32_t content[2] = {8, 0};
  const auto base = memory.allocate({.size = sizeof(content),
                                     .owner = what.context,
                                     .counts = false,
                                     .site = "the barrier of a cooperative launch"});
  if (!base || memory.write(*base, content, sizeof(content)) != fault_kind::none) return 0;
  return *base;
}

/// Frees the workspace, however the grid ends.
struct workspace_end {
  grid_state& grid;
  ~workspace_end() {
    if (grid.workspace == 0) return;
    (void)within_memory([this] { (void)grid.memory->free(grid.workspace); });
  }
};

/// Ends the grid if a worker ends by an exception, since other blocks may wait for the blocks of
/// this one.
struct worker_end {
  grid_state& grid;
  bool done = false;
  ~worker_end() {
    if (!done) grid.stop.store(true, std::memory_order_relaxed);
  }
};

}  // namespace detail

inline std::optional<fault> run(const launch& what, address_space& memory,
                                host_processors& processors) {
  const address_space::in_use held(memory);
  grid_state grid;
  grid.what = &what;
  grid.memory = &memory;
  if (what.costs != nullptr)
    what.costs->add_launch(detail::readable_kernel(what.kernel->entry->name));
  if (what.cooperative) grid.workspace = detail::make_workspace(what, memory);
  const detail::workspace_end freed{grid};
  const std::uint64_t clusters = what.grid.count() / what.cluster.count();
  const std::uint64_t resident =
      std::max<std::uint64_t>(what.limit.resident_blocks / what.cluster.count(), 1);
  detail::cluster_source source(clusters, what.cooperative ? clusters : resident);
  const unsigned wanted =
      static_cast<unsigned>(std::min<std::uint64_t>(clusters, processors.pool.threads()));
  grid.quiet = std::vector<std::atomic<std::uint64_t>>(wanted);
  for (auto& each : grid.quiet) each.store(grid_state::not_there, std::memory_order_relaxed);
  processors.pool.run(wanted, [&] {
    const ptx::default_environment environment;
    detail::worker_end end{grid};
    detail::work_on(grid, source, processors.spare);
    end.done = true;
  });
  return std::move(grid.first);
}

}}}  // namespace nogpu::v1::machine

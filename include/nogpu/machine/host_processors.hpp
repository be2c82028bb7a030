// The host threads that execute blocks, and ended blocks whose memory is used again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <nogpu/machine/thread_pool.hpp>
#include <nogpu/machine/warp.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// Clusters whose blocks have ended, kept for later launches. Without them each launch allocates
/// the registers of its warps anew, which takes longer than to run a small kernel
/// (benchmarks/nogpu/interpreter.cpp). Threads: any.
class spare_clusters {
 public:
  explicit spare_clusters(std::size_t most) { kept_.reserve(most); }

  /// Returns a cluster to start again, or null.
  std::unique_ptr<cluster_state> take() {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return nullptr;
    std::unique_ptr<cluster_state> last = std::move(kept_.back());
    kept_.pop_back();
    return last;
  }

  /// Keeps a cluster of one block, if there is room; larger ones may have hundreds of megabytes.
  void keep(std::unique_ptr<cluster_state> cluster) {
    if (cluster->blocks.size() != 1) return;
    const std::lock_guard lock(mutex_);
    if (kept_.size() < kept_.capacity()) kept_.push_back(std::move(cluster));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<cluster_state>> kept_;  // never grows, so that keeping cannot fail
};

/// Executes blocks in place of the multiprocessors of a device. Threads: any.
struct host_processors {
  /// `threads` as for `thread_pool`.
  explicit host_processors(unsigned threads = 0) : pool{threads}, spare{pool.threads()} {}

  thread_pool pool;
  spare_clusters spare;
};

}}}  // namespace nogpu::v1::machine

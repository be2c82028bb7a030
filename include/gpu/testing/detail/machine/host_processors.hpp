// What executes blocks: threads, and the memory of blocks that have ended.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include <gpu/testing/detail/machine/thread_pool.hpp>
#include <gpu/testing/detail/machine/warp.hpp>

namespace gpu::inline v1::testing::machine {

/// Clusters whose blocks have ended, kept for later launches. Without them each launch allocates
/// the registers of its warps anew, which takes longer than to run a small kernel
/// (benchmarks/testing/interpreter.cpp). Threads: any.
class spare_clusters {
 public:
  explicit spare_clusters(std::size_t most) : most_{most} {}

  /// Returns a cluster to start again, or null.
  std::unique_ptr<cluster_state> take() {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<cluster_state> first = std::move(first_);
    if (first != nullptr) {
      first_ = std::move(first->next);
      --count_;
    }
    return first;
  }

  /// Keeps a cluster of one block, if there is room; larger ones may have hundreds of megabytes.
  void keep(std::unique_ptr<cluster_state> cluster) {
    if (cluster->blocks.size() != 1) return;
    const std::lock_guard lock(mutex_);
    if (count_ == most_) return;
    cluster->next = std::move(first_);
    first_ = std::move(cluster);
    ++count_;
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::unique_ptr<cluster_state> first_;  // a list, because to keep one must not fail
  std::size_t count_ = 0;
};

/// What of the host stands for the multiprocessors of devices. Threads: any.
struct host_processors {
  /// `threads` as for `thread_pool`.
  explicit host_processors(unsigned threads = 0) : pool{threads}, spare{pool.threads()} {}

  thread_pool pool;
  spare_clusters spare;
};

}  // namespace gpu::inline v1::testing::machine

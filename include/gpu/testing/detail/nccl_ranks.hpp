#pragma once
/// \file
/// The ranks of the stand-in for NCCL, and what they have called. An operation is done by the
/// thread of the last rank that calls it, with blocking copies of the driver in force.

#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/detail/nccl_arithmetic.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gpu { inline namespace v1 { namespace testing::nccl {

/// ncclResult_t.
enum code : int {
  success = 0,
  cuda_error = 1,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7
};

/// ncclUniqueId, of the type that the functions in libraries/ have.
using unique_id = std::array<char, 128>;

enum class call_kind { all_reduce, broadcast, reduce, all_gather, reduce_scatter, send, receive };

inline const char* name_of(call_kind kind) noexcept {
  constexpr const char* names[] = {"ncclAllReduce", "ncclBroadcast",     "ncclReduce",
                                   "ncclAllGather", "ncclReduceScatter", "ncclSend",
                                   "ncclRecv"};
  return names[static_cast<int>(kind)];
}

/// A call of one rank: `count` elements, as the function of NCCL has it.
struct call {
  call_kind kind;
  const void* in;
  void* out;
  std::size_t count;
  int type;
  int operation;
  int peer;  ///< or the root
  CUstream stream;
};

struct world;

/// One rank. A communicator is a pointer to it.
struct rank_state {
  std::shared_ptr<world> of;
  int rank = 0;
  CUcontext context = nullptr;
  CUdevice device = 0;
  bool is_finalized = false;
  std::deque<call> collectives;
  std::map<int, std::deque<call>> sends, receives;  ///< by the other rank

  bool has_pending() const {
    const auto any = [](const auto& queues) {
      for (const auto& each : queues) {
        if (!each.second.empty()) return true;
      }
      return false;
    };
    return !collectives.empty() || any(sends) || any(receives);
  }
};

/// All that has one id.
struct world {
  explicit world(int ranks) : members(static_cast<std::size_t>(ranks), nullptr) {}

  std::vector<rank_state*> members;
  int joined = 0;
  int failure = success;  ///< of all ranks
  std::string words;      ///< about the failure

  int fail(int why, std::string sentence) {
    if (failure == success) {
      failure = why;
      words = std::move(sentence);
    }
    return failure;
  }
};

/// The worlds that ranks can join, and the lock of everything.
struct registry {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<world>> worlds;
  std::string words;  ///< of the last error without a communicator
  std::uint64_t ids = 0;

  static registry& of_process() {
    static registry all;
    return all;
  }
};

/// Makes the context of a rank current for a scope.
class in_rank {
 public:
  explicit in_rank(const rank_state& rank) : driver_{driver::current_entry_points()} {
    good_ = driver_.ctx_push_current(rank.context) == CUDA_SUCCESS;
  }
  in_rank(const in_rank&) = delete;
  in_rank& operator=(const in_rank&) = delete;
  ~in_rank() {
    CUcontext popped = nullptr;
    if (good_) driver_.ctx_pop_current(&popped);
  }

  /// Waits for what the stream has queued, and reads device memory.
  bool read(const call& from, bytes& to) const {
    to.resize(from.count * element_bytes(from.type));
    if (!good_ || driver_.stream_synchronize(from.stream) != CUDA_SUCCESS) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(from.in);
    return to.empty() || driver_.memcpy_dtoh(to.data(), address, to.size()) == CUDA_SUCCESS;
  }
  bool write(const call& to, const unsigned char* from, std::size_t size) const {
    if (!good_ || driver_.stream_synchronize(to.stream) != CUDA_SUCCESS) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(to.out);
    return size == 0 || driver_.memcpy_htod(address, from, size) == CUDA_SUCCESS;
  }

 private:
  const driver::entry_points& driver_;
  bool good_;
};

/// Says that the calls of two ranks do not fit.
inline std::string mismatch(int first, const call& a, int second, const call& b) {
  char words[256];
  std::snprintf(words, sizeof words,
                "rank %d calls %s with %zu elements of type %d, and rank %d calls %s with %zu "
                "elements of type %d.",
                first, name_of(a.kind), a.count, a.type, second, name_of(b.kind), b.count, b.type);
  return words;
}

/// Does the operation that all ranks have called.
inline int do_collective(world& all) {
  const call& first = all.members[0]->collectives.front();
  for (const rank_state* each : all.members) {
    const call& own = each->collectives.front();
    if (own.kind != first.kind || own.count != first.count || own.type != first.type ||
        own.operation != first.operation || own.peer != first.peer) {
      return all.fail(invalid_usage, mismatch(0, first, each->rank, own));
    }
  }
  const std::size_t ranks = all.members.size();
  const bool scatters = first.kind == call_kind::reduce_scatter;
  std::vector<bytes> parts(ranks);
  for (const rank_state* each : all.members) {
    call own = each->collectives.front();
    if (own.kind == call_kind::broadcast && each->rank != own.peer) continue;
    if (scatters) own.count *= ranks;
    if (!in_rank(*each).read(own, parts[static_cast<std::size_t>(each->rank)]))
      return all.fail(cuda_error, "a copy of the driver failed.");
  }
  bytes result;
  switch (first.kind) {
    case call_kind::broadcast: result = parts[static_cast<std::size_t>(first.peer)]; break;
    case call_kind::all_gather:
      for (const bytes& part : parts) result.insert(result.end(), part.begin(), part.end());
      break;
    default: result = combine(parts, first.type, static_cast<operation>(first.operation));
  }
  const std::size_t part = scatters ? result.size() / ranks : 0;
  for (rank_state* each : all.members) {
    const call own = each->collectives.front();
    each->collectives.pop_front();
    if (first.kind == call_kind::reduce && each->rank != own.peer) continue;
    const std::size_t offset = part * static_cast<std::size_t>(each->rank);
    if (!in_rank(*each).write(own, result.data() + offset, scatters ? part : result.size()))
      return all.fail(cuda_error, "a copy of the driver failed.");
  }
  return success;
}

/// Moves what one rank has sent and another receives.
inline int do_transfer(world& all, rank_state& from, rank_state& to) {
  const call sent = from.sends[to.rank].front();
  const call received = to.receives[from.rank].front();
  from.sends[to.rank].pop_front();
  to.receives[from.rank].pop_front();
  if (sent.count != received.count || sent.type != received.type)
    return all.fail(invalid_usage, mismatch(from.rank, sent, to.rank, received));
  bytes content;
  if (!in_rank(from).read(sent, content) ||
      !in_rank(to).write(received, content.data(), content.size())) {
    return all.fail(cuda_error, "a copy of the driver failed.");
  }
  return success;
}

/// Does all that can be done.
inline void go_on(world& all) {
  if (all.joined != static_cast<int>(all.members.size())) return;
  for (const rank_state* each : all.members) {
    if (each == nullptr) return;  // a rank has ended
  }
  for (bool progress = true; progress && all.failure == success;) {
    progress = false;
    bool everywhere = true;
    for (const rank_state* each : all.members)
      everywhere = everywhere && !each->collectives.empty();
    if (everywhere) progress = do_collective(all) == success;
    for (rank_state* from : all.members) {
      for (rank_state* to : all.members) {
        const bool both = !from->sends[to->rank].empty() && !to->receives[from->rank].empty();
        if (both && all.failure == success) progress = do_transfer(all, *from, *to) == success;
      }
    }
  }
}

/// The state of a rank, as ncclCommGetAsyncError has it.
inline int state_of(const rank_state& self) {
  const world& all = *self.of;
  if (all.failure != success) return all.failure;
  if (all.joined != static_cast<int>(all.members.size()) || self.has_pending()) return in_progress;
  if (!self.is_finalized) return success;
  for (const rank_state* each : all.members) {
    if (each != nullptr && !each->is_finalized) return in_progress;
  }
  return success;
}

}}}  // namespace gpu::v1::testing::nccl

#pragma once
/// \file
/// `nccl_stand_in`: NCCL's functions over the devices of the driver in force, such as those of the
/// CPU driver, for tests without GPUs:
///
///     gpu::testing::use_cpu_driver({.devices = 4});
///     const gpu::scoped_nccl in_force(&gpu::testing::nccl_stand_in);
///
/// Ranks are threads of one process, or calls in a group of one thread. An operation is done, by
/// way of the host, when the last rank calls it, and the others wait for that. Results are those of
/// NCCL; elements are combined in the order of the ranks. Calls that do not fit together are errors
/// that say which rank calls what. Captures are refused.

#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/detail/nccl_arithmetic.hpp>
#include <gpu/testing/detail/nccl_ranks.hpp>

#include <cuda.h>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gpu { inline namespace v1 { namespace testing {

namespace nccl {

/// The calls of a thread in a group that it has begun.
struct open_group {
  int depth = 0;
  std::vector<std::pair<rank_state*, call>> calls;

  static open_group& of_thread() {
    thread_local open_group group;
    return group;
  }
};

inline int get_version(int* version) {
  *version = 21805;
  return success;
}

inline int get_unique_id(unique_id* id) {
  registry& all = registry::of_process();
  const std::lock_guard held(all.lock);
  *id = {};
  std::snprintf(id->data(), id->size(), "the stand-in's id %llu",
                static_cast<unsigned long long>(++all.ids));
  return success;
}

inline int init_rank(void** communicator, int ranks, unique_id id, int rank, void*) {
  registry& all = registry::of_process();
  const std::lock_guard held(all.lock);
  const driver::entry_points& driver = driver::current_entry_points();
  auto self = std::make_unique<rank_state>();
  if (driver.ctx_get_current(&self->context) != CUDA_SUCCESS || self->context == nullptr ||
      driver.ctx_get_device(&self->device) != CUDA_SUCCESS) {
    all.words = "no context is current.";
    return cuda_error;
  }
  std::shared_ptr<world>& joined = all.worlds[std::string(id.data())];
  if (joined == nullptr) joined = std::make_shared<world>(ranks);
  world& of = *joined;
  if (static_cast<int>(of.members.size()) != ranks || rank < 0 || rank >= ranks ||
      of.members[static_cast<std::size_t>(rank)] != nullptr) {
    all.words = "the rank is taken, or the ranks do not agree how many there are.";
    return of.fail(invalid_usage, all.words);
  }
  for (const rank_state* each : of.members) {
    if (each == nullptr || each->device != self->device) continue;
    all.words = "two ranks have the same device.";
    return of.fail(invalid_usage, all.words);
  }
  self->of = joined;
  self->rank = rank;
  of.members[static_cast<std::size_t>(rank)] = self.get();
  if (++of.joined == ranks) all.worlds.erase(std::string(id.data()));
  *communicator = self.release();
  return state_of(*static_cast<rank_state*>(*communicator));
}

inline int finalize(void* communicator) {
  const std::lock_guard held(registry::of_process().lock);
  auto& self = *static_cast<rank_state*>(communicator);
  self.is_finalized = true;
  return state_of(self);
}

/// Ends a rank; the others fail if it had not come to its end.
inline void end_rank(rank_state* self, bool aborts) {
  const std::lock_guard held(registry::of_process().lock);
  const std::shared_ptr<world> all = self->of;
  if (aborts && state_of(*self) != success) {
    all->fail(remote_error, "rank " + std::to_string(self->rank) + " has aborted.");
  } else if (aborts) {
    for (const rank_state* each : all->members) {
      if (each != nullptr && each != self && each->has_pending())
        all->fail(remote_error, "rank " + std::to_string(self->rank) + " has aborted.");
    }
  }
  self->is_finalized = true;
  all->members[static_cast<std::size_t>(self->rank)] = nullptr;
  delete self;
}
inline int destroy(void* communicator) {
  end_rank(static_cast<rank_state*>(communicator), false);
  return success;
}
inline int abort(void* communicator) {
  end_rank(static_cast<rank_state*>(communicator), true);
  return success;
}

inline int get_async_error(void* communicator, int* found) {
  const std::lock_guard held(registry::of_process().lock);
  *found = state_of(*static_cast<rank_state*>(communicator));
  return success;
}

inline const char* get_last_error(void* communicator) {
  registry& all = registry::of_process();
  const std::lock_guard held(all.lock);
  static thread_local std::string words;  // as long as the thread asks no further
  words = communicator != nullptr ? static_cast<rank_state*>(communicator)->of->words : all.words;
  return words.c_str();
}

inline int submit(rank_state& self, const call& made) {
  const std::lock_guard held(registry::of_process().lock);
  world& all = *self.of;
  if (all.failure != success) return all.failure;
  bool ended = false;
  for (const rank_state* each : all.members)
    ended = ended || (each == nullptr && all.joined == static_cast<int>(all.members.size()));
  if (ended) return all.fail(remote_error, "another rank has ended.");
  CUstreamCaptureStatus captured = CU_STREAM_CAPTURE_STATUS_NONE;
  const auto is_capturing = driver::current_entry_points().stream_is_capturing;
  if (is_capturing(made.stream, &captured) != CUDA_SUCCESS ||
      captured != CU_STREAM_CAPTURE_STATUS_NONE) {
    return all.fail(invalid_usage, "the stand-in for NCCL cannot be captured.");
  }
  switch (made.kind) {
    case call_kind::send: self.sends[made.peer].push_back(made); break;
    case call_kind::receive: self.receives[made.peer].push_back(made); break;
    default: self.collectives.push_back(made);
  }
  go_on(all);
  return state_of(self);
}

inline int enqueue(void* communicator, const call& made) {
  auto& self = *static_cast<rank_state*>(communicator);
  const int ranks = static_cast<int>(self.of->members.size());
  if (made.peer < 0 || made.peer >= ranks || element_bytes(made.type) == 0) return invalid_argument;
  open_group& group = open_group::of_thread();
  if (group.depth == 0) return submit(self, made);
  group.calls.emplace_back(&self, made);
  return success;
}

inline int group_start() {
  ++open_group::of_thread().depth;
  return success;
}
inline int group_end() {
  open_group& group = open_group::of_thread();
  if (group.depth == 0) return invalid_usage;
  if (--group.depth != 0) return success;
  const auto calls = std::exchange(group.calls, {});
  for (const auto& [self, made] : calls) {
    const int code = submit(*self, made);
    if (code != success && code != in_progress) return code;
  }
  return in_progress;
}

inline int all_reduce(const void* in, void* out, std::size_t count, int type, int operation,
                      void* communicator, void* stream) {
  return enqueue(communicator, {call_kind::all_reduce, in, out, count, type, operation, 0,
                                static_cast<CUstream>(stream)});
}
inline int broadcast(const void* in, void* out, std::size_t count, int type, int root,
                     void* communicator, void* stream) {
  return enqueue(communicator, {call_kind::broadcast, in, out, count, type, 0, root,
                                static_cast<CUstream>(stream)});
}
inline int reduce(const void* in, void* out, std::size_t count, int type, int operation, int root,
                  void* communicator, void* stream) {
  return enqueue(communicator, {call_kind::reduce, in, out, count, type, operation, root,
                                static_cast<CUstream>(stream)});
}
inline int all_gather(const void* in, void* out, std::size_t count, int type, void* communicator,
                      void* stream) {
  return enqueue(communicator, {call_kind::all_gather, in, out, count, type, 0, 0,
                                static_cast<CUstream>(stream)});
}
inline int reduce_scatter(const void* in, void* out, std::size_t count, int type, int operation,
                          void* communicator, void* stream) {
  return enqueue(communicator, {call_kind::reduce_scatter, in, out, count, type, operation, 0,
                                static_cast<CUstream>(stream)});
}
inline int send(const void* in, std::size_t count, int type, int peer, void* communicator,
                void* stream) {
  return enqueue(communicator, {call_kind::send, in, nullptr, count, type, 0, peer,
                                static_cast<CUstream>(stream)});
}
inline int receive(void* out, std::size_t count, int type, int peer, void* communicator,
                   void* stream) {
  return enqueue(communicator, {call_kind::receive, nullptr, out, count, type, 0, peer,
                                static_cast<CUstream>(stream)});
}

}  // namespace nccl

/// Returns the function that stands in for the one of NCCL with that name, or null.
inline void* nccl_stand_in(const char* name) noexcept {
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  const auto found = [](auto* function) { return reinterpret_cast<void*>(function); };
  if (is("ncclGetVersion")) return found(&nccl::get_version);
  if (is("ncclGetUniqueId")) return found(&nccl::get_unique_id);
  if (is("ncclCommInitRankConfig")) return found(&nccl::init_rank);
  if (is("ncclCommFinalize")) return found(&nccl::finalize);
  if (is("ncclCommDestroy")) return found(&nccl::destroy);
  if (is("ncclCommAbort")) return found(&nccl::abort);
  if (is("ncclCommGetAsyncError")) return found(&nccl::get_async_error);
  if (is("ncclGetLastError")) return found(&nccl::get_last_error);
  if (is("ncclGroupStart")) return found(&nccl::group_start);
  if (is("ncclGroupEnd")) return found(&nccl::group_end);
  if (is("ncclAllReduce")) return found(&nccl::all_reduce);
  if (is("ncclBroadcast")) return found(&nccl::broadcast);
  if (is("ncclReduce")) return found(&nccl::reduce);
  if (is("ncclAllGather")) return found(&nccl::all_gather);
  if (is("ncclReduceScatter")) return found(&nccl::reduce_scatter);
  if (is("ncclSend")) return found(&nccl::send);
  return is("ncclRecv") ? found(&nccl::receive) : nullptr;
}

}}}  // namespace gpu::v1::testing

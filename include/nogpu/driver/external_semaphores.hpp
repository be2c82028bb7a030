#pragma once
/// \file
/// Entry points: semaphores of other interfaces, which are words in files.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/external_memory.hpp>

#include <cuda.h>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// A signal of a semaphore, or a wait for it, checked.
struct semaphore_operation {
  external_semaphore_ptr semaphore;
  std::uint64_t value = 0;  // of a timeline semaphore
  bool signals = false;
};

/// Operations in progress, in order.
struct semaphore_operations {
  driver_state& driver;
  context_ptr context;
  std::vector<semaphore_operation> all;
  std::size_t next = 0;
  bool lowered = false;  // a timeline semaphore was signaled with a value that it had reached

  /// Runs as many operations as possible now; returns true when all are done.
  bool proceed() {
    for (; next < all.size(); ++next) {
      if (context->fault.load() != 0) return true;
      if (!advance(all[next])) return false;
    }
    return true;
  }

  void finish() const {
    if (!lowered) return;
    driver.report_finding(
        "a timeline semaphore was signaled with a value that is not more than the one it had: its "
        "value may only grow");
  }

  void give_up() const {
    const semaphore_operation& now = all[next];
    set_fault(*context, CUDA_ERROR_LAUNCH_TIMEOUT);
    const std::string wanted =
        now.semaphore->timeline
            ? "a timeline semaphore to reach " + std::to_string(now.value) + ", but its value is " +
                  std::to_string(__atomic_load_n(now.semaphore->word(), __ATOMIC_ACQUIRE))
            : std::string("a binary semaphore, but nobody signaled it");
    driver.report_finding("a wait for a semaphore timed out: a stream waits for " + wanted +
                          ", for " + std::to_string(driver.options.value_wait_limit.count()) +
                          " ms");
  }

 private:
  bool advance(const semaphore_operation& now) {
    std::uint64_t* const word = now.semaphore->word();
    if (now.signals) {
      const std::uint64_t value = now.semaphore->timeline ? now.value : 1;
      const std::uint64_t before = __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
      lowered = lowered || (now.semaphore->timeline && before >= value);
      return true;
    }
    if (now.semaphore->timeline) return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= now.value;
    std::uint64_t signaled = 1;
    return __atomic_compare_exchange_n(word, &signaled, std::uint64_t{0}, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }
};

/// Sets the work of `made` to these operations.
inline void do_semaphore_operations(driver_state& driver, const context_ptr& context,
                                    std::vector<semaphore_operation> all, operation& made) {
  auto state = std::make_shared<semaphore_operations>(
      semaphore_operations{driver, context, std::move(all), 0, false});
  made.reads_any_host_memory = true;
  made.proceed = [state] { return state->proceed(); };
  made.give_up = [state] { state->give_up(); };
  made.work = [state] { state->finish(); };
}

/// Checks operations; `Parameters` says whether they are signals or waits.
template <class Parameters>
CUresult read_semaphores(call& c, const CUexternalSemaphore* handles, const Parameters* parameters,
                         unsigned count, std::vector<semaphore_operation>& to) {
  constexpr bool signals = std::is_same_v<Parameters, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>;
  if (count == 0 || handles == nullptr || parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const external_semaphore_ptr found = c.driver.external_semaphores.find(handles[i]);
    if (!found) return c.driver.external_semaphores.why_unknown(handles[i]);
    if (const CUresult bad = call::usable(*found->context)) return bad;
    if (parameters[i].flags != 0) return CUDA_ERROR_INVALID_VALUE;
    to.push_back({found, parameters[i].params.fence.value, signals});
  }
  return CUDA_SUCCESS;
}

/// Operations as a node, which each launch repeats.
inline node_work semaphores_node(driver_state& driver, const context_ptr& context,
                                 std::vector<semaphore_operation> all) {
  node_work node;
  node.type =
      all.front().signals ? CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL : CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  node.context = context;
  node.shape.push_back(static_cast<int>(all.size()));
  node.when_enqueued = [&driver, context, all = std::move(all)](call&, operation& made) {
    do_semaphore_operations(driver, context, all, made);
  };
  return node;
}

/// Puts signals or waits into a stream.
template <class Parameters>
CUresult queue_semaphores(call& c, const CUexternalSemaphore* handles, const Parameters* parameters,
                          unsigned count, CUstream handle) {
  stream_ptr stream;
  std::vector<semaphore_operation> all;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = read_semaphores(c, handles, parameters, count, all)) return bad;
  if (stream->capture)
    return c.capture(stream, semaphores_node(c.driver, stream->context, std::move(all)));
  auto made = std::make_shared<operation>();
  do_semaphore_operations(c.driver, stream->context, std::move(all), *made);
  return c.enqueue(stream, made);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

/// Closes the descriptor if the import succeeds, since it is the driver's then.
inline CUresult import_external_semaphore(call& c, CUexternalSemaphore* semaphore,
                                          const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* from) {
  context_ptr context;
  if (semaphore == nullptr || from == nullptr || from->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  if (from->type < CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
      from->type > CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32)
    return CUDA_ERROR_INVALID_VALUE;
  const bool timeline = from->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
  if (!timeline && from->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD)
    return CUDA_ERROR_NOT_SUPPORTED;
  auto made = std::make_shared<external_semaphore_state>();
  made->context = context;
  made->timeline = timeline;
  made->place = c.driver.place();
  if (const CUresult bad = map_foreign_file(from->handle.fd, sizeof(std::uint64_t), made->memory))
    return bad;
  *semaphore = c.driver.external_semaphores.add(made);
  ::close(from->handle.fd);
  return CUDA_SUCCESS;
}

inline CUresult destroy_external_semaphore(call& c, CUexternalSemaphore handle) {
  return c.driver.external_semaphores.take(handle)
             ? CUDA_SUCCESS
             : c.driver.external_semaphores.why_unknown(handle);
}

inline CUresult signal_external_semaphores_async(
    call& c, const CUexternalSemaphore* semaphores,
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count, CUstream stream) {
  return queue_semaphores(c, semaphores, parameters, count, stream);
}

inline CUresult wait_external_semaphores_async(
    call& c, const CUexternalSemaphore* semaphores,
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count, CUstream stream) {
  return queue_semaphores(c, semaphores, parameters, count, stream);
}

}}}  // namespace nogpu::v1::driver::entry

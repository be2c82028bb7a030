#pragma once
/// \file
/// What surrounds a call of NCCL: groups, waiting with a time limit, and the handle of a rank.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/libraries/nccl_functions.hpp>
#include <gpu/libraries/require_libcuda.hpp>

#include <sched.h>

#include <time.h>
#include <unistd.h>
#include <cstdint>
#include <ctime>

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr int nccl_in_progress = 7;

inline std::uint64_t milliseconds_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

/// Calls `done()` until it is true or the time is over; returns whether it was true.
template <class Done> bool wait_until(std::uint32_t timeout_ms, Done done) noexcept {
  const std::uint64_t end = milliseconds_now() + timeout_ms;
  for (unsigned round = 0;; ++round) {
    if (done()) return true;
    if (milliseconds_now() >= end) return false;
    if (round < 1000) {
      ::sched_yield();
    } else {
      ::usleep(200);
    }
  }
}

/// Returns whether the last call is done.
/// **Errors**: those that NCCL has found.
inline result<bool> check_nccl(void* communicator, const char* call,
                               source_location where) noexcept {
  int found = 0;
  const int code =
      GPU_TRY(call_nccl<&nccl_functions::get_async_error>(where, communicator, &found));
  if (code != 0) return fail(nccl_error(code, "ncclCommGetAsyncError", communicator, where));
  if (found == 0 || found == nccl_in_progress) return found == 0;
  return fail(nccl_error(found, call, communicator, where));
}

inline result<> wait_for_nccl(void* communicator, const char* call, std::uint32_t timeout_ms,
                              source_location where) noexcept {
  result<bool> outcome = false;
  const bool came = wait_until(timeout_ms, [&] {
    outcome = check_nccl(communicator, call, where);
    return !outcome.has_value() || *outcome;
  });
  if (!outcome.has_value()) return fail(outcome.error());
  if (came) return {};
  text_builder words;
  words << "the other ranks did not come within " << timeout_ms
        << " ms. Check that all of them run and make the same calls, abort the communicator, or "
           "pass a longer nccl_options::timeout_ms.";
  return fail(record_error(cuda_error(error_domain::nccl, nccl_in_progress, call, where)
                               .with_details(words.finish())
                               .with_values(timeout_ms, timeout_ms)));
}

/// Waits until the stream's work is done or NCCL has found an error.
inline result<> wait_for_nccl_work(void* communicator, const stream_ref& stream,
                                   std::uint32_t timeout_ms, source_location where) noexcept {
  constexpr const char* call = "gpu::nccl_communicator::synchronize";
  result<bool> outcome = false;
  const bool came = wait_until(timeout_ms, [&] {
    outcome = stream.is_done(where);
    if (!outcome.has_value() || *outcome) return true;
    outcome = check_nccl(communicator, call, where);
    return !outcome.has_value();
  });
  if (!outcome.has_value()) return fail(outcome.error());
  if (came) return {};
  text_builder words;
  words
      << "the work of the stream was not done within " << timeout_ms
      << " ms. Check that all ranks run and make the same calls, abort the communicator, or pass a "
         "longer nccl_options::timeout_ms.";
  return fail(record_error(cuda_error(error_domain::nccl, nccl_in_progress, call, where)
                               .with_details(words.finish())
                               .with_values(timeout_ms, timeout_ms)));
}

/// The communicators with calls in the group that the thread has begun.
struct nccl_open_group {
  static constexpr unsigned most = 64;

  unsigned depth;
  unsigned count;
  struct member {
    void* communicator;
    std::uint32_t timeout_ms;
  } members[most];

  bool add(void* communicator, std::uint32_t timeout_ms) noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (members[i].communicator == communicator) return true;
    }
    if (count == most) return false;
    members[count++] = {communicator, timeout_ms};
    return true;
  }
};
inline thread_local constinit nccl_open_group nccl_group_of_thread{};

inline result<> begin_nccl_group(source_location where) noexcept {
  GPU_TRY(require_libcuda<nccl_library>("gpu::nccl_group::begin", where));
  const int code = GPU_TRY(call_nccl<&nccl_functions::group_start>(where));
  if (code != 0) return fail(nccl_error(code, "ncclGroupStart", nullptr, where));
  nccl_open_group& group = nccl_group_of_thread;
  if (group.depth++ == 0) group.count = 0;
  return {};
}

/// Makes the calls of a group, and waits until NCCL has queued them, unless `waits` is false.
inline result<> end_nccl_group(bool waits, source_location where) noexcept {
  nccl_open_group& group = nccl_group_of_thread;
  --group.depth;
  const int code = GPU_TRY(call_nccl<&nccl_functions::group_end>(where));
  if (code != 0 && code != nccl_in_progress) {
    void* const first = group.count != 0 ? group.members[0].communicator : nullptr;
    return fail(nccl_error(code, "ncclGroupEnd", first, where));
  }
  if (group.depth != 0 || code == 0 || !waits) return {};
  for (unsigned i = 0; i < group.count; ++i) {
    GPU_TRY(wait_for_nccl(group.members[i].communicator, "ncclGroupEnd",
                          group.members[i].timeout_ms, where));
  }
  return {};
}

/// Turns the code of a call into a result, and waits if NCCL goes on with it; in a group the end of
/// the group does.
inline result<> settle_nccl(int code, const char* call, void* communicator,
                            std::uint32_t timeout_ms, source_location where) noexcept {
  if (code != 0 && code != nccl_in_progress)
    return fail(nccl_error(code, call, communicator, where));
  if (nccl_group_of_thread.depth != 0) {
    if (nccl_group_of_thread.add(communicator, timeout_ms)) return {};
    text_builder words;
    words << "a group has calls of at most " << nccl_open_group::most
          << " communicators. End it, and begin another.";
    return fail(refusal(errc::invalid_argument, call, words.finish(), where,
                        nccl_open_group::most + 1, nccl_open_group::most));
  }
  return code == 0 ? result<>() : wait_for_nccl(communicator, call, timeout_ms, where);
}

/// One rank, as its owner keeps it.
struct nccl_object {
  void* native = nullptr;
  context_ref context;
  int rank = 0;
  int size = 0;
  std::uint32_t timeout_ms = 0;
  friend bool operator==(const nccl_object& a, const nccl_object& b) noexcept {
    return a.native == b.native;
  }
};

struct abort_nccl {
  void operator()(const nccl_object& object) const noexcept {
    bool aborted = false;
    const auto abort = [&]() -> result<> {
      aborted = true;
      GPU_TRY(call_nccl<&nccl_functions::abort>(source_location{}, object.native));
      return {};
    };
    const result<> done = driver::in_context(object.context.native(), source_location{}, abort);
    if (!aborted) static_cast<void>(abort());  // which may work in another context
    driver::report_at_end(done);
  }
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Counts the scopes that use the access of one context to another's memory. The driver does not
/// count them, and the first call that disables the access takes it from all.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/system/mutex.hpp>
#include <gpu/system/process_wide.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Two contexts, of which the first may use the memory of the second.
struct peer_pair {
  context_ref from;
  context_ref to;
  friend bool operator==(const peer_pair&, const peer_pair&) noexcept = default;
};

/// The number of scopes that hold an access which one of them enabled. It is 0 if a capture
/// prevented the end of the last one.
struct peer_hold {
  peer_pair pair;
  std::size_t scopes;
  peer_hold* next;
};

struct peer_holds {
  static constexpr const char* name = "peer-access";

  mutex changing;
  peer_hold* first;

  static peer_holds& of_process() noexcept { return process_wide<peer_holds>::get(); }
  /// Another thread of the parent may have been changing the list, and the child has no driver.
  void after_fork() noexcept {
    changing.reset();
    first = nullptr;
  }

  /// Returns the link to the hold of `pair`, or the null link at the end of the list.
  peer_hold** find(const peer_pair& pair) noexcept {
    peer_hold** link = &first;
    while (*link != nullptr && !((*link)->pair == pair)) link = &(*link)->next;
    return link;
  }
  static void remove(peer_hold** link) noexcept { delete std::exchange(*link, (*link)->next); }
};

/// Ends one scope, and the access if it was the last one. Sets `over` if the scope holds nothing
/// any more; otherwise the access remains.
inline result<> end_peer_access(const peer_pair& pair, bool& over, source_location where) noexcept {
  peer_holds& holds = peer_holds::of_process();
  const scoped_lock held(holds.changing);
  peer_hold** link = holds.find(pair);
  over = (*link)->scopes > 1;
  if (over) {
    --(*link)->scopes;
    return {};
  }
  result<> ended = driver::in_context(pair.from.native(), where, [&] {
    result<> done =
        driver::call<&driver::entry_points::ctx_disable_peer_access>(where, pair.to.native());
    over = done.has_value() || done.error().code() != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return done;
  });
  if (over) peer_holds::remove(link);
  return ended;
}

/// Adds a scope to those that hold the access, and enables the access if necessary. Sets `holds_it`
/// unless other code had enabled it, even if an error follows.
inline result<> begin_peer_access(const peer_pair& pair, bool& holds_it,
                                  source_location where) noexcept {
  peer_holds& holds = peer_holds::of_process();
  const scoped_lock held(holds.changing);
  peer_hold** link = holds.find(pair);
  const bool known = *link != nullptr;
  if (!known) {
    *link = new (std::nothrow) peer_hold{pair, 0, nullptr};
    if (*link == nullptr) {
      return fail(out_of_host_memory_error("gpu::peer_access::enable", sizeof(peer_hold), where));
    }
  }
  const last_error_mark before;
  // Always ask the driver: the context may have been reset, or its handle may be another context's
  // now.
  bool enabled = false;
  result<> done = driver::in_context(pair.from.native(), where, [&] {
    result<> asked =
        driver::call<&driver::entry_points::ctx_enable_peer_access>(where, pair.to.native(), 0u);
    enabled = asked.has_value();
    return asked;
  });
  const bool already = !done.has_value() && done.error().domain() == error_domain::driver &&
                       done.error().code() == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  holds_it = enabled || (already && known);
  if (holds_it) {
    ++(*link)->scopes;
  } else if (!known) {
    peer_holds::remove(link);
  }
  if (!already) return done;
  before.restore();
  return {};
}

struct disable_peer_access {
  void operator()(const peer_pair& pair) const noexcept {
    // A forked child could wait forever: another thread of its parent may have held the lock.
    if (driver::current_entry_points().ctx_disable_peer_access == nullptr) return;
    bool over = false;
    result<> ended = end_peer_access(pair, over, source_location{});
    if (!over) {
      peer_holds& holds = peer_holds::of_process();
      const scoped_lock held(holds.changing);
      peer_hold** link = holds.find(pair);
      // An access that a capture did not let end remains, and the next scope ends it.
      const bool still_there = ended.error().code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      if (--(*link)->scopes == 0 && !still_there) peer_holds::remove(link);
    }
    if (!ended.has_value() && !driver::is_harmless_at_end(ended.error())) report(ended.error());
  }
};

}}}  // namespace gpu::v1::detail

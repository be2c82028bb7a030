#pragma once
/// \file
/// Events in nodes of graphs: if the program destroys such an event, the last graph or executable
/// graph that has it does so instead. The driver would follow the dangling handle.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/system/mutex.hpp>
#include <gpu/system/process_wide.hpp>
#include <gpu/system/shared_library.hpp>

#include <new>

namespace gpu { inline namespace v1 { namespace detail {

struct shared_event;

/// The events in nodes of the graphs of the process.
struct live_events {
  static constexpr const char* name = "live-events";

  mutex lock;
  shared_event* first;

  static live_events& of_process() noexcept { return process_wide<live_events>::get(); }
  /// Empties the list, which another thread of the parent may have been changing.
  void after_fork() noexcept {
    lock.reset();
    first = nullptr;
  }
};

/// An event, with one share for each graph that has it.
struct shared_event : shared_object {
  CUevent native;
  bool given_up = false;    ///< the program has destroyed its owner
  shared_event* following;  ///< in the list of all events

  explicit shared_event(CUevent event, shared_event* first) noexcept
      : shared_object{&end_event}, native{event}, following{first} {}

  static shared_event* find(CUevent event, shared_event* first) noexcept {
    while (first != nullptr && first->native != event) first = first->following;
    return first;
  }

 private:
  static void end_event(shared_object* self) noexcept {
    auto* const ended = static_cast<shared_event*>(self);
    if (take_from_list(*ended))
      driver::destroy<&driver::entry_points::event_destroy>(ended->native);
    delete ended;
  }
  /// Returns whether the program gave the event up.
  static bool take_from_list(shared_event& ended) noexcept {
    live_events& all = live_events::of_process();
    const scoped_lock lock(all.lock);
    shared_event** at = &all.first;
    while (*at != nullptr && *at != &ended) at = &(*at)->following;
    if (*at != nullptr) *at = ended.following;
    return ended.given_up;
  }
};

/// Called by the owner of an event instead of destroying it. Returns whether graphs have the event;
/// the last of them destroys it then.
inline bool leave_to_graphs(CUevent native) noexcept {
  live_events& all = live_events::of_process();
  const scoped_lock lock(all.lock);
  shared_event* const known = shared_event::find(native, all.first);
  if (known != nullptr) known->given_up = true;
  return known != nullptr;
}

/// Takes a share in an event. Returns null if the host has no memory.
inline shared_event* take_share_in(CUevent native) noexcept {
  process_state& state = state_of_process();
  if (atomic_load<memory_order::acquire>(state.keep_event) == nullptr) {
    pin_library_of(&leave_to_graphs);
    atomic_store<memory_order::release>(state.keep_event, &leave_to_graphs);
  }
  live_events& all = live_events::of_process();
  const scoped_lock lock(all.lock);
  // A record that is being destroyed comes after one that was made since.
  shared_event* const known = shared_event::find(native, all.first);
  if (known != nullptr && known->take_share()) return known;
  auto* const made = new (std::nothrow) shared_event(native, all.first);
  if (made != nullptr) all.first = made;
  return made;
}

}}}  // namespace gpu::v1::detail

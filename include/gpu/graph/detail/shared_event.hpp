#pragma once
/// \file
/// Events that graphs have in nodes: the last graph, or executable graph, destroys an event that
/// the program gave up. The driver would follow the handle of one that is gone.

#include <gpu/driver/calls.hpp>
#include <gpu/kernel/detail/shared_object.hpp>

namespace gpu::inline v0::detail {

struct shared_event;

/// The events that graphs of the process have in nodes.
struct live_events {
  static constexpr const char* name = "live-events";

  mutex lock;
  shared_event* first;

  static live_events& of_process() noexcept { return process_wide<live_events>::get(); }
  /// Another thread of the parent may have been changing the list.
  void after_fork() noexcept {
    lock.reset();
    first = nullptr;
  }
};

/// An event with as many shares as graphs hold.
struct shared_event : shared_object {
  CUevent native;
  bool given_up = false;
  shared_event* following;  ///< in the list of all

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
  /// Whether the program gave the event up.
  static bool take_from_list(shared_event& ended) noexcept {
    live_events& all = live_events::of_process();
    const scoped_lock lock(all.lock);
    shared_event** at = &all.first;
    while (*at != nullptr && *at != &ended) at = &(*at)->following;
    if (*at != nullptr) *at = ended.following;
    return ended.given_up;
  }
};

/// Whether graphs have an event that its owner gives up; the last of them destroys it then.
inline bool leave_to_graphs(CUevent native) noexcept {
  live_events& all = live_events::of_process();
  const scoped_lock lock(all.lock);
  shared_event* const known = shared_event::find(native, all.first);
  if (known != nullptr) known->given_up = true;
  return known != nullptr;
}

/// A share in an event; null where the host has no memory.
inline shared_event* take_share_in(CUevent native) noexcept {
  process_state& state = state_of_process();
  if (__atomic_load_n(&state.keep_event, __ATOMIC_ACQUIRE) == nullptr) {
    pin_library_of(&leave_to_graphs);
    __atomic_store_n(&state.keep_event, &leave_to_graphs, __ATOMIC_RELEASE);
  }
  live_events& all = live_events::of_process();
  const scoped_lock lock(all.lock);
  // One that is on its way out is behind one that was made since.
  shared_event* const known = shared_event::find(native, all.first);
  if (known != nullptr && known->take_share()) return known;
  auto* const made = new (std::nothrow) shared_event(native, all.first);
  if (made != nullptr) all.first = made;
  return made;
}

}  // namespace gpu::inline v0::detail

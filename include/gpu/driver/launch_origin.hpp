#pragma once
/// \file
/// Remembers the latest launches, copies and other work of streams, so that a fault that arrives at
/// some later synchronisation can name those that may have caused it and their places in the
/// source.
///
/// Successful synchronisations are entered into the ring too, and rule out the launches before
/// them.

#include <gpu/driver/process_state.hpp>

namespace gpu::detail {

/// The ring of the process; one per shared library where the system cannot share one, which costs
/// no more than the origin of faults that cross from one library to another.
template <class Ring = launch_ring> [[gnu::always_inline]] inline Ring& launches() noexcept {
  return state_of_process().launches;
}
/// The same where the process has been found.
inline launch_ring& launches(process_front* process) noexcept {
  return static_cast<process_state*>(process)->launches;
}

/// The ticket that the next launch will get: to be read before a synchronisation begins.
template <class Ring> std::uint64_t launches_so_far(const Ring& ring) noexcept {
  return __atomic_load_n(&ring.next, __ATOMIC_ACQUIRE);
}

/// Whether the ring has this synchronisation already, and nothing that it would rule out besides.
template <class Ring>
bool has_synchronization(const Ring& ring, CUstream stream, CUdevice device,
                         bool all_streams) noexcept {
  const std::uint64_t newest = launches_so_far(ring) - 1;
  const std::uint64_t oldest = newest < launch_ring::size ? 1 : newest - launch_ring::size + 1;
  std::uint64_t unseen = ~std::uint64_t{0};  // launches from here on; before, all are ruled out
  bool found = false;
  for (std::uint64_t ticket = newest; ticket >= oldest && !(found && ticket < unseen); --ticket) {
    const launch_record& record = ring.records[ticket % launch_ring::size];
    if (__atomic_load_n(&record.ticket, __ATOMIC_ACQUIRE) != ticket) continue;
    const bool of_stream = __atomic_load_n(&record.stream, __ATOMIC_RELAXED) == stream;
    if (__atomic_load_n(&record.label, __ATOMIC_RELAXED) != nullptr) {
      if (of_stream || all_streams) return false;
    } else if (!found && of_stream && __atomic_load_n(&record.device, __ATOMIC_RELAXED) == device &&
               __atomic_load_n(&record.all_streams, __ATOMIC_RELAXED) == all_streams) {
      found = true;
      unseen = __atomic_load_n(&record.finished, __ATOMIC_RELAXED);
    }
  }
  return found;
}

template <class Ring>
[[gnu::noinline]] void enter_synchronization(Ring& ring, std::uint64_t finished, CUstream stream,
                                             CUdevice device, bool all_streams) noexcept {
  // Polling must not push the launches out of the ring, whichever streams are polled in turns.
  if (launches_so_far(ring) == 1 || has_synchronization(ring, stream, device, all_streams)) return;
  const std::uint64_t ticket = __atomic_fetch_add(&ring.next, 1, __ATOMIC_SEQ_CST);
  launch_record& record = ring.records[ticket % launch_ring::size];
  __atomic_store_n(&record.label, nullptr, __ATOMIC_RELAXED);
  __atomic_store_n(&record.stream, stream, __ATOMIC_RELAXED);
  __atomic_store_n(&record.finished, finished, __ATOMIC_RELAXED);
  __atomic_store_n(&record.device, device, __ATOMIC_RELAXED);
  __atomic_store_n(&record.all_streams, all_streams, __ATOMIC_RELAXED);
  __atomic_store_n(&record.ticket, ticket, __ATOMIC_RELEASE);
  if (finished != ticket) return;  // a launch came between, which the next one has to rule out
  // Where two threads are here at once these may be of both: each has its record all the same.
  __atomic_store_n(&ring.stream, stream, __ATOMIC_RELAXED);
  __atomic_store_n(&ring.device, device, __ATOMIC_RELAXED);
  __atomic_store_n(&ring.all_streams, all_streams, __ATOMIC_RELAXED);
  __atomic_store_n(&ring.synchronization, ticket, __ATOMIC_RELEASE);
}

/// Enters a synchronisation that succeeded: what was launched on `stream` (or on all streams of
/// `device`) with a ticket below `finished` is done and cannot fault any more.
template <class Ring>
[[gnu::always_inline]] inline void note_synchronization(Ring& ring, std::uint64_t finished,
                                                        CUstream stream, CUdevice device,
                                                        bool all_streams) noexcept {
  const std::uint64_t newest = launches_so_far(ring) - 1;
  // The usual case of the question below, asked without a call.
  if (__atomic_load_n(&ring.synchronization, __ATOMIC_ACQUIRE) == newest &&
      __atomic_load_n(&ring.stream, __ATOMIC_RELAXED) == stream &&
      __atomic_load_n(&ring.device, __ATOMIC_RELAXED) == device &&
      __atomic_load_n(&ring.all_streams, __ATOMIC_RELAXED) == all_streams) [[likely]] {
    return;
  }
  enter_synchronization(ring, finished, stream, device, all_streams);
}

/// Takes back what was launched on `stream` from `first` on, which a capture kept from running.
template <class Ring>
void forget_captured(Ring& ring, std::uint64_t first, CUstream stream) noexcept {
  const std::uint64_t end = launches_so_far(ring);
  if (end - first > launch_ring::size) first = end - launch_ring::size;
  for (std::uint64_t ticket = first; ticket < end; ++ticket) {
    const launch_record& record = ring.records[ticket % launch_ring::size];
    if (__atomic_load_n(&record.ticket, __ATOMIC_ACQUIRE) == ticket &&
        __atomic_load_n(&record.label, __ATOMIC_RELAXED) != nullptr &&
        __atomic_load_n(&record.stream, __ATOMIC_RELAXED) == stream) {
      forget_launch(ring, ticket);
    }
  }
}

/// Whether a code of the driver is a fault of queued work, which arrives some time after it was
/// queued.
template <class Code> constexpr bool is_kernel_fault(Code code) noexcept {
  return code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_TIMEOUT ||
         code == CUDA_ERROR_ASSERT || code == CUDA_ERROR_CONTAINED ||
         code == CUDA_ERROR_TENSOR_MEMORY_LEAK ||
         (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_LAUNCH_FAILED);
}

/// The entries of the ring, oldest first, each read whole.
template <class Ring> struct launch_history {
  launch_record records[launch_ring::size];
  std::size_t count = 0;
  bool complete = true;  ///< nothing has been pushed out of the ring yet

  explicit launch_history(const Ring& ring) noexcept {
    const std::uint64_t newest = __atomic_load_n(&ring.next, __ATOMIC_ACQUIRE) - 1;
    const std::uint64_t oldest = newest < launch_ring::size ? 1 : newest - launch_ring::size + 1;
    complete = oldest == 1;
    for (std::uint64_t ticket = oldest; ticket <= newest; ++ticket) {
      const launch_record& from = ring.records[ticket % launch_ring::size];
      if (__atomic_load_n(&from.ticket, __ATOMIC_ACQUIRE) != ticket) continue;
      launch_record& to = records[count];
      to.ticket = ticket;
      to.label = __atomic_load_n(&from.label, __ATOMIC_RELAXED);
      to.file = __atomic_load_n(&from.file, __ATOMIC_RELAXED);
      to.stream = __atomic_load_n(&from.stream, __ATOMIC_RELAXED);
      to.finished = __atomic_load_n(&from.finished, __ATOMIC_RELAXED);
      to.line = __atomic_load_n(&from.line, __ATOMIC_RELAXED);
      to.device = __atomic_load_n(&from.device, __ATOMIC_RELAXED);
      // An acquire, so that the test below cannot come before the fields were read.
      to.all_streams = __atomic_load_n(&from.all_streams, __ATOMIC_ACQUIRE);
      if (__atomic_load_n(&ring.next, __ATOMIC_ACQUIRE) <= ticket + launch_ring::size) ++count;
    }
  }

  /// The device that a launch is on.
  static CUdevice device_of(const launch_record& launch) noexcept {
    return launch.label->device >= 0 ? launch.label->device : launch.device;
  }
  /// The device of the latest launch on `stream`, or -1.
  CUdevice device_of(CUstream stream) const noexcept {
    for (std::size_t i = count; stream != nullptr && i-- > 0;) {
      if (records[i].label != nullptr && records[i].stream == stream) return device_of(records[i]);
    }
    return -1;
  }

  /// Whether a synchronisation showed that the launch at `index` has finished without a fault.
  bool is_finished(std::size_t index) const noexcept {
    const launch_record& launch = records[index];
    for (std::size_t i = index + 1; i < count; ++i) {
      const launch_record& seen = records[i];
      if (seen.label == nullptr && launch.ticket < seen.finished &&
          (seen.all_streams || seen.stream == launch.stream) &&
          (seen.device < 0 || seen.device == device_of(launch))) {
        return true;
      }
    }
    return false;
  }
};

/// The sentence about the launches that may have caused a fault seen on `stream`, or an empty text.
template <class Builder = text_builder, class Ring = launch_ring>
[[gnu::cold, gnu::noinline]] inline text launch_origins(CUstream stream) noexcept {
  constexpr std::size_t most_listed = 8;
  const launch_history<Ring> history(launches());
  stream = recorded_stream(stream);
  const CUdevice device = history.device_of(stream);
  Builder out;
  std::size_t listed = 0, unlisted = 0, times = 0;
  const launch_record* previous = nullptr;
  const auto end_of_run = [&] {
    if (times > 1) out << " (" << times << " times)";
    times = 0;
  };
  for (std::size_t i = 0; i < history.count; ++i) {
    const launch_record& launch = history.records[i];
    if (launch.label == nullptr || (device >= 0 && history.device_of(launch) != device) ||
        history.is_finished(i)) {
      continue;
    }
    if (previous != nullptr && launch.label == previous->label && launch.file == previous->file &&
        launch.line == previous->line) {
      ++times;
      continue;
    }
    if (listed == most_listed) {
      ++unlisted;
      continue;
    }
    end_of_run();
    if (listed == 0) {
      out << "The fault comes from work that had not been seen to finish. What gpu queued of it, "
             "earliest first: ";
    }
    out << (listed == 0 ? "" : ", ") << launch.label->kernel << " at " << launch.file << ':'
        << launch.line;
    ++listed;
    times = 1;
    previous = &launch;
  }
  end_of_run();
  if (listed == 0) return {};
  if (unlisted != 0) out << ", and " << unlisted << " later";
  if (!history.complete) out << " (or one before the latest " << launch_ring::size << ')';
  out << '.';
  return out.finish();
}

/// An error of the driver's, on its way to the program; names the launches, copies and fills that
/// may be behind it, where it is a fault.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error with_launch_origins(cuda_error error,
                                                                   CUstream stream) noexcept {
  if (error.domain() != error_domain::driver || !is_kernel_fault(error.code()))
    return noted_error(detail::move(error));
  return noted_error(detail::move(error).with_details(launch_origins<Builder>(stream)));
}

}  // namespace gpu::detail

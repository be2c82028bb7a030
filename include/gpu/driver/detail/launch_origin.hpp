#pragma once
/// \file
/// Remembers the latest launches, copies and other work of streams, so that a fault that arrives at
/// some later synchronization can name the work that may have caused it, with source locations.
///
/// Successful synchronizations leave records in the ring too, and rule out the launches before
/// them.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/driver_errors.hpp>  // IWYU pragma: keep
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/process_state.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the ring of the process. If the system cannot share memory between shared libraries,
/// each has a ring of its own, and the origin of a fault that crosses from one to another is not
/// found.
inline launch_ring& launches() noexcept { return state_of_process().launches; }
/// Returns the same ring once the state of the process has been found.
inline launch_ring& launches(process_front* process) noexcept {
  return static_cast<process_state*>(process)->launches;
}

/// Returns the ticket that the next launch will get. Read it before a synchronization begins.
inline std::uint64_t launches_so_far(const launch_ring& ring) noexcept {
  return atomic_load<memory_order::acquire>(ring.next);
}

/// Reads one entry. Returns false if another one has replaced it, or replaces it while it is read.
inline bool read_record(const launch_ring& ring, std::uint64_t ticket, launch_record& to) noexcept {
  const launch_record& from = ring.records[ticket % launch_ring::size];
  if (atomic_load<memory_order::acquire>(from.ticket) != ticket) return false;
  to.ticket = ticket;
  to.label = atomic_load<memory_order::relaxed>(from.label);
  to.file = atomic_load<memory_order::relaxed>(from.file);
  to.stream = atomic_load<memory_order::relaxed>(from.stream);
  to.finished = atomic_load<memory_order::relaxed>(from.finished);
  to.line = atomic_load<memory_order::relaxed>(from.line);
  to.device = atomic_load<memory_order::relaxed>(from.device);
  // This load acquires, so that the fields are read before the test below.
  to.all_streams = atomic_load<memory_order::acquire>(from.all_streams);
  return atomic_load<memory_order::acquire>(ring.next) <= ticket + launch_ring::size;
}

/// Records a synchronization that succeeded: launches on `stream` (or on all streams of `device`)
/// with a ticket below `finished` have finished and cannot fault any more.
inline void note_synchronization(launch_ring& ring, std::uint64_t finished, CUstream stream,
                                 CUdevice device, bool all_streams) noexcept {
  // Polling must not push the launches out of the ring, even if several streams are polled in
  // turns: an entry that is there already, with no launch since, is not repeated.
  std::uint64_t ticket = launches_so_far(ring);
  launch_record seen;
  do {
    if (--ticket == 0) return;
    if (!read_record(ring, ticket, seen) || seen.label != nullptr) break;
    if (seen.stream == stream && seen.device == device && seen.all_streams == all_streams &&
        seen.finished == ticket) {
      return;
    }
  } while (true);
  ticket = atomic_fetch_add<memory_order::seq_cst>(ring.next, 1);
  launch_record& record = ring.records[ticket % launch_ring::size];
  atomic_store<memory_order::relaxed>(record.label, nullptr);
  atomic_store<memory_order::relaxed>(record.stream, stream);
  atomic_store<memory_order::relaxed>(record.finished, finished);
  atomic_store<memory_order::relaxed>(record.device, device);
  atomic_store<memory_order::relaxed>(record.all_streams, all_streams);
  atomic_store<memory_order::release>(record.ticket, ticket);
}

/// Returns whether a code of the driver reports a fault of queued work, which arrives some time
/// after the work was queued.
constexpr bool is_kernel_fault(int code) noexcept {
  return code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_TIMEOUT ||
         code == CUDA_ERROR_ASSERT || code == CUDA_ERROR_CONTAINED ||
         code == CUDA_ERROR_TENSOR_MEMORY_LEAK ||
         (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_LAUNCH_FAILED);
}

/// The entries of the ring, oldest first.
struct launch_history {
  launch_record records[launch_ring::size];
  std::size_t count = 0;
  bool complete = true;  ///< nothing has been pushed out of the ring yet

  explicit launch_history(const launch_ring& ring) noexcept {
    const std::uint64_t newest = atomic_load<memory_order::acquire>(ring.next) - 1;
    const std::uint64_t oldest = newest < launch_ring::size ? 1 : newest - launch_ring::size + 1;
    complete = oldest == 1;
    for (std::uint64_t ticket = oldest; ticket <= newest; ++ticket) {
      if (read_record(ring, ticket, records[count])) ++count;
    }
  }

  /// Returns the device of a launch.
  static CUdevice device_of(const launch_record& launch) noexcept {
    return launch.label->device >= 0 ? launch.label->device : launch.device;
  }
  /// Returns the device of the latest launch on `stream`, or -1.
  CUdevice device_of(CUstream stream) const noexcept {
    for (std::size_t i = count; stream != nullptr && i-- > 0;) {
      if (records[i].label != nullptr && records[i].stream == stream) return device_of(records[i]);
    }
    return -1;
  }

  /// Returns whether a synchronization showed that the launch at `index` has finished without a
  /// fault.
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

/// Returns a sentence that lists the launches which may have caused a fault seen on `stream`, or an
/// empty text.
inline text list_origins(const launch_history& history, CUstream stream) noexcept {
  constexpr std::size_t most_listed = 8;
  const CUdevice device = history.device_of(stream);
  text_builder out;
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

/// Lists the origins of a fault seen on `stream` among all launches so far. The history is
/// allocated, because it is too large for small stacks; without memory the text is empty.
inline text list_origins(CUstream stream) noexcept {
  const auto* const history = new (std::nothrow) launch_history(launches());
  if (history == nullptr) return {};
  text sentence = list_origins(*history, recorded_stream(stream));
  delete history;
  return sentence;
}

/// Records an error of the driver; if it is a fault, adds the launches, copies and fills that may
/// have caused it.
inline cuda_error explain_fault(cuda_error error, CUstream stream) noexcept {
  if (error.domain() != error_domain::driver || !is_kernel_fault(error.code()))
    return record_error(std::move(error));
  return record_error(std::move(error).with_details(list_origins(stream)));
}

}}}  // namespace gpu::v1::detail

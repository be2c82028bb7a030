#pragma once
/// \file
/// The ring in which every launch, copy and fill leaves a record: a fixed size, shared by the
/// process. Writing is wait-free: one atomic increment and a few stores.

#include <gpu/core/source_location.hpp>

#include <cuda.h>

#include <cstdint>

namespace gpu::inline v0::detail {

/// What a launch record points at: the same for all launches of one kernel on one device. Labels
/// live until the process ends, because records outlive the modules that they are about.
struct launch_label {
  const char* kernel;  ///< or what other work is called
  CUdevice device;     ///< -1: the record has it
};

inline constexpr launch_label copy_label{"a copy", -1};
inline constexpr launch_label copy_batch_label{"a batch of copies", -1};
inline constexpr launch_label fill_label{"a fill", -1};
inline constexpr launch_label graph_label{"a graph", -1};
inline constexpr launch_label memory_operation_label{"a stream memory operation", -1};

/// A launch where `label` is set; else a synchronisation that saw everything before `finished`.
struct alignas(64) launch_record {
  std::uint64_t ticket;  ///< position in the history, from 1; 0 where there is nothing
  const launch_label* label;
  const char* file;  ///< of the launch; a string literal of the program
  CUstream stream;   ///< by `recorded_stream`
  std::uint64_t finished;
  std::uint32_t line;
  CUdevice device;   ///< of a synchronisation, -1 where it is not known; of work without a kernel
  bool all_streams;  ///< a synchronisation with every stream of `device`
};

struct launch_ring {
  static constexpr std::uint64_t size = 256;
  launch_record records[size];
  alignas(64) std::uint64_t next;  ///< the ticket of the next entry; 0 only before the first use
};

/// What the ring calls a stream. The per-thread default streams have one handle for all threads,
/// but each thread has memory of its own.
[[gnu::always_inline]] inline CUstream recorded_stream(CUstream stream) noexcept {
  if (stream != CU_STREAM_PER_THREAD) [[likely]]
    return stream;
  static thread_local constinit char own = 0;
  return reinterpret_cast<CUstream>(&own);
}

/// Enters a launch and returns its ticket; `device` is given where the label has none. All accesses
/// are atomic, since a reader may look while the entry is written; it finds out by `next`, which
/// moves first.
template <class... Device>
[[gnu::always_inline]] inline std::uint64_t note_launch(launch_ring& ring,
                                                        const launch_label* label, CUstream stream,
                                                        source_location where,
                                                        Device... device) noexcept {
  const std::uint64_t ticket = __atomic_fetch_add(&ring.next, 1, __ATOMIC_SEQ_CST);
  launch_record& record = ring.records[ticket % launch_ring::size];
  __atomic_store_n(&record.label, label, __ATOMIC_RELAXED);
  __atomic_store_n(&record.file, where.file_name(), __ATOMIC_RELAXED);
  __atomic_store_n(&record.stream, stream, __ATOMIC_RELAXED);
  __atomic_store_n(&record.line, where.line(), __ATOMIC_RELAXED);
  (__atomic_store_n(&record.device, device, __ATOMIC_RELAXED), ...);
  __atomic_store_n(&record.ticket, ticket, __ATOMIC_RELEASE);
  return ticket;
}

/// Takes a launch back that the driver refused. False where its record is another's by now.
template <class Ring> bool forget_launch(Ring& ring, std::uint64_t ticket) noexcept {
  launch_record& record = ring.records[ticket % launch_ring::size];
  return __atomic_compare_exchange_n(&record.ticket, &ticket, std::uint64_t{0}, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

}  // namespace gpu::inline v0::detail

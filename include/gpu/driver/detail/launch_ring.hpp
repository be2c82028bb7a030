#pragma once
/// \file
/// The ring in which every launch, copy and fill leaves a record: a fixed size, shared by the
/// process. Writing is wait-free: one atomic increment and a few stores.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/source_location.hpp>

#include <gpu/driver/detail/cuda_header.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The part of a launch record that all launches of one kernel on one device share. Labels live
/// until the process ends, because records outlive the modules that they are about.
struct launch_label {
  const char* kernel;  ///< or the name of other work
  CUdevice device;     ///< or -1: then the record has the device
};

inline constexpr launch_label copy_label{"a copy", -1};
inline constexpr launch_label copy_batch_label{"a batch of copies", -1};
inline constexpr launch_label fill_label{"a fill", -1};
inline constexpr launch_label graph_label{"a graph", -1};
inline constexpr launch_label memory_operation_label{"a stream memory operation", -1};
inline constexpr launch_label semaphore_label{"a signal or wait of external semaphores", -1};

/// A launch if `label` is set; otherwise a synchronization that waited for all before `finished`.
struct alignas(64) launch_record {
  std::uint64_t ticket;  ///< position in the history, from 1; 0 if the entry is empty
  const launch_label* label;
  const char* file;  ///< of the launch; a string literal of the program
  CUstream stream;   ///< by `recorded_stream`
  std::uint64_t finished;
  std::uint32_t line;
  CUdevice device;   ///< of a synchronization, or -1 if unknown; of work without a kernel
  bool all_streams;  ///< a synchronization with every stream of `device`
};

struct launch_ring {
  static constexpr std::uint64_t size = 256;
  launch_record records[size];
  alignas(64) std::uint64_t next;  ///< the ticket of the next entry; 0 only before the first use
};

/// Returns the name of a stream in the ring. The per-thread default streams have one handle for all
/// threads, so the address of a thread-local variable stands for each.
inline CUstream recorded_stream(CUstream stream) noexcept {
  if (stream != CU_STREAM_PER_THREAD) return stream;
  static thread_local constinit char own = 0;
  return reinterpret_cast<CUstream>(&own);
}

/// Records a launch and returns its ticket; `device` is passed if the label has none. All accesses
/// are atomic, because a reader may look while the entry is written; it sees so by `next`, which is
/// increased first.
// Without `always_inline` g++ 12 makes a function of it, and a launch takes 12 instructions more
// (benchmarks/kernel/launch_overhead.cpp).
template <class... Device>
[[gnu::always_inline]] inline std::uint64_t note_launch(launch_ring& ring,
                                                        const launch_label* label, CUstream stream,
                                                        source_location where,
                                                        Device... device) noexcept {
  const std::uint64_t ticket = atomic_fetch_add<memory_order::seq_cst>(ring.next, 1);
  launch_record& record = ring.records[ticket % launch_ring::size];
  atomic_store<memory_order::relaxed>(record.label, label);
  atomic_store<memory_order::relaxed>(record.file, where.file_name());
  atomic_store<memory_order::relaxed>(record.stream, stream);
  atomic_store<memory_order::relaxed>(record.line, where.line());
  (atomic_store<memory_order::relaxed>(record.device, device), ...);
  atomic_store<memory_order::release>(record.ticket, ticket);
  return ticket;
}

/// Removes a launch that the driver rejected. Returns false if another record has replaced it.
inline bool forget_launch(launch_ring& ring, std::uint64_t ticket) noexcept {
  launch_record& record = ring.records[ticket % launch_ring::size];
  return atomic_compare_exchange_strong<memory_order::relaxed, memory_order::relaxed>(
      record.ticket, ticket, std::uint64_t{0});
}

}}}  // namespace gpu::v1::detail

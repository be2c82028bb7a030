#pragma once
/// \file
/// Moves bytes: both ends of a copy, the checks when it is queued, and the copy itself.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/memory.hpp>
#include <nogpu/driver/virtual_memory.hpp>
#include <nogpu/machine/fault.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// One end of a copy.
struct endpoint {
  enum class place : std::uint8_t {
    pageable,  // host memory that the driver knows nothing of
    host,      // page-locked or registered
    device,    // device or managed memory, module variables
  };
  place where = place::device;
  std::uint64_t address = 0;  // of the first byte
  std::uint64_t pitch = 0;    // bytes from row to row
  std::uint64_t slice = 0;    // bytes from plane to plane

  bool on_host() const noexcept { return where != place::device; }
};

/// A copy of `depth` planes of `height` rows of `width` bytes.
struct transfer {
  endpoint to;
  endpoint from;
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;

  bool empty() const noexcept { return width == 0 || height == 0 || depth == 0; }

  /// Calls `row(offset at the destination, offset at the source, bytes)` for each run of bytes.
  template <class Row> void for_each_row(Row row) const {
    const bool dense = depth == 1 && (height == 1 || (to.pitch == width && from.pitch == width));
    if (dense) {
      row(std::uint64_t{0}, std::uint64_t{0}, width * height);
      return;
    }
    for (std::uint64_t z = 0; z < depth; ++z)
      for (std::uint64_t y = 0; y < height; ++y)
        row(z * to.slice + y * to.pitch, z * from.slice + y * from.pitch, width);
  }
};

/// The bytes from the first to behind the last that an end touches; false when that overflows.
inline bool span_of(const endpoint& end, const transfer& what, std::uint64_t& bytes) noexcept {
  std::uint64_t planes = 0;
  std::uint64_t rows = 0;
  return !__builtin_mul_overflow(what.depth - 1, end.slice, &planes) &&
         !__builtin_mul_overflow(what.height - 1, end.pitch, &rows) &&
         !__builtin_add_overflow(planes, rows, &bytes) &&
         !__builtin_add_overflow(bytes, what.width, &bytes) &&
         !__builtin_add_overflow(bytes, end.address, &planes);
}

/// The way in which the caller names an end: as a host pointer, a device pointer, a unified
/// address, or a part of an array.
enum class named_as : std::uint8_t { host, device, unified, array };

/// Finds the location of an end, and checks that all of it may be accessed.
inline CUresult check_end(call& c, endpoint& end, const transfer& what, named_as how) {
  std::uint64_t bytes = 0;
  if (end.address == 0 || !span_of(end, what, bytes)) return CUDA_ERROR_INVALID_VALUE;
  // Memory may be mapped to parts of it alone, in many pieces.
  if (how == named_as::array) return CUDA_SUCCESS;
  const auto info = c.driver.memory.find(end.address);
  if (!info) {
    const bool may_be_host = how != named_as::device && end.address < machine::device_window;
    end.where = endpoint::place::pageable;
    return may_be_host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  const bool device_window = end.address >= machine::device_window;
  if (device_window && how == named_as::host) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > reachable(c, *info, end.address, &end == &what.to)) return CUDA_ERROR_INVALID_VALUE;
  const bool host = info->kind == machine::memory_kind::pinned_host ||
                    info->kind == machine::memory_kind::registered_host;
  end.where = host ? endpoint::place::host : endpoint::place::device;
  return CUDA_SUCCESS;
}

/// Fails a copy whose memory was freed before the copy ran.
inline void fail_transfer(driver_state& driver, context_state& context, std::uint64_t address,
                          std::uint64_t bytes, machine::fault_kind kind, const char* direction) {
  set_fault(context, CUDA_ERROR_ILLEGAL_ADDRESS);
  driver.report_finding(std::string(machine::describe(kind)) + " by a queued operation that " +
                        direction + " " + std::to_string(bytes) + " bytes at " +
                        machine::detail::hexadecimal(address) + ": " +
                        driver.memory.describe(address));
}

/// Reports a copy to the host of device memory of which no byte was ever written: the kernel that
/// should write it was not launched, or has not run yet.
inline void check_written(driver_state& driver, context_state& context, std::uint64_t source,
                          std::uint64_t bytes) {
  machine::memory_view view;
  if (!driver.options.checks.uninitialized_reads) return;
  if (driver.memory.resolve(source, bytes, 0, view) != machine::fault_kind::none) return;
  if (view.shadow == nullptr) return;
  const std::uint8_t* known = view.shadow + (source - view.begin);
  if (std::memchr(known, 1, bytes) != nullptr) return;
  if (driver.options.checks.uninitialized_reads_are_faults) {
    set_fault(context, CUDA_ERROR_LAUNCH_FAILED);
  }
  driver.report_finding("a copy to the host reads " + std::to_string(bytes) + " bytes at " +
                        machine::detail::hexadecimal(source) +
                        ", which were never written: " + driver.memory.describe(source));
}

/// Moves the bytes. Without the lock.
inline void perform(driver_state& driver, context_state& context, const transfer& what) {
  machine::address_space& memory = driver.memory;
  const auto host_end = [&](const endpoint& end, std::uint64_t offset, std::uint64_t bytes,
                            const char* direction) -> void* {
    machine::memory_view view;
    if (end.where == endpoint::place::host) {
      const auto kind = memory.resolve(end.address + offset, bytes, 0, view);
      if (kind != machine::fault_kind::none) {
        fail_transfer(driver, context, end.address + offset, bytes, kind, direction);
        return nullptr;
      }
    }
    return host_pointer(end.address + offset);
  };
  what.for_each_row([&](std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    if (context.fault.load() != 0) return;
    const std::uint64_t target = what.to.address + to;
    const std::uint64_t source = what.from.address + from;
    void* host_target = nullptr;
    const void* host_source = nullptr;
    if (what.to.on_host() && !(host_target = host_end(what.to, to, bytes, "writes"))) return;
    if (what.from.on_host() && !(host_source = host_end(what.from, from, bytes, "reads"))) return;
    if (host_target != nullptr && host_source != nullptr) {
      std::memmove(host_target, host_source, bytes);
      return;
    }
    if (host_target != nullptr) {
      check_written(driver, context, source, bytes);
      const auto kind = memory.read(host_target, source, bytes);
      if (kind != machine::fault_kind::none)
        fail_transfer(driver, context, source, bytes, kind, "reads");
    } else if (host_source != nullptr) {
      const auto kind = memory.write(target, host_source, bytes);
      if (kind != machine::fault_kind::none)
        fail_transfer(driver, context, target, bytes, kind, "writes");
    } else {
      // In pieces, for the memory that each takes on its way; overlapping ranges only in one.
      constexpr std::uint64_t piece = std::uint64_t{1} << 22;
      const bool apart = target - source >= bytes && source - target >= bytes;
      for (std::uint64_t done = 0; done < bytes;) {
        const std::uint64_t size = apart ? std::min(piece, bytes - done) : bytes;
        const auto kind = memory.copy(target + done, source + done, size);
        if (kind != machine::fault_kind::none) {
          machine::memory_view view;
          const bool reads = memory.resolve(source, bytes, 0, view) != machine::fault_kind::none;
          return fail_transfer(driver, context, reads ? source : target, bytes, kind,
                               reads ? "reads" : "writes");
        }
        done += size;
      }
    }
  });
}

/// Returns whether queued work may read these bytes of page-locked memory.
inline bool may_read(const operation& what, const memory_block& block, std::uint64_t begin,
                     std::uint64_t end) {
  if (what.reads_any_host_memory) return true;
  const bool mapped = block.seen_by_device || (block.flags & CU_MEMHOSTALLOC_DEVICEMAP) != 0;
  if (what.reads_mapped_host_memory && mapped) return true;
  for (const host_range& each : what.reads)
    if (each.begin < end && begin < each.end) return true;
  return false;
}

/// Returns queued work that is not done and may read these bytes; null if there is none.
inline operation_ptr pending_reader(call& c, const memory_block& block, std::uint64_t begin,
                                    std::uint64_t end) {
  const auto in = [&](const stream_ptr& stream) -> operation_ptr {
    for (const operation_ptr& each : stream->pending)
      if (may_read(*each, block, begin, end)) return each;
    return nullptr;
  };
  for (const context_ptr& context : c.driver.contexts.all()) {
    if (!context->alive) continue;
    if (operation_ptr found = in(context->default_stream)) return found;
    for (const stream_ptr& each : context->streams)
      if (operation_ptr found = in(each)) return found;
  }
  return nullptr;
}

/// Fills the page-locked memory that a copy will write, which reveals a read that comes too early.
/// Work that still has to read the memory runs first.
inline void poison_destination(call& c, const transfer& what) {
  std::uint64_t bytes = 0;
  (void)span_of(what.to, what, bytes);
  const std::uint64_t begin = what.to.address;
  for (;;) {
    const memory_block* block = c.driver.find_block(begin);
    if (block == nullptr) return;
    const operation_ptr reader = pending_reader(c, *block, begin, begin + bytes);
    if (!reader) break;
    c.driver.work.finish(reader, c.lock);
  }
  what.for_each_row([&](std::uint64_t to, std::uint64_t, std::uint64_t size) {
    std::memset(host_pointer(begin + to), poison, size);
  });
}

/// Returns the work of a checked copy. It reads `staged` in place of the source, if that is not
/// null.
inline std::function<void()> copy_work(driver_state& driver, const context_ptr& context,
                                       const transfer& what,
                                       std::shared_ptr<std::vector<std::byte>> staged = nullptr) {
  return [&driver, context, what, staged = std::move(staged)] {
    do_work(*context, [&] { perform(driver, *context, what); });
  };
}

/// A copy whose ends were checked, as a node.
inline node_work transfer_node(call& c, const context_ptr& context, const transfer& what) {
  node_work node;
  node.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  node.context = context;
  node.work = copy_work(c.driver, context, what);
  std::uint64_t bytes = 0;
  (void)span_of(what.from, what, bytes);
  if (what.from.on_host()) node.reads.push_back({what.from.address, what.from.address + bytes});
  if (c.driver.work.deferred() && what.to.where == endpoint::place::host)
    node.when_enqueued = [what](call& now, operation&) { poison_destination(now, what); };
  return node;
}

/// Makes a copy whose ends were checked a node of the graph that the stream is being captured to.
/// Pageable memory is then read and written when the graph runs.
inline CUresult capture_transfer(call& c, const stream_ptr& stream, const transfer& what) {
  return c.capture(stream, transfer_node(c, stream->context, what));
}

/// Queues a copy whose ends were checked. The call returns when the copy is done if the driver
/// promises that; otherwise when pageable memory has been read.
inline CUresult enqueue_transfer(call& c, const stream_ptr& stream, transfer what, bool blocking) {
  if (stream->capture) return capture_transfer(c, stream, what);
  const bool both_on_host = what.to.on_host() && what.from.on_host();
  const bool waits = what.to.where == endpoint::place::pageable || both_on_host ||
                     (blocking && (what.to.on_host() || what.from.on_host()));
  auto operation_made = std::make_shared<operation>();
  std::shared_ptr<std::vector<std::byte>> staged;
  if (!waits && what.from.where == endpoint::place::pageable) {
    staged = std::make_shared<std::vector<std::byte>>(what.width * what.height * what.depth);
    transfer staging = what;
    staging.to = {endpoint::place::pageable, address_of(staged->data()), what.width,
                  what.width * what.height};
    staging.for_each_row([&](std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
      std::memcpy(staged->data() + to, host_pointer(what.from.address + from), bytes);
    });
    what.from = staging.to;
  } else if (what.from.where == endpoint::place::host) {
    std::uint64_t bytes = 0;
    (void)span_of(what.from, what, bytes);
    operation_made->reads.push_back({what.from.address, what.from.address + bytes});
  }
  if (c.driver.work.deferred() && !waits && what.to.where == endpoint::place::host)
    poison_destination(c, what);
  operation_made->work = copy_work(c.driver, stream->context, what, std::move(staged));
  if (const CUresult bad = c.enqueue(stream, operation_made)) return bad;
  if (!waits) return CUDA_SUCCESS;
  c.driver.work.finish(operation_made, c.lock);
  return c.tell_fault(*stream->context);
}

}}}  // namespace nogpu::v1::driver

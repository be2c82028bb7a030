#pragma once
/// \file
/// Entry points: streams that wait for values in memory, and write them.

#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/transfer.hpp>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// One operation, checked. A barrier is one without a word: everything here is ordered anyway.
struct memory_operation {
  CUstreamBatchMemOpType type{};
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  unsigned bytes = 0;  // 4 or 8; 0 for a barrier
  unsigned condition = 0;

  bool waits() const noexcept {
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  }
  /// Returns whether a wait for the value ends if the word is `word`.
  bool satisfied_by(std::uint64_t word) const noexcept {
    const std::uint64_t mask = bytes == 4 ? 0xffff'ffff : ~std::uint64_t{0};
    switch (condition) {
      case CU_STREAM_WAIT_VALUE_GEQ:  // the difference, with its sign
        return (((word - value) & mask) >> (8 * bytes - 1)) == 0;
      case CU_STREAM_WAIT_VALUE_EQ: return word == value;
      case CU_STREAM_WAIT_VALUE_AND: return (word & value) != 0;
      default: return (~(word | value) & mask) != 0;
    }
  }
};

/// Operations in progress, in order.
struct memory_operations {
  driver_state& driver;
  context_ptr context;
  std::vector<memory_operation> all;
  std::size_t next = 0;
  std::uint64_t word = 0;  // the value that a wait read last
  machine::fault_kind fault = machine::fault_kind::none;

  /// Runs as many operations as possible now; returns true when all are done. The host may write
  /// the word at the same time.
  bool proceed() {
    for (; next < all.size(); ++next) {
      if (context->fault.load() != 0) return true;
      const memory_operation& now = all[next];
      if (now.bytes == 0) continue;
      machine::memory_view view;
      fault = driver.memory.resolve(now.address, now.bytes, 0, view);
      if (fault != machine::fault_kind::none) return true;
      std::byte* const at = view.host + (now.address - view.begin);
      if (!now.waits()) {
        write(at, now);
        if (view.shadow) std::memset(view.shadow + (now.address - view.begin), 1, now.bytes);
        continue;
      }
      word = read(at, now.bytes);
      if (!now.satisfied_by(word)) return false;
    }
    return true;
  }

  /// Reports memory that was freed in the meantime.
  void finish() {
    if (fault == machine::fault_kind::none) return;
    fail_transfer(driver, *context, all[next].address, all[next].bytes, fault,
                  all[next].waits() ? "waits for" : "writes");
  }

  void give_up() {
    const memory_operation& now = all[next];
    static constexpr const char* conditions[] = {"at least", "equal to", "a value with bits of",
                                                 "a value without all bits other than"};
    set_fault(*context, CUDA_ERROR_LAUNCH_TIMEOUT);
    driver.report_finding("a wait for a value timed out: a stream waits for the " +
                          std::to_string(now.bytes) + " bytes at " +
                          machine::detail::hexadecimal(now.address) + " to be " +
                          conditions[now.condition] + " " + std::to_string(now.value) +
                          ", but they are " + std::to_string(word) + " and did not change for " +
                          std::to_string(driver.options.value_wait_limit.count()) +
                          " ms: " + driver.memory.describe(now.address));
  }

 private:
  static std::uint64_t read(const std::byte* at, unsigned bytes) noexcept {
    return bytes == 4
               ? __atomic_load_n(reinterpret_cast<const std::uint32_t*>(at), __ATOMIC_ACQUIRE)
               : __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE);
  }
  static void write(std::byte* at, const memory_operation& what) noexcept {
    if (what.bytes == 4) {
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(at), static_cast<std::uint32_t>(what.value),
                       __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(at), what.value, __ATOMIC_RELEASE);
    }
  }
};

/// Sets the work of `made` to these operations.
inline void do_memory_operations(driver_state& driver, const context_ptr& context,
                                 std::vector<memory_operation> all, operation& made) {
  auto state = std::make_shared<memory_operations>(
      memory_operations{driver, context, std::move(all), 0, 0, machine::fault_kind::none});
  made.reads_any_host_memory = true;
  made.proceed = [state] { return state->proceed(); };
  made.give_up = [state] { state->give_up(); };
  made.work = [state] { state->finish(); };
}

/// Checks one operation. Memory of pools and managed memory cannot be named.
inline CUresult read_memory_operation(call& c, const context_state& context,
                                      const CUstreamBatchMemOpParams& from, memory_operation& to) {
  to.type = from.operation;
  switch (from.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
      constexpr unsigned flush = CU_STREAM_WAIT_VALUE_FLUSH;
      to.condition = from.waitValue.flags & ~flush;
      if (to.condition > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
      if ((from.waitValue.flags & flush) != 0) return CUDA_ERROR_NOT_SUPPORTED;
      break;
    }
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      if (from.writeValue.flags != 0) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_STREAM_MEM_OP_BARRIER:
      return from.memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  const bool wide = from.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                    from.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  to.bytes = wide ? 8 : 4;
  to.address = from.waitValue.address;
  to.value = wide ? from.waitValue.value64 : from.waitValue.value;
  const memory_block* block = to.address == 0 ? nullptr : c.driver.find_block(to.address);
  if (block == nullptr || to.address % to.bytes != 0 || block->end() - to.address < to.bytes)
    return CUDA_ERROR_INVALID_VALUE;
  const bool has_words = block->from == memory_block::origin::device || block->on_host();
  return has_words && (block->on_host() || block->context.get() == &context)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

constexpr unsigned most_memory_operations = 255;

inline CUresult read_memory_operations(call& c, const context_state& context, unsigned count,
                                       const CUstreamBatchMemOpParams* list, unsigned flags,
                                       std::vector<memory_operation>& to) {
  if (count > most_memory_operations || (count != 0 && list == nullptr) || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    to.emplace_back();
    if (const CUresult bad = read_memory_operation(c, context, list[i], to.back())) return bad;
  }
  return CUDA_SUCCESS;
}

/// Memory operations as a node, which each launch repeats.
inline node_work memory_operations_node(driver_state& driver, const context_ptr& context,
                                        std::vector<memory_operation> all) {
  node_work node;
  node.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  node.context = context;
  for (const memory_operation& each : all) node.shape.push_back(each.type);
  node.when_enqueued = [&driver, context, all = std::move(all)](call&, operation& made) {
    do_memory_operations(driver, context, all, made);
  };
  return node;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult stream_batch_mem_op(call& c, CUstream handle, unsigned count,
                                    CUstreamBatchMemOpParams* list, unsigned flags) {
  stream_ptr stream;
  std::vector<memory_operation> all;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (const CUresult bad = read_memory_operations(c, *stream->context, count, list, flags, all))
    return bad;
  if (stream->capture)
    return c.capture(stream, memory_operations_node(c.driver, stream->context, std::move(all)));
  if (all.empty()) return CUDA_SUCCESS;
  auto made = std::make_shared<operation>();
  do_memory_operations(c.driver, stream->context, std::move(all), *made);
  return c.enqueue(stream, made);
}

/// A wait or a write; both have one layout, and the low half of `value` is that of 32 bits.
inline CUresult one_memory_operation(call& c, CUstream stream, CUstreamBatchMemOpType what,
                                     CUdeviceptr address, cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams one;
  std::memset(&one, 0, sizeof one);  // braces would clear the union's first member alone
  one.waitValue.operation = what;
  one.waitValue.address = address;
  one.waitValue.value64 = value;
  one.waitValue.flags = flags;
  return stream_batch_mem_op(c, stream, 1, &one, 0);
}

inline CUresult stream_wait_value_32(call& c, CUstream stream, CUdeviceptr address,
                                     cuuint32_t value, unsigned flags) {
  return one_memory_operation(c, stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
inline CUresult stream_wait_value_64(call& c, CUstream stream, CUdeviceptr address,
                                     cuuint64_t value, unsigned flags) {
  return one_memory_operation(c, stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
inline CUresult stream_write_value_32(call& c, CUstream stream, CUdeviceptr address,
                                      cuuint32_t value, unsigned flags) {
  return one_memory_operation(c, stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
inline CUresult stream_write_value_64(call& c, CUstream stream, CUdeviceptr address,
                                      cuuint64_t value, unsigned flags) {
  return one_memory_operation(c, stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

}}}  // namespace nogpu::v1::driver::entry

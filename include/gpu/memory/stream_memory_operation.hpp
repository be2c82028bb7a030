#pragma once
/// \file
/// `memory_operation` and `perform`: let a stream wait for a value in memory, or write one.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cleared.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/device_refusals.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// The condition on the word in memory and the given value that ends a wait.
enum class wait_condition : unsigned {
  /// word - value, as a signed number, is not negative; also works for counters that wrap around
  greater_or_equal = CU_STREAM_WAIT_VALUE_GEQ,
  equal = CU_STREAM_WAIT_VALUE_EQ,
  bitwise_and = CU_STREAM_WAIT_VALUE_AND,  ///< (word & value) != 0
  bitwise_nor = CU_STREAM_WAIT_VALUE_NOR,  ///< ~(word | value) != 0
};

/// Returns the enumerator's name, such as "equal"; null for an unknown value.
constexpr const char* name_of(wait_condition condition) noexcept {
  using enum wait_condition;
  return detail::find_name(condition, {{greater_or_equal, "greater_or_equal"},
                                       {equal, "equal"},
                                       {bitwise_and, "bitwise_and"},
                                       {bitwise_nor, "bitwise_nor"}});
}

/// The observers for which a barrier orders the writes before it and after it.
enum class memory_barrier_scope : unsigned {
  system = CU_STREAM_MEMORY_BARRIER_TYPE_SYS,
  device = CU_STREAM_MEMORY_BARRIER_TYPE_GPU,
};

/// Returns the enumerator's name, such as "system"; null for an unknown value.
constexpr const char* name_of(memory_barrier_scope scope) noexcept {
  using enum memory_barrier_scope;
  return detail::find_name(scope, {{system, "system"}, {device, "device"}});
}

/// An operation of a stream on a word of memory. The word is the first element of a range in
/// page-locked memory, or in device memory that does not come from a pool. It is an integer of 4 or
/// 8 bytes.
///
///     gpu::perform(stream, gpu::memory_operation::wait(flag, 1u));
///
/// The range must stay alive until the operation has run.
class memory_operation {
 public:
  /// Waits until the word and `value` meet the condition. Work that follows in the stream sees
  /// everything that was written before the word was.
  template <class Range>
    requires(device_range<Range> || pinned_range<Range>)
  static memory_operation wait(
      Range&& word, std::remove_cv_t<detail::element_t<Range>> value,
      wait_condition condition = wait_condition::greater_or_equal) noexcept {
    memory_operation made = about(word, value, CU_STREAM_MEM_OP_WAIT_VALUE_32);
    made.native_.waitValue.flags = static_cast<unsigned>(condition);
    return made;
  }
  /// Writes `value` to the word, after all earlier writes of the stream.
  template <class Range>
    requires(device_range<Range> || pinned_range<Range>)
  static memory_operation write(Range&& word,
                                std::remove_cv_t<detail::element_t<Range>> value) noexcept {
    static_assert(!std::is_const_v<detail::element_t<Range>>, "the word is const");
    return about(word, value, CU_STREAM_MEM_OP_WRITE_VALUE_32);
  }
  /// Orders the writes before it and after it.
  static memory_operation barrier(
      memory_barrier_scope scope = memory_barrier_scope::system) noexcept {
    memory_operation made;
    made.native_.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    made.native_.memoryBarrier.flags = static_cast<unsigned>(scope);
    return made;
  }
  /// Makes remote writes of other devices on the bus visible that came before the value of the last
  /// wait. The device needs `device_attribute::can_flush_remote_writes`.
  static memory_operation flush_remote_writes() noexcept {
    memory_operation made;
    made.native_.flushRemoteWrites.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    return made;
  }

  const CUstreamBatchMemOpParams& native() const noexcept { return native_; }
  /// Returns the context of the word; empty if it is not known.
  context_ref context() const noexcept { return context_; }

 private:
  memory_operation() noexcept = default;

  /// The 64-bit operations have the numbers of the 32-bit ones, plus 3.
  template <class Range, class T>
  static memory_operation about(Range& word, T value, CUstreamBatchMemOpType narrow) noexcept {
    static_assert(detail::word_integer<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "a stream waits for and writes integers of 4 or 8 bytes");
    static_assert(CU_STREAM_MEM_OP_WAIT_VALUE_64 == CU_STREAM_MEM_OP_WAIT_VALUE_32 + 3 &&
                  CU_STREAM_MEM_OP_WRITE_VALUE_64 == CU_STREAM_MEM_OP_WRITE_VALUE_32 + 3);
    const detail::copy_end end = detail::copy_end_of(word);
    memory_operation made;
    made.context_ = end.context;
    // Waits and writes have the same layout; flags are 0 for both.
    made.native_.writeValue.operation =
        static_cast<CUstreamBatchMemOpType>(narrow + (sizeof(T) == 8 ? 3 : 0));
    made.native_.writeValue.address = end.count == 0 ? 0 : end.device_address();
    made.native_.writeValue.value64 =
        sizeof(T) == 8 ? static_cast<cuuint64_t>(value) : static_cast<cuuint32_t>(value);
    return made;
  }

  CUstreamBatchMemOpParams native_ = detail::cleared<CUstreamBatchMemOpParams>();
  context_ref context_;
};

namespace detail {

inline constexpr std::size_t most_memory_operations = 255;

inline result<> check_memory_operation(const char* function, const memory_operation& operation,
                                       context_ref in, source_location where) noexcept {
  const CUstreamBatchMemOpParams& native = operation.native();
  const bool waits = native.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                     native.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  const bool wide = native.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                    native.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  if (native.operation == CU_STREAM_MEM_OP_BARRIER) {
    return require_enumerator(static_cast<memory_barrier_scope>(native.memoryBarrier.flags),
                              "memory_barrier_scope", function, where);
  }
  if (native.operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) {
    return require_ability(function, in.device(), CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES,
                           "flush remote writes in a stream. Use gpu::flush_remote_writes, "
                           "or leave the operation out.",
                           where);
  }
  const unsigned bytes = wide ? 8 : 4;
  const std::uint64_t address = native.writeValue.address;
  if (address == 0 || address % bytes != 0) {
    text_builder out;
    if (address == 0) {
      out << "the range of the word is empty. Pass a range of at least one element.";
    } else {
      out << "a word of " << bytes << " bytes has to be aligned to its size, but begins "
          << address % bytes << " bytes past a multiple of " << bytes << ". Align it.";
    }
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, address, bytes));
  }
  if (operation.context() && operation.context() != in) {
    return fail(wrong_context_error(function, "stream", in.device().native(), "word",
                                    operation.context().device().native(), where));
  }
  if (waits) {
    GPU_TRY(require_enumerator(static_cast<wait_condition>(native.waitValue.flags),
                               "wait_condition", function, where));
  }
  if (wide) {
    GPU_TRY(require_ability(function, in.device(),
                            CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
                            "use words of 8 bytes in streams. Use words of 4 bytes.", where));
  }
  if (waits && native.waitValue.flags == CU_STREAM_WAIT_VALUE_NOR) {
    GPU_TRY(require_ability(
        function, in.device(), CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
        "wait for bitwise_nor. Invert the meaning of the bits, and use bitwise_and.", where));
  }
  return {};
}

inline result<> check_memory_operations(const char* function, const memory_operation* operations,
                                        std::size_t count, context_ref in,
                                        source_location where) noexcept {
  GPU_TRY(require_at_most(count, most_memory_operations, "operations", function, where));
  for (std::size_t i = 0; i < count; ++i)
    GPU_TRY(check_memory_operation(function, operations[i], in, where));
  return {};
}

/// Adds to the driver's error which memory it does not accept.
inline cuda_error explain_word(cuda_error error) noexcept {
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_INVALID_VALUE)
    return error;
  text_builder out;
  out << "The word has to be in page-locked memory, or in device memory of the stream's context; "
         "not in managed memory, and not in memory of a pool, such as a device_buffer that was "
         "created with a stream.";
  return record_error(std::move(error).with_details(out.finish()));
}

inline result<> perform_on(const stream_ref& stream, const memory_operation* operations,
                           std::size_t count, source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::perform", where));
  GPU_TRY(check_memory_operations("gpu::perform", operations, count, stream.context(), where));
  if (count == 0) return {};
  result<> done = on_stream(stream, where, [&]() -> result<> {
    if (count == 1) {
      const auto& word = operations->native().waitValue;
      switch (word.operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
          return queue<&driver::entry_points::stream_wait_value_32>(
              stream, memory_operation_label, where, stream.native(), word.address, word.value,
              word.flags);
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
          return queue<&driver::entry_points::stream_wait_value_64>(
              stream, memory_operation_label, where, stream.native(), word.address, word.value64,
              word.flags);
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
          return queue<&driver::entry_points::stream_write_value_32>(
              stream, memory_operation_label, where, stream.native(), word.address, word.value,
              word.flags);
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
          return queue<&driver::entry_points::stream_write_value_64>(
              stream, memory_operation_label, where, stream.native(), word.address, word.value64,
              word.flags);
        default: break;
      }
    }
    struct operations_of_driver {
      CUstreamBatchMemOpParams all[most_memory_operations];
    };
    const heap_object<operations_of_driver> natives;
    if (!natives)
      return fail(out_of_host_memory_error("gpu::perform", sizeof(operations_of_driver), where));
    for (std::size_t i = 0; i < count; ++i) natives->all[i] = operations[i].native();
    return queue<&driver::entry_points::stream_batch_mem_op>(
        stream, memory_operation_label, where, stream.native(), static_cast<unsigned>(count),
        &natives->all[0], 0u);
  });
  if (done.has_value()) return done;
  return fail(explain_word(std::move(done).error()));
}

}  // namespace detail

/// Queues an operation on `stream`, and returns.
/// **Ordering**: after the work already queued on `stream`, before work queued later. The driver
/// does not know about the order that this creates between streams: if the work that writes the
/// word is queued behind the wait, the stream waits forever. Use events if they are sufficient.
/// **Errors**: `errc::invalid_argument` for an empty range, a word that is not aligned and invalid
/// enumerators; `errc::wrong_context`; `errc::not_supported` if the device cannot do it; the
/// driver's CUDA_ERROR_INVALID_VALUE for managed memory and memory of a pool.
/// **Capture**: allowed, as a node of the kind `batch_memory_operation`. **Threads**: any.
/// (cuStreamWaitValue32, cuStreamWaitValue64, cuStreamWriteValue32, cuStreamWriteValue64,
/// cuStreamBatchMemOp; cuDeviceGetAttribute for words of 8 bytes, `bitwise_nor` and flushes)
inline result<> perform(stream_ref stream, const memory_operation& operation,
                        source_location where = source_location::current()) noexcept {
  return detail::perform_on(stream, &operation, 1, where);
}
/// Queues up to 255 operations, one after the other, in one call. (cuStreamBatchMemOp)
inline result<> perform(stream_ref stream, std::initializer_list<memory_operation> operations,
                        source_location where = source_location::current()) noexcept {
  return detail::perform_on(stream, operations.begin(), operations.size(), where);
}
/// Does the same for any contiguous range of operations.
template <host_range Operations>
result<> perform(stream_ref stream, const Operations& operations,
                 source_location where = source_location::current()) noexcept {
  return detail::perform_on(stream, detail::data_of(operations), detail::size_of(operations),
                            where);
}

}}  // namespace gpu::v1

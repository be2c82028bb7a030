#pragma once
/// \file
/// `logging_allocator`: writes a log line for each allocation.

#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/system/output.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

inline void log_to_stderr(const text& line, void*) noexcept {
  write_to_stderr(line.data(), line.size());
}

/// Returns "gpu: 4096 bytes allocated, 5242880 of 16777216 bytes are free on device 0
/// [main.cpp:12]"
inline text describe_allocation(const stream_ref& stream, std::size_t count, std::size_t size,
                                const cuda_error* error, source_location where) noexcept {
  text_builder out;
  std::size_t bytes = 0;
  out << "gpu: ";
  if (__builtin_mul_overflow(count, size, &bytes)) {
    out << count << " times " << size;
  } else {
    out << bytes;
  }
  out << (error == nullptr ? " bytes allocated" : " bytes not allocated");
  std::size_t free = 0, total = 0;
  if (stream && driver::call_in<&driver::entry_points::mem_get_info>(stream.context().native(),
                                                                     where, &free, &total)
                    .has_value()) {
    out << ", " << free << " of " << total << " bytes are free on device "
        << stream.device().native();
  }
  out << " [" << where.file_name() << ':' << where.line() << ']';
  if (error != nullptr) out << "\n  " << error->message();
  out << '\n';
  return out.finish();
}

}  // namespace detail

/// Wraps a `caching_allocator` or a `memory_pool`, and writes a line for each allocation: its size,
/// whether it succeeded, the free memory of the device, and the line of source that requested it.
/// Does not own the allocator, which must outlive it. Does not log when memory is freed.
/// **Threads**: as the allocator and the log.
template <class Allocator> class logging_allocator {
 public:
  /// Receives a line, including the newline, and the pointer passed to the constructor. Must not
  /// throw.
  using log = void (*)(const text& line, void* data);

  /// Writes to the standard error stream by default.
  explicit logging_allocator(Allocator& logged, log to = &detail::log_to_stderr,
                             void* data = nullptr) noexcept
      : logged_{&logged}, log_{to}, data_{data} {}

  /// Calls `allocate` of the allocator. **Capture**: as for the allocator. **Cost**: one more
  /// driver call, which is allowed during capture. (cuMemGetInfo)
  template <class T>
  result<device_buffer<T>> allocate(stream_ref stream, std::size_t count,
                                    source_location where = source_location::current()) noexcept {
    result<device_buffer<T>> made = logged_->template allocate<T>(stream, count, where);
    log_(detail::describe_allocation(stream, count, sizeof(T),
                                     made.has_value() ? nullptr : &made.error(), where),
         data_);
    return made;
  }

 private:
  Allocator* logged_;
  log log_;
  void* data_;
};

}}  // namespace gpu::v1

#pragma once
/// \file
/// `call_trace`: a driver table that logs every call of any other table, with its arguments, its
/// result and its time.

#include <gpu/core/error.hpp>
#include <gpu/driver/detail/driver_errors.hpp>  // IWYU pragma: keep
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/testing/detail/recorded_memory.hpp>
#include <gpu/testing/detail/trace_format.hpp>
#include <gpu/testing/interposed_table.hpp>

#include <cuda.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>

namespace gpu { inline namespace v1 { namespace testing {

/// The format of a trace.
enum class trace_format : std::uint8_t {
  text,       ///< one readable line for each call
  chrome,     ///< the Trace Event Format of chrome://tracing and Perfetto
  recording,  ///< one JSON object in a line for each call, with the memory that the driver read:
              ///< for a bug report, it suffices to repeat the calls elsewhere
};

/// Logs every driver call to a file. A line is written, and flushed, when its call returns: after a
/// crash, only the call that crashed is missing.
///
/// A recording has the arguments of each call as they were passed, with addresses and handles as
/// numbers. Its "memory" is the host memory that the call read: a pair of address and base64 bytes
/// for each range. To find the sizes, it queries the inner table for the parameters of kernels and
/// the kinds of addresses. It does not contain writes of the host to page-locked and managed
/// memory, the contents of files that a call names, the sources of 3D batches that copy to arrays,
/// and host functions.
/// **Threads**: calls may come from any thread; lines are not interleaved, and have the number of
/// the thread.
class call_trace {
 public:
  /// Takes ownership of `file`: the destructor closes it, unless it is stdout or stderr.
  call_trace(const driver::entry_points& inner, std::FILE* file,
             trace_format format = trace_format::text)
      : file_{file}, format_{format}, inner_{inner}, table_{inner, *this} {
    if (format_ == trace_format::chrome) std::fputs("[", file_);
  }
  call_trace(const call_trace&) = delete;
  call_trace& operator=(const call_trace&) = delete;
  ~call_trace() {
    end();
    if (file_ != stdout && file_ != stderr) std::fclose(file_);
  }

  /// Completes the file; calls that are made later are not logged. The destructor does so too.
  void end() {
    std::lock_guard lock(mutex_);
    if (format_ == trace_format::chrome && !std::exchange(ended_, true)) std::fputs("\n]\n", file_);
    std::fflush(file_);
  }

  /// Returns the table to use, valid as long as this object.
  const driver::entry_points& entry_points() const noexcept { return table_.entry_points(); }

  /// Returns the number of logged calls.
  std::size_t calls() const noexcept { return calls_.load(); }

  /// Called by the table for every call.
  template <std::size_t Index, class Function, class... Arguments>
  CUresult intercept(Function original, Arguments... arguments) {
    const auto start = clock::now();
    constexpr const char* name = driver::entry_point_list[Index].name;
    detail::recorded_memory memory(inner_);
    if (format_ == trace_format::recording) memory.add_call(name, arguments...);
    const CUresult result = original(arguments...);
    const auto end = clock::now();
    write(entry{name, ins(arguments...), outs(result, arguments...), memory.json(), result,
                microseconds(start - origin_), microseconds(end - start)});
    return result;
  }

 private:
  using clock = std::chrono::steady_clock;
  static double microseconds(clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
  }

  struct entry {
    const char* name;
    std::string in;
    std::string out;
    std::string memory;
    CUresult result;
    double start;
    double duration;
  };

  /// Returns the arguments as a JSON list without its brackets.
  template <class... Arguments> static std::string ins(Arguments... arguments) {
    std::string all;
    (add(all, detail::written(arguments)), ...);
    return all;
  }
  /// Returns the values that a successful call has written, likewise.
  template <class... Arguments> static std::string outs(CUresult result, Arguments... arguments) {
    std::string all;
    if (result == CUDA_SUCCESS) (add_out(all, arguments), ...);
    return all;
  }
  static void add(std::string& all, const std::string& one) {
    if (!all.empty()) all += ", ";
    all += one;
  }
  template <class Argument>
  static void add_out([[maybe_unused]] std::string& all, [[maybe_unused]] Argument argument) {
    if constexpr (detail::is_out_parameter<Argument>) {
      if (argument != nullptr) add(all, detail::written(*argument));
    }
  }

  static unsigned thread_number() {
    static std::atomic<unsigned> next{0};
    thread_local const unsigned number = next.fetch_add(1);
    return number;
  }

  void write(const entry& call) {
    calls_.fetch_add(1);
    const int code = static_cast<int>(call.result);
    const unsigned thread = thread_number();
    const char* known = error_domain::driver.name_of(code);
    const std::string result = known != nullptr ? known : std::to_string(code);
    std::lock_guard lock(mutex_);
    if (ended_) return;
    switch (format_) {
      case trace_format::text:
        std::fprintf(file_, "%12.3f us  thread %u  %s(%s) = %s%s%s%s  %.3f us\n", call.start,
                     thread, call.name, call.in.c_str(), result.c_str(),
                     call.out.empty() ? "" : " (", call.out.c_str(), call.out.empty() ? "" : ")",
                     call.duration);
        break;
      case trace_format::chrome:
        std::fprintf(file_,
                     "%s\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 0, \"tid\": %u, \"ts\": %.3f, "
                     "\"dur\": %.3f, \"args\": {\"in\": [%s], \"result\": \"%s\", \"out\": [%s]}}",
                     std::exchange(first_, false) ? "" : ",", call.name, thread, call.start,
                     call.duration, call.in.c_str(), result.c_str(), call.out.c_str());
        break;
      case trace_format::recording:
        std::fprintf(
            file_,
            "{\"call\": \"%s\", \"thread\": %u, \"in\": [%s], \"result\": %d, \"out\": [%s], "
            "\"memory\": [%s]}\n",
            call.name, thread, call.in.c_str(), code, call.out.c_str(), call.memory.c_str());
        break;
    }
    std::fflush(file_);
  }

  std::FILE* file_;
  trace_format format_;
  const driver::entry_points& inner_;
  clock::time_point origin_ = clock::now();
  std::mutex mutex_;
  bool first_ = true;  // no event yet
  bool ended_ = false;
  std::atomic<std::size_t> calls_{0};
  interposed_table<call_trace> table_;
};

/// Traces the rest of the process if the environment variable GPU_TRACE names a file: `calls.txt`,
/// `calls.json` (Chrome's format) or `calls.jsonl` (a recording). Returns whether it does. Call it
/// once, early in `main`, after `use_cpu_driver` if that is used. The file is complete when the
/// process exits; chrome://tracing also reads the file of a process that a signal ended.
inline bool use_call_trace_if_asked() {
  const char* path = gpu::detail::environment_variable("GPU_TRACE");
  if (path == nullptr || *path == '\0') return false;
  const std::string_view name = path;
  std::FILE* file = std::fopen(path, "we");
  if (file == nullptr) {
    std::fprintf(stderr,
                 "gpu: cannot write the file %s, which GPU_TRACE names; calls are not traced\n",
                 path);
    return false;
  }
  const trace_format format = name.ends_with(".jsonl")  ? trace_format::recording
                              : name.ends_with(".json") ? trace_format::chrome
                                                        : trace_format::text;
  static call_trace* const trace = new call_trace(driver::current_entry_points(), file, format);
  driver::use_entry_points(&trace->entry_points());
  std::atexit([] { trace->end(); });
  return true;
}

}}}  // namespace gpu::v1::testing

#pragma once
/// \file
/// The driver's own log, which drivers keep since CUDA 12.9: `driver_log` reads it, and
/// `driver_log_listener` receives each message at once. It often says why a call failed when the
/// error code alone does not.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/host_call.hpp>
#include <gpu/driver/entry_points.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// The severity of a message of the driver.
enum class driver_log_level {
  error = CU_LOG_LEVEL_ERROR,     ///< a call or queued work failed
  warning = CU_LOG_LEVEL_WARNING  ///< something may be wrong
};

/// Returns the level's name, such as "error"; null for any other value.
constexpr const char* name_of(driver_log_level level) noexcept {
  using enum driver_log_level;
  return detail::find_name(level, {{error, "error"}, {warning, "warning"}});
}

/// A position in the driver's log, which advances as the log is read:
///
///     gpu::driver_log log = GPU_TRY(gpu::driver_log::from_here());
///     ...
///     if (!done) std::fputs(GPU_TRY(log.read()).c_str(), stderr);
///
/// All threads and contexts of the process share the log. The driver keeps 25600 bytes of it; a
/// line in the text stands for older messages that were dropped.
/// **Errors**: `errc::not_supported` if the driver keeps no log; the driver's.
/// **Threads**: any, but only one at a time may use one object. **Capture**: not affected.
class driver_log {
 public:
  /// Returns the end of the log, where the next message will be. (cuLogsCurrent)
  static result<driver_log> from_here(source_location where = source_location::current()) noexcept {
    driver_log log;
    GPU_TRY(driver::call<&driver::entry_points::logs_current>(where, &log.at_, 0));
    return log;
  }

  /// Returns the messages since `from_here` or the last `read` or `write`, one per line; empty if
  /// nothing was logged. (cuLogsDumpToMemory)
  /// **Errors**: also `errc::out_of_host_memory`.
  result<text> read(source_location where = source_location::current()) noexcept {
    return dump(&at_, "gpu::driver_log::read", where);
  }
  /// Returns all messages that the driver still has.
  static result<text> read_all(source_location where = source_location::current()) noexcept {
    return dump(nullptr, "gpu::driver_log::read_all", where);
  }

  /// Writes the messages that `read` would return to a file, whose contents are replaced.
  /// (cuLogsDumpToFile)
  result<> write(const char* path, source_location where = source_location::current()) noexcept {
    return dump_to_file(&at_, path, "gpu::driver_log::write", where);
  }
  /// Writes all messages that the driver still has.
  static result<> write_all(const char* path,
                            source_location where = source_location::current()) noexcept {
    return dump_to_file(nullptr, path, "gpu::driver_log::write_all", where);
  }

 private:
  driver_log() noexcept = default;

  static result<text> dump(CUlogIterator* from, const char* function,
                           source_location where) noexcept {
    // The most that the driver keeps, the line about dropped messages, and the terminator.
    constexpr std::size_t capacity = 25600 + 512;
    struct buffer {
      char* characters = new (std::nothrow) char[capacity];
      buffer() = default;
      buffer(const buffer&) = delete;
      buffer& operator=(const buffer&) = delete;
      ~buffer() { delete[] characters; }
    } room;
    if (room.characters == nullptr)
      return detail::fail(detail::no_room_error(function, capacity, where));
    std::size_t size = capacity;
    GPU_TRY(driver::call<&driver::entry_points::logs_dump_to_memory>(where, from, room.characters,
                                                                     &size, 0));
    return detail::copied_text(room.characters, size, function, where);
  }

  static result<> dump_to_file(CUlogIterator* from, const char* path, const char* function,
                               source_location where) noexcept {
    if (path == nullptr || *path == '\0') {
      return detail::fail(detail::refusal(
          errc::invalid_argument, function,
          text(path == nullptr ? "the path is null. Name the file that the log goes to."
                               : "the path is empty. Name the file that the log goes to."),
          where));
    }
    return driver::call<&driver::entry_points::logs_dump_to_file>(where, from, path, 0);
  }

  CUlogIterator at_ = 0;
};

namespace detail {

/// The object that a listener registers with the driver.
template <class Function> struct log_callback {
  Function function;
  source_location where;

  // As CUlogsCallback.
  static void CUDA_CB run_at(void* self, CUlogLevel level, char* message,
                             std::size_t length) noexcept {
    auto* const callback = static_cast<log_callback*>(self);
    // Drivers differ in whether they count a terminator or end the line.
    while (length != 0 && (message[length - 1] == '\0' || message[length - 1] == '\n')) --length;
    run_contained(
        [&]() -> decltype(auto) {
          return callback->function(static_cast<driver_log_level>(level),
                                    string_ref(message, length));
        },
        "gpu::driver_log_listener", callback->where);
  }
};

}  // namespace detail

/// Calls `function(gpu::driver_log_level, gpu::string_ref message)` for each message of the driver,
/// from construction to destruction:
///
///     auto listener = GPU_TRY(gpu::driver_log_listener::create(
///         [](gpu::driver_log_level, gpu::string_ref message) { log.add(message.to_text()); }));
///
/// Move-only; empty after a move.
/// **Threads**: the callable runs in the thread whose call causes the message, before the call
/// returns, and possibly in several threads at once. It must not use CUDA or destroy the listener.
/// Exceptions and errors of the result that it returns go to the error reporter. A listener may be
/// made and destroyed in any thread, but not while another thread is in a call that may fail.
/// **Ownership**: the callable is moved to the heap, and destroyed with the listener.
/// **Capture**: not affected. (cuLogsRegisterCallback, cuLogsUnregisterCallback)
class driver_log_listener {
 public:
  /// **Errors**: `errc::not_supported` if the driver keeps no log; `errc::out_of_host_memory`; the
  /// driver's.
  template <class Function>
    requires requires(std::remove_cvref_t<Function>& callable) {
      callable(driver_log_level{}, string_ref{});
    }
  static result<driver_log_listener> create(
      Function&& function, source_location where = source_location::current()) noexcept {
    using callback = detail::log_callback<std::remove_cvref_t<Function>>;
    driver_log_listener listener;
    listener.callback_ = new (std::nothrow) callback{static_cast<Function&&>(function), where};
    if (listener.callback_ == nullptr) {
      return detail::fail(
          detail::no_room_error("gpu::driver_log_listener::create", sizeof(callback), where));
    }
    listener.destroy_ = [](void* self) noexcept { delete static_cast<callback*>(self); };
    GPU_TRY(driver::call<&driver::entry_points::logs_register_callback>(
        where, CUlogsCallback{&callback::run_at}, listener.callback_, &listener.native_));
    return listener;
  }

  driver_log_listener(driver_log_listener&& from) noexcept
      : native_{std::exchange(from.native_, nullptr)},
        callback_{std::exchange(from.callback_, nullptr)},
        destroy_{from.destroy_} {}
  driver_log_listener& operator=(driver_log_listener&& from) noexcept {
    driver_log_listener taken(std::move(from));
    std::swap(native_, taken.native_);
    std::swap(callback_, taken.callback_);
    std::swap(destroy_, taken.destroy_);
    return *this;
  }
  ~driver_log_listener() {
    if (native_ != nullptr) {
      // The driver keeps the callable if it cannot be called any more.
      if (driver::current_entry_points().logs_unregister_callback == nullptr) return;
      driver::destroy<&driver::entry_points::logs_unregister_callback>(native_);
    }
    if (callback_ != nullptr) destroy_(callback_);
  }

  CUlogsCallbackHandle native() const noexcept { return native_; }
  explicit operator bool() const noexcept { return native_ != nullptr; }

 private:
  driver_log_listener() noexcept = default;

  CUlogsCallbackHandle native_ = nullptr;
  void* callback_ = nullptr;
  void (*destroy_)(void*) noexcept = nullptr;
};

}}  // namespace gpu::v1

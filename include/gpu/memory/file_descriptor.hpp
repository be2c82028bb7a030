#pragma once
/// \file
/// `file_descriptor`: how memory goes to another process on this machine.

#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/system/operating_system.hpp>

namespace gpu::inline v0 {

namespace detail {

struct descriptor_number {
  int value = -1;
  friend bool operator==(const descriptor_number&, const descriptor_number&) noexcept = default;
};

struct close_descriptor {
  void operator()(descriptor_number file) const noexcept { gpu_c_close(file.value); }
};

}  // namespace detail

/// Owns a file descriptor of the process; closes it at the end. Move-only; empty after a move. Its
/// number means nothing in another process: send it through a Unix socket (SCM_RIGHTS), or let a
/// child inherit it. **Threads**: as an `int`.
class file_descriptor {
 public:
  file_descriptor() noexcept = default;

  /// Takes over an open descriptor, such as one that came through a socket.
  static file_descriptor adopt(int native) noexcept { return file_descriptor{native}; }
  /// Gives it up; the caller closes it.
  [[nodiscard]] int release() noexcept { return file_.release().value; }

  /// The number; -1 where there is none.
  int native() const noexcept { return file_.get().value; }
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }

 private:
  explicit file_descriptor(int native) noexcept : file_{detail::descriptor_number{native}} {}

  unique_handle<detail::descriptor_number, detail::close_descriptor> file_;
};

namespace detail {

/// As the driver takes descriptors: the number in place of a pointer.
inline void* as_shareable_handle(const file_descriptor& file) noexcept {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(file.native()));
}

/// Refuses what is no open descriptor of this process.
inline result<> require_open(const file_descriptor& file, const char* function,
                             source_location where) noexcept {
  if (!file) return fail(empty_handle_error(function, "file descriptor", where));
  if (gpu_c_fcntl(file.native(), get_descriptor_flags) >= 0) return {};
  text_builder out;
  out << "file descriptor " << file.native()
      << " is not open in this process. Keep it open until it was imported; from another process "
         "it has to come through a Unix socket (SCM_RIGHTS).";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                      static_cast<std::uint64_t>(file.native())));
}

/// Says in the driver's error what the descriptor does not stand for.
inline cuda_error explain_descriptor(cuda_error error, const file_descriptor& file,
                                     const char* wanted) noexcept {
  if (error.domain() != error_domain::driver) return error;
  text_builder out;
  out << "file descriptor " << file.native() << " does not stand for " << wanted
      << " that this device can open. Pass what was exported as that";
  return noted_error(detail::move(error).with_details(out.finish()));
}

}  // namespace detail
}  // namespace gpu::inline v0

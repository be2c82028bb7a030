#pragma once
/// \file
/// `file_descriptor`: owns a file descriptor, with which memory goes to another process.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/driver_errors.hpp>  // IWYU pragma: keep
#include <gpu/driver/detail/refusals.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

struct descriptor_number {
  int value = -1;
  friend bool operator==(const descriptor_number&, const descriptor_number&) noexcept = default;
};

struct close_descriptor {
  void operator()(descriptor_number file) const noexcept { ::close(file.value); }
};

}  // namespace detail

/// Owns a file descriptor and closes it in the destructor. Move-only; empty after a move. The
/// number is not valid in another process: send it through a Unix socket (SCM_RIGHTS), or let a
/// child inherit it. **Threads**: as an `int`.
class file_descriptor {
 public:
  file_descriptor() noexcept = default;

  /// Takes over an open descriptor, such as one received through a socket.
  static file_descriptor adopt(int native) noexcept { return file_descriptor{native}; }
  /// Releases ownership; the caller closes the descriptor.
  [[nodiscard]] int release() noexcept { return file_.release().value; }

  /// Returns the number; -1 if empty.
  int native() const noexcept { return file_.get().value; }
  explicit operator bool() const noexcept { return static_cast<bool>(file_); }

 private:
  explicit file_descriptor(int native) noexcept : file_{detail::descriptor_number{native}} {}

  unique_handle<detail::descriptor_number, detail::close_descriptor> file_;
};

namespace detail {

/// Returns the descriptor as the driver expects it: the number in a pointer.
inline void* as_shareable_handle(const file_descriptor& file) noexcept {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(file.native()));
}

/// Fails unless `file` is an open descriptor of this process.
inline result<> require_open(const file_descriptor& file, const char* function,
                             source_location where) noexcept {
  if (!file) return fail(empty_handle_error(function, "file descriptor", where));
  if (::fcntl(file.native(), F_GETFD) >= 0) return {};
  text_builder out;
  out << "file descriptor " << file.native()
      << " is not open in this process. Keep it open until it has been imported; send it from "
         "another process through a Unix socket (SCM_RIGHTS).";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                      static_cast<std::uint64_t>(file.native())));
}

/// Adds to the driver's error that the descriptor does not refer to `wanted`.
inline cuda_error explain_descriptor(cuda_error error, const file_descriptor& file,
                                     const char* wanted) noexcept {
  if (error.domain() != error_domain::driver) return error;
  text_builder out;
  out << "file descriptor " << file.native() << " does not refer to " << wanted
      << " that this device can open. Pass a descriptor that was exported as " << wanted;
  return record_error(std::move(error).with_details(out.finish()));
}

}  // namespace detail
}}  // namespace gpu::v1

#pragma once
/// \file
/// Bytes that come from a file one after the other, and errors that say where in the file they are.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/open_file.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

/// A file of a call, for errors.
struct named_file {
  const char* function;
  text path;
  source_location where;

  /// The file cannot be opened, read or written.
  cuda_error failed(const char* verb, int reason) const noexcept {
    if (reason == ENOMEM) return out_of_host_memory_error(function, path.size(), where);
    text_builder out;
    out << '"' << escaped{path} << "\" could not be " << verb << ": " << words_of_file_error(reason)
        << (reason == ENOSPC || reason == EDQUOT || reason == EFBIG ? ". Free space."
                                                                    : ". Check the path.");
    return refusal(errc::file_error, function, out.finish(), where);
  }
  /// The contents of the file are wrong from byte `offset` on.
  cuda_error damaged(std::uint64_t offset, const char* what) const noexcept {
    text_builder out;
    out << '"' << escaped{path} << "\" is damaged at byte " << offset << ": " << what
        << ". Write the file again.";
    return refusal(errc::file_error, function, out.finish(), where, offset);
  }
  /// The contents are right, but of a kind that cannot be loaded.
  cuda_error unsupported(std::uint64_t offset, const char* what, const char* cure) const noexcept {
    text_builder out;
    out << '"' << escaped{path} << "\" cannot be loaded: " << what << ", at byte " << offset << ". "
        << cure;
    return refusal(errc::invalid_argument, function, out.finish(), where, offset);
  }
};

/// Names a file of a call.
/// **Errors**: `errc::out_of_host_memory`.
inline result<named_file> name_file(const char* function, string_ref path,
                                    source_location where) noexcept {
  return named_file{function, GPU_TRY(copied_text(path.data(), path.size(), function, where)),
                    where};
}

/// Opens the file of a call for reading.
inline result<open_file> open_named(const named_file& name) noexcept {
  open_file file;
  if (const int failure = file.open(name.path); failure != 0)
    return fail(name.failed("read", failure));
  return file;
}

/// Reads `count` bytes of the file of a call from `offset` on, or those up to its end. Returns
/// their number.
inline result<std::size_t> read_named(const named_file& name, const open_file& file,
                                      std::uint64_t offset, void* bytes,
                                      std::size_t count) noexcept {
  std::size_t got = 0;
  const int failure = file.read(offset, bytes, count, got);
  if (failure != 0) return fail(name.failed("read", failure));
  return got;
}

/// Bytes that are read one after the other. `offset()` is that of the next one, for errors.
class byte_source {
 public:
  byte_source() noexcept = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;

  /// Reads `count` bytes, or those up to the end. Returns their number.
  virtual result<std::size_t> read(void* bytes, std::size_t count) noexcept = 0;
  virtual std::uint64_t offset() const noexcept = 0;
  /// Returns the number of bytes left, as far as it is known before they are read.
  virtual std::uint64_t left() const noexcept = 0;
  /// Fails if the bytes are not those that were written, as far as that can be known.
  virtual result<> finish() noexcept = 0;

 protected:
  ~byte_source() = default;
};

/// The bytes of a part of a file.
class file_source final : public byte_source {
 public:
  file_source(const open_file& file, const named_file& name, std::uint64_t begin,
              std::uint64_t end) noexcept
      : file_{file}, name_{name}, at_{begin}, end_{end} {}

  result<std::size_t> read(void* bytes, std::size_t count) noexcept override {
    if (count > left()) count = left();
    const std::size_t got = GPU_TRY(read_named(name_, file_, at_, bytes, count));
    at_ += got;
    return got;
  }
  std::uint64_t offset() const noexcept override { return at_; }
  std::uint64_t left() const noexcept override { return end_ - at_; }
  result<> finish() noexcept override { return {}; }

 private:
  const open_file& file_;
  const named_file& name_;
  std::uint64_t at_, end_;
};

}}}  // namespace gpu::v1::detail

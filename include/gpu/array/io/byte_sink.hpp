#pragma once
/// \file
/// Bytes that go to a file one after the other.

#include <gpu/array/io/byte_source.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/new_file.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Bytes that are written one after the other.
class byte_sink {
 public:
  byte_sink() noexcept = default;
  byte_sink(const byte_sink&) = delete;
  byte_sink& operator=(const byte_sink&) = delete;
  virtual result<> write(const void* bytes, std::size_t count) noexcept = 0;

 protected:
  ~byte_sink() = default;
};

/// The file that a call writes. It gets its name by `commit`.
class file_sink final : public byte_sink {
 public:
  explicit file_sink(const named_file& name) noexcept : name_{name} {}

  result<> open() noexcept { return outcome(file_.open(name_.path)); }
  result<> write(const void* bytes, std::size_t count) noexcept override {
    return outcome(file_.write(bytes, count));
  }
  /// Writes a text that may have found no memory.
  result<> write(const text& bytes) noexcept {
    return bytes.lost() ? outcome(ENOMEM) : write(bytes.data(), bytes.size());
  }
  /// Overwrites bytes that were written before.
  result<> rewrite(std::uint64_t offset, const text& bytes) noexcept {
    return outcome(bytes.lost() ? ENOMEM : file_.rewrite(offset, bytes.data(), bytes.size()));
  }
  /// Returns how many bytes were written.
  std::uint64_t offset() const noexcept { return file_.offset(); }
  result<> commit() noexcept { return outcome(file_.commit()); }

 private:
  result<> outcome(int failure) const noexcept {
    if (failure != 0) return fail(name_.failed("written", failure));
    return {};
  }

  const named_file& name_;
  new_file file_;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Converts numbers and texts to bytes and back, for the cache's files. The reader does not trust
/// its input: it checks every length.

#include <gpu/compiler/cache/digest.hpp>

#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Writes numbers, texts and lists one after the other.
class byte_writer {
 public:
  byte_writer& operator<<(std::uint64_t number) noexcept {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i) & 0xff);
    return raw(bytes, sizeof bytes);
  }
  byte_writer& operator<<(const text& string) noexcept {
    if (string.lost()) out_.lose();
    return (*this << std::uint64_t{string.size()}).raw(string.data(), string.size());
  }
  byte_writer& operator<<(const digest& d) noexcept { return raw(d.bytes, sizeof d.bytes); }
  template <class T> byte_writer& operator<<(const sequence<T>& list) noexcept {
    *this << std::uint64_t{list.size()};
    for (const T& element : list) *this << element;
    return *this;
  }
  byte_writer& raw(const void* data, std::size_t size) noexcept {
    out_.append(static_cast<const char*>(data), size);
    return *this;
  }
  /// Returns the bytes; lost if memory ran out, or if a text was lost that was written.
  text finish() noexcept { return out_.finish(); }

 private:
  text_builder out_;
};

/// Reads them in the same order. After a first failure, everything fails.
class byte_reader {
 public:
  explicit byte_reader(string_ref bytes) noexcept : rest_{bytes} {}

  bool ok() const noexcept { return ok_; }
  string_ref rest() const noexcept { return rest_; }

  byte_reader& operator>>(std::uint64_t& number) noexcept {
    number = 0;
    const string_ref bytes = raw(8);
    for (std::size_t i = bytes.size(); i-- > 0;) {
      number = number << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return *this;
  }
  byte_reader& operator>>(text& string) {
    std::uint64_t size = 0;
    *this >> size;
    string = required(raw(size).to_text());
    return *this;
  }
  byte_reader& operator>>(digest& d) noexcept {
    const string_ref bytes = raw(sizeof d.bytes);
    if (ok_) __builtin_memcpy(d.bytes, bytes.data(), sizeof d.bytes);
    return *this;
  }
  template <class T> byte_reader& operator>>(sequence<T>& list) {
    std::uint64_t count = 0;
    *this >> count;
    list.clear();
    // Each element takes at least a byte, so a wrong count does not allocate more than there is.
    for (std::uint64_t i = 0; ok_ && i < count; ++i) {
      if (rest_.empty()) ok_ = false;
      list.emplace_back();
      *this >> list.back();
    }
    return *this;
  }
  string_ref raw(std::uint64_t size) noexcept {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const string_ref taken = rest_.substring(0, size);
    rest_ = rest_.substring(size, rest_.size() - size);
    return taken;
  }

 private:
  string_ref rest_;
  bool ok_ = true;
};

}}}  // namespace gpu::v1::detail

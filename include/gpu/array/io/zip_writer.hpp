#pragma once
/// \file
/// Writes a ZIP archive of uncompressed files, also one of more than 4 GiB.

#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/crc32.hpp>
#include <gpu/array/io/zip_reader.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Appends a number in `bytes` bytes, the lowest one first.
inline void add_little(text_builder& out, std::uint64_t value, int bytes) noexcept {
  for (; bytes > 0; --bytes, value >>= 8) out << static_cast<char>(value & 0xff);
}

class zip_writer final : public byte_sink {
 public:
  /// Numbers from `large` on have 64 bits in the archive; those below have 32.
  explicit zip_writer(file_sink& file, std::uint64_t large = 0xffffffff) noexcept
      : file_{file}, large_{large} {}

  /// Begins a file of `size` bytes in the archive, which are then written.
  result<> begin(string_ref name, std::uint64_t size) noexcept {
    begin_ = file_.offset();
    size_ = size;
    crc_ = 0;
    text_builder header;
    add_little(header, zip_local_header, 4);
    add_common(header, name, is_large(size) ? 20 : 0);
    header << name << suffix;
    if (is_large(size)) {
      add_little(header, 1, 2);
      add_little(header, 16, 2);
      add_little(header, size, 8);
      add_little(header, size, 8);
    }
    return file_.write(header.finish());
  }
  result<> write(const void* bytes, std::size_t count) noexcept override {
    crc_ = crc32(crc_, bytes, count);
    return file_.write(bytes, count);
  }
  /// Ends the file: its checksum goes into its header, and the directory gets an entry.
  result<> end(string_ref name) noexcept {
    text_builder checksum;
    add_little(checksum, crc_, 4);
    constexpr std::uint64_t crc_at = 14;
    GPU_TRY(file_.rewrite(begin_ + crc_at, checksum.finish()));
    const bool far = is_large(begin_);
    const int extra = (is_large(size_) ? 16 : 0) + (far ? 8 : 0);
    add_little(directory_, zip_directory_entry, 4);
    add_little(directory_, version, 2);
    add_common(directory_, name, extra == 0 ? 0 : extra + 4);
    add_little(directory_, 0, 2 + 2 + 2 + 4);  // no comment, disk 0, no attributes
    add_little(directory_, far ? 0xffffffff : begin_, 4);
    directory_ << name << suffix;
    if (extra != 0) {
      add_little(directory_, 1, 2);
      add_little(directory_, static_cast<std::uint64_t>(extra), 2);
      if (is_large(size_)) {
        add_little(directory_, size_, 8);
        add_little(directory_, size_, 8);
      }
      if (far) add_little(directory_, begin_, 8);
    }
    ++entries_;
    return {};
  }
  /// Writes the directory, which ends the archive.
  result<> finish() noexcept {
    const std::uint64_t begin = file_.offset(), bytes = directory_.size();
    GPU_TRY(file_.write(directory_.finish()));
    const bool large = is_large(begin) || is_large(bytes) || entries_ >= 0xffff;
    text_builder end;
    if (large) {
      const std::uint64_t at = file_.offset();
      add_little(end, zip64_directory_end, 4);
      add_little(end, 44, 8);
      add_little(end, version, 2);
      add_little(end, version, 2);
      add_little(end, 0, 8);
      add_little(end, entries_, 8);
      add_little(end, entries_, 8);
      add_little(end, bytes, 8);
      add_little(end, begin, 8);
      add_little(end, zip64_locator, 4);
      add_little(end, 0, 4);
      add_little(end, at, 8);
      add_little(end, 1, 4);
    }
    add_little(end, zip_directory_end, 4);
    add_little(end, 0, 4);
    add_little(end, large ? 0xffff : entries_, 2);
    add_little(end, large ? 0xffff : entries_, 2);
    add_little(end, large ? 0xffffffff : bytes, 4);
    add_little(end, large ? 0xffffffff : begin, 4);
    add_little(end, 0, 2);
    return file_.write(end.finish());
  }

 private:
  static constexpr char suffix[] = ".npy";
  /// The version of the format that a reader has to know: 4.5 has numbers of 64 bits.
  static constexpr std::uint64_t version = 45;

  bool is_large(std::uint64_t value) const noexcept { return value >= large_; }
  /// Appends the fields that both headers of a file have, from the version to the length of the
  /// extra field.
  void add_common(text_builder& out, string_ref name, int extra) const noexcept {
    constexpr std::uint64_t utf8_names = 1u << 11, first_of_1980 = 0x21;
    add_little(out, version, 2);
    add_little(out, utf8_names, 2);
    add_little(out, 0, 2);  // not compressed
    add_little(out, 0, 2);  // midnight
    add_little(out, first_of_1980, 2);
    add_little(out, crc_, 4);
    for (int k = 0; k < 2; ++k) add_little(out, is_large(size_) ? 0xffffffff : size_, 4);
    add_little(out, name.size() + sizeof suffix - 1, 2);
    add_little(out, static_cast<std::uint64_t>(extra), 2);
  }

  file_sink& file_;
  std::uint64_t large_;
  text_builder directory_;
  std::uint64_t begin_ = 0, size_ = 0, entries_ = 0;
  std::uint32_t crc_ = 0;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// PNG files in their plain form: 8 bits a sample, no filter, blocks of deflate that are stored.

#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/crc32.hpp>
#include <gpu/core/result.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A color: red, green, blue.
struct rgb {
  unsigned char red, green, blue;
};

/// The kinds of pixels of PNG.
enum class png_pixels : unsigned char { gray = 0, rgb = 2, palette = 3 };

class png_writer {
 public:
  /// The size of the memory that a writer uses.
  static constexpr std::size_t block_bytes = 7 + 65535 + 4;

  png_writer(file_sink& file, unsigned char* block) noexcept : file_{file}, block_{block} {}

  /// Writes what comes before the pixels. The colors are those of a palette, of which the last one
  /// is transparent if `transparent`.
  result<> begin(std::uint32_t width, std::uint32_t height, png_pixels pixels, const rgb* colors,
                 bool transparent) noexcept {
    constexpr unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    const unsigned char header[] = {byte_of(width, 3),
                                    byte_of(width, 2),
                                    byte_of(width, 1),
                                    byte_of(width, 0),
                                    byte_of(height, 3),
                                    byte_of(height, 2),
                                    byte_of(height, 1),
                                    byte_of(height, 0),
                                    8,  // bits
                                    static_cast<unsigned char>(pixels),
                                    0,
                                    0,
                                    0};
    const std::uint64_t row = width * (pixels == png_pixels::rgb ? 3ull : 1ull) + 1;
    left_ = row * height;
    GPU_TRY(file_.write(signature, sizeof signature));
    GPU_TRY(put_chunk("IHDR", header, sizeof header));
    if (pixels != png_pixels::palette) return {};
    GPU_TRY(put_chunk("PLTE", colors, 256 * sizeof(rgb)));
    if (!transparent) return {};
    unsigned char alpha[256];
    for (int entry = 0; entry < 256; ++entry) alpha[entry] = entry == 255 ? 0 : 255;
    return put_chunk("tRNS", alpha, sizeof alpha);
  }
  /// Writes the next row.
  result<> row(const unsigned char* samples, std::size_t count) noexcept {
    constexpr unsigned char no_filter = 0;
    GPU_TRY(pack(&no_filter, 1));
    return pack(samples, count);
  }
  /// Ends the file after the last row.
  result<> finish() noexcept { return put_chunk("IEND", "", 0); }

 private:
  static constexpr std::size_t most_stored = 65535;  // of a block of deflate

  static unsigned char byte_of(std::uint64_t value, int index) noexcept {
    return static_cast<unsigned char>(value >> (8 * index) & 0xff);
  }

  /// Adds bytes to the stored block, and writes it when it is full, as a chunk of its own.
  result<> pack(const unsigned char* bytes, std::size_t count) noexcept {
    while (count > 0) {
      const std::size_t room = most_stored - used_;
      const std::size_t now = count < room ? count : room;
      __builtin_memcpy(block_ + block_at + used_, bytes, now);
      add_to_checksum(bytes, now);
      used_ += now;
      left_ -= now;
      bytes += now;
      count -= now;
      if (used_ == most_stored || left_ == 0) GPU_TRY(put_block());
    }
    return {};
  }

  result<> put_block() noexcept {
    const bool last = left_ == 0;
    unsigned char* const header = block_ + block_at - 5;
    header[0] = last ? 1 : 0;
    header[1] = byte_of(used_, 0);
    header[2] = byte_of(used_, 1);
    header[3] = byte_of(~used_, 0);
    header[4] = byte_of(~used_, 1);
    std::size_t end = block_at + used_;
    if (last) {  // Adler-32 of all bytes
      block_[end++] = byte_of(sum_of_sums_, 1);
      block_[end++] = byte_of(sum_of_sums_, 0);
      block_[end++] = byte_of(sum_, 1);
      block_[end++] = byte_of(sum_, 0);
    }
    std::size_t begin = block_at - 5;
    if (first_) {  // zlib's header: a window of 32 KiB, no dictionary, the fastest level
      block_[--begin] = 0x01;
      block_[--begin] = 0x78;
    }
    first_ = false;
    used_ = 0;
    return put_chunk("IDAT", block_ + begin, end - begin);
  }

  void add_to_checksum(const unsigned char* bytes, std::size_t count) noexcept {
    constexpr std::uint32_t modulus = 65521;
    for (std::size_t i = 0; i < count; ++i) {
      sum_ += bytes[i];
      if (sum_ >= modulus) sum_ -= modulus;
      sum_of_sums_ += sum_;
      if (sum_of_sums_ >= modulus) sum_of_sums_ -= modulus;
    }
  }

  result<> put_chunk(const char* kind, const void* bytes, std::size_t count) noexcept {
    const unsigned char length[] = {byte_of(count, 3), byte_of(count, 2), byte_of(count, 1),
                                    byte_of(count, 0)};
    const std::uint32_t checksum = crc32(crc32(0, kind, 4), bytes, count);
    const unsigned char end[] = {byte_of(checksum, 3), byte_of(checksum, 2), byte_of(checksum, 1),
                                 byte_of(checksum, 0)};
    GPU_TRY(file_.write(length, sizeof length));
    GPU_TRY(file_.write(kind, 4));
    GPU_TRY(file_.write(bytes, count));
    return file_.write(end, sizeof end);
  }

  file_sink& file_;
  std::uint64_t left_ = 0;  ///< bytes of rows to come
  std::uint32_t sum_ = 1, sum_of_sums_ = 0;
  bool first_ = true;
  std::size_t used_ = 0;
  // Room for both headers before the bytes, and for the checksum after them.
  static constexpr std::size_t block_at = 7;
  unsigned char* block_;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Compressed bytes of a file, unpacked by zlib, which is opened when it is first needed.

#include <gpu/array/io/byte_source.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/shared_library.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// zlib's z_stream. Its layout is part of the interface of libz.so.1.
struct zlib_stream {
  const unsigned char* next_in;
  unsigned available_in;
  unsigned long total_in;
  unsigned char* next_out;
  unsigned available_out;
  unsigned long total_out;
  const char* message;
  void* state;
  void* allocate;
  void* release;
  void* opaque;
  int data_type;
  unsigned long checksum;
  unsigned long reserved;
};

struct zlib_functions {
  int (*init)(zlib_stream*, int window_bits, const char* version, int stream_bytes) = nullptr;
  int (*inflate)(zlib_stream*, int flush) = nullptr;
  int (*end)(zlib_stream*) = nullptr;

  /// **Errors**: `errc::not_supported` if the library is not there.
  static result<zlib_functions> find(const named_file& file,
                                     const char* library = "libz.so.1") noexcept {
    void* const opened = open_library(library);
    zlib_functions found;
    text reason;
    if (opened == nullptr) {
      reason = text(open_library_failure());
    } else {
      found.init = find_symbol<decltype(found.init)>(opened, "inflateInit2_");
      found.inflate = find_symbol<decltype(found.inflate)>(opened, "inflate");
      found.end = find_symbol<decltype(found.end)>(opened, "inflateEnd");
      if (found.init != nullptr && found.inflate != nullptr && found.end != nullptr) return found;
      reason = text("it lacks inflate");
    }
    text_builder out;
    out << '"' << file.path << "\" is compressed, and zlib, which unpacks it, cannot be opened ("
        << reason << "). Install zlib (zlib1g in Debian), or save the arrays without compression.";
    return fail(refusal(errc::not_supported, file.function, out.finish(), file.where));
  }
};

/// Unpacks the bytes of another source, which are `size` bytes then.
class inflated_source final : public byte_source {
 public:
  inflated_source(const zlib_functions& zlib, byte_source& packed, const named_file& name,
                  const named_file& unpacked_name, std::uint64_t size) noexcept
      : zlib_{zlib}, packed_{packed}, name_{name}, unpacked_name_{unpacked_name}, size_{size} {}
  ~inflated_source() {
    if (open_) zlib_.end(&stream_);
  }

  result<std::size_t> read(void* bytes, std::size_t count) noexcept override {
    constexpr int window_bits = -15;  // 32 KiB, and neither header nor checksum
    if (!open_) {
      if (zlib_.init(&stream_, window_bits, "1", sizeof stream_) != 0)
        return fail(name_.failed("read", ENOMEM));
      open_ = true;
    }
    std::size_t got = 0;
    while (got < count && !ended_) {
      if (stream_.available_in == 0) {
        packed_at_ = packed_.offset();
        stream_.next_in = packed_bytes_;
        stream_.available_in =
            static_cast<unsigned>(GPU_TRY(packed_.read(packed_bytes_, sizeof packed_bytes_)));
      }
      constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in unsigned
      const std::size_t wanted = count - got < most ? count - got : most;
      stream_.next_out = static_cast<unsigned char*>(bytes) + got;
      stream_.available_out = static_cast<unsigned>(wanted);
      const bool had_input = stream_.available_in != 0;
      const int outcome = zlib_.inflate(&stream_, 0);
      got += wanted - stream_.available_out;
      constexpr int stream_end = 1, no_memory = -4;
      ended_ = outcome == stream_end;
      if (outcome == no_memory) return fail(name_.failed("read", ENOMEM));
      if (outcome < 0 || (!had_input && !ended_ && stream_.available_out == wanted)) {
        const auto used = static_cast<std::uint64_t>(stream_.next_in - packed_bytes_);
        return fail(name_.damaged(packed_at_ + used, "the compressed bytes are not valid"));
      }
    }
    produced_ += got;
    return got;
  }
  std::uint64_t offset() const noexcept override { return produced_; }
  std::uint64_t left() const noexcept override { return produced_ < size_ ? size_ - produced_ : 0; }
  result<> finish() noexcept override {
    char more = 0;
    if (GPU_TRY(read(&more, 1)) != 0 || produced_ != size_) {
      return fail(unpacked_name_.damaged(size_, "its length is not that in the directory"));
    }
    if (stream_.available_in == 0 && packed_.left() == 0) return {};
    return fail(name_.damaged(packed_.offset() - stream_.available_in,
                              "bytes follow after the compressed ones"));
  }

 private:
  const zlib_functions& zlib_;
  byte_source& packed_;
  const named_file& name_;
  const named_file& unpacked_name_;
  std::uint64_t size_, produced_ = 0, packed_at_ = 0;
  zlib_stream stream_{};
  bool open_ = false, ended_ = false;
  unsigned char packed_bytes_[4096];
};

}}}  // namespace gpu::v1::detail

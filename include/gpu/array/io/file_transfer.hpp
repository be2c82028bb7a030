#pragma once
/// \file
/// Moves elements between device memory and a file, in pieces that go through page-locked memory:
/// while one piece is copied the next one is read, or the last one written.

#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/byte_source.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/pinned_span.hpp>
#include <gpu/memory/pinned_vector.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Two pieces of page-locked memory, used in turns.
class transfer_pieces {
 public:
  static constexpr std::size_t most_bytes = std::size_t{4} << 20;

  static result<transfer_pieces> create(const stream_ref& stream, std::size_t bytes,
                                        source_location where) noexcept {
    auto memory = GPU_TRY(pinned_vector<unsigned char>::create(
        stream.context(), bytes < 2 * most_bytes ? bytes : 2 * most_bytes, pinned_flags::none,
        where));
    auto first = GPU_TRY(event::create(stream.context(), {.timing = false}, where));
    auto second = GPU_TRY(event::create(stream.context(), {.timing = false}, where));
    return transfer_pieces(stream, std::move(memory), std::move(first), std::move(second));
  }
  transfer_pieces(transfer_pieces&& other) noexcept
      : stream_{other.stream_},
        memory_{std::move(other.memory_)},
        copied_{std::move(other.copied_[0]), std::move(other.copied_[1])},
        pending_{std::exchange(other.pending_, false)} {}
  transfer_pieces& operator=(transfer_pieces&&) = delete;
  /// Waits if something failed while a copy was under way.
  ~transfer_pieces() {
    if (!pending_) return;
    const result<> done = stream_.synchronize(source_location{});
    if (!done.has_value()) report(done.error());
  }

  unsigned char* memory(std::size_t piece) noexcept {
    return memory_.data() + piece % 2 * most_bytes;
  }

  /// Waits until all copies have run.
  result<> finish(source_location where) noexcept {
    GPU_TRY(stream_.synchronize(where));
    pending_ = false;
    return {};
  }
  /// Waits until the last copy of a piece's memory has run.
  result<> wait(std::size_t piece, source_location where) noexcept {
    return copied_[piece % 2].synchronize(where);
  }
  result<> copy_to_device(std::size_t piece, CUdeviceptr to, std::size_t bytes,
                          source_location where) noexcept {
    pending_ = true;
    GPU_TRY(gpu::copy(stream_, span(piece, bytes),
                      device_span<unsigned char>::from_native(to, bytes), where));
    return gpu::record(stream_, copied_[piece % 2], where);
  }
  result<> copy_to_host(std::size_t piece, CUdeviceptr from, std::size_t bytes,
                        source_location where) noexcept {
    pending_ = true;
    GPU_TRY(gpu::copy(stream_, device_span<unsigned char>::from_native(from, bytes),
                      span(piece, bytes), where));
    return gpu::record(stream_, copied_[piece % 2], where);
  }

 private:
  transfer_pieces(const stream_ref& stream, pinned_vector<unsigned char> memory, event first,
                  event second) noexcept
      : stream_{stream}, memory_{std::move(memory)}, copied_{std::move(first), std::move(second)} {}

  pinned_span<unsigned char> span(std::size_t piece, std::size_t bytes) noexcept {
    return memory_.span().subspan(piece % 2 * most_bytes, bytes);
  }

  stream_ref stream_;
  pinned_vector<unsigned char> memory_;
  event copied_[2];
  bool pending_ = false;  ///< copies were queued that were not waited for
};

/// Reverses the bytes of each word.
inline void swap_words(unsigned char* bytes, std::size_t count, unsigned word) noexcept {
  for (std::size_t at = 0; at + word <= count; at += word) {
    for (unsigned i = 0; i < word / 2; ++i) std::swap(bytes[at + i], bytes[at + word - 1 - i]);
  }
}

/// Reads `bytes` bytes to device memory, and waits. Those of each word of `swapped` bytes are
/// reversed, unless that is 0.
inline result<> load_elements(const named_file& file, byte_source& source, const stream_ref& stream,
                              CUdeviceptr to, std::size_t bytes, unsigned swapped) noexcept {
  if (bytes == 0) return source.finish();
  auto pieces = GPU_TRY(transfer_pieces::create(stream, bytes, file.where));
  std::size_t piece = 0;
  for (std::size_t at = 0; at < bytes; ++piece) {
    const std::size_t left = bytes - at;
    const std::size_t count =
        left < transfer_pieces::most_bytes ? left : transfer_pieces::most_bytes;
    if (piece >= 2) GPU_TRY(pieces.wait(piece, file.where));
    const std::size_t got = GPU_TRY(source.read(pieces.memory(piece), count));
    if (got < count)
      return fail(file.damaged(source.offset(), "the file ends before the last element"));
    if (swapped != 0) swap_words(pieces.memory(piece), count, swapped);
    GPU_TRY(pieces.copy_to_device(piece, to + at, count, file.where));
    at += count;
  }
  GPU_TRY(source.finish());
  return pieces.finish(file.where);
}

/// Writes `bytes` bytes of device memory.
inline result<> save_elements(byte_sink& sink, const stream_ref& stream, CUdeviceptr from,
                              std::size_t bytes, source_location where) noexcept {
  if (bytes == 0) return {};
  auto pieces = GPU_TRY(transfer_pieces::create(stream, bytes, where));
  const auto count_of = [&](std::size_t piece) {
    const std::size_t left = bytes - piece * transfer_pieces::most_bytes;
    return left < transfer_pieces::most_bytes ? left : transfer_pieces::most_bytes;
  };
  const std::size_t count = (bytes - 1) / transfer_pieces::most_bytes + 1;
  for (std::size_t piece = 0; piece <= count; ++piece) {
    if (piece < count) {
      GPU_TRY(pieces.copy_to_host(piece, from + piece * transfer_pieces::most_bytes,
                                  count_of(piece), where));
    }
    if (piece == 0) continue;
    GPU_TRY(pieces.wait(piece - 1, where));
    GPU_TRY(sink.write(pieces.memory(piece - 1), count_of(piece - 1)));
  }
  return pieces.finish(where);
}

}}}  // namespace gpu::v1::detail

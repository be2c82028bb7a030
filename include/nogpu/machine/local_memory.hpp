// The local memory of the threads of a warp: their stacks, and which bytes of them were written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nogpu { inline namespace v1 { namespace machine {

/// `stride` bytes for each lane, lane after lane; with a shadow of one byte per byte if reads of
/// unwritten bytes are checked: 0 = never written.
class local_memory {
 public:
  /// Sets whether there is a shadow. If that changes, the contents of the stacks are lost.
  void start(bool tracked) {
    if (tracked != tracks_) bytes_.clear(), shadow_.clear(), stride_ = 0;
    tracks_ = tracked;
  }

  /// Makes room for `needed` bytes in each lane.
  void grow(std::uint32_t needed) {
    if (needed <= stride_) return;
    const std::uint32_t stride = ((needed > 2 * stride_ ? needed : 2 * stride_) + 63) / 64 * 64;
    spread(bytes_, stride);
    if (tracks_) spread(shadow_, stride);
    stride_ = stride;
  }

  std::byte* bytes(unsigned lane, std::size_t offset) {
    return bytes_.data() + std::size_t{lane} * stride_ + offset;
  }
  const std::byte* bytes(unsigned lane, std::size_t offset) const {
    return bytes_.data() + std::size_t{lane} * stride_ + offset;
  }
  /// Null where nothing is tracked.
  std::uint8_t* shadow(unsigned lane, std::size_t offset) {
    return tracks_ ? shadow_.data() + std::size_t{lane} * stride_ + offset : nullptr;
  }

  /// Takes `size` bytes for written, or for never written.
  void mark(unsigned lane, std::size_t offset, std::size_t size, bool written) {
    if (tracks_ && size != 0) std::memset(shadow(lane, offset), written, size);
  }

 private:
  static constexpr unsigned lanes = 32;

  template <class T> void spread(std::vector<T>& from, std::uint32_t stride) const {
    std::vector<T> larger(std::size_t{stride} * lanes);
    for (unsigned lane = 0; lane < lanes && stride_ != 0; ++lane)
      std::memcpy(larger.data() + std::size_t{lane} * stride,
                  from.data() + std::size_t{lane} * stride_, stride_);
    from.swap(larger);
  }

  std::vector<std::byte> bytes_;
  std::vector<std::uint8_t> shadow_;
  std::uint32_t stride_ = 0;
  bool tracks_ = false;
};

}}}  // namespace nogpu::v1::machine

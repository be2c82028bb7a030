// The texels that the lanes of a warp read, and what an instruction makes of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <nogpu/machine/code.hpp>
#include <nogpu/machine/texels.hpp>
#include <nogpu/machine/texture_channels.hpp>
#include <nogpu/machine/texture_sums.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// Texels in memory for up to 32 results, each of which is one texel that is read alone or the sum
/// of slices. Slices have up to four texels with weights. Channels are read and summed up for all
/// results at once.
class texel_batch {
 public:
  /// A texel of zeros.
  alignas(16) static constexpr std::byte nothing[16] = {};

  std::size_t size() const { return count_; }

  /// Adds a result that is the texel at an address, or 0 if that is null.
  void add_alone(const std::byte* at) {
    alone_texels_[count_] = at;
    alone_[count_++] = true;
    ++alone_count_;
  }

  /// Adds a result that is the sum of slices, and returns its number. It needs at least one slice.
  std::size_t add_sum() {
    alone_[count_] = false;
    return count_++;
  }

  /// Adds a slice to a result and returns its number. All of its texels have to be put.
  std::size_t add_slice(std::size_t result) {
    results_[slice_count_] = static_cast<std::uint16_t>(result);
    return slice_count_++;
  }

  /// Adds a slice without texels and returns its number.
  std::size_t add_empty_slice(std::size_t result) {
    for (std::size_t corner = 0; corner < 4; ++corner) put(slice_count_, corner, nothing, 0);
    return add_slice(result);
  }

  /// Puts one of the four texels of a slice; `nothing` if it has no weight.
  void put(std::size_t slice, std::size_t corner, const std::byte* at, int weight) {
    texels_[corner][slice] = at;
    weights_[corner][slice] = weight;
  }

  /// Computes a channel of each result.
  template <class Channel>
  void compute(const Channel& kind, std::size_t channel,
               std::array<std::uint32_t, warp_size>& results) const {
    if (alone_count_ != count_)
      kind.filter(channel, [&]<class Filter, class Number>(Filter, Number number_of) {
        filter<Channel, Filter>(channel, number_of, results);
      });
    if (alone_count_ == 0) return;
    for (std::size_t n = 0; n < count_; ++n) {
      if (!alone_[n]) continue;
      const std::byte* const at = alone_texels_[n];
      results[n] = at != nullptr ? kind.read(load<Channel>(at, channel), channel) : 0;
    }
  }

  void clear() { count_ = alone_count_ = slice_count_ = 0; }

 private:
  /// Reads a channel of a texel; other threads of the process may be writing it.
  template <class Channel>
  static typename Channel::stored load(const std::byte* at, std::size_t channel) {
    using stored = typename Channel::stored;
    return __atomic_load_n(reinterpret_cast<const stored*>(at) + channel, __ATOMIC_RELAXED);
  }

  template <class Channel, class Filter, class Number>
  void filter(std::size_t channel, Number number_of,
              std::array<std::uint32_t, warp_size>& results) const {
    four<std::array<typename Filter::number, warp_size>> values;
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t n = 0; n < slice_count_; ++n) {
        values[k][n] = number_of(load<Channel>(texels_[k][n], channel));
      }
    }
    std::array<typename Filter::sum, warp_size> sums;
    Filter::sum_slices(values, weights_, slice_count_, sums);
    if (slice_count_ != count_ || alone_count_ != 0) add_slices(sums);
    std::array<float, warp_size> rounded;
    for (std::size_t n = 0; n < count_; ++n) rounded[n] = Filter::result(sums[n]);
    for (std::size_t n = 0; n < count_; ++n) results[n] = std::bit_cast<std::uint32_t>(rounded[n]);
  }

  /// Replaces the sums of slices by those of results.
  template <class Sum> void add_slices(std::array<Sum, warp_size>& sums) const {
    std::array<Sum, warp_size> of_results{};
    for (std::size_t i = 0; i < slice_count_; ++i) of_results[results_[i]] += sums[i];
    sums = of_results;
  }

  four<std::array<const std::byte*, warp_size>> texels_;
  four<std::array<int, warp_size>> weights_;
  std::size_t slice_count_ = 0;
  std::array<std::uint16_t, warp_size> results_;  // that slices belong to
  std::array<bool, warp_size> alone_;
  std::array<const std::byte*, warp_size> alone_texels_;  // of results that are read alone
  std::size_t count_ = 0, alone_count_ = 0;
};

}}}  // namespace nogpu::v1::machine

// What the accesses of a warp to memory cost: sectors of global memory, wavefronts of shared
// memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <nogpu/kernel_costs.hpp>
#include <nogpu/machine/code.hpp>
#include <nogpu/machine/memory_layout.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// The addresses of the lanes that access one kind of memory.
struct lane_addresses {
  std::array<address, warp_size> of{};
  lane_mask lanes = 0;

  void add(unsigned lane, address a) {
    of[lane] = a;
    lanes |= lane_mask{1} << lane;
  }
};

/// Counts an access to global memory, which is moved in aligned sectors of 32 bytes. At least so
/// many are needed as the different bytes fill.
inline void count_global(cost_counts& counts, const lane_addresses& lanes, std::uint32_t size) {
  constexpr address sector = 32;
  std::array<address, warp_size> sorted{};
  std::size_t count = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if ((lanes.lanes >> lane & 1) != 0) sorted[count++] = lanes.of[lane];
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  std::uint64_t sectors = 0, bytes = 0;
  address next_sector = 0, end = 0;  // behind those that are counted
  for (std::size_t i = 0; i < count; ++i) {
    const address first = sorted[i] / sector, last = (sorted[i] + size - 1) / sector;
    sectors += last + 1 - std::min(std::max(first, next_sector), last + 1);
    bytes += sorted[i] + size - std::max(sorted[i], end);
    next_sector = last + 1;
    end = sorted[i] + size;
  }
  const std::uint64_t least = (bytes + sector - 1) / sector;
  ++counts.global_accesses;
  counts.uncoalesced += sectors > least;
  counts.sectors += sectors;
  counts.least_sectors += least;
}

/// Counts an access to shared memory, whose 32 banks each give one word of 4 bytes in a wavefront,
/// to as many lanes as want it. Lanes of up to 4 bytes are served together, those of 8 bytes by
/// half warps, those of 16 by quarters (CUDA C Programming Guide, 64-bit and 128-bit accesses of
/// compute capability 2.x). Atomic operations on one word come one after the other.
inline void count_shared(cost_counts& counts, const lane_addresses& lanes, std::uint32_t size,
                         bool updates) {
  constexpr unsigned banks = 32;
  const unsigned together = size <= 4 ? warp_size : std::max(1u, 128 / size);
  ++counts.shared_accesses;
  for (unsigned begin = 0; begin < warp_size; begin += together) {
    std::array<address, 2 * banks> words{};
    std::size_t count = 0;
    for (unsigned lane = begin; lane < begin + together; ++lane) {
      if ((lanes.lanes >> lane & 1) == 0) continue;
      const address last = (lanes.of[lane] + size - 1) / 4;
      for (address word = lanes.of[lane] / 4; word <= last; ++word)
        if (count < words.size()) words[count++] = word;
    }
    if (count == 0) continue;
    const auto first = words.begin();
    auto end = first + static_cast<std::ptrdiff_t>(count);
    std::sort(first, end);
    if (!updates) end = std::unique(first, end);
    std::array<std::uint32_t, banks> rounds{};
    for (auto word = first; word != end; ++word) ++rounds[*word % banks];
    counts.wavefronts += *std::max_element(rounds.begin(), rounds.end());
    ++counts.least_wavefronts;
  }
}

}}}  // namespace nogpu::v1::machine::detail

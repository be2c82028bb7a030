#pragma once
/// \file
/// `device_data`: the capacities of a device that launches are planned with.
/// (The base-2 logarithm of an integer `n`, for shapes that are powers of two, is
/// `std::bit_width(n) - 1` of `<bit>`.)

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The limits of a launch, the capacities of a multiprocessor, and the units in which the hardware
/// allocates and accesses memory. A plain value: planning can be tested with figures of devices
/// that are not there.
struct device_data : device_limits {
  int warps_per_multiprocessor = 0;   ///< resident at once
  int blocks_per_multiprocessor = 0;  ///< resident at once
  int registers_per_block = 0;        ///< of 32 bits
  int registers_per_multiprocessor = 0;
  std::size_t shared_memory_per_multiprocessor = 0;  ///< bytes
  std::size_t reserved_shared_memory = 0;            ///< bytes of each block, for the system

  /// The units are the same on all devices that CUDA 13 supports.
  static constexpr int register_unit = 256;                ///< registers are allocated by warp
  static constexpr int register_partitions = 4;            ///< of a multiprocessor's registers
  static constexpr std::size_t shared_memory_unit = 128;   ///< bytes in which blocks get memory
  static constexpr int shared_memory_access_threads = 32;  ///< they share the access to the banks
  static constexpr std::size_t cache_line = 128;           ///< bytes
  static constexpr std::size_t cache_sector = 32;  ///< bytes: the least that is read of a line

  /// Reads the figures. It takes about 20 driver calls, so keep the answer.
  /// **Errors**: the driver's. **Capture**: not affected. **Threads**: any. (cuDeviceGetAttribute)
  static result<device_data> of(device asked,
                                source_location where = source_location::current()) noexcept {
    device_data found;
    static_cast<device_limits&>(found) = GPU_TRY(asked.limits(where));
    const auto get = [&](CUdevice_attribute which, auto& number) -> result<> {
      int value = 0;
      GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(where, &value, which,
                                                                        asked.native()));
      number = static_cast<std::remove_cvref_t<decltype(number)>>(value);
      return {};
    };
    int threads = 0;
    GPU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, threads));
    GPU_TRY(
        get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, found.blocks_per_multiprocessor));
    GPU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, found.registers_per_block));
    GPU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
                found.registers_per_multiprocessor));
    GPU_TRY(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
                found.shared_memory_per_multiprocessor));
    GPU_TRY(
        get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, found.reserved_shared_memory));
    const int warp = static_cast<int>(found.warp_size);
    found.warps_per_multiprocessor = warp == 0 ? 0 : threads / warp;
    return found;
  }

  /// Returns the alignment, in bytes, at which a warp that reads one word a thread, one after
  /// another, touches the fewest cache lines: the words of a warp, but no more than a line.
  /// `word_size` is in bytes.
  constexpr std::size_t align_bytes(std::size_t word_size = 4) const noexcept {
    const std::size_t of_warp = warp_size * word_size;
    return of_warp == 0 || of_warp > cache_line ? cache_line : of_warp;
  }
  /// Returns `bytes`, rounded up to that alignment.
  constexpr std::size_t align(std::size_t bytes, std::size_t word_size = 4) const noexcept {
    const std::size_t unit = align_bytes(word_size);
    return (bytes + unit - 1) / unit * unit;
  }
  /// Returns that alignment in words; 1 if a word is at least as large.
  constexpr std::size_t align_words(std::size_t word_size) const noexcept {
    return word_size == 0 || align_bytes(word_size) <= word_size
               ? 1
               : align_bytes(word_size) / word_size;
  }
  /// Returns `elements` of `element_size` bytes, rounded up to full alignments: the distance of two
  /// rows that both begin at one.
  constexpr std::size_t align_elements(std::size_t elements,
                                       std::size_t element_size) const noexcept {
    const std::size_t unit = align_words(element_size);
    return (elements + unit - 1) / unit * unit;
  }
  /// Returns a number of threads, rounded up to full warps.
  constexpr int coalesce(int threads) const noexcept {
    const int warp = static_cast<int>(warp_size);
    return warp == 0 ? threads : (threads + warp - 1) / warp * warp;
  }

  /// Returns the least number of channels that texels can have, 1, 2 or 4, for `channels` of them;
  /// 0 if a texel cannot have so many.
  static constexpr int texture_channels(int channels) noexcept {
    return channels < 1 || channels > 4 ? 0 : channels == 3 ? 4 : channels;
  }
};

}}  // namespace gpu::v1

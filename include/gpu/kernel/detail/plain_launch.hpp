#pragma once
/// \file
/// The test on the launch path: whether a launch is certainly within the limits and needs nothing
/// but cuLaunchKernel. What it does not let through goes the careful way, which is exact.

#include <gpu/kernel/launch_config.hpp>

namespace gpu::inline v0::detail {

/// What the test compares with. All of it is zero where nothing is allowed: a block has at least
/// one thread.
struct plain_launch_limits {
  // The largest grid.x, grid.y, grid.z, block.x; and block.y, block.z, shared_bytes, cluster.x. As
  // signed numbers in the order of the unsigned ones, since SSE2 compares no others.
  alignas(16) std::int32_t first[4];
  alignas(16) std::int32_t second[4];
  std::uint32_t threads;         ///< of a block
  std::uint32_t dynamic_shared;  ///< of a block, in bytes
};

inline constexpr std::int32_t least_lane = -0x7fff'ffff - 1;

/// The test knows the largest extents by heart, for all devices have the same.
inline constexpr dims usual_largest_block{1024, 1024, 64};
inline constexpr dims usual_largest_grid{0x7fff'ffff, 0xffff, 0xffff};

constexpr plain_launch_limits make_plain_launch_limits(std::uint32_t threads,
                                                       std::uint32_t dynamic_shared) noexcept {
  // Of extents, which begin at 1, one less is compared.
  const auto lane = [](std::uint32_t largest) {
    return static_cast<std::int32_t>(least_lane + std::int64_t{largest});
  };
  const dims &grid = usual_largest_grid, &block = usual_largest_block;
  return {{lane(grid.x - 1), lane(grid.y - 1), lane(grid.z - 1), lane(block.x - 1)},
          {lane(block.y - 1), lane(block.z - 1), lane(dynamic_shared), lane(0)},
          threads,
          dynamic_shared};
}

/// Whether the shape is within the limits, whatever attributes the launch has. Where the compiler
/// knows something of the shape, most of this folds away.
template <class Limits>
[[gnu::always_inline]] inline bool is_plain_shape(const launch_config& config,
                                                  const Limits& limits) noexcept {
  const auto within = [](const dims& extents, const dims& largest) __attribute__((always_inline)) {
    return extents.x - 1 < largest.x && extents.y - 1 < largest.y && extents.z - 1 < largest.z;
  };
  const dims& block = config.block;
  return within(config.grid, usual_largest_grid) && within(block, usual_largest_block) &&
         block.x * block.y * block.z <= limits.threads &&
         ((__builtin_constant_p(config.shared_bytes) && config.shared_bytes == 0) ||
          config.shared_bytes <= limits.dynamic_shared) &&
         within(config.cluster, dims{1, 1, 1});
}

/// Whether the compiler knows something of the shape. (nvcc answers in its own front end, and
/// leaves the parameter out.)
template <class Config>
[[gnu::always_inline]] inline bool is_known_shape([[maybe_unused]] const Config& config) noexcept {
  return __builtin_constant_p(config.block.y);
}

#if defined(__SSE2__) && defined(__GNUC__) && !defined(__CUDACC__)

/// For a shape of which the compiler knows nothing: four numbers at a time.
template <class Limits>
[[gnu::always_inline]] inline bool is_plain_vector(const launch_config& config,
                                                   const Limits& limits) noexcept {
  typedef std::int32_t lanes __attribute__((vector_size(16)));
  typedef std::uint32_t counts __attribute__((vector_size(16)));
  typedef char bytes __attribute__((vector_size(16)));
  static_assert(__builtin_offsetof(launch_config, block) == 12 &&
                __builtin_offsetof(launch_config, shared_bytes) == 24 &&
                __builtin_offsetof(launch_config, cluster) == 28 &&
                __builtin_offsetof(launch_config, attributes) == 40);
  // The product may overflow for blocks that the vectors refuse.
  const std::uint32_t threads = config.block.x * config.block.y * config.block.z;
#  if defined(__clang__)
  if (threads > limits.threads) return false;  // first, or the three numbers leave the vectors
#  endif
  // These do not overlap, so that Clang can keep a shape that it knows out of memory.
  const auto* numbers = reinterpret_cast<const char*>(&config);
  counts first, second;
  lanes last, first_limits, second_limits;
  __builtin_memcpy(&first, numbers, sizeof first);
  __builtin_memcpy(&second, numbers + 16, sizeof second);
  __builtin_memcpy(&last, numbers + 32, sizeof last);
  // Pointers to the numbers: Clang 14 dies on arrays here, with the alignment sanitizer.
  __builtin_memcpy(&first_limits, __builtin_assume_aligned(&limits.first[0], 16),
                   sizeof first_limits);
  __builtin_memcpy(&second_limits, __builtin_assume_aligned(&limits.second[0], 16),
                   sizeof second_limits);
  // One less for the extents, and into the order of signed numbers.
  constexpr std::uint32_t extent = 0x7fff'ffff, size = std::uint32_t{1} << 31;
  const auto first_lanes = reinterpret_cast<lanes>(first + counts{extent, extent, extent, extent});
  const auto second_lanes = reinterpret_cast<lanes>(second + counts{extent, extent, size, extent});
  const lanes bad = (first_lanes > first_limits) | (second_lanes > second_limits);
  const lanes plain = last == lanes{1, 1, 0, 0};  // the cluster, and no attributes
#  if defined(__clang__)
  const lanes good = ~bad & plain;
  return __builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(good)) == 0xffff;
#  else
  // The builtin, because GCC writes `plain & ~bad` with two instructions more.
  typedef long long words __attribute__((vector_size(16)));
  const auto good = __builtin_ia32_pandn128(reinterpret_cast<words>(bad),  //
                                            reinterpret_cast<words>(plain));
  auto mask = static_cast<unsigned>(__builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(good)));
  // One addition for both, of 1 where there are too many threads: the sum is zero for all bits of
  // the mask and no carry alone, since four bits are always alike.
  bool both;
  asm("cmp{l %[threads], %[most]| %[most], %[threads]}\n\tadc{l $-0xffff, %[mask]| %[mask], "
      "-0xffff}"
      : "=@ccz"(both), [mask] "+r"(mask)
      : [threads] "r"(threads), [most] "m"(limits.threads));
  return both;
#  endif
}

template <class Limits>
[[gnu::always_inline]] inline bool is_plain_launch(const launch_config& config,
                                                   const Limits& limits) noexcept {
  return is_known_shape(config) ? is_plain_shape(config, limits) && config.attributes.size() == 0
                                : is_plain_vector(config, limits);
}

#else

template <class Limits>
[[gnu::always_inline]] inline bool is_plain_launch(const launch_config& config,
                                                   const Limits& limits) noexcept {
  return is_plain_shape(config, limits) && config.attributes.size() == 0;
}

#endif

}  // namespace gpu::inline v0::detail

// The fast path of a launch takes the shapes that the limits allow, and no others.

#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/launch_config.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

namespace kernel_limits_test { namespace {

using gpu::launch_config;
using gpu::detail::kernel_limits;

/// The limits of a kernel on the devices that there are, which differ in these two.
kernel_limits make_limits(std::uint32_t threads, std::uint32_t shared) {
  kernel_limits limits{};
  limits.grid = {0x7fffffff, 65535, 65535};
  limits.block = {1024, 1024, 64};
  limits.kernel_threads = threads;
  limits.dynamic_shared = shared;
  return limits;
}

/// The rules of the CUDA programming guide, in numbers that cannot overflow.
bool is_allowed(const launch_config& c, std::uint64_t threads, std::uint64_t shared) {
  const auto within = [](std::uint64_t value, std::uint64_t most) {
    return value >= 1 && value <= most;
  };
  return within(c.grid.x, 0x7fffffff) && within(c.grid.y, 65535) && within(c.grid.z, 65535) &&
         within(c.block.x, 1024) && within(c.block.y, 1024) && within(c.block.z, 64) &&
         std::uint64_t{c.block.x} * c.block.y * c.block.z <= threads && c.shared_bytes <= shared &&
         c.cluster.x == 1 && c.cluster.y == 1 && c.cluster.z == 1;
}

void check_one(const launch_config& config, const kernel_limits& limits) {
  const bool shape = is_allowed(config, limits.kernel_threads, limits.dynamic_shared);
  const bool whole = shape && config.attributes.size() == 0;
  const bool agrees = gpu::detail::fits(config, limits) == shape &&
                      gpu::detail::is_fast_path(config, limits) == whole;
  if (agrees) return;
  CAPTURE(config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y);
  CAPTURE(config.block.z, config.shared_bytes.value(), config.cluster.x, config.cluster.y);
  CAPTURE(config.cluster.z, config.attributes.size(), limits.kernel_threads, limits.dynamic_shared);
  FAIL("the shape is allowed: " << shape);
}

constexpr std::uint32_t edges[] = {
    0,          1,     2,     31,     32,     63,         64,         65,        255,   256,
    1023,       1024,  1025,  32767,  32768,  49152,      65535,      65536,     65537, 0x7ffffffe,
    0x7fffffff, 49153, 99328, 232448, 232449, 0x80000000, 0x80000001, 0xffffffff};

void set(launch_config& config, std::size_t field, std::uint32_t value) {
  std::uint32_t* const fields[] = {&config.grid.x,    &config.grid.y,    &config.grid.z,
                                   &config.block.x,   &config.block.y,   &config.block.z,
                                   &config.cluster.x, &config.cluster.y, &config.cluster.z};
  if (field < std::size(fields)) {
    *fields[field] = value;
  } else if (field == std::size(fields)) {
    config.shared_bytes = value;
  } else {
    config.attributes = gpu::launch_attributes_ref::from_native(nullptr, value);
  }
}

TEST_CASE("the launch path knows the limits at their edges", "[kernel][launch]") {
  for (const std::uint32_t threads : {0u, 1u, 256u, 1024u}) {
    for (const std::uint32_t shared : {0u, 49152u, 232448u}) {
      const auto limits = make_limits(threads, shared);
      // Each two numbers at their edges, with the others in the middle.
      for (std::size_t first = 0; first < 11; ++first) {
        for (std::size_t second = first; second < 11; ++second) {
          for (const std::uint32_t a : edges) {
            for (const std::uint32_t b : edges) {
              launch_config config{{3, 2, 2}, {4, 2, 1}};
              set(config, first, a);
              set(config, second, b);
              check_one(config, limits);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("the launch path sees every bit of the number of attributes", "[kernel][launch]") {
  const auto limits = make_limits(1024, 49152);
  for (int bit = 0; bit < 64; ++bit) {
    launch_config config{{3, 2, 2}, {4, 2, 1}};
    config.attributes = gpu::launch_attributes_ref::from_native(nullptr, std::size_t{1} << bit);
    check_one(config, limits);
  }
}

TEST_CASE("the launch path agrees with the limits for random shapes", "[kernel][launch]") {
  std::mt19937 random(7);
  const auto number = [&] { return static_cast<std::uint32_t>(random()); };
  int allowed = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto limits = make_limits(1 + number() % 1024, number() % 232449);
    const auto small = [&] { return 1 + number() % 12; };
    launch_config config{{small(), small(), small()}, {small(), small(), small()}};
    config.shared_bytes = number() % 232449;
    if (number() % 4 == 0) set(config, number() % 11, edges[number() % std::size(edges)]);
    if (is_allowed(config, limits.kernel_threads, limits.dynamic_shared)) ++allowed;
    check_one(config, limits);
  }
  CHECK(allowed > 20'000);
}

TEST_CASE("a shape that is known at compile time is judged alike", "[kernel][launch]") {
  const auto limits = make_limits(1024, 49152);
  CHECK(gpu::detail::is_fast_path({4, 256}, limits));
  CHECK(gpu::detail::is_fast_path({{1, 2, 3}, {4, 5, 6}, 49152}, limits));
  CHECK_FALSE(gpu::detail::is_fast_path({4, 1025}, limits));
  CHECK_FALSE(gpu::detail::is_fast_path({0, 256}, limits));
  CHECK_FALSE(gpu::detail::is_fast_path({4, {1, 1, 65}}, limits));
  CHECK_FALSE(gpu::detail::is_fast_path({4, 256, 49153}, limits));
  CHECK_FALSE(gpu::detail::is_fast_path({.grid = 4, .block = 256, .cluster = 2}, limits));
  CHECK_FALSE(gpu::detail::is_fast_path({4, 256}, gpu::detail::no_limits));
}

}}  // namespace kernel_limits_test

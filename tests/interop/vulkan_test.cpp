// CUDA and Vulkan on one GPU: memory and semaphores of Vulkan, imported by file descriptors.

#include "support/vulkan.hpp"

#include "support/results.hpp"

#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/external_memory.hpp>
#include <gpu/interop/external_semaphore.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/texture/copy_array.hpp>

#include <fcntl.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace vulkan_test {

using gpu::external_memory;
using gpu::external_semaphore;
using gpu::external_semaphore_handle_type;
using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr std::size_t count = 1 << 16;
constexpr std::size_t bytes = count * sizeof(unsigned);

/// Vulkan on the GPU of device 0; tests that find none are skipped with the reason.
struct fixture {
  gpu::device device = test::first_device();
  gpu::device_uuid uuid = value_of(device.uuid());
  test::vulkan theirs{&uuid.bytes[0]};
  gpu::stream stream = value_of(gpu::stream::create(device));

  bool is_missing() const {
    if (!theirs.missing().empty()) WARN("skipped: " + theirs.missing());
    return !theirs.missing().empty();
  }
  external_memory import(const test::vulkan::memory& what) const {
    gpu::file_descriptor file = theirs.export_memory(what);
    REQUIRE(file);
    auto made = value_of(external_memory::open(device, std::move(file), what.bytes));
    CHECK_FALSE(file);
    return made;
  }
  external_semaphore import(std::uint64_t semaphore, bool timeline) const {
    gpu::file_descriptor file = theirs.export_semaphore(semaphore);
    REQUIRE(file);
    return value_of(
        external_semaphore::open(device, std::move(file),
                                 timeline ? external_semaphore_handle_type::timeline_semaphore_fd
                                          : external_semaphore_handle_type::opaque_fd));
  }
  std::vector<unsigned> contents(const test::vulkan::memory& what) const {
    std::vector<unsigned> found(count);
    std::memcpy(found.data(), theirs.bytes(what), bytes);
    return found;
  }
};

}  // namespace

TEST_CASE("vulkan: a timeline semaphore orders what both sides write",
          "[interop][external][vulkan][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  const auto shared = f.theirs.make_buffer(bytes, true), seen = f.theirs.make_buffer(bytes, false);
  const std::uint64_t their_timeline = f.theirs.make_semaphore(true);
  const external_memory memory = f.import(shared);
  const external_semaphore timeline = f.import(their_timeline, true);
  auto buffer = value_of(memory.map_buffer<unsigned>(0, count));
  auto found = value_of(gpu::pinned_vector<unsigned>::create(f.device, count));
  auto ours = value_of(gpu::pinned_vector<unsigned>::create(f.device, count));
  std::ranges::fill(ours, 0x5eed'1234u);

  value_of(gpu::wait(f.stream, {timeline, 1}));  // nobody has signaled it yet
  value_of(gpu::copy(f.stream, buffer, found));
  value_of(gpu::copy(f.stream, ours, buffer));
  value_of(gpu::signal(f.stream, {timeline, 2}));
  CHECK_FALSE(value_of(f.stream.is_done()));
  f.theirs.fill({}, shared, 0xabcd'0001, {their_timeline, 1});
  f.theirs.copy({their_timeline, 2}, shared, seen, bytes, {their_timeline, 3});
  REQUIRE(f.theirs.wait({their_timeline, 3}));
  value_of(f.stream.synchronize());
  CHECK(std::vector<unsigned>(found.begin(), found.end()) ==
        std::vector<unsigned>(count, 0xabcd'0001));
  CHECK(f.contents(seen) == std::vector<unsigned>(count, 0x5eed'1234));

  value_of(gpu::wait(f.stream, {timeline, 4}));
  CHECK_FALSE(value_of(f.stream.is_done()));
  f.theirs.signal({their_timeline, 4});  // by the host
  value_of(f.stream.synchronize());
}

TEST_CASE("vulkan: binary semaphores pass a turn to the other side",
          "[interop][external][vulkan][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  const auto shared = f.theirs.make_buffer(bytes, true), seen = f.theirs.make_buffer(bytes, false);
  const std::uint64_t filled = f.theirs.make_semaphore(false),
                      written = f.theirs.make_semaphore(false),
                      done = f.theirs.make_semaphore(true);
  const external_memory memory = f.import(shared);
  const external_semaphore our_filled = f.import(filled, false),
                           our_written = f.import(written, false);
  auto half = value_of(memory.map_buffer<unsigned>(bytes / 2, count / 2));
  const std::vector<unsigned> ours(count / 2, 77);
  f.theirs.fill({}, shared, 11, {filled, 0});
  value_of(gpu::wait(f.stream, {our_filled}));
  value_of(gpu::copy(f.stream, half.span(), half.span()));
  value_of(f.stream.synchronize());
  value_of(gpu::copy(ours, half));
  value_of(gpu::signal(f.stream, {our_written}));
  f.theirs.copy({written, 0}, shared, seen, bytes, {done, 1});
  REQUIRE(f.theirs.wait({done, 1}));
  const std::vector<unsigned> found = f.contents(seen);
  CHECK(found[0] == 11);
  CHECK(found[count / 2 - 1] == 11);
  CHECK(found[count / 2] == 77);
  CHECK(found.back() == 77);
}

TEST_CASE("vulkan: imported memory is an image, too", "[interop][external][vulkan][hardware]") {
  fixture f;
  if (f.is_missing()) return;
  const auto shared = f.theirs.make_buffer(std::uint64_t{4} << 20, true);
  const external_memory memory = f.import(shared);
  const auto array = value_of(memory.map_mipmapped_array<float>({.width = 64, .height = 64}, 3));
  for (unsigned level = 0; level < 3; ++level) {
    const std::vector<float> ours(std::size_t{4096} >> (2 * level),
                                  static_cast<float>(level) + 0.5f);
    value_of(gpu::copy(ours, value_of(array.level(level))));
    std::vector<float> found(ours.size());
    value_of(gpu::copy(value_of(array.level(level)), found));
    CHECK(found == ours);
  }
}

TEST_CASE("external memory: on a GPU, a descriptor of something else stays the caller's",
          "[interop][external][hardware]") {
  const gpu::device device = test::first_device();
  auto file = gpu::file_descriptor::adopt(::open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK(says(error_of(external_memory::open(device, std::move(file), 4096)),
             "does not refer to external memory"));
  CHECK(file);
  CHECK(says(error_of(external_semaphore::open(device, std::move(file))),
             "does not refer to an external semaphore"));
  CHECK(file);
}

}  // namespace vulkan_test

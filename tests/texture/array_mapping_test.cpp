// Memory for arrays that were made without: what is copied into what is mapped comes back, and
// what cannot be mapped is refused with a sentence.

#include <gpu/texture/array_mapping.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/physical_memory.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/mipmapped_array.hpp>
#include <gpu/texture/texture.hpp>

#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace array_mapping_test {

using gpu::array_flags;
using gpu::array_mip_tail;
using gpu::array_shape;
using gpu::array_tiles;
using gpu::cuda_array;
using gpu::cuda_array_ref;
using gpu::map_array;
using gpu::mipmapped_array;
using gpu::physical_memory;
using gpu::unmap_array;
using test::error_of;
using test::says;
using test::value_of;

namespace {

/// Memory for arrays of some bytes, in units of physical memory.
physical_memory pool_of(const gpu::device& device, std::size_t bytes) {
  const std::size_t unit = value_of(gpu::granularity_of(device));
  return value_of(
      physical_memory::create(device, (bytes + unit - 1) / unit * unit, {.tile_pool = true}));
}

struct mapping_fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  physical_memory pool = pool_of(device, std::size_t{4} << 20);

  template <class T = float> cuda_array<T> make(array_shape shape, array_flags flag) {
    shape.flags = flag;
    return value_of(cuda_array<T>::create(device, shape));
  }
};

/// Copies numbers to a part of an array and back.
template <class T>
bool keeps(const cuda_array_ref<T>& array, gpu::box_position at, gpu::box_extent size, T first) {
  std::vector<T> in(size.width * size.height * size.depth), out(in.size());
  std::iota(in.begin(), in.end(), first);
  const gpu::result<> there = copy(in, array, {.destination = at, .size = size});
  if (!there.has_value()) FAIL(there.error().message().c_str());
  const gpu::result<> back = copy(array, out, {.source = at, .size = size});
  if (!back.has_value()) FAIL(back.error().message().c_str());
  return in == out;
}
template <class T> bool keeps(const cuda_array_ref<T>& array, T first) {
  return keeps(array, {}, array.shape().extent(), first);
}

}  // namespace

TEST_CASE("map_array: tiles of a sparse array", "[texture][mapping]") {
  mapping_fixture f;
  const auto array = f.make({.width = 512, .height = 256}, array_flags::sparse);
  const gpu::box_extent tile = value_of(array.sparse_properties()).tile;
  REQUIRE(tile.width * tile.height * tile.depth * sizeof(float) == 65536);
  const array_tiles second{.at = {tile.width}, .size = tile};
  value_of(map_array(f.stream, array, second, f.pool));
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(array, second.at, tile, 1));
  const auto origins = [&] {
    return std::string(gpu::detail::list_origins(f.stream.native()).c_str());
  };
  CHECK(origins().find("a mapping of an array at ") == std::string::npos);
  // All of it, the tile from before at another place in the memory.
  value_of(map_array(f.stream, array, array_tiles{}, f.pool, 131072));
  CHECK(origins().find("a mapping of an array at ") != std::string::npos);
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(array, 7));
  // Another tile's memory is not touched by what is copied to this one.
  std::vector<float> seen(tile.width * tile.height);
  REQUIRE(copy(array, seen, {.source = second.at, .size = tile}).has_value());
  CHECK(keeps<float>(array, {}, tile, 1000));
  std::vector<float> again(seen.size());
  REQUIRE(copy(array, again, {.source = second.at, .size = tile}).has_value());
  CHECK(seen == again);
  value_of(unmap_array(f.stream, array, second));
  CHECK(origins().find("an unmapping of an array at ") != std::string::npos);
  value_of(unmap_array(f.stream, array, array_tiles{}));
  value_of(map_array(f.stream, array, array_tiles{.size = tile}, f.pool));
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(array, {}, tile, 5));
  // Behind what the first tile has, not over it.
  value_of(map_array(f.stream, array, second, f.pool, 65536));
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(array, second.at, tile, 2000));
  REQUIRE(copy(array, again, {.size = tile}).has_value());
  CHECK(again.front() == 5);
}

TEST_CASE("map_array: up to the edge, in layers and in volumes", "[texture][mapping]") {
  mapping_fixture f;
  {
    const auto odd = f.make({.width = 200, .height = 130}, array_flags::sparse);
    value_of(map_array(f.stream, odd, array_tiles{.size = {200, 130}}, f.pool));
    value_of(f.stream.synchronize());
    CHECK(keeps<float>(odd, 3));
  }
  {
    const auto layers = f.make({.width = 256, .height = 256, .layers = 3}, array_flags::sparse);
    value_of(map_array(f.stream, layers, array_tiles{.layer = 2}, f.pool));
    value_of(f.stream.synchronize());
    CHECK(keeps<float>(layers, {0, 0, 2}, {256, 256, 1}, 9));
  }
  const auto volume =
      f.make<unsigned>({.width = 64, .height = 64, .depth = 64}, array_flags::sparse);
  const gpu::box_extent tile = value_of(volume.sparse_properties()).tile;
  CHECK(tile.depth > 1);
  value_of(map_array(f.stream, volume, array_tiles{.at = {0, 0, tile.depth}}, f.pool));
  value_of(f.stream.synchronize());
  CHECK(keeps<unsigned>(volume, {0, 0, tile.depth}, {64, 64, 64 - tile.depth}, 11));
}

TEST_CASE("map_array: levels, and the tail that is smaller than tiles", "[texture][mapping]") {
  mapping_fixture f;
  array_shape shape{.width = 512, .height = 512};
  shape.flags = array_flags::sparse;
  const auto levels = value_of(mipmapped_array<float>::create(f.device, shape));
  const auto properties = value_of(levels.sparse_properties());
  REQUIRE(properties.mip_tail_level > 0);
  REQUIRE(properties.mip_tail_level < levels.levels());
  std::size_t offset = 0;
  for (unsigned i = 0; i < properties.mip_tail_level; ++i) {
    value_of(map_array(f.stream, levels, array_tiles{.level = i}, f.pool, offset));
    offset += (std::size_t{512} >> i) * (std::size_t{512} >> i) * sizeof(float);
  }
  value_of(map_array(f.stream, levels, array_mip_tail{}, f.pool, offset));
  value_of(f.stream.synchronize());
  for (unsigned i = 0; i < levels.levels(); ++i) {
    INFO("level " << i);
    CHECK(keeps<float>(value_of(levels.level(i)), static_cast<float>(i)));
  }
  value_of(unmap_array(f.stream, levels, array_mip_tail{.size = properties.mip_tail_size}));
  value_of(unmap_array(f.stream, levels, array_tiles{.level = 1}));
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(value_of(levels.level(0)), 77));
  // An array that is smaller than a tile is all tail.
  const auto small = f.make({.width = 20, .height = 10}, array_flags::sparse);
  value_of(map_array(f.stream, small, array_mip_tail{}, f.pool, offset));
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(small, 1));
}

TEST_CASE("map_array: an array of deferred mapping, as a whole", "[texture][mapping]") {
  mapping_fixture f;
  const auto array = f.make({.width = 300, .height = 200}, array_flags::deferred_mapping);
  const auto needed = value_of(array.memory_requirements());
  value_of(map_array(f.stream, array, f.pool, needed.alignment));
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(array, 4));
  value_of(unmap_array(f.stream, array));
  value_of(map_array(f.stream, array, f.pool));
  value_of(f.stream.synchronize());
  CHECK(keeps<float>(array, 5));
  array_shape shape{.width = 64, .height = 64};
  shape.flags = array_flags::deferred_mapping;
  const auto levels = value_of(mipmapped_array<float>::create(f.device, shape));
  const auto more = pool_of(f.device, value_of(levels.memory_requirements()).size);
  value_of(map_array(f.stream, levels, more));
  value_of(f.stream.synchronize());
  for (unsigned i = 0; i < levels.levels(); ++i)
    CHECK(keeps<float>(value_of(levels.level(i)), static_cast<float>(i)));
  value_of(unmap_array(f.stream, levels));
}

TEST_CASE("map_array: in the order of the stream, under a texture that was there before",
          "[texture][mapping]") {
  mapping_fixture f;
  const auto array = f.make({.width = 256, .height = 256}, array_flags::sparse);
  const auto texture = value_of(gpu::texture<float>::create(array));
  const gpu::module code = value_of(gpu::module::load(value_of(gpu::compile(R"(
    extern "C" __global__ void sample(cudaTextureObject_t image, float* out) {
      out[threadIdx.x] = tex2D<float>(image, threadIdx.x + 0.5f, threadIdx.x + 1.5f);
    })"))));
  const auto sample = value_of(code.kernel<gpu::texture_ref<float>, float*>("sample"));
  auto pixels = value_of(gpu::pinned_vector<float>::create(f.device, 256 * 256));
  std::iota(pixels.begin(), pixels.end(), 0.0f);
  auto out = value_of(gpu::device_buffer<float>::create(f.device, 200));
  auto seen = value_of(gpu::pinned_vector<float>::create(f.device, 200));
  value_of(map_array(f.stream, array, array_tiles{}, f.pool));
  value_of(copy(f.stream, pixels, array));
  value_of(gpu::launch(f.stream, {1, 200}, sample, texture, out));
  value_of(copy(f.stream, out, seen));
  value_of(unmap_array(f.stream, array, array_tiles{}));
  value_of(f.stream.synchronize());
  for (std::size_t i = 0; i < seen.size(); ++i)
    REQUIRE(seen[i] == static_cast<float>((i + 1) * 256 + i));
}

TEST_CASE("map_array: what is no part of an array is refused", "[texture][mapping]") {
  mapping_fixture f;
  array_shape shape{.width = 512, .height = 512, .layers = 2};
  shape.flags = array_flags::sparse;
  const auto levels = value_of(mipmapped_array<float>::create(f.device, shape));
  const auto properties = value_of(levels.sparse_properties());
  const auto tiles = [&](array_tiles part) {
    return error_of(unmap_array(f.stream, levels, part));
  };
  gpu::cuda_error error = tiles({.level = 99});
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "gpu::unmap_array", "level 99 does not exist: the array has 10"));
  error = tiles({.layer = 2});
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "layer 2 does not exist: the array has 2"));
  error = tiles({.level = properties.mip_tail_level});
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "has no tiles: the mip tail begins at level", "Map a gpu::array_mip_tail"));
  error = tiles({.at = {512}});
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "0 texels from 512 on along x", "the level, which has 512"));
  error = tiles({.at = {0, 128}, .size = {128, 512}});
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "512 texels from 128 on along y", "the level, which has 512"));
  CHECK(tiles({.at = {0, 512}}) == gpu::errc::index_out_of_range);
  CHECK(tiles({.size = {128, 0}}) == gpu::errc::index_out_of_range);
  CHECK(tiles({.size = {0, 128}}) == gpu::errc::index_out_of_range);
  error = tiles({.size = {128, 128, 2}});
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "along z"));
  error = tiles({.at = {130}, .size = {128, 128}});
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "the position along x is 130 texels", "the 128 texels of a tile", "Use 128."));
  error = tiles({.size = {128, 100}});
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "the size along y is 100 texels", "Use 128, or extend to the edge"));

  const auto tail = [&](array_mip_tail part) {
    return error_of(unmap_array(f.stream, levels, part));
  };
  error = tail({.layer = 2});
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "layer 2 does not exist"));
  error = tail({.offset = 1, .size = 65536 - 1});
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "65535 bytes from offset 1 on", "in tiles of 65536"));
  CHECK(tail({.size = 1}) == gpu::errc::invalid_argument);
  error = tail({.offset = properties.mip_tail_size});
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(says(error, "not whole tiles inside the mip tail"));
  error = tail({.size = properties.mip_tail_size + 65536});
  CHECK(error == gpu::errc::index_out_of_range);
  const auto all_tiles = f.make({.width = 256, .height = 256}, array_flags::sparse);
  error = error_of(unmap_array(f.stream, all_tiles, array_mip_tail{}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "does not have a mip tail"));
}

TEST_CASE("map_array: memory and arrays that do not fit are refused", "[texture][mapping]") {
  mapping_fixture f;
  const auto sparse = f.make({.width = 256, .height = 256}, array_flags::sparse);
  const auto deferred = f.make({.width = 256, .height = 256}, array_flags::deferred_mapping);
  const auto plain = f.make({.width = 256, .height = 256}, array_flags::none);
  const auto refused = [](gpu::result<> outcome, gpu::errc code, const char* words) {
    const gpu::cuda_error error = error_of(std::move(outcome));
    return error == code && says(error, "gpu::map_array", words);
  };
  using gpu::errc;
  CHECK(refused(map_array(f.stream, plain, array_tiles{}, f.pool), errc::invalid_argument,
                "array_flags::sparse"));
  CHECK(refused(map_array(f.stream, deferred, array_tiles{}, f.pool), errc::invalid_argument,
                "array_flags::sparse"));
  CHECK(refused(map_array(f.stream, sparse, f.pool), errc::invalid_argument,
                "array_flags::deferred_mapping"));
  CHECK(refused(map_array(f.stream, sparse, array_tiles{}, f.pool, 100), errc::invalid_argument,
                "the offset in the physical memory is 100 bytes"));
  const std::size_t end = f.pool.size_bytes();
  CHECK(refused(map_array(f.stream, sparse, array_tiles{}, f.pool, end - 65536),
                errc::index_out_of_range, "the physical memory has only 65536"));
  CHECK(map_array(f.stream, sparse, array_tiles{}, f.pool, end - 4 * 65536).has_value());
  value_of(unmap_array(f.stream, sparse, array_tiles{}));
  value_of(f.stream.synchronize());
  CHECK(refused(map_array(f.stream, deferred, f.pool, end + 65536), errc::index_out_of_range,
                "the physical memory has only 0"));
  CHECK(refused(map_array(gpu::stream_ref{}, sparse, array_tiles{}, f.pool), errc::empty_handle,
                "stream"));
  CHECK(refused(map_array(f.stream, cuda_array_ref<>{}, array_tiles{}, f.pool), errc::empty_handle,
                "array"));
  CHECK(refused(map_array(f.stream, gpu::mipmapped_array_ref<>{}, f.pool), errc::empty_handle,
                "mipmapped array"));
  const physical_memory taken = std::move(f.pool);
  CHECK(refused(map_array(f.stream, sparse, array_tiles{}, f.pool), errc::empty_handle,
                "physical memory"));
}

TEST_CASE("map_array: blocks of texels are left to the driver", "[texture][mapping][cpu]") {
  mapping_fixture f;
  const auto blocks =
      value_of(cuda_array<>::create(f.device, {gpu::array_format::bc1_unorm, 4},
                                    {.width = 1024, .height = 1024, .flags = array_flags::sparse}));
  const array_tiles first{.size = value_of(blocks.sparse_properties()).tile};
  const gpu::cuda_error error = error_of(map_array(f.stream, blocks, first, f.pool));
  INFO(error.message().c_str());
  CHECK(error.code() == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("map_array: memory that was created for addresses", "[texture][mapping]") {
  mapping_fixture f;
  const auto array = f.make({.width = 256, .height = 256}, array_flags::sparse);
  const auto plain = value_of(physical_memory::create(f.device, std::size_t{2} << 20));
  const gpu::cuda_error error = error_of(map_array(f.stream, array, array_tiles{}, plain));
  CHECK(error.code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(says(error, "{.tile_pool = true}"));
}

TEST_CASE("map_array: array, stream and memory are of one device",
          "[texture][mapping][two_devices]") {
  mapping_fixture f;
  const gpu::device other = value_of(gpu::device::get(1));
  const gpu::stream there = value_of(gpu::stream::create(other));
  const auto array = f.make({.width = 256, .height = 256}, array_flags::sparse);
  gpu::cuda_error error = error_of(map_array(there, array, array_tiles{}, f.pool));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "the stream belongs to device 1, the array to device 0"));
  CHECK(error_of(unmap_array(there, cuda_array_ref<>{})) == gpu::errc::empty_handle);
  const physical_memory far = pool_of(other, 1);
  error = error_of(map_array(f.stream, array, array_tiles{}, far));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "the stream is on device 0"));
}

TEST_CASE("map_array: not in a capture, which goes on", "[texture][mapping][capture]") {
  mapping_fixture f;
  const auto array = f.make({.width = 256, .height = 256}, array_flags::sparse);
  auto capture = value_of(gpu::stream_capture::begin(f.stream));
  const gpu::cuda_error error = error_of(map_array(f.stream, array, array_tiles{}, f.pool));
  CHECK(error == gpu::errc::capture_prohibited);
  CHECK(says(error, "before the capture begins"));
  CHECK(error_of(unmap_array(f.stream, array, array_tiles{})) == gpu::errc::capture_prohibited);
  CHECK(capture.end().has_value());
}

TEST_CASE("map_array: survives failing calls, and lets go of memory", "[texture][mapping][cpu]") {
  {
    test::own_cpu_driver driver;
    const gpu::device device = test::first_device();
    const gpu::stream stream = value_of(gpu::stream::create(device));
    const auto scope = value_of(gpu::context_scope::enter(stream.context()));
    const std::size_t before = driver.live_objects();
    const auto free_bytes = [&] {
      std::size_t free = 0, total = 0;
      REQUIRE(driver.table().mem_get_info(&free, &total) == CUDA_SUCCESS);
      return free;
    };
    const std::size_t at_first = free_bytes();
    {
      auto array = value_of(cuda_array<float>::create(
          device, {.width = 256, .height = 256, .flags = array_flags::sparse}));
      {
        const physical_memory pool = pool_of(device, 1);
        value_of(map_array(stream, array, array_tiles{}, pool));
      }
      CHECK(free_bytes() == at_first - (std::size_t{2} << 20));  // what is mapped stays
      CHECK(keeps<float>(array, 1));
    }
    INFO(driver.live_list());
    CHECK(driver.live_objects() == before);
    CHECK(free_bytes() == at_first);
  }
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(stream.context()));
              auto pool = GPU_TRY(
                  physical_memory::create(device, std::size_t{2} << 20, {.tile_pool = true}));
              auto sparse = GPU_TRY(mipmapped_array<float>::create(
                  device, {.width = 256, .height = 256, .flags = array_flags::sparse}));
              auto deferred = GPU_TRY(cuda_array<float>::create(
                  device, {.width = 16, .height = 16, .flags = array_flags::deferred_mapping}));
              GPU_TRY(map_array(stream, sparse, array_tiles{}, pool));
              GPU_TRY(map_array(stream, sparse, array_mip_tail{}, pool, 1 << 20));
              GPU_TRY(map_array(stream, deferred, pool));
              GPU_TRY(unmap_array(stream, deferred));
              GPU_TRY(unmap_array(stream, sparse, array_mip_tail{}));
              GPU_TRY(unmap_array(stream, sparse, array_tiles{}));
              return stream.synchronize();
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace array_mapping_test

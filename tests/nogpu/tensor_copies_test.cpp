// Kernels that copy tiles by tensor maps, with the functions of <gpu/tensor_copy.hpp>. What arrives
// is compared with the elements that this file takes from the array itself.

#include <gpu/compiler.hpp>
#include <gpu/driver.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>
#include <gpu/tensor_copy.hpp>

#include "support/results.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tensor_copies_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

using u32 = std::uint32_t;

const char source[] = R"(
#include <gpu/tensor_copy.hpp>

// Shared memory as a load of `bytes` leaves it, word by word. What the load does not write is ~0.
template <class T, int Rank>
__device__ void show(const gpu::tensor_map<T, Rank>& map, int bytes, int words, unsigned* out,
                     const int (&at)[Rank]) {
  extern __shared__ __align__(1024) unsigned tile[];
  __shared__ gpu::tile_barrier barrier;
  for (int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = ~0u;
  if (threadIdx.x == 0) barrier.init();
  gpu::fence_tiles();
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier.expect(bytes);
    T* const to = reinterpret_cast<T*>(tile);
    if constexpr (Rank == 1) gpu::load_tile(to, map, barrier, at[0]);
    if constexpr (Rank == 2) gpu::load_tile(to, map, barrier, at[0], at[1]);
    if constexpr (Rank == 3) gpu::load_tile(to, map, barrier, at[0], at[1], at[2]);
    if constexpr (Rank == 4) gpu::load_tile(to, map, barrier, at[0], at[1], at[2], at[3]);
    if constexpr (Rank == 5) gpu::load_tile(to, map, barrier, at[0], at[1], at[2], at[3], at[4]);
  }
  barrier.wait(0);
  for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = tile[i];
}

#define SHOW(name, T, Rank)                                                                     \
  extern "C" __global__ void name(const __grid_constant__ gpu::tensor_map<T, Rank> map, int a,  \
                                  int b, int c, int d, int e, int bytes, int words,             \
                                  unsigned* out) {                                              \
    const int all[5] = {a, b, c, d, e};                                                         \
    int at[Rank];                                                                               \
    for (int n = 0; n < Rank; ++n) at[n] = all[n];                                              \
    show<T, Rank>(map, bytes, words, out, at);                                                  \
  }
SHOW(words_1, unsigned, 1)
SHOW(words_2, unsigned, 2)
SHOW(words_3, unsigned, 3)
SHOW(words_4, unsigned, 4)
SHOW(words_5, unsigned, 5)
SHOW(floats_2, float, 2)
SHOW(bytes_2, unsigned char, 2)

// Tiles of 32 x 32 go through shared memory, transposed, by one block each.
extern "C" __global__ void transpose(const __grid_constant__ gpu::tensor_map<const float, 2> from,
                                     const __grid_constant__ gpu::tensor_map<float, 2> to) {
  __shared__ __align__(128) float in[32][32], out[32][32];
  __shared__ gpu::tile_barrier barrier;
  const int row = 32 * blockIdx.y, column = 32 * blockIdx.x;
  if (threadIdx.x == 0) {
    gpu::prefetch_map(from);
    gpu::prefetch_tile(from, row, column);
    barrier.init();
    barrier.expect(sizeof in);
    gpu::load_tile(&in[0][0], from, barrier, row, column);
  }
  __syncthreads();
  barrier.wait(0);
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) out[i / 32][i % 32] = in[i % 32][i / 32];
  gpu::fence_tiles();
  __syncthreads();
  if (threadIdx.x == 0) {
    gpu::store_tile(to, &out[0][0], column, row);
    gpu::commit_tiles();
    gpu::wait_tiles();
  }
}

// Rows of 32 words, by the index that the swizzle of 128 bytes gives them.
extern "C" __global__ void unswizzle(const __grid_constant__ gpu::tensor_map<unsigned, 2> map,
                                     unsigned* out) {
  __shared__ __align__(1024) unsigned tile[16 * 32];
  __shared__ gpu::tile_barrier arrived;
  if (threadIdx.x == 0) {
    arrived.init();
    arrived.expect(sizeof tile);
    gpu::load_tile(tile, map, arrived, 2, 4);
  }
  __syncthreads();
  arrived.wait(0);
  const int j = threadIdx.x;
  for (int i = 0; i < 16; ++i) out[32 * i + j] = tile[32 * i + (j ^ i % 8 * 4)];
}

// Block 0 of each cluster of two brings a tile to both, and block 1 another.
extern "C" __global__ void share(const __grid_constant__ gpu::tensor_map<unsigned, 1> map,
                                 unsigned* out) {
  __shared__ __align__(128) unsigned tiles[2][32];
  __shared__ gpu::tile_barrier arrived;
  unsigned rank;
  asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    arrived.init();
    arrived.expect(sizeof tiles);
  }
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" : : : "memory");
  if (threadIdx.x == 0) gpu::load_tile_to(3, tiles[rank], map, arrived, 32 * blockIdx.x);
  arrived.wait(0);
  for (int i = 0; i < 2; ++i) out[64 * blockIdx.x + 32 * i + threadIdx.x] = tiles[i][threadIdx.x];
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" : : : "memory");
}

// A column of `pixels` pixels of 4 words each.
extern "C" __global__ void pixels_of_lines(
    const __grid_constant__ gpu::tensor_map<const unsigned, 3> map, int n, int w, int c, int x,
    int y, int z, int h, int d, int pixels, unsigned* out) {
  __shared__ __align__(128) unsigned tile[4 * 64];
  __shared__ gpu::tile_barrier arrived;
  if (threadIdx.x == 0) {
    arrived.init();
    arrived.expect(16 * pixels);
    gpu::load_pixels(tile, map, arrived, {n, w, c}, {static_cast<unsigned short>(x)});
  }
  __syncthreads();
  arrived.wait(0);
  for (int i = threadIdx.x; i < 4 * pixels; i += blockDim.x) out[i] = tile[i];
}
extern "C" __global__ void pixels_of_images(
    const __grid_constant__ gpu::tensor_map<const unsigned, 4> map, int n, int w, int c, int x,
    int y, int z, int h, int d, int pixels, unsigned* out) {
  __shared__ __align__(128) unsigned tile[4 * 64];
  __shared__ gpu::tile_barrier arrived;
  if (threadIdx.x == 0) {
    arrived.init();
    arrived.expect(16 * pixels);
    gpu::load_pixels(tile, map, arrived, {n, h, w, c},
                     {static_cast<unsigned short>(y), static_cast<unsigned short>(x)});
  }
  __syncthreads();
  arrived.wait(0);
  for (int i = threadIdx.x; i < 4 * pixels; i += blockDim.x) out[i] = tile[i];
}
extern "C" __global__ void pixels_of_volumes(
    const __grid_constant__ gpu::tensor_map<const unsigned, 5> map, int n, int w, int c, int x,
    int y, int z, int h, int d, int pixels, unsigned* out) {
  __shared__ __align__(128) unsigned tile[4 * 64];
  __shared__ gpu::tile_barrier arrived;
  if (threadIdx.x == 0) {
    arrived.init();
    arrived.expect(16 * pixels);
    gpu::load_pixels(tile, map, arrived, {n, d, h, w, c},
                     {static_cast<unsigned short>(z), static_cast<unsigned short>(y),
                      static_cast<unsigned short>(x)});
  }
  __syncthreads();
  arrived.wait(0);
  for (int i = threadIdx.x; i < 4 * pixels; i += blockDim.x) out[i] = tile[i];
}

// Each block adds a tile of its number plus 1 to the same elements.
extern "C" __global__ void add(const __grid_constant__ gpu::tensor_map<int, 2> to, int row,
                               int column) {
  __shared__ __align__(128) int tile[8 * 8];
  if (threadIdx.x < 64) tile[threadIdx.x] = blockIdx.x + 1;
  gpu::fence_tiles();
  __syncthreads();
  if (threadIdx.x == 0) {
    gpu::add_tile(to, tile, row, column);
    gpu::commit_tiles();
    gpu::wait_tile_reads();
  }
}
)";

const gpu::module& code() {
  static const gpu::module loaded = value_of(gpu::module::load(value_of(
      gpu::compile(gpu::program(source), {.architecture = gpu::architecture::compute(90)}))));
  return loaded;
}

/// An array of consecutive words in device memory, and what copies of it must bring.
template <int Rank> struct sample {
  std::array<std::size_t, Rank> extents;
  std::vector<u32> host;
  gpu::device_buffer<u32> device;

  explicit sample(const std::array<std::size_t, Rank>& shape) : extents{shape} {
    std::size_t size = 1;
    for (const std::size_t extent : shape) size *= extent;
    host.resize(size);
    std::iota(host.begin(), host.end(), 1000u);
    device = value_of(gpu::device_buffer<u32>::create(test::first_device(), size));
    value_of(gpu::copy(host, device));
  }
  gpu::array_view<u32, Rank> view() {
    std::size_t shape[Rank];
    for (int n = 0; n < Rank; ++n) shape[n] = extents[static_cast<std::size_t>(n)];
    return value_of(gpu::array_view<u32, Rank>::row_major(device.span(), shape));
  }

  /// The tile of shape `box` at a place, with steps; `outside` where there is no element.
  std::vector<u32> tile(const std::array<std::size_t, Rank>& box, const std::array<int, Rank>& at,
                        const std::array<int, Rank>& steps, u32 outside = 0) const {
    std::size_t size = 1;
    for (const std::size_t extent : box) size *= extent;
    std::vector<u32> expected(size);
    for (std::size_t i = 0; i < size; ++i) {
      std::size_t left = i, offset = 0, scale = 1;
      bool inside = true;
      for (std::size_t n = Rank; n-- > 0;) {
        const auto index = static_cast<long>(left % box[n]) * steps[n] + at[n];
        left /= box[n];
        inside = inside && index >= 0 && index < static_cast<long>(extents[n]);
        offset += static_cast<std::size_t>(index) * scale;
        scale *= extents[n];
      }
      expected[i] = inside ? host[offset] : outside;
    }
    return expected;
  }
};

/// Shared memory after a load of `bytes` at a place.
template <class T, int Rank>
std::vector<u32> shown(const char* name, const gpu::tensor_map<T, Rank>& map, std::array<int, 5> at,
                       std::size_t bytes, std::size_t words) {
  const auto kernel = value_of(
      code().kernel<gpu::tensor_map<T, Rank>, int, int, int, int, int, int, int, u32*>(name));
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  auto out = value_of(gpu::device_buffer<u32>::create(stream, words));
  gpu::launch_config config{1, 64};
  config.shared_bytes = static_cast<unsigned>(words * 4);
  value_of(gpu::launch(stream, config, kernel, map, at[0], at[1], at[2], at[3], at[4],
                       static_cast<int>(bytes), static_cast<int>(words), out));
  value_of(stream.synchronize());
  std::vector<u32> found(words);
  value_of(gpu::copy(out, found));
  return found;
}

template <int Rank>
void check_tile(const char* name, const std::array<std::size_t, Rank>& extents,
                const std::array<std::size_t, Rank>& box, const std::array<int, Rank>& at,
                const std::array<int, Rank>& steps) {
  sample<Rank> array(extents);
  gpu::tensor_map_options options;
  gpu::shape<Rank> shape;
  std::array<int, 5> place{};
  for (int n = 0; n < Rank; ++n) {
    const auto i = static_cast<std::size_t>(n);
    options.steps[n] = static_cast<unsigned>(steps[i]);
    shape[n] = box[i];
    place[i] = at[i];
  }
  const auto map =
      value_of(gpu::make_tensor_map(test::first_device(), array.view(), shape, options));
  const auto expected = array.tile(box, at, steps);
  CHECK(shown(name, map, place, expected.size() * 4, expected.size()) == expected);
}

TEST_CASE("tiles of one to five axes arrive, with zeros for what is outside", "[tensor]") {
  check_tile<1>("words_1", {1000}, {64}, {100}, {1});
  check_tile<1>("words_1", {1000}, {256}, {-4}, {1});
  check_tile<2>("words_2", {20, 64}, {8, 16}, {4, 20}, {1, 1});
  check_tile<2>("words_2", {20, 64}, {8, 16}, {-3, -8}, {1, 1});
  check_tile<2>("words_2", {20, 64}, {8, 16}, {15, 60}, {1, 1});
  check_tile<2>("words_2", {20, 64}, {8, 16}, {100, 0}, {1, 1});
  check_tile<3>("words_3", {5, 6, 8}, {3, 4, 4}, {1, 2, 4}, {1, 1, 1});
  check_tile<3>("words_3", {5, 6, 8}, {3, 4, 4}, {3, -1, 4}, {1, 1, 1});
  check_tile<4>("words_4", {4, 3, 5, 8}, {2, 2, 3, 8}, {1, 1, 1, 0}, {1, 1, 1, 1});
  check_tile<4>("words_4", {4, 3, 5, 8}, {2, 2, 3, 8}, {-1, 2, 4, -4}, {1, 1, 1, 1});
  check_tile<5>("words_5", {3, 2, 4, 3, 8}, {2, 2, 2, 2, 4}, {1, 0, 1, 1, 4}, {1, 1, 1, 1, 1});
  check_tile<5>("words_5", {3, 2, 4, 3, 8}, {2, 2, 2, 2, 4}, {2, -1, 3, 2, 4}, {1, 1, 1, 1, 1});
}

TEST_CASE("a tile takes every second or third row", "[tensor]") {
  check_tile<2>("words_2", {40, 16}, {8, 8}, {1, 4}, {3, 1});
  check_tile<3>("words_3", {12, 9, 8}, {4, 3, 8}, {2, -2, 0}, {2, 4, 1});
}

TEST_CASE("a swizzle exchanges the 16-byte pieces of a tile", "[tensor]") {
  sample<2> array({64, 64});
  const struct {
    gpu::tensor_swizzle swizzle;
    std::size_t columns;
  } cases[] = {{gpu::tensor_swizzle::bytes_32, 8},
               {gpu::tensor_swizzle::bytes_64, 16},
               {gpu::tensor_swizzle::bytes_128, 32}};
  for (const auto& each : cases) {
    CAPTURE(each.columns);
    const std::array<std::size_t, 2> box{16, each.columns};
    const auto map = value_of(gpu::make_tensor_map(test::first_device(), array.view(),
                                                   {box[0], box[1]}, {.swizzle = each.swizzle}));
    const auto linear = array.tile(box, {3, 4}, {1, 1});
    // A piece of 16 bytes moves within its span by the number of the 128 bytes that it lies in.
    const std::size_t pieces = each.columns / 4;
    std::vector<u32> expected(linear.size());
    for (std::size_t piece = 0; piece < linear.size() / 4; ++piece) {
      const std::size_t to = piece / pieces * pieces + (piece % pieces ^ (piece / 8) % pieces);
      for (std::size_t i = 0; i < 4; ++i) expected[4 * to + i] = linear[4 * piece + i];
    }
    CHECK(shown("words_2", map, {3, 4}, linear.size() * 4, linear.size()) == expected);
  }
}

TEST_CASE("an element is found by the index that its swizzle gives it", "[tensor]") {
  sample<2> array({24, 64});
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  auto out = value_of(gpu::device_buffer<u32>::create(stream, 512));
  const auto map = value_of(gpu::make_tensor_map(test::first_device(), array.view(), {16, 32},
                                                 {.swizzle = gpu::tensor_swizzle::bytes_128}));
  const auto kernel = value_of(code().kernel<gpu::tensor_map<u32, 2>, u32*>("unswizzle"));
  value_of(gpu::launch(stream, {1, 32}, kernel, map, out));
  value_of(stream.synchronize());
  std::vector<u32> found(512);
  value_of(gpu::copy(out, found));
  CHECK(found == array.tile({16, 32}, {2, 4}, {1, 1}));
}

TEST_CASE("a tile arrives in the blocks of a cluster", "[tensor]") {
  sample<1> array({256});
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  auto out = value_of(gpu::device_buffer<u32>::create(stream, 8 * 64));
  const auto map = value_of(gpu::make_tensor_map(test::first_device(), array.view(), {32}));
  const auto kernel = value_of(code().kernel<gpu::tensor_map<u32, 1>, u32*>("share"));
  value_of(gpu::launch(stream, {.grid = 8, .block = 32, .cluster = 2}, kernel, map, out));
  value_of(stream.synchronize());
  std::vector<u32> found(8 * 64);
  value_of(gpu::copy(out, found));
  for (u32 block = 0; block < 8; ++block)
    for (u32 i = 0; i < 64; ++i) CHECK(found[64 * block + i] == 1000 + block / 2 * 64 + i);
}

namespace {

/// Columns of pixels of images of `sizes`: images, then axes of pixels, and 4 channels. `first` is
/// the place of the first pixel.
template <int Rank>
void check_pixels(const char* name, const std::array<std::size_t, Rank>& sizes,
                  const gpu::im2col_box<Rank>& box, const std::array<int, Rank>& steps,
                  std::array<int, Rank> first, const std::array<int, Rank - 2>& offsets) {
  sample<Rank> array(sizes);
  gpu::tensor_map_options options;
  for (int n = 0; n < Rank; ++n)
    options.steps[n] = static_cast<unsigned>(steps[static_cast<std::size_t>(n)]);
  const gpu::array_view<const u32, Rank> view = array.view();
  const auto map = value_of(gpu::make_im2col_map(test::first_device(), view, box, options));
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  auto out = value_of(gpu::device_buffer<u32>::create(stream, 4 * box.pixels));
  const auto kernel = value_of(code()
                                   .kernel<gpu::tensor_map<const u32, Rank>, int, int, int, int,
                                           int, int, int, int, int, u32*>(name));
  const auto number = [&](const auto& list, int from_end) {
    return from_end <= Rank - 2 ? list[list.size() - static_cast<std::size_t>(from_end)] : 0;
  };
  std::array<int, Rank - 2> pixel{};
  for (std::size_t n = 0; n < Rank - 2; ++n) pixel[n] = first[n + 1];
  value_of(gpu::launch(stream, {1, 64}, kernel, map, first[0], number(pixel, 1), first[Rank - 1],
                       number(offsets, 1), number(offsets, 2), number(offsets, 3), number(pixel, 2),
                       number(pixel, 3), static_cast<int>(box.pixels), out));
  value_of(stream.synchronize());
  std::vector<u32> found(4 * box.pixels), expected;
  value_of(gpu::copy(out, found));
  // The places of the box, one after the other, from the first on; the last axis is the fastest.
  for (std::size_t p = 0; p < box.pixels; ++p) {
    for (int channel = 0; channel < 4; ++channel) {
      std::size_t at = static_cast<std::size_t>(first[0]);
      bool inside = at < sizes[0];
      for (std::size_t n = 1; n + 1 < Rank; ++n) {
        const int index = first[n] + offsets[n - 1];
        inside = inside && index >= 0 && index < static_cast<int>(sizes[n]);
        at = at * sizes[n] + static_cast<std::size_t>(index);
      }
      at = at * 4 + static_cast<std::size_t>(first[Rank - 1] + channel);
      inside = inside && first[Rank - 1] + channel < 4;
      expected.push_back(inside ? array.host[at] : 0);
    }
    std::size_t n = Rank - 2;
    for (; n > 0; --n) {
      first[n] += steps[n];
      if (first[n] <= static_cast<int>(sizes[n]) - 1 + box.upper[n - 1]) break;
      first[n] = box.lower[n - 1];
    }
    if (n == 0) ++first[0];
  }
  CHECK(found == expected);
}

}  // namespace

TEST_CASE("columns of pixels arrive for a convolution", "[tensor]") {
  check_pixels<3>("pixels_of_lines", {3, 9, 4},
                  {.lower = {-1}, .upper = {-1}, .channels = 4, .pixels = 20}, {1, 1, 1}, {0, 5, 0},
                  {1});
  check_pixels<3>("pixels_of_lines", {3, 9, 4},
                  {.lower = {-1}, .upper = {0}, .channels = 4, .pixels = 20}, {1, 2, 1}, {1, -1, 0},
                  {2});
  check_pixels<4>("pixels_of_images", {2, 4, 5, 4},
                  {.lower = {-1, -1}, .upper = {-1, -1}, .channels = 4, .pixels = 40}, {1, 1, 1, 1},
                  {0, -1, 1, 0}, {2, 0});
  check_pixels<4>("pixels_of_images", {2, 6, 5, 4},
                  {.lower = {-2, -1}, .upper = {0, 1}, .channels = 4, .pixels = 30}, {1, 3, 2, 1},
                  {0, 1, 1, 0}, {1, 1});
  check_pixels<5>("pixels_of_volumes", {2, 2, 3, 3, 4},
                  {.lower = {-1, 0, -1}, .upper = {0, -1, 0}, .channels = 4, .pixels = 40},
                  {1, 1, 1, 1, 1}, {0, 0, 1, 2, 0}, {0, 1, 1});
}

TEST_CASE("bytes arrive, with zeros behind the end of a row", "[tensor]") {
  std::vector<unsigned char> host(40 * 48);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7 + 1);
  auto buffer =
      value_of(gpu::device_buffer<unsigned char>::create(test::first_device(), host.size()));
  value_of(gpu::copy(host, buffer));
  // Of the 48 bytes of each row, the tensor has 45.
  const std::size_t extents[] = {40, 45};
  const std::ptrdiff_t strides[] = {48, 1};
  const auto view =
      gpu::array_view<unsigned char, 2>::from_native(buffer.span().native(), extents, strides);
  const auto map = value_of(gpu::make_tensor_map(test::first_device(), view, {4, 32}));
  const auto found = shown("bytes_2", map, {7, 32}, 128, 32);
  for (std::size_t i = 0; i < 128; ++i) {
    const std::size_t row = 7 + i / 32, column = 32 + i % 32;
    const unsigned expected = column < 45 ? host[row * 48 + column] : 0;
    CAPTURE(i);
    CHECK((found[i / 4] >> i % 4 * 8 & 0xff) == expected);
  }
}

// As recorded on an H100, which flushes no subnormal numbers, although the type of the map says so.
TEST_CASE("floats are rounded to tf32 on their way, and subnormal numbers stay", "[tensor]") {
  const std::vector<u32> bits{0x3f80'1000, 0x3f80'3000, 0x3f80'0fff, 0x3f80'1001,
                              0x3fff'f000, 0x0000'1234, 0x8000'0001, 0x7f80'0000,
                              0xff80'0000, 0x0080'0000, 0x7f7f'ffff, 0x0000'0000};
  auto buffer = value_of(gpu::device_buffer<float>::create(test::first_device(), bits.size()));
  std::vector<float> host(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) host[i] = std::bit_cast<float>(bits[i]);
  value_of(gpu::copy(host, buffer));
  const auto view = value_of(gpu::array_view<float, 2>::row_major(buffer.span(), {1, bits.size()}));
  const auto with = [&](gpu::tensor_float floats) {
    const auto map = value_of(
        gpu::make_tensor_map(test::first_device(), view, {1, bits.size()}, {.floats = floats}));
    return shown("floats_2", map, {0, 0}, bits.size() * 4, bits.size());
  };
  CHECK(with(gpu::tensor_float::unchanged) == bits);
  CHECK(with(gpu::tensor_float::flushed) == bits);
  // To the nearest number of 10 bits of mantissa, ties to even.
  const std::vector<u32> rounded{0x3f80'0000, 0x3f80'4000, 0x3f80'0000, 0x3f80'2000,
                                 0x4000'0000, 0x0000'2000, 0x8000'0000, 0x7f80'0000,
                                 0xff80'0000, 0x0080'0000, 0x7f80'0000, 0x0000'0000};
  CHECK(with(gpu::tensor_float::tf32) == rounded);
  CHECK(with(gpu::tensor_float::flushed_tf32) == rounded);
}

TEST_CASE("tiles are written and read by a kernel that transposes", "[tensor]") {
  constexpr std::size_t rows = 70, columns = 100;
  const gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  std::vector<float> host(rows * columns);
  std::iota(host.begin(), host.end(), 1.0f);
  auto in = value_of(gpu::device_buffer<float>::create(stream, host.size()));
  // Rows of the result are a multiple of 16 bytes apart.
  auto out = value_of(gpu::device_buffer<float>::create(stream, columns * 72));
  value_of(stream.synchronize());
  value_of(gpu::copy(host, in));
  value_of(gpu::fill(stream, out, -1.0f));
  const std::size_t in_shape[] = {rows, columns}, out_shape[] = {columns, rows};
  const std::ptrdiff_t in_strides[] = {columns, 1}, out_strides[] = {72, 1};
  const auto from = value_of(gpu::make_tensor_map(
      device,
      gpu::array_view<const float, 2>::from_native(in.span().native(), in_shape, in_strides),
      {32, 32}));
  const auto to = value_of(gpu::make_tensor_map(
      device, gpu::array_view<float, 2>::from_native(out.span().native(), out_shape, out_strides),
      {32, 32}));
  const auto kernel =
      value_of(code().kernel<gpu::tensor_map<const float, 2>, CUtensorMap>("transpose"));
  value_of(gpu::launch(stream, {{4, 3}, 128}, kernel, from, to.native()));
  value_of(stream.synchronize());
  std::vector<float> found(columns * 72), expected(columns * 72, -1.0f);
  value_of(gpu::copy(out, found));
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t j = 0; j < rows; ++j) expected[i * 72 + j] = host[j * columns + i];
    // Pieces of 16 bytes are written whole: also what is outside, up to the next multiple.
    for (std::size_t j = rows; j < 72; ++j) expected[i * 72 + j] = 0;
  }
  CHECK(found == expected);
}

TEST_CASE("tiles of several blocks are added, but for what is outside", "[tensor]") {
  const gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  auto sums = value_of(gpu::device_buffer<int>::create(stream, 12 * 12));
  value_of(gpu::fill(stream, sums, 5));
  const auto view = value_of(gpu::array_view<int, 2>::row_major(sums.span(), {12, 12}));
  auto map = value_of(gpu::make_tensor_map(device, view, {8, 8}));
  const auto kernel = value_of(code().kernel<gpu::tensor_map<int, 2>, int, int>("add"));
  value_of(gpu::launch(stream, {10, 64}, kernel, map, 6, 8));
  value_of(stream.synchronize());
  std::vector<int> found(144), expected(144, 5);
  value_of(gpu::copy(sums, found));
  for (std::size_t i = 6; i < 12; ++i)
    for (std::size_t j = 8; j < 12; ++j) expected[i * 12 + j] += 55;
  CHECK(found == expected);

  // The same map of other memory.
  auto others = value_of(gpu::device_buffer<int>::create(stream, 12 * 12));
  value_of(gpu::fill(stream, others, 5));
  value_of(map.replace_address(device, others.span().data()));
  value_of(gpu::launch(stream, {10, 64}, kernel, map, 6, 8));
  value_of(stream.synchronize());
  std::vector<int> again(144);
  value_of(gpu::copy(others, again));
  CHECK(again == expected);
}

}  // namespace
}  // namespace tensor_copies_test

// What kernels get from textures and write through surfaces, against arithmetic on the host. The
// rules are those of the CUDA C++ Programming Guide, texture fetching: weights have 8 bits behind
// the point. Coordinates are multiples of 1/256 of a texel where a result has to be exact.

#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/surface.hpp>
#include <gpu/texture/texture.hpp>

#include "support/results.hpp"

#include <gpu/compiler.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/resource_view.hpp>
#include <gpu/texture/texture_options.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sampling_test {

using gpu::address_mode;
using gpu::array_flags;
using gpu::cuda_array;
using gpu::filter_mode;
using gpu::mipmapped_array;
using gpu::read_mode;
using gpu::surface;
using gpu::texture;
using gpu::texture_options;
using gpu::texture_ref;
using test::value_of;

namespace {

struct place {
  float x, y, z;
};

/// Kernels that read a texture at each of some places.
constexpr const char* readers = R"(
struct place { float x, y, z; };
#define READER(name, type, ...)                                                            \
  extern "C" __global__ void name(cudaTextureObject_t t, const place* p, type* out, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                         \
    if (i < n) out[i] = __VA_ARGS__;                                                       \
  }
READER(line, float, tex1D<float>(t, p[i].x))
READER(plane, float, tex2D<float>(t, p[i].x, p[i].y))
READER(volume, float, tex3D<float>(t, p[i].x, p[i].y, p[i].z))
READER(lines, float, tex1DLayered<float>(t, p[i].x, int(p[i].z)))
READER(planes, float, tex2DLayered<float>(t, p[i].x, p[i].y, int(p[i].z)))
READER(cube, float, texCubemap<float>(t, p[i].x, p[i].y, p[i].z))
READER(level, float, tex2DLod<float>(t, p[i].x, p[i].y, p[i].z))
READER(integer, int, tex2D<unsigned char>(t, p[i].x, p[i].y))
READER(fetch, int, tex1Dfetch<int>(t, int(p[i].x)))
READER(quads, float4, tex2D<float4>(t, p[i].x, p[i].y))
READER(gather, float4, tex2Dgather<float4>(t, p[i].x, p[i].y, int(p[i].z)))
)";

using quad = gpu::channels<float, 4>;

/// What the kernel `name` reads at each place.
template <class Out, class T>
std::vector<Out> read(const char* name, const texture<T>& from, const std::vector<place>& places) {
  const gpu::device device = from.device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  static const gpu::compiled_program program = value_of(gpu::compile(readers));
  const gpu::module code = value_of(gpu::module::load(program));
  const auto kernel = value_of(code.kernel<texture_ref<>, const place*, Out*, int>(name));
  auto in = value_of(gpu::device_buffer<place>::create(device, places.size()));
  auto out = value_of(gpu::device_buffer<Out>::create(device, places.size()));
  REQUIRE(copy(places, in).has_value());
  const auto count = static_cast<int>(places.size());
  const gpu::launch_config config{gpu::grid_for(places.size(), 64), 64};
  const auto launched = gpu::launch(stream, config, kernel, from, in, out, count);
  if (!launched.has_value()) FAIL(launched.error().message().c_str());
  std::vector<Out> results(places.size());
  const auto copied = copy(out, results);
  if (!copied.has_value()) FAIL(copied.error().message().c_str());
  return results;
}

/// The texel that an index outside of `size` means, or -1 for the border.
int addressed(int index, int size, address_mode mode) {
  const auto modulo = [](int a, int b) { return (a % b + b) % b; };
  switch (mode) {
    case address_mode::wrap: return modulo(index, size);
    case address_mode::mirror: {
      const int at = modulo(index, 2 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case address_mode::border: return index < 0 || index >= size ? -1 : index;
    case address_mode::clamp: break;
  }
  return std::clamp(index, 0, size - 1);
}

/// One dimension of a sample at `x`, counted in texels: two indices and the weight of the second.
struct taps {
  int first, second;
  double weight;
};
taps tap(double x, int size, address_mode mode, filter_mode filter) {
  if (filter == filter_mode::point) {
    const int only = addressed(static_cast<int>(std::floor(x)), size, mode);
    return {only, only, 0};
  }
  const double from_center = x - 0.5;
  const int below = static_cast<int>(std::floor(from_center));
  return {addressed(below, size, mode), addressed(below + 1, size, mode), from_center - below};
}

/// An image on the host; `border` is what is around it.
struct host_image {
  int width, height, depth;
  std::vector<float> texels;
  float border = 0;

  host_image(int w, int h = 1, int d = 1)
      : width{w}, height{h}, depth{d}, texels(static_cast<std::size_t>(w * h * d)) {
    // Whole numbers below 512 that look like noise.
    for (std::size_t i = 0; i < texels.size(); ++i) {
      texels[i] = static_cast<float>(i * 2654435761u % 509);
    }
  }
  double at(int x, int y, int z) const {
    if (x < 0 || y < 0 || z < 0) return border;
    return texels[static_cast<std::size_t>((z * height + y) * width + x)];
  }
  double sample(double x, double y, double z, gpu::address_modes modes, filter_mode filter) const {
    const taps a = tap(x, width, modes.x, filter);
    const taps b = height == 1 ? taps{0, 0, 0} : tap(y, height, modes.y, filter);
    const taps c = depth == 1 ? taps{0, 0, 0} : tap(z, depth, modes.z, filter);
    const auto row = [&](int v, int w) {
      return at(a.first, v, w) * (1 - a.weight) + at(a.second, v, w) * a.weight;
    };
    const auto slice = [&](int w) {
      return row(b.first, w) * (1 - b.weight) + row(b.second, w) * b.weight;
    };
    return slice(c.first) * (1 - c.weight) + slice(c.second) * c.weight;
  }
};

constexpr address_mode all_modes[] = {address_mode::wrap, address_mode::clamp, address_mode::mirror,
                                      address_mode::border};

/// Reals that differ by no more than a few units in the last place of the largest texel.
bool near(double a, double b) { return std::abs(a - b) <= 512 * 4e-7; }

}  // namespace

TEST_CASE("sampling: a line, by every address mode and filter", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  host_image image(16);
  const auto array = value_of(cuda_array<float>::create(device, {.width = 16}));
  REQUIRE(copy(image.texels, array).has_value());
  std::vector<place> texels, normalized;
  for (int i = -40 * 16; i < 56 * 16; i += 5) {
    texels.push_back({static_cast<float>(i) / 16, 0, 0});
    normalized.push_back({static_cast<float>(i) / 256, 0, 0});
  }
  for (const address_mode mode : all_modes) {
    for (const filter_mode filter : {filter_mode::point, filter_mode::linear}) {
      INFO(gpu::name_of(mode) << ' ' << gpu::name_of(filter));
      image.border = 77;
      texture_options options{.address = mode, .filter = filter, .normalized_coordinates = true};
      options.border_color[0] = 77;
      const auto across = value_of(texture<float>::create(array, options));
      const auto got = read<float>("line", across, normalized);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double expected = image.sample(texels[i].x, 0, 0, mode, filter);
        CHECK(near(got[i], expected));
      }
      if (mode == address_mode::wrap || mode == address_mode::mirror) continue;
      options.normalized_coordinates = false;
      const auto along = value_of(texture<float>::create(array, options));
      CHECK(read<float>("line", along, texels) == got);
    }
  }
}

TEST_CASE("sampling: weights have eight bits behind the point", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  const auto array = value_of(cuda_array<float>::create(device, {.width = 2}));
  REQUIRE(copy(std::vector<float>{0, 256}, array).has_value());
  const auto made = value_of(texture<float>::create(array, {.filter = filter_mode::linear}));
  std::vector<place> places;
  for (int i = 0; i <= 4096; i += 3) places.push_back({0.5f + static_cast<float>(i) / 4096, 0, 0});
  const auto got = read<float>("line", made, places);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double exact = (places[i].x - 0.5) * 256;
    CHECK(got[i] == std::floor(got[i]));  // nothing between two weights
    CHECK(std::abs(got[i] - exact) < 1);
  }
}

TEST_CASE("sampling: planes, volumes and memory with a pitch", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  const gpu::address_modes modes(address_mode::mirror, address_mode::wrap, address_mode::clamp);
  host_image flat(16, 8), deep(8, 4, 4);
  std::vector<place> flat_places, in_flat, deep_places, in_deep;
  for (int i = 0; i < 400; ++i) {
    // Of the weights that meet in a texel, eight bits are kept together.
    const float x = static_cast<float>(i * 37 % 512 - 128),
                y = static_cast<float>(i * 53 % 256 - 64), z = static_cast<float>(i * 71 % 32 - 8);
    flat_places.push_back({x / 256, y / 128, 0});
    in_flat.push_back({x / 16, y / 16, 0});
    deep_places.push_back({x / 64, y / 32, z / 16});
    in_deep.push_back({x / 8, y / 8, z / 4});
  }
  const auto plane = value_of(cuda_array<float>::create(device, {.width = 16, .height = 8}));
  const auto volume =
      value_of(cuda_array<float>::create(device, {.width = 8, .height = 4, .depth = 4}));
  auto rows = value_of(gpu::pitched_buffer<float>::create(device, {16, 8}));
  REQUIRE(copy(flat.texels, plane).has_value());
  REQUIRE(copy(deep.texels, volume).has_value());
  REQUIRE(copy(gpu::pitched_host_span<float>::from_native(flat.texels.data(), {16, 8}), rows.span())
              .has_value());
  for (const filter_mode filter : {filter_mode::point, filter_mode::linear}) {
    INFO(gpu::name_of(filter));
    const texture_options options{
        .address = modes, .filter = filter, .normalized_coordinates = true};
    const auto in_plane =
        read<float>("plane", value_of(texture<float>::create(plane, options)), flat_places);
    const auto in_volume =
        read<float>("volume", value_of(texture<float>::create(volume, options)), deep_places);
    const auto in_rows =
        read<float>("plane", value_of(texture<float>::create(rows.span(), options)), flat_places);
    CHECK(in_rows == in_plane);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in_flat.size(); ++i) {
      const place& a = in_flat[i];
      const place& b = in_deep[i];
      wrong += near(in_plane[i], flat.sample(a.x, a.y, 0, modes, filter)) ? 0u : 1u;
      wrong += near(in_volume[i], deep.sample(b.x, b.y, b.z, modes, filter)) ? 0u : 1u;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("sampling: layers are not filtered", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  host_image image(8, 4, 3);
  const auto planes =
      value_of(cuda_array<float>::create(device, {.width = 8, .height = 4, .layers = 3}));
  const auto lines = value_of(cuda_array<float>::create(device, {.width = 8, .layers = 12}));
  REQUIRE(copy(image.texels, planes).has_value());
  REQUIRE(copy(image.texels, lines).has_value());
  std::vector<place> places;
  for (int i = 0; i < 200; ++i) {
    places.push_back({static_cast<float>(i * 37 % 128) / 16, static_cast<float>(i * 53 % 64) / 16,
                      static_cast<float>(i % 5 - 1)});
  }
  const texture_options options{.filter = filter_mode::linear};
  const auto got = read<float>("planes", value_of(texture<float>::create(planes, options)), places);
  const auto in_lines =
      read<float>("lines", value_of(texture<float>::create(lines, options)), places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    // The number of a layer has no sign, and the last stands for those above it.
    const auto asked = static_cast<unsigned>(static_cast<int>(places[i].z));
    const unsigned layer = std::min(asked, 2u), row = std::min(asked, 11u);
    host_image one(8, 4), line(8);
    std::copy_n(image.texels.begin() + 32 * layer, 32, one.texels.begin());
    std::copy_n(image.texels.begin() + 8 * row, 8, line.texels.begin());
    const double expected =
        one.sample(places[i].x, places[i].y, 0, address_mode::clamp, filter_mode::linear);
    CHECK(near(got[i], expected));
    CHECK(near(in_lines[i],
               line.sample(places[i].x, 0, 0, address_mode::clamp, filter_mode::linear)));
  }
}

TEST_CASE("sampling: a cubemap chooses its face by the largest coordinate", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  constexpr int side = 8;
  host_image faces(side, side, 6);
  const auto array =
      value_of(cuda_array<float>::create(device, {.width = side, .height = side, .cubemap = true}));
  REQUIRE(copy(faces.texels, array).has_value());
  std::vector<place> places;
  std::vector<double> expected;
  for (int face = 0; face < 6; ++face) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const auto s = static_cast<float>(2 * x + 1 - side) / side;  // centers of texels
        const auto t = static_cast<float>(2 * y + 1 - side) / side;
        const place directions[] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                    {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
        places.push_back(directions[face]);
        expected.push_back(faces.at(x, y, face));
      }
    }
  }
  for (const filter_mode filter : {filter_mode::point, filter_mode::linear}) {
    const auto got = read<float>(
        "cube",
        value_of(texture<float>::create(array, {.filter = filter, .normalized_coordinates = true})),
        places);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(near(got[i], expected[i]));
  }
}

TEST_CASE("sampling: integers as they are, and as normalized floats", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  std::vector<unsigned char> bytes(64);
  std::vector<gpu::channels<short, 4>> shorts(64);
  std::vector<place> places;
  for (std::size_t i = 0; i < 64; ++i) {
    bytes[i] = static_cast<unsigned char>(i * 41);
    shorts[i] = {{static_cast<short>(i * 1000 - 32768), -32768, 32767, 0}};
    places.push_back({static_cast<float>(i % 8) + 0.5f, static_cast<float>(i / 8) + 0.5f, 0});
  }
  const auto array = value_of(cuda_array<unsigned char>::create(device, {.width = 8, .height = 8}));
  const auto quads =
      value_of(cuda_array<gpu::channels<short, 4>>::create(device, {.width = 8, .height = 8}));
  REQUIRE(copy(bytes, array).has_value());
  REQUIRE(copy(shorts, quads).has_value());
  const texture_options normalized{.read = read_mode::normalized_float};
  const auto whole = read<int>("integer", value_of(texture<unsigned char>::create(array)), places);
  const auto real =
      read<float>("plane", value_of(texture<unsigned char>::create(array, normalized)), places);
  const auto four = read<quad>(
      "quads", value_of(texture<gpu::channels<short, 4>>::create(quads, normalized)), places);
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(whole[i] == bytes[i]);
    CHECK(std::abs(real[i] - bytes[i] / 255.0) < 1e-7);
    CHECK(std::abs(four[i][0] - std::max(-1.0, shorts[i][0] / 32767.0)) < 1e-6);
    CHECK(four[i][1] == -1);
    CHECK(four[i][2] == 1);
    CHECK(four[i][3] == 0);
  }
  const auto curve = read<float>("plane",
                                 value_of(texture<unsigned char>::create(
                                     array, {.read = read_mode::normalized_float, .srgb = true})),
                                 places);
  for (std::size_t i = 0; i < 64; ++i) {
    const double c = bytes[i] / 255.0;
    const double linear = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    CHECK(std::abs(curve[i] - linear) < 1.0 / 512);
  }
}

TEST_CASE("sampling: linear memory by index, and halves", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  std::vector<int> numbers(100);
  std::vector<place> places;
  for (std::size_t i = 0; i < 100; ++i) {
    numbers[i] = static_cast<int>(i * i) - 50;
    places.push_back({static_cast<float>((i * 37) % 100), 0, 0});
  }
  auto buffer = value_of(gpu::device_buffer<int>::create(device, 100));
  REQUIRE(copy(numbers, buffer).has_value());
  const auto got = read<int>("fetch", value_of(texture<int>::create(buffer)), places);
  for (std::size_t i = 0; i < 100; ++i) CHECK(got[i] == numbers[(i * 37) % 100]);
  const auto halves = value_of(cuda_array<gpu::half_bits>::create(device, {.width = 4}));
  const std::vector<gpu::half_bits> bits = {gpu::half_bits{0x3c00}, gpu::half_bits{0xc000},
                                            gpu::half_bits{0x3555}, gpu::half_bits{0x7bff}};
  REQUIRE(copy(bits, halves).has_value());
  CHECK(read<float>("line", value_of(texture<gpu::half_bits>::create(halves)),
                    {{0.5f, 0, 0}, {1.5f, 0, 0}, {2.5f, 0, 0}, {3.5f, 0, 0}}) ==
        std::vector<float>{1, -2, 0.333251953125f, 65504});
}

TEST_CASE("sampling: gather gives a channel of the four nearest", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  using pair = gpu::channels<float, 2>;
  std::vector<pair> texels(64);
  for (std::size_t i = 0; i < 64; ++i) {
    texels[i] = {{static_cast<float>(i), static_cast<float>(i) + 100}};
  }
  const auto array = value_of(cuda_array<pair>::create(
      device, {.width = 8, .height = 8, .flags = array_flags::texture_gather}));
  REQUIRE(copy(texels, array).has_value());
  const auto got = read<quad>("gather", value_of(texture<pair>::create(array)),
                              {{3, 5, 0}, {3, 5, 1}, {6.25f, 2.5f, 0}});
  // Counter-clockwise from the lower left, where y runs downwards.
  CHECK(got[0] == quad{{5 * 8 + 2, 5 * 8 + 3, 4 * 8 + 3, 4 * 8 + 2}});
  CHECK(got[1] == quad{{142, 143, 135, 134}});
  CHECK(got[2] == quad{{3 * 8 + 5, 3 * 8 + 6, 2 * 8 + 6, 2 * 8 + 5}});
}

TEST_CASE("sampling: levels by number, clamped, biased and blended", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  const auto array =
      value_of(mipmapped_array<float>::create(device, {.width = 16, .height = 16}, 4));
  for (unsigned level = 0; level < 4; ++level) {
    const auto part = value_of(array.level(level));
    const std::vector<float> texels(part.shape().width * part.shape().height,
                                    static_cast<float>(100 * level));
    REQUIRE(copy(texels, part).has_value());
  }
  const std::vector<place> places = {{0.3f, 0.3f, 0}, {0.3f, 0.3f, 1},    {0.3f, 0.3f, 2.25f},
                                     {0.3f, 0.3f, 3}, {0.3f, 0.3f, 9.0f}, {0.3f, 0.3f, -1}};
  const auto of = [&](texture_options options, gpu::resource_view view = {}) {
    options.normalized_coordinates = true;
    return read<float>("level", value_of(texture<float>::create(array, options, view)), places);
  };
  CHECK(of({}) == std::vector<float>{0, 100, 200, 300, 300, 0});
  CHECK(of({.mipmap_filter = filter_mode::linear}) == std::vector<float>{0, 100, 225, 300, 300, 0});
  CHECK(of({.mipmap_filter = filter_mode::linear, .mipmap_bias = 0.5f}) ==
        std::vector<float>{50, 150, 275, 300, 300, 0});
  CHECK(
      of({.mipmap_filter = filter_mode::linear, .min_mipmap_level = 0.5f, .max_mipmap_level = 2}) ==
      std::vector<float>{50, 100, 200, 200, 200, 50});
  CHECK(of({}, {.first_level = 1, .last_level = 2}) ==
        std::vector<float>{100, 200, 200, 200, 200, 100});
}

TEST_CASE("sampling: surfaces are read and written, and textures see it", "[texture][sampling]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::module code = value_of(gpu::module::load(value_of(gpu::compile(R"(
extern "C" __global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < n && y < n) {
    float2 v = surf2Dread<float2>(from, x * 8, y);
    surf2Dwrite(make_float2(v.y, v.x), to, y * 8, x);
  }
}
extern "C" __global__ void edges(cudaSurfaceObject_t from, float* out) {
  out[0] = surf2Dread<float2>(from, -8, 0, cudaBoundaryModeZero).x;
  out[1] = surf2Dread<float2>(from, -8, 0, cudaBoundaryModeClamp).x;
  out[2] = surf2Dread<float2>(from, 8, 99, cudaBoundaryModeClamp).y;
  surf2Dwrite(make_float2(-1, -1), from, 99 * 8, 0, cudaBoundaryModeZero);
}
extern "C" __global__ void volume(cudaSurfaceObject_t all, cudaSurfaceObject_t layers) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  unsigned char v = surf3Dread<unsigned char>(all, x, y, z);
  surf3Dwrite((unsigned char)(v + 1), all, x, y, z);
  surf2DLayeredwrite((unsigned char)(v + 2), layers, x, y, z);
}
)"))));
  using pair = gpu::channels<float, 2>;
  const auto flags = array_flags::surface_load_store;
  const auto from =
      value_of(cuda_array<pair>::create(device, {.width = 8, .height = 8, .flags = flags}));
  const auto to =
      value_of(cuda_array<pair>::create(device, {.width = 8, .height = 8, .flags = flags}));
  std::vector<pair> texels(64), back(64);
  for (std::size_t i = 0; i < 64; ++i) {
    texels[i] = {{static_cast<float>(i), static_cast<float>(i) + 0.5f}};
  }
  REQUIRE(copy(texels, from).has_value());
  const auto source = value_of(surface<pair>::create(from));
  const auto target = value_of(surface<pair>::create(to));
  const auto transpose =
      value_of(code.kernel<gpu::surface_ref<pair>, gpu::surface_ref<pair>, int>("transpose"));
  REQUIRE(gpu::launch(stream, {1, {8, 8}}, transpose, source, target, 8).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(to, back).has_value());
  for (std::size_t i = 0; i < 64; ++i) {
    const pair& expected = texels[i % 8 * 8 + i / 8];
    CHECK(back[i] == pair{{expected[1], expected[0]}});
  }
  const auto seen = read<quad>("quads", value_of(texture<pair>::create(to)), {{2.5f, 5.5f, 0}});
  CHECK(seen[0][0] == back[5 * 8 + 2][0]);
  CHECK(seen[0][1] == back[5 * 8 + 2][1]);

  auto out = value_of(gpu::device_buffer<float>::create(device, 3));
  const auto edges = value_of(code.kernel<unsigned long long, float*>("edges"));
  REQUIRE(gpu::launch(stream, {1, 1}, edges, source, out).has_value());
  REQUIRE(stream.synchronize().has_value());
  std::vector<float> at_edges(3);
  REQUIRE(copy(out, at_edges).has_value());
  CHECK(at_edges == std::vector<float>{0, texels[0][0], texels[7 * 8 + 1][1]});
  REQUIRE(copy(from, back).has_value());
  CHECK(back == texels);  // what is outside is not written

  const auto all = value_of(cuda_array<unsigned char>::create(
      device, {.width = 4, .height = 4, .depth = 4, .flags = flags}));
  const auto layers = value_of(cuda_array<unsigned char>::create(
      device, {.width = 4, .height = 4, .layers = 4, .flags = flags}));
  std::vector<unsigned char> bytes(64), one(64), two(64);
  for (std::size_t i = 0; i < 64; ++i) bytes[i] = static_cast<unsigned char>(3 * i);
  REQUIRE(copy(bytes, all).has_value());
  const auto volume = value_of(code.kernel<gpu::surface_ref<>, gpu::surface_ref<>>("volume"));
  const auto all_surface = value_of(surface<unsigned char>::create(all));
  const auto layer_surface = value_of(surface<unsigned char>::create(layers));
  REQUIRE(gpu::launch(stream, {1, {4, 4, 4}}, volume, all_surface, layer_surface).has_value());
  REQUIRE(stream.synchronize().has_value());
  REQUIRE(copy(all, one).has_value());
  REQUIRE(copy(layers, two).has_value());
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(one[i] == bytes[i] + 1);
    CHECK(two[i] == bytes[i] + 2);
  }
}

}  // namespace sampling_test

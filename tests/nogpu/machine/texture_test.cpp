// Textures. The oracle of the reads is an H200: texture_recordings.hpp has what it gave.
#include <nogpu/machine/handlers/texture.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "texture_bench.hpp"
#include "texture_recordings.hpp"

namespace machine_texture_test {
namespace {

using namespace machine_test;

/// 64 bits of state, 32 that look random.
class sequence {
 public:
  explicit sequence(std::uint64_t seed) : state_{seed} {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state_ >> 33) ^ static_cast<std::uint32_t>(state_ >> 11);
  }

 private:
  std::uint64_t state_;
};

/// The texels of a level as they were when the recording was made: `index` counts, `step` goes to
/// and fro, `random` lies in [-1, 1), `wide` has exponents from -30 to 29, `level` is the level.
std::vector<std::byte> texels_of(const image& of, unsigned level, const std::string& kind) {
  const image_level& extents = of.levels[level];
  const std::uint64_t texels = extents.width * extents.height * extents.depth * of.layers;
  const std::size_t bytes = of.format.channel_bytes;
  std::vector<std::byte> made(texels * of.format.bytes());
  sequence random(level * 77ull + 12345);
  for (std::size_t i = 0; i < texels * of.format.channels; ++i) {
    const std::uint32_t any = random.next();
    const float unit = static_cast<float>(static_cast<std::int32_t>(any)) * 0x1p-31f;
    std::uint32_t bits = kind == "index" ? static_cast<std::uint32_t>(i) : any;
    if (bytes == 4) {
      float value = unit;
      if (kind == "index") value = static_cast<float>(i);
      if (kind == "step") value = static_cast<float>(i & 1);
      if (kind == "wide") value = std::ldexp(unit, static_cast<int>(random.next() % 60) - 30);
      if (kind == "level") value = static_cast<float>(level);
      bits = std::bit_cast<std::uint32_t>(value);
    } else if (of.format.kind == channel_kind::floating) {
      bits = (any & 0x83ffu) | (10 + (any >> 20) % 8) << 10;
    }
    std::memcpy(made.data() + i * bytes, &bits, bytes);
  }
  return made;
}

/// The texture that a recording describes, and its texels.
texture described(const std::string& text, std::string& texels) {
  std::istringstream in(text);
  std::string shape, format, word;
  std::uint64_t width = 0, height = 0, depth = 0;
  unsigned levels = 0;
  in >> shape >> format >> width >> height >> depth >> levels >> texels;
  texel_format of;
  of.kind = format[0] == 'f'   ? channel_kind::floating
            : format[0] == 's' ? channel_kind::signed_integer
                               : channel_kind::unsigned_integer;
  of.channel_bytes = static_cast<std::uint8_t>(format[1] - '0');
  of.channels = static_cast<std::uint8_t>(format[3] - '0');
  const bool layered = shape[0] == 'a';
  if (layered) shape.erase(0, 1);
  texture made;
  made.source = make_image(shape == "1d" || shape == "linear" ? image_shape::one
                           : shape == "3d"                    ? image_shape::three
                           : shape == "cube"                  ? image_shape::cube
                                                              : image_shape::two,
                           layered, of, width, height, depth, levels);
  if (shape == "linear") made.source.origin = image_origin::linear;
  if (shape == "pitch") made.source.origin = image_origin::pitched;
  made.site = "texture.cpp:3";
  sampler_state& how = made.how;
  while (in >> word) {
    const std::size_t equals = word.find('=');
    const float value = equals == word.npos ? 0 : std::stof(word.substr(equals + 1));
    const std::string name = word.substr(0, equals);
    const char* const modes[] = {"wrap", "clamp", "mirror", "border"};
    for (int m = 0; m < 4; ++m)
      if (equals == word.npos && name == modes[m]) how.address.fill(static_cast<address_mode>(m));
    if (name == "linear") how.linear = true;
    if (name == "normalized") how.normalized_coordinates = true;
    if (name == "integer") how.read_as_integer = true;
    if (name == "seamless") how.seamless_cube = true;
    if (name == "linear_levels") how.linear_levels = true;
    if (name == "bias") how.level_bias = value;
    if (name == "least") how.least_level = value;
    if (name == "greatest") how.greatest_level = value;
    if (name == "border" && equals != word.npos) how.border.fill(value);
  }
  return made;
}

std::uint64_t add(image_bench& bench, texture made, const std::string& texels) {
  std::vector<std::vector<std::byte>> levels;
  for (unsigned l = 0; l < made.source.levels.size(); ++l)
    levels.push_back(texels_of(made.source, l, texels));
  bench.fill(made.source, levels);
  return bench.images.add(std::move(made));
}

std::uint64_t add(image_bench& bench, const std::string& description) {
  std::string texels;
  texture made = described(description, texels);
  return add(bench, std::move(made), texels);
}

constexpr const char* read_2d = "tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%f0,%f1}];";

}  // namespace

TEST_CASE("textures are read as an H200 reads them, bit for bit", "[machine][textures]") {
  for (const recorded_read& recorded : recorded_reads) {
    INFO(recorded.name);
    image_bench bench(recorded.instruction);
    const std::uint64_t object = add(bench, recorded.texture);
    std::vector<std::size_t> used;
    const std::string instruction = recorded.instruction;
    for (std::size_t k = 0; k < 8; ++k)
      for (const char* letter : {"%f", "%i"})
        if (instruction.find(letter + std::to_string(k)) != instruction.npos) used.push_back(k);
    words inputs, expected;
    std::istringstream samples(recorded.samples);
    samples >> std::hex;
    for (std::uint32_t word = 0; samples >> word;) {
      inputs.resize(inputs.size() + 8);
      for (std::size_t k = 0; k < used.size(); ++k) {
        inputs[inputs.size() - 8 + used[k]] = word;
        if (k + 1 < used.size()) samples >> word;
      }
      for (unsigned k = 0; k < recorded.results; ++k) {
        samples >> word;
        expected.push_back(word);
      }
    }
    REQUIRE(!expected.empty());
    const outcome done = bench.run_on(object, inputs);
    INFO((done.error ? done.error->text : std::string()));
    REQUIRE(!done.error);
    const words results = bench.results();
    words actual;
    for (std::size_t i = 0; i < inputs.size() / 8; ++i)
      actual.insert(actual.end(), results.begin() + static_cast<std::ptrdiff_t>(4 * i),
                    results.begin() + static_cast<std::ptrdiff_t>(4 * i + recorded.results));
    CHECK(actual == expected);
  }
}

TEST_CASE("a read of texels leaves results out and says that they are resident",
          "[machine][textures]") {
  image_bench bench(
      "tex.2d.v4.f32.f32 {_,%r1,_,_}|%p, [%t, {0f3F000000,%f1}]; selp.b32 %r0, 7, 0, %p;");
  const auto object = add(bench, "2d f4x2 4 4 1 1 index clamp");
  CHECK(!bench.run_on(object, words(8)).error);
  CHECK(bench.results() == words{7, std::bit_cast<std::uint32_t>(1.0f), 0, 0});
}

TEST_CASE("sRGB colors are straightened, alpha is not", "[machine][textures]") {
  image_bench bench(read_2d);
  texture made;
  made.source =
      make_image(image_shape::two, false, {channel_kind::unsigned_integer, 1, 4}, 1, 1, 1);
  made.how.srgb = made.how.normalized_coordinates = true;
  const std::byte color[] = {std::byte{0}, std::byte{128}, std::byte{255}, std::byte{128}};
  bench.fill(made.source, {{std::begin(color), std::end(color)}});
  REQUIRE(!bench.run_on(bench.images.add(made), words(8)).error);
  const words read = bench.results();
  const auto value = [&](std::size_t c) {
    return static_cast<double>(std::bit_cast<float>(read[c]));
  };
  CHECK(value(0) == 0);
  CHECK(value(1) == Approx(std::pow((128 / 255.0 + 0.055) / 1.055, 2.4)).epsilon(1.0 / 256));
  CHECK(value(2) == 1);
  CHECK(value(3) == Approx(128 / 255.0).epsilon(1e-7));
}

TEST_CASE("sRGB colors are filtered as the light that they stand for", "[machine][textures]") {
  image_bench bench("tex.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%f0}];");
  texture made;
  made.source =
      make_image(image_shape::one, false, {channel_kind::unsigned_integer, 1, 4}, 2, 1, 1);
  made.how.srgb = made.how.normalized_coordinates = made.how.linear = true;
  made.how.address.fill(address_mode::clamp);
  const std::byte colors[] = {std::byte{0},   std::byte{0}, std::byte{128}, std::byte{0},
                              std::byte{255}, std::byte{0}, std::byte{255}, std::byte{255}};
  bench.fill(made.source, {{std::begin(colors), std::end(colors)}});
  words inputs(8);
  inputs[0] = std::bit_cast<std::uint32_t>(0.5f);
  REQUIRE(!bench.run_on(bench.images.add(made), inputs).error);
  const words read = bench.results();
  const double half = std::pow((128 / 255.0 + 0.055) / 1.055, 2.4);
  const double expected[] = {0.5, 0, (half + 1) / 2, 0.5};
  for (std::size_t c = 0; c < 4; ++c)
    CHECK(std::fabs(static_cast<double>(std::bit_cast<float>(read[c])) - expected[c]) <= 1.0 / 256);
}

TEST_CASE("the border has the values that texels of the format can have", "[machine][textures]") {
  const auto border = [](texel_format format, std::array<float, 4> color, const char* instruction) {
    image_bench bench(instruction);
    texture made;
    made.source = make_image(image_shape::one, false, format, 4, 1, 1);
    made.how.address.fill(address_mode::border);
    made.how.border = color;
    bench.fill(made.source, {std::vector<std::byte>(4 * format.bytes())});
    words inputs(8);
    inputs[0] = std::bit_cast<std::uint32_t>(-3.0f);
    REQUIRE(!bench.run_on(bench.images.add(made), inputs).error);
    return bench.results();
  };
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  constexpr const char* floats = "tex.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%f0}];";
  // Bytes are steps of 1/255 of 0 to 1, signed ones of 1/127 of -1 to 1; halves round to zero.
  CHECK(border({channel_kind::unsigned_integer, 1, 4}, {-1, 0.5f, 2, 1 / 255.0f}, floats) ==
        words{0, bits(127 / 255.0f), bits(1), bits(1 / 255.0f)});
  CHECK(border({channel_kind::signed_integer, 1, 4}, {-7, -0.5f, 1 / 127.0f, 3}, floats) ==
        words{bits(-1), bits(-63 / 127.0f), bits(1 / 127.0f), bits(1)});
  CHECK(border({channel_kind::floating, 2, 4}, {1.0009765f, -2.5f, 65504, 1e9f}, floats) ==
        words{bits(1), bits(-2.5f), bits(65504), bits(65504)});
  CHECK(border({channel_kind::floating, 4, 4}, {0.1f, -2.5f, 1e30f, 0}, floats) ==
        words{bits(0.1f), bits(-2.5f), bits(1e30f), 0});
}

TEST_CASE("a texture is read as halves", "[machine][textures]") {
  image_bench bench(
      "tex.1d.v4.f16.f32 {%h0,%h1,%h2,%h3}, [%t, {%f0}];"
      "mov.b32 %r0, {%h0, %h1}; mov.b32 %r1, {%h2, %h3};");
  texture made;
  made.source = make_image(image_shape::one, false, {channel_kind::floating, 4, 4}, 1, 1, 1);
  const float texel[] = {1.0f, -2.5f, 1.0f / 3, 65504};
  const auto* bytes = reinterpret_cast<const std::byte*>(texel);
  bench.fill(made.source, {{bytes, bytes + sizeof texel}});
  REQUIRE(!bench.run_on(bench.images.add(made), words(8)).error);
  CHECK(bench.results() == words{0xc1003c00u, 0x7bff3555u, 0, 0});
}

TEST_CASE("gradients choose the level at which a texel covers them", "[machine][textures]") {
  // Each level holds its number. In normalized coordinates one texel of level l is 2^l / 64.
  const auto level = [](const char* instruction, const char* description,
                        std::array<float, 8> inputs) {
    image_bench bench(instruction);
    words bits(8);
    for (std::size_t k = 0; k < 8; ++k) bits[k] = std::bit_cast<std::uint32_t>(inputs[k]);
    const outcome done = bench.run_on(add(bench, description), bits);
    INFO((done.error ? done.error->text : std::string()));
    REQUIRE(!done.error);
    return std::bit_cast<float>(bench.results()[0]);
  };
  constexpr const char* line =
      "tex.grad.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%f0}], {%f1}, {%f2};";
  constexpr const char* plane =
      "tex.grad.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%f0,%f1}], {%f2,%f3}, {%f4,%f5};";
  constexpr const char* faces =
      "tex.grad.cube.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%f0,%f1,%f2,%f0}], {%f3,%f4,%f4,%f4}, "
      "{%f5,%f6,%f4,%f4};";
  constexpr const char* in_line =
      "1d f4x1 64 1 1 5 level clamp normalized linear_levels greatest=9";
  constexpr const char* in_plane =
      "2d f4x1 64 64 1 5 level clamp normalized linear_levels greatest=9";
  constexpr const char* in_cube =
      "cube f4x1 64 64 6 5 level clamp normalized linear_levels greatest=9";
  for (int l = 0; l < 5; ++l) {
    const float one = std::ldexp(1.0f, l - 6), number = static_cast<float>(l);
    CHECK(level(line, in_line, {0.5f, one, 0}) == number);
    CHECK(level(line, in_line, {0.5f, 0, -one}) == number);
    CHECK(level(plane, in_plane, {0.5f, 0.5f, one, 0, 0, one}) == number);
    CHECK(level(plane, in_plane, {0.5f, 0.5f, 0, 0, 0, one}) == number);
    CHECK(level(plane, in_plane, {0.5f, 0.5f, 0, -one, one / 4, 0}) == number);
    CHECK(level(faces, in_cube, {1, 0, 0, 0, 0, 0, 2 * one}) == number);  // faces are 2 wide
  }
  // Between two levels, and beyond the last and the first.
  CHECK(std::fabs(level(plane, in_plane, {0.5f, 0.5f, 3.0f / 64, 0, 0, 0}) - std::log2(3.0f)) <=
        1.0f / 128);
  CHECK(level(plane, in_plane, {0.5f, 0.5f, 1, 0, 0, 1}) == 4);
  CHECK(level(plane, in_plane, {0.5f, 0.5f, 1e-3f, 0, 0, 0}) == 0);
  // A diagonal is longer than its components, and at most as long as their sum.
  const float diagonal = level(plane, in_plane, {0.5f, 0.5f, 4.0f / 64, 4.0f / 64, 0, 0});
  CHECK(diagonal > 2);
  CHECK(diagonal <= 3);
}

TEST_CASE("objects tell their extents", "[machine][textures]") {
  const auto ask = [](const std::string& description) {
    image_bench bench(
        "txq.width.b32 %r0, [%t]; txq.height.b32 %r1, [%t]; txq.depth.b32 %r2, [%t]; "
        "txq.level.width.b32 %r3, [%t], %i0;");
    words inputs(8);
    inputs[0] = std::bit_cast<std::uint32_t>(1.0f);
    REQUIRE(!bench.run_on(add(bench, description), inputs).error);
    return bench.results();
  };
  CHECK(ask("1d f4x1 24 1 1 3 index clamp") == words{24, 1, 0, 12});
  CHECK(ask("2d f4x1 24 20 1 3 index clamp") == words{24, 20, 0, 12});
  CHECK(ask("3d f4x1 24 20 4 1 index clamp") == words{24, 20, 4, 0});
  CHECK(ask("a1d f4x1 24 1 3 2 index clamp") == words{24, 3, 0, 12});
  CHECK(ask("a2d f4x1 24 20 3 1 index clamp") == words{24, 20, 3, 0});
  CHECK(ask("cube f4x1 24 24 6 1 index clamp") == words{24, 24, 0, 0});
  CHECK(ask("acube f4x1 24 24 12 1 index clamp") == words{24, 24, 2, 0});
  CHECK(ask("linear f4x1 24 1 1 1 index clamp") == words{24, 0, 0, 0});
}

TEST_CASE("a handle that is no texture object is reported with what it is", "[machine][textures]") {
  image_bench bench(read_2d);
  const auto object = add(bench, "2d f4x1 4 4 1 1 index clamp");
  const auto surface_object = bench.images.add(surface{});
  REQUIRE(bench.images.remove_texture(object));
  CHECK_FALSE(bench.images.remove_texture(object));
  const auto report = [&](std::uint64_t handle) {
    const outcome done = bench.run_on(handle, words(8));
    REQUIRE(done.error);
    CHECK(done.error->kind == fault_kind::no_such_image);
    return done.error->detail;
  };
  CHECK(report(object) == "0x1 is a texture object that was destroyed");
  CHECK(report(surface_object) == "0x2 is a surface object, not a texture object");
  CHECK(report(0) == "0x0 is no texture object");
  CHECK(report(0x1234) == "0x1234 is no texture object");
}

TEST_CASE("a texture of another shape is reported", "[machine][textures]") {
  const auto detail = [](const char* instruction, const char* description) {
    image_bench bench(instruction);
    const outcome done = bench.run_on(add(bench, description), words(8));
    REQUIRE(done.error);
    CHECK(done.error->kind == fault_kind::wrong_image_shape);
    return done.error->detail;
  };
  CHECK(detail(read_2d, "1d f4x1 4 1 1 1 index clamp") ==
        "the object made by texture.cpp:3 is a 1-dimensional array");
  CHECK(detail(read_2d, "a2d f4x1 4 4 2 1 index clamp") ==
        "the object made by texture.cpp:3 is a layered 2-dimensional array");
  CHECK(detail("tex.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%t, {%f0}];",
               "linear f4x1 4 1 1 1 index clamp") ==
        "the object made by texture.cpp:3 is linear memory");
  CHECK(
      detail("tex.1d.v4.f32.s32 {%r0,%r1,%r2,%r3}, [%t, {%f0}];", "1d f4x1 4 1 1 1 index clamp") ==
      "the object made by texture.cpp:3 is a 1-dimensional array");
}

TEST_CASE("texels of freed and of short memory, and texels never written, are reported",
          "[machine][textures]") {
  image_bench bench(read_2d);
  std::string texels;
  texture made = described("2d f4x1 4 4 1 1 index clamp", texels);
  bench.fill(made.source, {texels_of(made.source, 0, texels)});
  const auto object = bench.images.add(made);
  REQUIRE(bench.memory.free(made.source.levels[0].base) == free_status::freed);
  const outcome freed = bench.run_on(object, words(8));
  REQUIRE(freed.error);
  CHECK(freed.error->kind == fault_kind::use_after_free);
  CHECK(freed.error->detail.find("0 bytes into the freed array of 64 bytes") == 0);
  CHECK(freed.error->detail.find("made by array.cpp:7") != std::string::npos);

  made.source.levels[0].base = bench.allocate(60);
  words last(8);
  last[0] = last[1] = std::bit_cast<std::uint32_t>(9.0f);
  const outcome beyond = bench.run_on(bench.images.add(made), last);
  REQUIRE(beyond.error);
  CHECK(beyond.error->kind == fault_kind::out_of_bounds);

  const outcome unwritten = bench.run_on(bench.images.add(made), words(8));
  CHECK(!unwritten.error);
  REQUIRE(unwritten.reports.size() == 1);
  CHECK(unwritten.reports[0].kind == fault_kind::uninitialized_read);
}

}  // namespace machine_texture_test

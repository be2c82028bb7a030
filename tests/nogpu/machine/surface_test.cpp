// Surfaces. What formatted stores and what is outside give was seen on an H200.
#include <nogpu/machine/handlers/surface.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "texture_bench.hpp"

namespace machine_surface_test {
namespace {

using namespace machine_test;

constexpr texel_format word{channel_kind::unsigned_integer, 4, 1};

/// A surface whose words count from 0.
surface counting(image_bench& bench, image_shape shape, bool layered, std::uint64_t width,
                 std::uint64_t height, std::uint64_t depth, texel_format format = word) {
  surface made{make_image(shape, layered, format, width, height, depth), "surface.cpp:5"};
  words values(width * height * depth * format.bytes() / 4);
  std::iota(values.begin(), values.end(), 0u);
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  bench.fill(made.source, {bytes});
  return made;
}

/// Eight inputs for each thread, the first ones as given.
words inputs_of(const std::vector<std::vector<int>>& threads) {
  words inputs(threads.size() * 8);
  for (std::size_t i = 0; i < threads.size(); ++i)
    for (std::size_t k = 0; k < threads[i].size(); ++k)
      inputs[8 * i + k] = static_cast<std::uint32_t>(threads[i][k]);
  return inputs;
}

/// The first result of each thread.
words load(const std::string& instruction, image_shape shape, bool layered, std::uint64_t depth,
           const std::vector<std::vector<int>>& threads) {
  image_bench bench(instruction);
  const std::uint64_t height = shape == image_shape::one ? 1 : 4;
  const auto object = bench.images.add(counting(bench, shape, layered, 4, height, depth));
  const outcome done = bench.run_on(object, inputs_of(threads));
  INFO((done.error ? done.error->text : std::string()));
  REQUIRE(!done.error);
  const words all = bench.results();
  words first;
  for (std::size_t i = 0; i < all.size(); i += 4) first.push_back(all[i]);
  return first;
}

/// The words of a surface after a store or reduction of each thread.
words after(const std::string& instruction, const std::vector<std::vector<int>>& threads,
            texel_format format = word) {
  image_bench bench(instruction);
  const surface made = counting(bench, image_shape::two, false, 4, 2, 1, format);
  const outcome done = bench.run_on(bench.images.add(made), inputs_of(threads));
  INFO((done.error ? done.error->text : std::string()));
  REQUIRE(!done.error);
  return bench.download<std::uint32_t>(made.source.levels[0].base, 2 * format.bytes());
}

}  // namespace

TEST_CASE("surface loads count bytes along x, rows, slices and layers", "[machine][surfaces]") {
  CHECK(load("suld.b.1d.b32.trap {%r0}, [%t, {%f0}];", image_shape::one, false, 1,
             {{0}, {4}, {12}}) == words{0, 1, 3});
  CHECK(load("suld.b.2d.b32.trap {%r0}, [%t, {%f0,%f1}];", image_shape::two, false, 1,
             {{8, 3}, {12, 0}}) == words{14, 3});
  CHECK(load("suld.b.3d.b32.trap {%r0}, [%t, {%f0,%f1,%f2,%f3}];", image_shape::three, false, 3,
             {{4, 1, 2}}) == words{37});
  CHECK(load("suld.b.a1d.b32.trap {%r0}, [%t, {%f0,%f1}];", image_shape::one, true, 3, {{2, 4}}) ==
        words{9});
  CHECK(load("suld.b.a2d.b32.trap {%r0}, [%t, {%f0,%f1,%f2,%f3}];", image_shape::two, true, 3,
             {{2, 4, 1}}) == words{37});
  CHECK(load("suld.b.a2d.b32.trap {%r0}, [%t, {%f0,%f1,%f2,%f3}];", image_shape::cube, false, 6,
             {{5, 4, 1}}) == words{85});
}

TEST_CASE("surface loads and stores have all widths", "[machine][surfaces]") {
  const auto first = [](const char* instruction, int x) {
    image_bench bench(instruction);
    const auto object = bench.images.add(counting(bench, image_shape::one, false, 8, 1, 1));
    REQUIRE(!bench.run_on(object, inputs_of({{x}})).error);
    return bench.results();
  };
  CHECK(first("suld.b.1d.b8.trap {%h0}, [%t, {%f0}]; mov.b32 %r0, {%h0,%h0};", 4) ==
        words{0x10001, 0, 0, 0});
  CHECK(first("suld.b.1d.v4.b8.zero {%h0,%h1,_,_}, [%t, {%f0}]; mov.b32 %r0, {%h0,%h1};", 8) ==
        words{2, 0, 0, 0});
  CHECK(first("suld.b.1d.v2.b16.clamp {%h0,%h1}, [%t, {%f0}]; mov.b32 %r0, {%h1,%h0};", 12) ==
        words{0x30000, 0, 0, 0});
  CHECK(first("suld.b.1d.b64.trap {%d2}, [%t, {%f0}]; mov.b64 {%r0,%r1}, %d2;", 8) ==
        words{2, 3, 0, 0});
  CHECK(first("suld.b.1d.v2.b64.trap {%d2,%d3}, [%t, {%f0}]; mov.b64 {%r0,%r1}, %d2; "
              "mov.b64 {%r2,%r3}, %d3;",
              16) == words{4, 5, 6, 7});
  CHECK(first("suld.b.1d.v4.b32.trap {%r0,%r1,%r2,%r3}, [%t, {%f0}];", 0) == words{0, 1, 2, 3});

  CHECK(after("mov.b16 %h0, 0x15a; sust.b.2d.b8.trap [%t, {%f0,%f1}], {%h0};", {{5, 1}}) ==
        words{0, 1, 2, 3, 4, 0x5a05, 6, 7});
  CHECK(after("sust.b.2d.v4.b32.trap [%t, {%f0,%f1}], {9,8,%f0,7};", {{0, 1}}) ==
        words{0, 1, 2, 3, 9, 8, 0, 7});
  CHECK(after("mov.b64 %d2, 0x100000002; sust.b.2d.v2.b64.zero [%t, {%f0,%f1}], {%d2,%d3};",
              {{0, 0}}) == words{2, 1, 0, 0, 4, 5, 6, 7});
}

TEST_CASE(".clamp takes the nearest texel and .zero nothing outside a surface",
          "[machine][surfaces]") {
  const std::vector<std::vector<int>> outside = {{16, 1},   {-4, 1},   {4, 4}, {4, -1},
                                                 {1000, 9}, {-40, -1}, {4, 1}};
  CHECK(load("suld.b.2d.b32.clamp {%r0}, [%t, {%f0,%f1}];", image_shape::two, false, 1, outside) ==
        words{7, 4, 13, 1, 15, 0, 5});
  CHECK(load("suld.b.2d.b32.zero {%r0}, [%t, {%f0,%f1}];", image_shape::two, false, 1, outside) ==
        words{0, 0, 0, 0, 0, 0, 5});
  // A layer has no sign, so -1 is behind the last one.
  CHECK(load("suld.b.a1d.b32.clamp {%r0}, [%t, {%f0,%f1}];", image_shape::one, true, 3,
             {{-1, 4}, {7, 4}}) == words{9, 9});
  CHECK(after("sust.b.2d.b32.clamp [%t, {%f0,%f1}], {77};", {{16, 0}, {0, 9}}) ==
        words{0, 1, 2, 77, 77, 5, 6, 7});
  CHECK(after("sust.b.2d.b32.zero [%t, {%f0,%f1}], {77};", {{16, 0}, {0, 9}, {4, -1}}) ==
        words{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE(".trap outside a surface and misaligned coordinates are faults", "[machine][surfaces]") {
  const auto fault_of = [](const char* instruction, int x, int y) {
    image_bench bench(instruction);
    const auto object = bench.images.add(counting(bench, image_shape::two, false, 4, 2, 1));
    const outcome done = bench.run_on(object, inputs_of({{x, y}}));
    REQUIRE(done.error);
    return *done.error;
  };
  const fault right = fault_of("suld.b.2d.b32.trap {%r0}, [%t, {%f0,%f1}];", 16, 0);
  CHECK(right.kind == fault_kind::surface_out_of_bounds);
  CHECK(right.detail ==
        "coordinates 16, 0, 0 in the surface of 16 bytes x 2 x 1 made by surface.cpp:5");
  CHECK(fault_of("sust.b.2d.b32.trap [%t, {%f0,%f1}], {%r0};", 0, -1).kind ==
        fault_kind::surface_out_of_bounds);
  CHECK(fault_of("sust.p.2d.b32.trap [%t, {%f0,%f1}], {%r0};", 4, 0).detail ==
        "coordinates 4, 0, 0 in the surface of 4 texels x 2 x 1 made by surface.cpp:5");
  CHECK(fault_of("sured.b.add.2d.u32.trap [%t, {%f0,%f1}], %r0;", 16, 0).kind ==
        fault_kind::surface_out_of_bounds);
  CHECK(fault_of("suld.b.2d.v4.b32.trap {%r0,%r1,%r2,%r3}, [%t, {%f0,%f1}];", 4, 0).kind ==
        fault_kind::misaligned);
  CHECK(fault_of("suld.b.2d.b32.zero {%r0}, [%t, {%f0,%f1}];", 2, 0).kind ==
        fault_kind::misaligned);
  CHECK(fault_of("suld.b.3d.b32.zero {%r0}, [%t, {%f0,%f1,%f2,%f3}];", 0, 0).kind ==
        fault_kind::wrong_image_shape);
}

TEST_CASE("formatted stores limit integers and round floats", "[machine][surfaces]") {
  const auto stored = [](texel_format format, const std::string& value) {
    return after("sust.p.2d.v4.b32.trap [%t, {%f0,%f1}], {" + value + ",7,8,9};", {{0, 0}},
                 format)[0];
  };
  using enum channel_kind;
  CHECK(stored({unsigned_integer, 1, 4}, "256") == 0x090807ff);
  CHECK(stored({unsigned_integer, 1, 4}, "-1") == 0x090807ff);
  CHECK(stored({signed_integer, 1, 4}, "-129") == 0x09080780);
  CHECK(stored({signed_integer, 1, 4}, "128") == 0x0908077f);
  CHECK(stored({unsigned_integer, 2, 2}, "65536") == 0x7ffff);
  CHECK(stored({signed_integer, 2, 2}, "-40000") == 0x78000);
  CHECK(stored({signed_integer, 4, 1}, "-40000") == static_cast<std::uint32_t>(-40000));
  CHECK(stored({floating, 4, 1}, "0f3EAAAAAB") == 0x3eaaaaab);
  CHECK((stored({floating, 2, 2}, "0f3EAAAAAB") & 0xffff) == 0x3555);
  CHECK((stored({floating, 2, 2}, "0f477FF000") & 0xffff) == 0x7bff);  // would round to infinity
  CHECK((stored({floating, 2, 2}, "0f7F800000") & 0xffff) == 0x7c00);
  CHECK((stored({floating, 2, 2}, "0f7FC00000") & 0xffff) == 0x7e00);
  CHECK((stored({floating, 2, 2}, "0fFFFFFFFF") & 0xffff) == 0xffff);
}

TEST_CASE("reductions on surfaces", "[machine][surfaces]") {
  const auto reduced = [](const char* operation, const std::vector<std::vector<int>>& threads) {
    return after(std::string("sured.b.") + operation + ".zero [%t, {%f0,%f1}], %f2;", threads);
  };
  const std::vector<std::vector<int>> all = {{4, 1, 3}, {4, 1, 9}, {16, 0, 5}, {0, 0, -1}};
  CHECK(reduced("add.2d.u32", all) == words{0xffffffff, 1, 2, 3, 4, 17, 6, 7});
  CHECK(reduced("min.2d.s32", all) == words{0xffffffff, 1, 2, 3, 4, 3, 6, 7});
  CHECK(reduced("max.2d.u32", all) == words{0xffffffff, 1, 2, 3, 4, 9, 6, 7});
  CHECK(reduced("and.2d.b32", all) == words{0, 1, 2, 3, 4, 1, 6, 7});
  CHECK(reduced("or.2d.b32", all) == words{0xffffffff, 1, 2, 3, 4, 15, 6, 7});
  CHECK(after("mov.b64 %d2, {%f2,%f3}; sured.b.add.2d.u64.trap [%t, {%f0,%f1}], %d2;",
              {{8, 0, -2, 1}}) == words{0, 1, 0, 5, 4, 5, 6, 7});
  // With .p the coordinates count texels, and the format says whether there is a sign.
  CHECK(after("sured.p.min.2d.b32.clamp [%t, {%f0,%f1}], %f2;", {{2, 0, -1}}) ==
        words{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(after("sured.p.min.2d.b32.clamp [%t, {%f0,%f1}], %f2;", {{2, 0, -1}},
              {channel_kind::signed_integer, 4, 1}) == words{0, 1, 0xffffffff, 3, 4, 5, 6, 7});
}

TEST_CASE("surfaces tell their extents, and a texture handle is none", "[machine][surfaces]") {
  image_bench bench(
      "suq.width.b32 %r0, [%t]; suq.height.b32 %r1, [%t]; suq.depth.b32 %r2, [%t]; "
      "istypep.surfref %p, %t; selp.b32 %r3, 1, 0, %p;");
  const auto object = bench.images.add(counting(bench, image_shape::three, false, 4, 3, 2));
  REQUIRE(!bench.run_on(object, words(8)).error);
  CHECK(bench.results() == words{4, 3, 2, 0});
  const outcome wrong = bench.run_on(bench.images.add(texture{}), words(8));
  REQUIRE(wrong.error);
  CHECK(wrong.error->detail == "0x2 is a texture object, not a surface object");
}

}  // namespace machine_surface_test

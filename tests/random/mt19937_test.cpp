// MT19937 against cuRAND and std::mt19937. Each generator that a test takes numbers from is first
// moved to its place, which takes long on the CPU driver.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/graph.hpp>
#include <gpu/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mt19937_test {
namespace {

using algorithm_test::fixture;

gpu::mt19937 engine_at(const fixture& f, std::uint64_t seed, std::uint64_t offset = 0) {
  return test::value_of(gpu::mt19937::create(f.stream, seed, offset));
}
template <class Numbers> auto made(const fixture& f, const Numbers& numbers) {
  return f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
}
std::vector<unsigned> bits(const fixture& f, gpu::mt19937& engine, std::size_t count) {
  return made(f, gpu::random_bits<unsigned>(engine, gpu::shape<1>{count}));
}

// What cuRAND 10.4 of CUDA 13.0 makes with curandCreateGeneratorHost for the seed 5489.
const std::vector<unsigned> first_numbers{
    0xd091bb5cu, 0x92e195f8u, 0x492cbef1u, 0x704c7830u, 0x3c1a8943u, 0x5c615e22u, 0x9fc266e3u,
    0x66c9fc5fu, 0x9e1d809cu, 0x371c897cu, 0x49a1d42eu, 0x7c4eeb45u, 0x603f2b6cu, 0x7c2f4506u,
    0xd38e8a6du, 0xd1aa6f2au, 0x06d39d52u, 0x29f28669u, 0x55413fc0u, 0x424d9cc3u};

TEST_CASE("MT19937 begins with the numbers of cuRAND", "[random][mt19937]") {
  const fixture f;
  gpu::mt19937 engine = engine_at(f, 5489);
  CHECK(bits(f, engine, 20) == first_numbers);
  CHECK(engine.offset() == 20);
  // Only the lowest 32 bits of a seed count.
  gpu::mt19937 other = engine_at(f, 0x123456789abcdef);
  const auto found = bits(f, other, 9);
  CHECK(found[0] == 0x822bf9deu);
  CHECK(found[1] == 0xd4b410fdu);
  CHECK(found[7] == 0x5fd1fb2eu);
  CHECK(found[8] == 0x9eaaa6a7u);
}

TEST_CASE("the first generator of MT19937 has all numbers of std::mt19937", "[random][mt19937]") {
  const fixture f;
  std::mt19937 standard(77);
  std::vector<unsigned> expected, found;
  for (int k = 0; k < 2 * 624; ++k) expected.push_back(static_cast<unsigned>(standard()));
  gpu::mt19937 engine = engine_at(f, 77);
  for (std::uint64_t row = 0; row < 2 * 78; ++row) {
    CHECK(engine.offset() == row * 65536);
    const auto eight = bits(f, engine, 8);
    if (row % 78 == 0) CHECK(eight[0] == expected[row * 8]);
    if (row % 78 == 1) {
      for (std::size_t k = 0; k < 8; ++k) CHECK(eight[k] == expected[row / 78 * 624 + 1 + 7 * k]);
    }
    found.insert(found.end(), eight.begin(), eight.end());
    engine.skip(65536 - 8);
  }
  std::sort(found.begin(), found.begin() + 624);
  std::sort(found.begin() + 624, found.end());
  std::sort(expected.begin(), expected.begin() + 624);
  std::sort(expected.begin() + 624, expected.end());
  CHECK(found == expected);
}

TEST_CASE("ranges of MT19937 follow each other as in cuRAND", "[random][mt19937][thorough]") {
  const fixture f;
  gpu::mt19937 engine = engine_at(f, 5489);
  const auto first = gpu::random_bits<unsigned>(engine, gpu::shape{8});
  engine.skip(2 * 5'111'808 - 8);
  const auto later = bits(f, engine, 9);  // behind two ranges that nobody asked for
  CHECK(later[0] == 0x155f212fu);
  CHECK(later[7] == 0xbac1ba06u);
  CHECK(later[8] == 0xc2d4bc39u);
  const auto again = made(f, first);  // before them: a value that is made anew
  for (std::size_t k = 0; k < 8; ++k) CHECK(again[k] == first_numbers[k]);
  gpu::mt19937 next = engine_at(f, 5489, 5'111'808);
  const auto found = bits(f, next, 8);
  CHECK(found[0] == 0xf914dc58u);
  CHECK(found[1] == 0x55f6d9e0u);
  CHECK(found[7] == 0x75c45269u);
}

TEST_CASE("numbers of several ranges of MT19937 come in one call", "[random][mt19937][thorough]") {
  const fixture f;
  // The last generator at the end of a range, and the first one in the next.
  gpu::mt19937 engine = engine_at(f, 5489, 5'111'804);
  CHECK(bits(f, engine, 8) == std::vector<unsigned>{0xc445dbbau, 0x99b8bd12u, 0xdcc0cb5fu,
                                                    0x7c1d5d24u, 0xf914dc58u, 0x55f6d9e0u,
                                                    0x500e585au, 0x00c4afdeu});
}

TEST_CASE("uniform and normal numbers of MT19937 are those of cuRAND",
          "[random][mt19937][thorough]") {
  const fixture f;
  const gpu::shape<1> six{6};
  gpu::mt19937 engine = engine_at(f, 5489, 30);
  CHECK(made(f, gpu::uniform<float>(engine, six)) ==
        std::vector<float>{0x1.8b6704p-1f, 0x1.5fa5aap-2f, 0x1.b504e4p-2f, 0x1.13d3eap-1f,
                           0x1.139a8cp-1f, 0x1.3bcb26p-1f});
  engine.skip(6);
  CHECK(made(f, gpu::uniform<double>(engine, six)) ==
        std::vector<double>{0x1.0f16072ep-2, 0x1.995a22bap-2, 0x1.6c4c3e44p-3, 0x1.b3effa0ep-2,
                            0x1.0b80d8d9p-1, 0x1.9a1d58f6p-2});
  engine.skip(6);
  const float normals[] = {0.676923871f,  -0.996640921f, 0.13669996f,
                           -0.178541377f, 1.73016489f,   0.0970612541f};
  const auto x = made(f, gpu::normal<float>(engine, six));
  for (std::size_t k = 0; k < 6; ++k) CHECK(std::abs(x[k] - normals[k]) < 1e-6f);
  engine.skip(6);
  const double doubles[] = {-0.28103750497940139, -0.79489842233858243, 0.77022106732271967,
                            0.66771821834416878,  -1.638255559498548,   0.19508758393124354};
  const auto y = made(f, gpu::normal<double>(engine, six));
  for (std::size_t k = 0; k < 6; ++k) CHECK(std::abs(y[k] - doubles[k]) < 1e-12);
}

TEST_CASE("a graph draws the same numbers of MT19937 at each launch", "[random][mt19937]") {
  const fixture f;
  gpu::mt19937 engine = engine_at(f, 5489);
  auto x = f.make<unsigned>(8);
  const auto numbers = gpu::random_bits<unsigned>(engine, gpu::shape{8});
  test::value_of(gpu::assign(f.stream, x, numbers));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::assign(f.stream, x, numbers));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int k = 0; k < 2; ++k) {
    engine.skip(5'111'808);  // the engine goes on to another range in between
    CHECK(bits(f, engine, 1) != std::vector<unsigned>{first_numbers[0]});
    test::value_of(gpu::fill(f.stream, x, 0u));
    test::value_of(gpu::launch(f.stream, executable));
    test::value_of(f.stream.synchronize());
    CHECK(f.download(x) == std::vector<unsigned>(first_numbers.begin(), first_numbers.begin() + 8));
  }
}

TEST_CASE("an MT19937 goes on from its text", "[random][mt19937]") {
  const fixture f;
  gpu::mt19937 engine = engine_at(f, 5489, 3);
  const gpu::text written = engine.to_text();
  CHECK(std::string(written.c_str()) == "mt19937 5489 0 3");
  gpu::mt19937 read = test::value_of(gpu::mt19937::from_text(f.stream, written));
  CHECK(bits(f, read, 5) ==
        std::vector<unsigned>(first_numbers.begin() + 3, first_numbers.begin() + 8));
  CHECK(read.seed() == 5489);
  CHECK(test::says(test::error_of(gpu::mt19937::from_text(f.stream, "philox 1 0 0")),
                   "philox 1 0 0", "mt19937 42 0 1000"));
  gpu::mt19937 beyond = test::value_of(gpu::mt19937::from_text(f.stream, "mt19937 1 1 0"));
  CHECK(test::says(
      test::error_of(gpu::evaluate(f.stream, gpu::uniform<float>(beyond, gpu::shape{2}))),
      "the sequence 1", "mt19937 has 1"));
  beyond = engine_at(f, 1, ~0ull - 3);
  CHECK(test::says(
      test::error_of(gpu::evaluate(f.stream, gpu::uniform<float>(beyond, gpu::shape{5}))),
      "would pass 2^64", "mt19937"));
}

TEST_CASE("MT19937 has numbers of other distributions", "[random][mt19937][thorough]") {
  const fixture f;
  const gpu::shape<1> s{4};
  gpu::mt19937 engine = engine_at(f, 3, 1);
  for (const int each : made(f, gpu::uniform_integers<int>(engine, s, 1, 6)))
    CHECK((each >= 1 && each <= 6));
  CHECK(engine.offset() == 10);  // two numbers each, from an even one on
  engine = engine_at(f, 3);
  for (const double each : made(f, gpu::poisson<double>(engine, s, 1e6)))
    CHECK(std::abs(each - 1e6) < 6e3);
  engine = engine_at(f, 3);
  const auto by_table = made(f, gpu::poisson<int>(engine, s, 5));
  engine = engine_at(f, 3);
  const auto means = f.upload(std::vector<double>(4, 5));
  CHECK(made(f, gpu::poisson<int>(engine, means)) == by_table);
  // 64 bits are two numbers, low half first.
  engine = engine_at(f, 5489, 1);
  const auto wide = made(f, gpu::random_bits<std::uint64_t>(engine, gpu::shape{3}));
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(wide[k] == (first_numbers[2 + 2 * k] | std::uint64_t{first_numbers[3 + 2 * k]} << 32));
  }
}

TEST_CASE("an MT19937 that was moved from is refused", "[random][mt19937]") {
  const fixture f;
  gpu::mt19937 engine = engine_at(f, 1);
  const gpu::mt19937 moved = std::move(engine);
  CHECK(moved.offset() == 0);
  CHECK(test::error_of(gpu::evaluate(f.stream, gpu::uniform<float>(engine, gpu::shape{2}))) ==
        gpu::errc::empty_handle);
}

TEST_CASE("each call of an MT19937 may fail", "[random][mt19937][cpu][thorough]") {
  const auto run = []() -> gpu::result<> {
    const gpu::stream stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
    auto engine = GPU_TRY(gpu::mt19937::create(stream, 1));
    GPU_TRY(gpu::evaluate(stream, gpu::random_bits<unsigned>(engine, gpu::shape{3})));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
  algorithm_test::check_first_allocations(run);
}

}  // namespace
}  // namespace mt19937_test

// MT19937 against cuRAND and std::mt19937. Numbers of one or two generators are made by states of
// these. Few numbers of more generators are made without states, until the ninth time.

#include "algorithm/algorithm_fixture.hpp"
#include "support/cpu_driver.hpp"
#include "support/drivers.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mt19937_test { namespace {

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

constexpr std::uint64_t range = 5'111'808;  // numbers that all generators make of one state each

/// The numbers 0 to 7 of a range, which are the first generator's, from std::mt19937.
std::vector<unsigned> first_of_range(unsigned seed, std::uint64_t which) {
  std::mt19937 standard(seed);
  standard.discard(624 * which);
  std::vector<unsigned> state(624), eight;
  for (unsigned& each : state) each = static_cast<unsigned>(standard());
  for (const std::size_t place : {0u, 113u, 170u, 283u, 340u, 397u, 510u, 567u})
    eight.push_back(state[place]);
  return eight;
}
/// The first eight of numbers from three generators, so that they are made without states.
template <class Numbers> std::vector<unsigned> eight_of(const fixture& f, const Numbers& numbers) {
  std::vector<unsigned> found = made(f, numbers);
  found.resize(8);
  return found;
}
auto numbers_at(gpu::mt19937& engine, std::uint64_t offset) {
  engine.skip(offset - engine.offset());
  return gpu::random_bits<unsigned>(engine, gpu::shape{24});
}

TEST_CASE("far ranges of MT19937 are those of std::mt19937", "[random][mt19937]") {
  const fixture f;
  for (const std::uint64_t which : {1u, 1023u, 1024u, 6149u}) {
    CAPTURE(which);
    gpu::mt19937 engine = engine_at(f, 8);
    CHECK(eight_of(f, numbers_at(engine, which * range)) == first_of_range(8, which));
    engine = engine_at(f, 8, which * range);
    CHECK(bits(f, engine, 8) == first_of_range(8, which));
  }
  // From states that are near, far behind, and those of a later range.
  gpu::mt19937 engine = engine_at(f, 8);
  for (const std::uint64_t which : {0u, 7u, 16u, 1040u, 1u}) {
    CAPTURE(which);
    if (which == 1) engine = test::value_of(gpu::mt19937::from_text(f.stream, "mt19937 8 0 0"));
    engine.skip(which * range - engine.offset());
    CHECK(bits(f, engine, 8) == first_of_range(8, which));
    CHECK(eight_of(f, numbers_at(engine, (which + 3) * range)) == first_of_range(8, which + 3));
  }
}

TEST_CASE("the last ranges of MT19937 take as few steps as the first ones",
          "[random][mt19937][thorough]") {
  const fixture f;
  gpu::mt19937 there = engine_at(f, 3, (1ull << 41) * range);
  const auto expected = bits(f, there, 8);  // by one polynomial
  gpu::mt19937 engine = engine_at(f, 3, ((1ull << 41) - 1) * range);
  CHECK(bits(f, engine, 8) != expected);  // by those of all lower powers, and then one more state
  engine.skip(range - 8);
  CHECK(bits(f, engine, 8) == expected);
  engine = engine_at(f, 3, 1ull << 60);
  const auto of_state = bits(f, engine, 8);
  engine = engine_at(f, 3);
  CHECK(eight_of(f, numbers_at(engine, 1ull << 60)) == of_state);
}

TEST_CASE("few numbers of MT19937 are those of states", "[random][mt19937][thorough]") {
  const fixture f;
  // Across groups of generators; across rows of eights; across ranges.
  for (const std::uint64_t offset :
       {std::uint64_t{8 * 254 + 3}, std::uint64_t{4 * 65536 - 8 * 2 + 3}, range - 8 * 2 + 3}) {
    CAPTURE(offset);
    gpu::mt19937 engine = engine_at(f, 1, offset);
    const auto numbers = gpu::random_bits<unsigned>(engine, gpu::shape{22});
    const auto expected = made(f, numbers);
    if (offset == 8 * 254 + 3) {
      // Made by moving by 1, 2, 4, ... generators in turn.
      CHECK(std::vector<unsigned>(expected.begin() + 8, expected.end()) ==
            std::vector<unsigned>{0xf470052bu, 0xc727fadcu, 0x81cb25e1u, 0x8ea2176bu, 0x7e745c07u,
                                  0x687168ccu, 0xf17ef9afu, 0xc32219e1u, 0x6fab10f2u, 0xda6703b2u,
                                  0x46e089ddu, 0x38505bcau, 0x5345d1bcu, 0x02946cc1u});
      for (int k = 0; k < 9; ++k) CHECK(made(f, numbers) == expected);
    }
    gpu::mt19937 by_states = engine_at(f, 1, offset);
    std::vector<unsigned> found;
    for (const std::size_t count : {5u, 8u, 8u, 1u}) {
      const auto part = bits(f, by_states, count);
      found.insert(found.end(), part.begin(), part.end());
    }
    CHECK(found == expected);
  }
}

TEST_CASE("ten thousand numbers of MT19937 take the CPU driver few instructions",
          "[random][mt19937][cpu]") {
  const test::own_cpu_driver driver;
  const fixture f;
  gpu::mt19937 engine = engine_at(f, 5489);
  const test::cost_collection costs(driver.itself());
  const auto found = bits(f, engine, 10'000);
  CHECK(std::equal(first_numbers.begin(), first_numbers.end(), found.begin()));
  // Of the last generator, made by moving by 1, 32, 64, 128 and 1,024 generators in turn.
  CHECK(std::vector<unsigned>(found.end() - 8, found.end()) ==
        std::vector<unsigned>{0xacdb11c7u, 0x9e271b74u, 0x78fb9bd2u, 0x357ec359u, 0x1fa27299u,
                              0x7fa05e89u, 0xaee934edu, 0xeccf2295u});
  const auto report = costs.report();
  std::uint64_t launches = 0;
  for (const auto& kernel : report.kernels) launches += kernel.launches;
  CHECK(launches == 3);
  CHECK(report.total().thread_instructions < 300'000'000);  // 80,000,000,000 for a state of each
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
  const std::size_t count = GENERATE(8u, 20u);  // by states, and without them
  gpu::mt19937 engine = engine_at(f, 5489);
  auto x = f.make<unsigned>(count);
  const auto numbers = gpu::random_bits<unsigned>(engine, gpu::shape<1>{count});
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
    std::vector<unsigned> expected = first_numbers;
    expected.resize(count);
    CHECK(f.download(x) == expected);
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

}}  // namespace mt19937_test

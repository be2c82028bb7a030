// The engines against published vectors and cuRAND.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace engines_test { namespace {

using algorithm_test::fixture;

/// A program of the user's, with engines in device code.
constexpr const char* device_source = R"(
#include <gpu/random.hpp>

extern "C" __global__ void block(unsigned long long seed, unsigned long long high,
                                 unsigned long long low, unsigned* out) {
  const uint4 made = gpu::random::philox_block(seed, high, low);
  out[0] = made.x;
  out[1] = made.y;
  out[2] = made.z;
  out[3] = made.w;
}
extern "C" __global__ void draw(unsigned long long seed, unsigned long long sequence,
                                unsigned long long offset, unsigned* bits, float* floats,
                                double* doubles) {
  gpu::philox a(seed, sequence, offset);
  gpu::xorwow b(seed, sequence, offset);
  gpu::mrg32k3a c(seed, sequence, offset);
  for (int k = 0; k < 4; ++k) {
    bits[k] = a.next();
    bits[4 + k] = b.next();
    bits[8 + k] = c.next();
  }
  for (int k = 0; k < 4; ++k) {
    floats[k] = gpu::uniform<float>(a);
    floats[4 + k] = gpu::uniform<float>(b);
    floats[8 + k] = gpu::uniform<float>(c);
  }
  for (int k = 0; k < 4; ++k) {
    doubles[k] = gpu::uniform<double>(b);
    doubles[4 + k] = gpu::uniform<double>(c);
  }
}

template <class Engine> __device__ unsigned faults_of_jumps(bool of_sequences) {
  unsigned faults = 0;
#pragma unroll 1
  for (int k = 0; k < 63; ++k) {
    Engine once(7), twice(7);
    const unsigned long long count = 1ull << k;
    if (of_sequences) {
      once.skip_sequence(2 * count);
      twice.skip_sequence(count);
      twice.skip_sequence(count);
    } else {
      once.skip(2 * count);
      twice.skip(count);
      twice.skip(count);
    }
    for (int draw = 0; draw < 6; ++draw) faults += once.next() != twice.next();
  }
  Engine stepped(7), skipped(7);
  for (int k = 0; k < 1000; ++k) stepped.next();
  skipped.skip(1000);
  for (int draw = 0; draw < 6; ++draw) faults += stepped.next() != skipped.next();
  return faults;
}
extern "C" __global__ void jumps(unsigned* faults) {
  faults[0] = faults_of_jumps<gpu::philox>(false);
  faults[1] = faults_of_jumps<gpu::xorwow>(false);
  faults[2] = faults_of_jumps<gpu::xorwow>(true);
  faults[3] = faults_of_jumps<gpu::mrg32k3a>(false);
  faults[4] = faults_of_jumps<gpu::mrg32k3a>(true);
  // 2^67 numbers are 2^63 of them 16 times, 2^76 that 8192 times.
  gpu::xorwow far(7), near(7);
  far.skip_sequence(1);
  for (int k = 0; k < 16; ++k) near.skip(1ull << 63);
  faults[5] = 0;
  for (int draw = 0; draw < 6; ++draw) faults[5] += far.next() != near.next();
  gpu::mrg32k3a apart(7), close(7);
  apart.skip_sequence(1ull << 51);
  close.skip_stream(1);
  for (int draw = 0; draw < 6; ++draw) faults[5] += apart.next() != close.next();
}
extern "C" __global__ void from_host(gpu::philox_state state, unsigned* out) {
  gpu::philox own(state, threadIdx.x);
  out[threadIdx.x] = own.next();
}
)";

struct device_engines {
  fixture f;
  gpu::module loaded =
      test::value_of(gpu::module::load(test::value_of(gpu::compile(gpu::program(device_source)))));

  template <class... Parameters> auto kernel(const char* name) const {
    return test::value_of(loaded.kernel<Parameters...>(name));
  }
};

TEST_CASE("Philox has the published vectors", "[random]") {
  // The known answers of Random123 for philox4x32 with 10 rounds.
  struct vector {
    std::uint64_t low, high, key;
    std::vector<unsigned> expected;
  };
  const vector vectors[] = {
      {0, 0, 0, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
      {~0ull, ~0ull, ~0ull, {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
      {0x85a308d3243f6a88ull,
       0x0370734413198a2eull,
       0x299f31d0a4093822ull,
       {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
  };
  const device_engines d;
  const auto block = d.kernel<std::uint64_t, std::uint64_t, std::uint64_t, unsigned*>("block");
  auto out = d.f.make<unsigned>(4);
  for (const vector& each : vectors) {
    test::value_of(gpu::launch(d.f.stream, {1, 1}, block, each.key, each.high, each.low, out));
    CHECK(d.f.download(out) == each.expected);
    CHECK(gpu::detail::philox_words(each.key, each.high, each.low) ==
          (each.expected[0] | std::uint64_t{each.expected[1]} << 32));
  }
}

struct device_vector {
  std::uint64_t seed, sequence, offset;
  std::vector<unsigned> bits;
  std::vector<float> floats;
  std::vector<double> doubles;
};

// Results of the functions of curand_kernel.h of CUDA 13.0: curand and curand_uniform of Philox,
// XORWOW and MRG32k3a, then curand_uniform_double of the latter two.
const std::vector<device_vector>& device_vectors() {
  static const std::vector<device_vector> all{
      {42ull,
       0ull,
       0ull,
       {0x9ceaf053u, 0x77f5493bu, 0x12bf50adu, 0x5742b3d7u, 0x11ece47fu, 0x8cdacf50u, 0x2faeaeb6u,
        0x8a2920e0u, 0x3b3f724du, 0xf79d7569u, 0xe33e8ecdu, 0x4c8581b9u},
       {0x1.f9b642p-1f, 0x1.4ee9b4p-2f, 0x1.071eb4p-1f, 0x1.d1381cp-2f, 0x1.12778ap-2f,
        0x1.afc0c6p-1f, 0x1.695abap-1f, 0x1.cfb118p-1f, 0x1.3d157cp-3f, 0x1.b29242p-1f,
        0x1.74474p-2f, 0x1.de76d8p-1f},
       {0x1.cf270348a661ep-1, 0x1.96eee88700854p-1, 0x1.1072ed66bb746p-1, 0x1.88bd94ea9791dp-2,
        0x1.b09cc9e33000ep-1, 0x1.e1dbbab964638p-3, 0x1.dad9d18dabd42p-1, 0x1.a558038ffcdafp-2}},
      {81985529216486895ull,
       5ull,
       7ull,
       {0xa1bd1919u, 0x644af2c9u, 0x0aab6850u, 0x81064203u, 0x83397cc9u, 0x2bc8c604u, 0x7dc2f6cau,
        0x19b36bc4u, 0xe903f34bu, 0x7f55db16u, 0xa55fc505u, 0x31f272abu},
       {0x1.5c8442p-6f, 0x1.8b1e94p-1f, 0x1.8a0b9ep-2f, 0x1.dae82cp-2f, 0x1.78447p-1f,
        0x1.fc6182p-2f, 0x1.d11518p-1f, 0x1.a3fae8p-1f, 0x1.e1f002p-1f, 0x1.57b114p-2f,
        0x1.30fa1cp-1f, 0x1.feeeb4p-7f},
       {0x1.def4ad7dd052ap-1, 0x1.9d83c965b5fd8p-5, 0x1.a81baafce1749p-2, 0x1.44d1901f328a4p-1,
        0x1.a1827d00db881p-2, 0x1.39d5f79037af2p-3, 0x1.ae89ff137ea94p-1, 0x1.356e2dbc9ef36p-1}},
      {0ull,
       123456ull,
       1000000007ull,
       {0x0f519064u, 0x6f9e529du, 0x019145eau, 0x103f793au, 0xa5ae9e3bu, 0xd82da827u, 0xaa9cbceau,
        0xebc45aa4u, 0x00338caeu, 0x9342a83fu, 0x775abc36u, 0x81dba0acu},
       {0x1.290eccp-2f, 0x1.4b5e12p-1f, 0x1.5856a8p-2f, 0x1.5e8e3ep-1f, 0x1.f3436cp-3f,
        0x1.982728p-3f, 0x1.47c5a2p-2f, 0x1.8bf5f4p-2f, 0x1.8ed0a6p-1f, 0x1.5ea234p-7f,
        0x1.86cc24p-2f, 0x1.e45ea4p-1f},
       {0x1.68173c58c5506p-1, 0x1.e6bb1df31a6d4p-1, 0x1.799657e4b706fp-2, 0x1.4627c6845586fp-2,
        0x1.5a30481aa16aep-3, 0x1.9c97a5f0d7ce8p-3, 0x1.85cd6e3a3cb7p-1, 0x1.5737a784346fdp-1}},
      {99ull,
       69117744281172ull,
       320255973501901ull,
       {0x3ea7b8d2u, 0xd4c1e760u, 0xcff2e389u, 0x58b885f3u, 0x1836261cu, 0x62ad4498u, 0xc9df7dfau,
        0x98a128abu, 0x3bc799c9u, 0x636c40fbu, 0xa05da81du, 0xc74c2f77u},
       {0x1.83c89ep-1f, 0x1.4939f8p-1f, 0x1.f3b0a8p-1f, 0x1.bd3d98p-2f, 0x1.8a8cfep-1f,
        0x1.3b469ep-1f, 0x1.3e7a28p-5f, 0x1.b7353cp-2f, 0x1.c90104p-1f, 0x1.2d607ep-1f,
        0x1.b1568p-1f, 0x1.172654p-1f},
       {0x1.86c711bd3a6d3p-2, 0x1.b26073f7b8a28p-1, 0x1.9fd5ebb5c63bcp-1, 0x1.85b9cbd7709cep-1,
        0x1.002ae54d23054p-2, 0x1.7ab4b73d2d89ap-3, 0x1.aaf655bc931cp-5, 0x1.fc512af6fe442p-2}}};
  return all;
}

TEST_CASE("engines in device code have the numbers of cuRAND's", "[random]") {
  const device_engines d;
  const auto draw =
      d.kernel<std::uint64_t, std::uint64_t, std::uint64_t, unsigned*, float*, double*>("draw");
  auto bits = d.f.make<unsigned>(12);
  auto floats = d.f.make<float>(12);
  auto doubles = d.f.make<double>(8);
  for (const device_vector& each : device_vectors()) {
    test::value_of(gpu::launch(d.f.stream, {1, 1}, draw, each.seed, each.sequence, each.offset,
                               bits, floats, doubles));
    CHECK(d.f.download(bits) == each.bits);
    CHECK(d.f.download(floats) == each.floats);
    CHECK(d.f.download(doubles) == each.doubles);
  }
}

TEST_CASE("skipping twice is skipping twice as far", "[random]") {
  const device_engines d;
  auto faults = d.f.make<unsigned>(6);
  test::value_of(gpu::launch(d.f.stream, {1, 1}, d.kernel<unsigned*>("jumps"), faults));
  CHECK(d.f.download(faults) == std::vector<unsigned>(6));
}

TEST_CASE("a kernel takes an engine of the host", "[random]") {
  const device_engines d;
  auto out = d.f.make<unsigned>(3);
  const gpu::philox engine(5, 2, 1);
  test::value_of(gpu::launch(d.f.stream, {1, 3},
                             d.kernel<gpu::philox_state, unsigned*>("from_host"), engine, out));
  std::vector<unsigned> expected;
  for (std::uint64_t k = 0; k < 3; ++k) {
    // The second word of the first block of sequence 2 * 65536 + k.
    expected.push_back(static_cast<unsigned>(gpu::detail::philox_words(5, (2 << 16) + k, 0) >> 32));
  }
  CHECK(d.f.download(out) == expected);
}

/// Elements of what cuRAND 10.4 of CUDA 13.0 makes with curandCreateGeneratorHost in its legacy
/// order for the seed 0x123456789abcdef: bits, uniform floats and doubles, normal floats and
/// doubles.
struct host_vector {
  std::vector<unsigned> bits;
  std::vector<float> uniform;
  std::vector<double> uniform_double;
  std::vector<float> normal;
  std::vector<double> normal_double;
};

/// Returns chosen elements of numbers that are made in one call.
template <class Numbers>
auto elements_of(const fixture& f, const Numbers& numbers, const std::vector<std::size_t>& chosen) {
  const auto all = f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
  std::vector<typename Numbers::value_type> found;
  for (const std::size_t each : chosen) found.push_back(all[each]);
  return found;
}

template <class T> void near(const std::vector<T>& found, const std::vector<T>& expected, T limit) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CAPTURE(k);
    CHECK(std::abs(found[k] - expected[k]) <= limit);
  }
}

/// Compares chosen elements of fills that begin behind `skipped` elements; for doubles behind
/// `skipped_doubles`.
template <class Engine>
void same_as_curand(const host_vector& expected, const std::vector<std::size_t>& chosen,
                    std::uint64_t skipped = 0, std::uint64_t skipped_doubles = 0) {
  const fixture f;
  const gpu::shape<1> all{chosen.back() + 1};
  const Engine start(0x123456789abcdef, 0, skipped), doubles(start.seed(), 0, 2 * skipped_doubles);
  Engine engine = start;
  CHECK(elements_of(f, gpu::random_bits<unsigned>(engine, all), chosen) == expected.bits);
  engine = start;
  CHECK(elements_of(f, gpu::uniform<float>(engine, all), chosen) == expected.uniform);
  engine = start;  // the transform is computed in another way, closer to the exact one
  near(elements_of(f, gpu::normal<float>(engine, all), chosen), expected.normal, 1e-5f);
  engine = doubles;
  CHECK(elements_of(f, gpu::uniform<double>(engine, all), chosen) == expected.uniform_double);
  engine = doubles;
  near(elements_of(f, gpu::normal<double>(engine, all), chosen), expected.normal_double, 1e-13);
}

TEST_CASE("fills have the numbers of cuRAND's host interface: Philox", "[random]") {
  same_as_curand<gpu::philox>(
      {{0xb850222eu, 0xc58cb04bu, 0x14a7a020u, 0x7a84fff9u, 0x480d8715u, 0xe85b7a16u},
       {0x1.70a044p-1f, 0x1.8b196p-1f, 0x1.4a7a02p-4f, 0x1.ea14p-2f, 0x1.20361cp-2f,
        0x1.d0b6f4p-1f},
       {0x1.8b196b130222ep-1, 0x1.ea13fd70f4041p-2, 0x1.48f823ad428cdp-2, 0x1.6533b22a01426p-1,
        0x1.4bbae38253db8p-1, 0x1.12f8652dbd0b4p-4},
       {-0.803099394f, 0.110068992f, 0.300900936f, -2.22349262f, -0.156087175f, 0.180230334f},
       {0.096553940474434108, -0.7134790715091881, -1.4262300083547641, -0.48670601180062839,
        -0.19786397963905888, -0.5724607264144016}},
      {0, 1, 2, 3, 4095, 4096});
  // Elements 262144 and 262145, behind which all sequences have given a block.
  same_as_curand<gpu::philox>({{0xadca1466u, 0x523e0d85u},
                               {0x1.5b9428p-1f, 0x1.48f836p-2f},
                               {0x1.047999fce29ap-1, 0x1.a8fe4c97f1e64p-4},
                               {0.793394804f, -0.381040126f},
                               {0.70537532085901933, 0.92416507549603644}},
                              {0, 1}, 262144, 262144);
}

TEST_CASE("fills have the numbers of cuRAND's host interface: XORWOW", "[random]") {
  same_as_curand<gpu::xorwow>(
      {{0x1a444210u, 0x6d3c9475u, 0x137196eau, 0x296ca177u, 0x02e8ecddu, 0x3fcca938u, 0x4395cedfu,
        0x232287dau, 0xac7c5504u, 0x86f9a1f6u},
       {0x1.a4442p-4f, 0x1.b4f252p-2f, 0x1.37196ep-4f, 0x1.4b650cp-3f, 0x1.74766ep-7f,
        0x1.fe654ap-3f, 0x1.0e573cp-2f, 0x1.19143ep-3f, 0x1.58f8aap-1f, 0x1.0df344p-1f},
       {0x1.fe654f5110842p-3, 0x1.0e5736db928ebp-2, 0x1.87a71053196eap-1, 0x1.5b9b5944ca178p-1,
        0x1.19143e6a3b376p-3, 0x1.d4c9e661c5504p-1, 0x1.19ea9060ae73fp-2, 0x1.102241d6baf22p-1,
        0x1.5714f6987ba72p-1, 0x1.807b67367791p-1},
       {2.13392735f, 0.0105032502f, 1.30006433f, -0.114693753f, 0.307873279f, -0.00472195074f,
        -0.669327259f, 1.94700813f, -0.449465841f, -0.285987496f},
       {-0.84312715810603467, 1.4380548634878358, 1.611455406132589, -0.25843605868667358,
        1.893254343622532, -0.87061772736647425, -0.7898312893198669, -1.9540434784003227,
        0.80201363802944459, 0.37108701923931348}},
      {0, 1, 2, 3, 4095, 4096, 4097, 8191, 8192, 39999});
}

TEST_CASE("fills have the numbers of cuRAND's host interface: MRG32k3a", "[random]") {
  same_as_curand<gpu::mrg32k3a>(
      {{0x892ce141u, 0x1234526du, 0xf433254au, 0x2a432364u, 0x6846c90du, 0x825035f5u, 0xab74c60du,
        0xcc31bca3u, 0xb99201d8u, 0x5e44b008u},
       {0x1.1259c2p-1f, 0x1.234526p-4f, 0x1.e8664ap-1f, 0x1.52191cp-3f, 0x1.a11b24p-2f,
        0x1.04a06cp-1f, 0x1.56e98cp-1f, 0x1.98637ap-1f, 0x1.732404p-1f, 0x1.7912cp-2f},
       {0x1.1259c283fb47dp-1, 0x1.234526ddcb74cp-4, 0x1.e8664a94bb82fp-1, 0x1.52191b24067f3p-3,
        0x1.a11b243487289p-2, 0x1.04a06beac6f82p-1, 0x1.56e98c1bf4ab7p-1, 0x1.9863794769361p-1,
        0x1.732403b100671p-1, 0x1.7912c023d84eep-2},
       {-0.0633901879f, -1.11526549f, -2.01320124f, -1.11087859f, 1.78588367f, -0.924718738f,
        0.682449639f, 0.395164907f, 0.801304758f, 0.210623235f},
       {-0.063390113015527244, -1.115265468561816, -2.0132010398547249, -1.1108788002907588,
        1.7858836251212367, -0.92471887362424632, 0.68244943764461552, 0.39516452766416721,
        0.80130480585730945, 0.21062336924391833}},
      {0, 1, 2, 3, 4095, 4096, 4097, 8191, 8192, 39999});
}

template <class Engine> void goes_on(const char* name) {
  CAPTURE(name);
  const fixture f;
  Engine engine(9, 3);
  const auto all = f.download(test::value_of(
      gpu::evaluate(f.stream, gpu::random_bits<unsigned>(engine, gpu::shape{9000}))));
  CHECK(engine.offset() == 9000);
  // In parts, of which one is skipped, and from a text.
  Engine parts(9, 3);
  std::vector<unsigned> found = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::random_bits<unsigned>(parts, gpu::shape{5}))));
  parts.skip(95);
  const gpu::text written = parts.to_text();
  CHECK(std::string(written.c_str()) == std::string(name) + " 9 3 100");
  Engine read = test::value_of(Engine::from_text(written));
  CHECK(read == parts);
  const auto rest = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::random_bits<unsigned>(read, gpu::shape{8900}))));
  CHECK(std::equal(found.begin(), found.end(), all.begin()));
  CHECK(std::equal(rest.begin(), rest.end(), all.begin() + 100));
  // Another sequence has other numbers.
  Engine other(9, 2);
  other.skip_sequence(1);
  CHECK(other == Engine(9, 3));
  other.skip_sequence(1);
  CHECK(f.download(test::value_of(
            gpu::evaluate(f.stream, gpu::random_bits<unsigned>(other, gpu::shape{9000})))) != all);
}

TEST_CASE("an engine goes on where it was", "[random]") {
  goes_on<gpu::philox>("philox");
  goes_on<gpu::xorwow>("xorwow");
  goes_on<gpu::mrg32k3a>("mrg32k3a");
}

TEST_CASE("texts of engines are checked", "[random]") {
  for (const char* wrong : {"", "philox", "philox 1 2", "philox 1 2 3 ", "philox 1 2 -3",
                            "xorwow 1 2 3", "philox 1 2 18446744073709551616", "philox  1 2 3"}) {
    CAPTURE(wrong);
    const auto error = test::error_of(gpu::philox::from_text(wrong));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, wrong, "philox 42 0 1000"));
  }
  gpu::philox used_up(1, 2, ~0ull);
  used_up.skip(5);
  CHECK(test::value_of(gpu::philox::from_text(used_up.to_text())) == used_up);
}

TEST_CASE("engines that are split off have numbers of their own", "[random]") {
  const gpu::philox engine(42);
  std::vector<std::uint64_t> seeds{engine.seed()};
  for (std::uint64_t k = 0; k < 100; ++k) {
    seeds.push_back(engine.split(k).seed());
    seeds.push_back(engine.split(k).split(k).seed());
    CHECK(engine.split(k) == gpu::philox(42, 0, 17).split(k));
  }
  std::sort(seeds.begin(), seeds.end());
  CHECK(std::adjacent_find(seeds.begin(), seeds.end()) == seeds.end());
}

TEST_CASE("an engine without more numbers says so", "[random]") {
  const fixture f;
  auto out = f.make<float>(8);
  gpu::philox last(1, 0, ~0ull - 5);
  test::value_of(
      gpu::assign(f.stream, out.span().first(5), gpu::uniform<float>(last, gpu::shape{5})));
  CHECK(test::says(
      test::error_of(gpu::assign(f.stream, out, gpu::uniform<float>(last, gpu::shape{8}))),
      "gpu::uniform", "would pass 2^64", "another sequence"));
  gpu::philox beyond(1, gpu::philox::sequences);
  CHECK(test::says(
      test::error_of(gpu::assign(f.stream, out, gpu::uniform<float>(beyond, gpu::shape{8}))),
      "the sequence 70368744177664", "philox has 70368744177664", "smaller"));
}

/// Checks that an engine, and all that can be made of it, is refused.
template <class Engine> void is_refused(const fixture& f, const Engine& engine, const char* why) {
  CAPTURE(Engine::name, why);
  const auto refused = [&](Engine each, const char* reason) {
    const auto found =
        test::error_of(gpu::evaluate(f.stream, gpu::uniform<float>(each, gpu::shape{8})));
    CHECK(found == gpu::errc::invalid_argument);
    CHECK(test::says(found, "gpu::uniform", reason));
  };
  refused(engine, why);
  for (const std::uint64_t count : {std::uint64_t{1}, ~Engine::sequences + 1, ~std::uint64_t{0}}) {
    Engine sequence = engine, skipped = engine;
    sequence.skip_sequence(count);
    refused(sequence, "");  // for either reason
    skipped.skip(count);
    refused(skipped, why);
    refused(test::value_of(Engine::from_text(skipped.to_text())), why);
  }
  refused(Engine(engine.seed(), engine.sequence(), engine.offset()), why);
}

template <class Engine> std::vector<std::pair<Engine, const char*>> unusable_engines() {
  Engine around(7, 5), used_up(7, 3, 4), beyond_all(7, 3);
  around.skip_sequence(~std::uint64_t{0} - 3);
  used_up.skip(~std::uint64_t{0} - 3);
  // More numbers than 2^64, of which an element takes several.
  gpu::normal<double>(beyond_all, gpu::shape<1>{std::size_t{1} << 63});
  return {{Engine(7, Engine::sequences), "at the sequence"},
          {Engine(7, ~std::uint64_t{0}), "the sequence 18446744073709551615"},
          {around, "the sequence 18446744073709551615"},
          {used_up, "would pass 2^64"},
          {beyond_all, "would pass 2^64"}};
}

TEST_CASE("an engine that cannot be used makes none that can", "[random]") {
  const fixture f;
  for (const auto& [engine, why] : unusable_engines<gpu::philox>()) is_refused(f, engine, why);
  for (const auto& [engine, why] : unusable_engines<gpu::xorwow>()) is_refused(f, engine, why);
  for (const auto& [engine, why] : unusable_engines<gpu::mrg32k3a>()) is_refused(f, engine, why);
  for (const auto& [engine, why] : unusable_engines<gpu::philox>()) {
    is_refused(f, engine.split(3), why);
    is_refused(f, engine.split(3).split(~std::uint64_t{0}), why);
    CHECK(test::says(test::error_of(gpu::device_philox::create(f.stream, engine)),
                     "gpu::device_philox::create", why));
  }
  static_assert(gpu::philox(7, 1).split(3).sequence() == 0);
}

TEST_CASE("a kernel does not take an engine that cannot be used", "[random]") {
  const device_engines d;
  auto out = d.f.make<unsigned>(3);
  const auto kernel = d.kernel<gpu::philox_state, unsigned*>("from_host");
  const auto untyped = test::value_of(d.loaded.kernel("from_host"));
  const auto draw = test::value_of((gpu::elementwise<gpu::philox_state, unsigned*>::create(
      "state, x", "x[i] = gpu::philox(state, i).next()",
      {.preamble = "#include <gpu/random.hpp>"})));
  auto graph = test::value_of(gpu::graph::create(d.f.device));
  for (const auto& [engine, why] : unusable_engines<gpu::philox>()) {
    CHECK(test::says(test::error_of(gpu::launch(d.f.stream, {1, 3}, kernel, engine, out)),
                     "gpu::launch", "argument 1", why));
    CHECK(test::says(test::error_of(gpu::launch(d.f.stream, {1, 3}, untyped, engine, out.span())),
                     "argument 1", why));
    CHECK(test::says(test::error_of(graph.add({}, gpu::kernel_node({1, 3}, kernel, engine, out))),
                     "gpu::kernel_node", "argument 1", why));
    CHECK(test::says(test::error_of(draw(d.f.stream, engine.split(1), out)), "gpu::elementwise",
                     "state", why));
  }
  test::value_of(draw(d.f.stream, gpu::philox(7), out));
  test::value_of(gpu::launch(d.f.stream, {1, 3}, kernel, gpu::philox(7), out));
}

}}  // namespace engines_test

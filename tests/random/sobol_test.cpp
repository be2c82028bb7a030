// Sobol's sequences against cuRAND, the definition of their evenness, and integrals.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random.hpp>

#include <stdlib.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace sobol_test { namespace {

using algorithm_test::fixture;

template <class Numbers> auto made(const fixture& f, const Numbers& numbers) {
  return f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
}

// What cuRAND 10.4 of CUDA 13.0 makes with curandCreateGeneratorHost in 3 dimensions, from point
// 1000 on.
TEST_CASE("Sobol's numbers are those of cuRAND", "[random][sobol]") {
  const fixture f;
  const gpu::shape<2> all{3, 4};
  auto engine = test::value_of(gpu::sobol32::create(f.stream, 3, {.offset = 1000}));
  CHECK(made(f, gpu::random_bits<unsigned>(engine, all)) ==
        std::vector<unsigned>{0x38400000u, 0xb8400000u, 0xf8400000u, 0x78400000u, 0x18c00000u,
                              0x98c00000u, 0x58c00000u, 0xd8c00000u, 0x84c00000u, 0x04c00000u,
                              0xc4c00000u, 0x44c00000u});
  CHECK(engine.offset() == 1004);
  engine = test::value_of(gpu::sobol32::create(f.stream, 3));
  engine.skip(1000);
  CHECK(made(f, gpu::uniform<float>(engine, all)) ==
        std::vector<float>{0x1.c2p-3f, 0x1.708p-1f, 0x1.f08p-1f, 0x1.e1p-2f, 0x1.8cp-4f,
                           0x1.318p-1f, 0x1.63p-2f, 0x1.b18p-1f, 0x1.098p-1f, 0x1.3p-6f,
                           0x1.898p-1f, 0x1.13p-2f});
  engine = test::value_of(gpu::sobol32::create(f.stream, 3, {.offset = 1000}));
  CHECK(made(f, gpu::uniform<double>(engine, all)) ==
        std::vector<double>{0x1.c2000008p-3, 0x1.70800002p-1, 0x1.f0800002p-1, 0x1.e1000004p-2,
                            0x1.8c00001p-4, 0x1.31800002p-1, 0x1.63000004p-2, 0x1.b1800002p-1,
                            0x1.09800002p-1, 0x1.3000004p-6, 0x1.89800002p-1, 0x1.13000004p-2});
  engine = test::value_of(gpu::sobol32::create(f.stream, 3, {.offset = 1000}));
  const auto normals = made(f, gpu::normal<float>(engine, all));
  const std::vector<float> expected{-0.773117006f, 0.582029402f, 1.87679005f,   -0.0759572312f,
                                    -1.30070519f,  0.244762108f, -0.394300252f, 1.02229643f,
                                    0.0465264842f, -2.08455873f, 0.734095335f,  -0.617190063f};
  for (std::size_t k = 0; k < 12; ++k) CHECK(std::abs(normals[k] - expected[k]) < 1e-6f);

  auto wide = test::value_of(gpu::sobol64::create(f.stream, 3, {.offset = 1000}));
  CHECK(made(f, gpu::random_bits<std::uint64_t>(wide, all)) ==
        std::vector<std::uint64_t>{0x3840000000000000u, 0xb840000000000000u, 0xf840000000000000u,
                                   0x7840000000000000u, 0x18c0000000000000u, 0x98c0000000000000u,
                                   0x58c0000000000000u, 0xd8c0000000000000u, 0x84c0000000000000u,
                                   0x04c0000000000000u, 0xc4c0000000000000u, 0x44c0000000000000u});
  wide = test::value_of(gpu::sobol64::create(f.stream, 3, {.offset = 1000}));
  CHECK(made(f, gpu::uniform<double>(wide, all)) ==
        std::vector<double>{0x1.c200000000002p-3, 0x1.708p-1, 0x1.f08p-1, 0x1.e100000000001p-2,
                            0x1.8c00000000004p-4, 0x1.318p-1, 0x1.6300000000001p-2, 0x1.b18p-1,
                            0x1.098p-1, 0x1.300000000001p-6, 0x1.898p-1, 0x1.1300000000001p-2});
}

/// Checks that of 2^k points each dyadic interval of length 2^-k has one, in each dimension.
template <class Word>
void check_even(const std::vector<Word>& x, std::size_t dimensions, unsigned k) {
  const std::size_t points = x.size() / dimensions;
  REQUIRE(points == std::size_t{1} << k);
  for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
    std::vector<bool> seen(points);
    for (std::size_t p = 0; p < points; ++p)
      seen[x[dimension * points + p] >> (8 * sizeof(Word) - k)] = true;
    CAPTURE(dimension);
    CHECK(std::count(seen.begin(), seen.end(), true) == static_cast<std::ptrdiff_t>(points));
  }
}

TEST_CASE("Sobol's points are even in each dimension, also scrambled", "[random][sobol]") {
  const fixture f;
  auto plain = test::value_of(gpu::sobol32::create(f.stream, gpu::sobol32::most_dimensions));
  check_even(made(f, gpu::random_bits<unsigned>(plain, gpu::shape{1111, 32})), 1111, 5);
  auto scrambled =
      test::value_of(gpu::sobol32::create(f.stream, 40, {.scrambled = true, .seed = 5}));
  const auto x = made(f, gpu::random_bits<unsigned>(scrambled, gpu::shape{40, 256}));
  check_even(x, 40, 8);
  auto other = test::value_of(gpu::sobol32::create(f.stream, 40, {.scrambled = true, .seed = 6}));
  CHECK(made(f, gpu::random_bits<unsigned>(other, gpu::shape{40, 256})) != x);
  auto wide = test::value_of(gpu::sobol64::create(f.stream, 7, {.scrambled = true}));
  check_even(made(f, gpu::random_bits<std::uint64_t>(wide, gpu::shape{7, 1024})), 7, 10);
  // In the first two dimensions also each box of area 2^-8: 16 by 16.
  auto square = test::value_of(gpu::sobol32::create(f.stream, 2));
  const auto y = made(f, gpu::random_bits<unsigned>(square, gpu::shape{2, 256}));
  std::vector<unsigned> boxes;
  for (std::size_t p = 0; p < 256; ++p) boxes.push_back(y[p] >> 28 << 4 | y[256 + p] >> 28);
  std::sort(boxes.begin(), boxes.end());
  for (unsigned k = 0; k < 256; ++k) CHECK(boxes[k] == k);
}

TEST_CASE("an integral over Sobol's points is close", "[random][sobol]") {
  const fixture f;
  for (const bool scrambled : {false, true}) {
    auto engine = test::value_of(gpu::sobol32::create(f.stream, 5, {.scrambled = scrambled}));
    const auto x = made(f, gpu::uniform<float>(engine, gpu::shape{5, 4096}));
    double sum = 0;  // of the product of 2 u, whose integral is 1
    for (std::size_t p = 0; p < 4096; ++p) {
      double product = 1;
      for (std::size_t k = 0; k < 5; ++k) product *= 2 * double{x[k * 4096 + p]};
      sum += product;
    }
    CHECK(std::abs(sum / 4096 - 1) < 0.005);  // of independent numbers 0.028 is the standard error
  }
}

TEST_CASE("distributions keep the order of Sobol's points", "[random][sobol]") {
  const fixture f;
  const gpu::shape<2> line{1, 1024};
  const auto fresh = [&] {
    return test::value_of(gpu::sobol64::create(f.stream, 1, {.offset = 1}));
  };
  auto a = fresh(), b = fresh(), c = fresh(), d = fresh();
  const auto u = made(f, gpu::uniform<double>(a, line));
  const auto normals = made(f, gpu::normal<double>(b, line));
  const auto counts = made(f, gpu::poisson<int>(c, line, 7.5));
  const auto many = made(f, gpu::poisson<double>(d, line, 1e4));
  for (std::size_t p = 0; p < u.size(); ++p) {
    CAPTURE(p);
    REQUIRE(std::abs(0.5 * std::erfc(-normals[p] / std::sqrt(2)) - u[p]) < 1e-14);
    double below = 0, term = std::exp(-7.5);  // the smallest k whose sum of probabilities reaches u
    int k = 0;
    for (; below + term < u[p]; ++k, term *= 7.5 / k) below += term;
    REQUIRE(counts[p] == k);
    REQUIRE(std::abs((many[p] - 1e4) / 1e2 - normals[p]) < 0.05);
  }
}

TEST_CASE("logarithms of Sobol's log-normal numbers are its normal numbers", "[random][sobol]") {
  const fixture f;
  auto a = test::value_of(gpu::sobol32::create(f.stream, 2, {.offset = 1}));
  auto b = test::value_of(gpu::sobol32::create(f.stream, 2, {.offset = 1}));
  const auto x = made(f, gpu::log_normal<float>(a, gpu::shape{2, 100}, 0.5, 2));
  const auto y = made(f, gpu::normal<float>(b, gpu::shape{2, 100}, 0.5, 2));
  for (std::size_t k = 0; k < x.size(); ++k) REQUIRE(std::abs(std::log(x[k]) - y[k]) < 3e-6f);
}

TEST_CASE("direction vectors of the caller are used", "[random][sobol]") {
  const fixture f;
  std::vector<std::uint32_t> vectors;
  for (unsigned bit = 0; bit < 32; ++bit) vectors.push_back(1u << (31 - bit));
  const std::vector<std::uint32_t> shifts{0x10u};
  auto engine = test::value_of(gpu::sobol32::from_vectors(f.stream, vectors, shifts));
  CHECK(made(f, gpu::random_bits<unsigned>(engine, gpu::shape{1, 4})) ==
        std::vector<unsigned>{0x10u, 0x80000010u, 0xc0000010u, 0x40000010u});
  const auto error =
      test::error_of(gpu::sobol32::from_vectors(f.stream, vectors, std::vector<std::uint32_t>(2)));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(test::says(error, "32 direction vectors and 2 shifts", "32 vectors"));
}

/// Sets a variable of the environment while it lives.
struct scoped_variable {
  explicit scoped_variable(const char* value) { ::setenv("GPU_CURAND", value, 1); }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;
  ~scoped_variable() { ::unsetenv("GPU_CURAND"); }
};

TEST_CASE("without cuRAND's library there are 1,111 dimensions", "[random][sobol]") {
  const fixture f;
  const scoped_variable elsewhere("/nowhere/libcurand.so.10");
  for (const auto& error : {test::error_of(gpu::sobol32::create(f.stream, 1112)),
                            test::error_of(gpu::sobol64::from_curand(f.stream, 2))}) {
    CHECK(error == gpu::errc::not_supported);
    CHECK(test::says(error, "cuRAND's library", "not found in GPU_CURAND (/nowhere", "Install it",
                     "from_vectors"));
  }
  CHECK(test::value_of(gpu::sobol32::create(f.stream, 1111)).dimensions() == 1111);
  const scoped_variable other("libdl.so.2");
  CHECK(test::says(test::error_of(gpu::sobol32::from_curand(f.stream, 2)), "does not have them"));
}

// What cuRAND 10.4 of CUDA 13.0 makes with curandCreateGeneratorHost in 3 and in 20,000 dimensions,
// from point 1000 on.
TEST_CASE("direction vectors and scramble constants are those of cuRAND's library",
          "[random][sobol]") {
  const fixture f;
  const gpu::sobol_options scrambled{.offset = 1000, .scrambled = true};
  auto found = gpu::sobol32::from_curand(f.stream, 3, scrambled);
  if (!found.has_value()) {
    CHECK(test::says(found.error(), "cuRAND's library", "Install it"));
    WARN("cuRAND's library is not installed");
    return;
  }
  CHECK(made(f, gpu::random_bits<unsigned>(*found, gpu::shape{3, 4})) ==
        std::vector<unsigned>{0xcbec24cbu, 0x25e0a670u, 0x7cc3b7feu, 0x92cf3545u, 0xf31ffcc1u,
                              0x3006d327u, 0xb7bf6c8eu, 0x74a64368u, 0x342953b2u, 0xb2818651u,
                              0x4dca1d49u, 0xcb62c8aau});
  auto wide = test::value_of(gpu::sobol64::from_curand(f.stream, 3, scrambled));
  CHECK(made(f, gpu::random_bits<std::uint64_t>(wide, gpu::shape{3, 2})) ==
        std::vector<std::uint64_t>{0xcbec24cb4a34b53du, 0x25e0a670fae68301u, 0xf31ffcc124b00b42u,
                                   0x3006d327f868d9bbu, 0x342953b2bffed00fu, 0xb281865155e5dbb6u});
  auto all = test::value_of(gpu::sobol32::create(f.stream, 20'000, {.offset = 1000}));
  const auto x = made(f, gpu::random_bits<unsigned>(all, gpu::shape{20'000, 2}));
  CHECK(x[2 * 1111] == 0x4cc00000u);
  CHECK(x[2 * 1111 + 1] == 0xccc00000u);
  CHECK(x[39'998] == 0xddc00000u);
  CHECK(x[39'999] == 0x5dc00000u);
  // The table of the library has the same vectors.
  auto own = test::value_of(gpu::sobol32::create(f.stream, 1111));
  auto theirs = test::value_of(gpu::sobol32::from_curand(f.stream, 1111));
  CHECK(made(f, gpu::random_bits<unsigned>(own, gpu::shape{1111, 16})) ==
        made(f, gpu::random_bits<unsigned>(theirs, gpu::shape{1111, 16})));
}

TEST_CASE("bad requests of Sobol's points are refused", "[random][sobol]") {
  const fixture f;
  CHECK(test::says(test::error_of(gpu::sobol32::create(f.stream, 20001)), "gpu::sobol::create",
                   "20001 dimensions", "1 to 1111", "cuRAND's library to 20000", "from_vectors"));
  CHECK(test::says(test::error_of(gpu::sobol32::from_curand(f.stream, 0)),
                   "gpu::sobol::from_curand", "0 dimensions"));
  CHECK(test::says(test::error_of(gpu::sobol64::create(f.stream, 0)), "0 dimensions"));
  auto engine = test::value_of(gpu::sobol32::create(f.stream, 3, {.offset = (1ull << 32) - 4}));
  auto out = f.make<float>(15);
  CHECK(test::says(test::error_of(gpu::assign(f.stream, out.span().first(14),
                                              gpu::uniform<float>(engine, gpu::shape{14}))),
                   "14 elements", "in 3 dimensions", "dimensions by points"));
  engine = test::value_of(gpu::sobol32::create(f.stream, 3, {.offset = (1ull << 32) - 4}));
  test::value_of(
      gpu::assign(f.stream, out.span().first(12), gpu::uniform<float>(engine, gpu::shape{12})));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, out.span().first(3),
                                              gpu::uniform<float>(engine, gpu::shape{3}))),
                   "2^32 points", "4294967296 are used", "1 were asked for", "gpu::sobol64"));
}

TEST_CASE("a Sobol engine that was moved from is refused", "[random][sobol]") {
  const fixture f;
  auto engine = test::value_of(gpu::sobol32::create(f.stream, 3));
  const auto moved = std::move(engine);
  CHECK(test::error_of(gpu::evaluate(f.stream, gpu::uniform<float>(engine, gpu::shape{3, 4}))) ==
        gpu::errc::empty_handle);
  CHECK(moved.dimensions() == 3);
}

TEST_CASE("each call of a Sobol engine may fail", "[random][sobol][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto engine = GPU_TRY(gpu::sobol32::create(stream, 3, {.scrambled = true}));
    GPU_TRY(gpu::evaluate(stream, gpu::uniform<float>(engine, gpu::shape{3, 20})));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
  algorithm_test::check_first_allocations(run);
}

}}  // namespace sobol_test

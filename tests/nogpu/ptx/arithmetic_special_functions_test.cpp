// The approximate instructions against an H100: digests of results that were recorded there.
#include <nogpu/ptx/arithmetic/approximate.hpp>
#include <nogpu/ptx/arithmetic/half.hpp>

#include <bit>
#include <cstdint>

#include "support/catch.hpp"

namespace arithmetic_special_functions_test {

namespace ptx = nogpu::ptx;

namespace {

/// Each float from `first` to `last`, of which every `step`th counts, through `f`.
struct digest_range {
  std::uint32_t first, last, step;
};

constexpr std::uint64_t digest_start = 0xcbf29ce484222325;

constexpr std::uint64_t digest_of(std::uint64_t digest, std::uint32_t word) {
  return (digest ^ word) * 0x100000001b3;  // FNV-1a, by words
}

template <class F> std::uint64_t digest(digest_range range, F f) {
  std::uint64_t result = digest_start;
  for (std::uint32_t bits = range.first; bits < range.last; bits += range.step) {
    result = digest_of(result, std::bit_cast<std::uint32_t>(f(std::bit_cast<float>(bits))));
  }
  return result;
}

constexpr digest_range from_1_to_2{0x3f800000, 0x40000000, 1};
constexpr digest_range from_1_to_4{0x3f800000, 0x40800000, 1};
constexpr digest_range from_4_to_8{0x40800000, 0x41000000, 1};
constexpr digest_range from_2_to_minus_9_to_16{0x3b000000, 0x41800000, 16};

}  // namespace

TEST_CASE("every mantissa gives the approximation of an H100", "[ptx][arithmetic]") {
  CHECK(digest(from_1_to_2, [](float a) { return ptx::rcp_approx<true>(a); }) ==
        0xfa72a6c698274964);
  CHECK(digest(from_1_to_4, [](float a) { return ptx::sqrt_approx<true>(a); }) ==
        0x50712c001bd4eb00);
  CHECK(digest(from_1_to_4, [](float a) { return ptx::rsqrt_approx<true>(a); }) ==
        0xbdf1cb386ee78bc2);
  CHECK(digest(from_1_to_2, [](float a) { return ptx::ex2_approx<true>(a); }) ==
        0x3f0f3852f2fa7edb);
  CHECK(digest(from_1_to_2, [](float a) { return ptx::lg2_approx<true>(a); }) ==
        0x5ca43d6b0d176848);
}

TEST_CASE("every mantissa of four quadrants and more gives the sine and cosine of an H100",
          "[ptx][arithmetic]") {
  CHECK(digest(from_4_to_8, [](float a) { return ptx::sin_approx(a); }) == 0xdb56c449555a1951);
  CHECK(digest(from_4_to_8, [](float a) { return ptx::cos_approx(a); }) == 0x5e2e85d84cc939d6);
}

TEST_CASE("every segment gives the hyperbolic tangent of an H100", "[ptx][arithmetic]") {
  CHECK(digest(from_2_to_minus_9_to_16, [](float a) { return ptx::tanh_approx(a); }) ==
        0x69af974565ccb543);
}

TEST_CASE("every half gives the approximation of an H100", "[ptx][arithmetic]") {
  std::uint64_t power = digest_start, power_bf16 = digest_start;
  std::uint64_t tangent = digest_start, tangent_bf16 = digest_start;
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const ptx::f16 a{static_cast<std::uint16_t>(i)};
    const ptx::bf16 b{static_cast<std::uint16_t>(i)};
    power = digest_of(power, ptx::ex2_approx(a).bits);
    power_bf16 = digest_of(power_bf16, ptx::ex2_approx(b).bits);
    tangent = digest_of(tangent, ptx::tanh_approx(a).bits);
    tangent_bf16 = digest_of(tangent_bf16, ptx::tanh_approx(b).bits);
  }
  CHECK(power == 0x80729ac6ad55e21a);
  CHECK(power_bf16 == 0x70809a4dea78138a);
  CHECK(tangent == 0xad1f254087177b9d);
  CHECK(tangent_bf16 == 0x483e97475bf5a09);
}

TEST_CASE("every upper word of a mantissa gives the gross f64 approximation of an H100",
          "[ptx][arithmetic]") {
  const auto upper = [](double a) {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(a) >> 32);
  };
  std::uint64_t reciprocal = digest_start, root = digest_start;
  for (std::uint64_t word = 0x3ff00000; word < 0x40100000; ++word) {
    const auto a = std::bit_cast<double>(word << 32);
    if (word < 0x40000000) {
      reciprocal = digest_of(reciprocal, upper(ptx::rcp_approx_ftz(a)));
    }
    root = digest_of(root, upper(ptx::rsqrt_approx_ftz(a)));
  }
  CHECK(reciprocal == 0x1eacab14f00177e);
  CHECK(root == 0x9b87c583fc08583b);
}

TEST_CASE("approximations keep subnormals where the instruction does", "[ptx][arithmetic]") {
  // The unit itself takes subnormals for zeros.
  CHECK(ptx::ex2_approx(-149.0f) == 0x1p-149f);
  CHECK(ptx::ex2_approx<true>(-149.0f) == 0.0f);
  CHECK(ptx::rcp_approx(0x1p127f) == 0x1p-127f);
  CHECK(ptx::rcp_approx<true>(0x1p127f) == 0.0f);
  CHECK(ptx::sqrt_approx(0x1p-148f) == 0x1p-74f);
  CHECK(ptx::rsqrt_approx(0x1p-148f) == 0x1p74f);
  CHECK(ptx::lg2_approx(0x1p-149f) == -149.0f);
  CHECK(ptx::div_approx(0x1p-149f, 0x1p-149f) == 1.0f);
  CHECK(ptx::tanh_approx(0x1p-149f) == 0x1p-149f);
  // An angle is cut to 2^-25 turns.
  CHECK(ptx::sin_approx(0x1p-23f) == 0.0f);
  CHECK(ptx::sin_approx(0x1p-22f) > 0.0f);
}

}  // namespace arithmetic_special_functions_test

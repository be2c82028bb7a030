#include <nogpu/ptx/arithmetic/packed.hpp>

#include <cstdint>
#include <cstring>

#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_packed_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;

namespace {

template <class T> std::int64_t element(std::uint32_t word, int index) {
  T values[4 / sizeof(T)];
  std::memcpy(values, &word, 4);
  return values[index];
}

template <class A, class B> std::uint32_t dot4(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::int64_t sum = c;
  for (int i = 0; i < 4; ++i) sum += element<A>(a, i) * element<B>(b, i);
  return static_cast<std::uint32_t>(sum);
}

template <class A, class B>
std::uint32_t dot2(std::uint32_t a, std::uint32_t b, std::uint32_t c, int first) {
  std::int64_t sum = c;
  for (int i = 0; i < 2; ++i) sum += element<A>(a, i) * element<B>(b, first + i);
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t pair(std::int64_t low, std::int64_t high) {
  return static_cast<std::uint32_t>(low & 0xffff) | static_cast<std::uint32_t>(high & 0xffff) << 16;
}

}  // namespace

TEST_CASE("dot products of bytes and halves", "[ptx][arithmetic]") {
  using u8 = std::uint8_t;
  using s8 = std::int8_t;
  using u16 = std::uint16_t;
  using s16 = std::int16_t;
  using u = std::uint32_t;
  using s = std::int32_t;
  comparison_run run;
  random_bits random(8);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<u>(random()), b = static_cast<u>(random()),
               c = static_cast<u>(random());
    run.expect(ptx::dp4a<u, u>(a, b, c), dot4<u8, u8>(a, b, c), a, b, c);
    run.expect(ptx::dp4a<s, u>(a, b, c), dot4<s8, u8>(a, b, c), a, b, c);
    run.expect(ptx::dp4a<u, s>(a, b, c), dot4<u8, s8>(a, b, c), a, b, c);
    run.expect(ptx::dp4a<s, s>(a, b, c), dot4<s8, s8>(a, b, c), a, b, c);
    run.expect(ptx::dp2a<u, u, false>(a, b, c), dot2<u16, u8>(a, b, c, 0), a, b, c);
    run.expect(ptx::dp2a<s, u, true>(a, b, c), dot2<s16, u8>(a, b, c, 2), a, b, c);
    run.expect(ptx::dp2a<u, s, true>(a, b, c), dot2<u16, s8>(a, b, c, 2), a, b, c);
    run.expect(ptx::dp2a<s, s, false>(a, b, c), dot2<s16, s8>(a, b, c, 0), a, b, c);
  }
  run.finish(160000);
  CHECK(ptx::dp4a<s, s>(0x80808080, 0x80808080, 1) == 65537);
  CHECK(ptx::dp2a<u, u, true>(0xffffffff, 0xffff0000, 0) == 2u * 65535 * 255);
}

TEST_CASE("two halves are added and compared apart", "[ptx][arithmetic]") {
  using u16 = std::uint16_t;
  using s16 = std::int16_t;
  comparison_run run;
  random_bits random(9);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    std::int64_t sum[2], low[2], high[2], slow[2], shigh[2];
    for (int k = 0; k < 2; ++k) {
      const std::int64_t x = element<u16>(a, k), y = element<u16>(b, k);
      const std::int64_t sx = element<s16>(a, k), sy = element<s16>(b, k);
      sum[k] = x + y;
      low[k] = x < y ? x : y;
      high[k] = x < y ? y : x;
      slow[k] = sx < sy ? sx : sy;
      shigh[k] = sx < sy ? sy : sx;
    }
    const auto relu = [](std::int64_t v) { return v < 0 ? 0 : v; };
    run.expect(ptx::add_16x2(a, b), pair(sum[0], sum[1]), a, b);
    run.expect(ptx::min_16x2<u16>(a, b), pair(low[0], low[1]), a, b);
    run.expect(ptx::max_16x2<u16>(a, b), pair(high[0], high[1]), a, b);
    run.expect(ptx::min_16x2<s16>(a, b), pair(slow[0], slow[1]), a, b);
    run.expect(ptx::max_16x2<s16>(a, b), pair(shigh[0], shigh[1]), a, b);
    run.expect(ptx::min_relu_16x2(a, b), pair(relu(slow[0]), relu(slow[1])), a, b);
    run.expect(ptx::max_relu_16x2(a, b), pair(relu(shigh[0]), relu(shigh[1])), a, b);
  }
  run.finish(140000);
}

}  // namespace arithmetic_packed_test

#include <nogpu/ptx/arithmetic/bits.hpp>

#include <cstdint>

#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_bits_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;

namespace {

// The oracles go bit by bit, as the tables of the PTX manual do.

template <class T> bool bit(T value, std::uint64_t position) {
  return (static_cast<std::uint64_t>(value) >> position & 1) != 0;
}

/// What counts of the operands that give a field: as on an H200.
template <class T> constexpr std::uint32_t used = sizeof(T) < 8 ? 0xff : 0xffffffff;

template <class T> T field_by_bits(T a, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t msb = sizeof(T) * 8 - 1;
  const std::uint64_t pos = position & used<T>, len = length & used<T>;
  bool fill = false;
  if (std::is_signed_v<T> && len != 0) fill = bit(a, pos + len - 1 < msb ? pos + len - 1 : msb);
  std::uint64_t result = 0;
  for (std::uint32_t i = 0; i <= msb; ++i) {
    const bool b = i < len && pos + i <= msb ? bit(a, pos + i) : fill;
    result |= std::uint64_t{b} << i;
  }
  return static_cast<T>(result);
}

template <class T> T insertion_by_bits(T a, T b, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t msb = sizeof(T) * 8 - 1;
  const std::uint64_t pos = position & used<T>, len = length & used<T>;
  std::uint64_t result = b;
  for (std::uint32_t i = 0; i < len && pos + i <= msb; ++i) {
    result &= ~(std::uint64_t{1} << (pos + i));
    result |= std::uint64_t{bit(a, i)} << (pos + i);
  }
  return static_cast<T>(result);
}

std::uint32_t nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (offset == 0) return bit(mask, base) ? base : 0xffffffff;
  std::int64_t count = offset > 0 ? std::int64_t{offset} : -std::int64_t{offset};
  for (std::int64_t pos = base; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1) {
    if (bit(mask, static_cast<std::uint64_t>(pos)) && --count == 0) {
      return static_cast<std::uint32_t>(pos);
    }
  }
  return 0xffffffff;
}

}  // namespace

TEMPLATE_TEST_CASE("bits are counted, found and reversed one by one", "[ptx][arithmetic]",
                   std::uint32_t, std::uint64_t) {
  using T = TestType;
  using S = std::make_signed_t<T>;
  constexpr std::uint32_t width = sizeof(T) * 8;
  comparison_run run;
  const auto check = [&](T a) {
    std::uint32_t ones = 0, leading = 0, highest = 0xffffffff, highest_signed = 0xffffffff;
    std::uint64_t reversed = 0;
    for (std::uint32_t i = 0; i < width; ++i) {
      ones += bit(a, i);
      leading = bit(a, i) ? 0 : leading + 1;
      if (bit(a, i)) highest = i;
      if (bit(a, i) != bit(a, width - 1)) highest_signed = i;
      reversed |= std::uint64_t{bit(a, i)} << (width - 1 - i);
    }
    const auto shift = [&](std::uint32_t found) {
      return found == 0xffffffff ? found : width - 1 - found;
    };
    run.expect(ptx::popc(a), ones, a);
    run.expect(ptx::clz(a), leading, a);
    run.expect(ptx::brev(a), static_cast<T>(reversed), a);
    run.expect(ptx::bfind(a), highest, a);
    run.expect(ptx::bfind<T, true>(a), shift(highest), a);
    run.expect(ptx::bfind(static_cast<S>(a)), highest_signed, a);
    run.expect(ptx::bfind<S, true>(static_cast<S>(a)), shift(highest_signed), a);
    run.expect(ptx::cnot(a), static_cast<T>(a == 0), a);
  };
  for (const std::uint64_t a : special_integers()) check(static_cast<T>(a));
  random_bits random(1);
  for (int i = 0; i < 20000; ++i) check(static_cast<T>(random() >> random() % width));
  run.finish(160000);
}

TEST_CASE("fns finds the n-th one in either direction", "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(2);
  for (int i = 0; i < 20000; ++i) {
    const auto mask = static_cast<std::uint32_t>(random() & random());
    for (const std::int32_t offset :
         {0, 1, -1, 2, -2, 5, -7, 31, 32, 33, -33, 0x7fffffff, -0x7fffffff}) {
      const auto base = static_cast<std::uint32_t>(random() % 32);
      run.expect(ptx::fns(mask, base, offset), nth_set(mask, base, offset), mask, base, offset);
    }
  }
  run.finish(200000);
  CHECK(ptx::fns(0xffffffff, 32, 0) == 0xffffffff);
  CHECK(ptx::fns(0xaaaaaaaa, 2, -2) == 0xffffffff);
  CHECK(ptx::fns(0xaaaaaaaa, 31, -1) == 31);
  CHECK(ptx::fns(0xffffffff, 31, -0x7fffffff) == 0xffffffff);
  CHECK(ptx::fns(0xffffffff, 31, -0x7fffffff - 1) == 0);  // on an H200
}

TEMPLATE_TEST_CASE("fields are extracted and inserted at every position and length",
                   "[ptx][arithmetic]", std::uint32_t, std::int32_t, std::uint64_t, std::int64_t) {
  using T = TestType;
  using U = std::make_unsigned_t<T>;
  comparison_run run;
  random_bits random(3);
  for (std::uint32_t position = 0; position < 0x120; position += position < 72 ? 1 : 23) {
    for (std::uint32_t length = 0; length < 0x120; length += length < 72 ? 1 : 29) {
      for (int i = 0; i < 4; ++i) {
        const auto a = static_cast<U>(random()), b = static_cast<U>(random());
        run.expect(ptx::bfe(static_cast<T>(a), position, length),
                   field_by_bits(static_cast<T>(a), position, length), a, position, length);
        run.expect(ptx::bfi(a, b, position, length), insertion_by_bits(a, b, position, length), a,
                   b, position, length);
      }
    }
    const auto all = static_cast<U>(~U{0});
    run.expect(ptx::bfe(static_cast<T>(all), position, 0xffffff00),
               field_by_bits(static_cast<T>(all), position, 0xffffff00), position);
    run.expect(ptx::bfi(all, U{0}, 0x80000000 + position, 8),
               insertion_by_bits(all, U{0}, 0x80000000 + position, 8), position);
  }
  run.finish(40000);
}

TEST_CASE("bmsk and szext clamp or wrap", "[ptx][arithmetic]") {
  using enum ptx::overflow_mode;
  comparison_run run;
  random_bits random(4);
  const auto mask = [](std::uint64_t position, std::uint64_t length) {
    std::uint64_t result = 0;
    for (std::uint64_t i = 0; i < length && position + i < 32; ++i) {
      result |= std::uint64_t{1} << (position + i);
    }
    return static_cast<std::uint32_t>(result);
  };
  const auto extend = [](std::uint32_t a, std::uint32_t bits, bool is_signed) {
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const bool b = i < bits ? bit(a, i) : is_signed && bits != 0 && bit(a, bits - 1);
      result |= std::uint32_t{b} << i;
    }
    return result;
  };
  for (const std::uint32_t x : {0u, 1u, 7u, 16u, 31u, 32u, 33u, 40u, 63u, 64u, 255u, 0xffffffffu}) {
    for (const std::uint32_t y : {0u, 1u, 8u, 30u, 31u, 32u, 33u, 64u, 65u, 0xffffffffu}) {
      run.expect(ptx::bmsk<clamp>(x, y), mask(x < 32 ? x : 32, y < 32 ? y : 32), x, y);
      run.expect(ptx::bmsk<wrap>(x, y), mask(x % 32, y % 32), x, y);
    }
    for (int i = 0; i < 100; ++i) {
      const auto a = static_cast<std::uint32_t>(random());
      const auto s = static_cast<std::int32_t>(a);
      run.expect(ptx::szext<clamp>(a, x), extend(a, x < 32 ? x : 32, false), a, x);
      run.expect(ptx::szext<wrap>(a, x), extend(a, x % 32, false), a, x);
      run.expect(static_cast<std::uint32_t>(ptx::szext<clamp>(s, x)),
                 extend(a, x < 32 ? x : 32, true), a, x);
      run.expect(static_cast<std::uint32_t>(ptx::szext<wrap>(s, x)), extend(a, x % 32, true), a, x);
    }
  }
  run.finish(5000);
}

TEST_CASE("lop3 looks every bit up in its table", "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(5);
  for (std::uint32_t table = 0; table < 256; ++table) {
    const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random()),
               c = static_cast<std::uint32_t>(random());
    std::uint32_t want = 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t row = bit(a, i) * 4u + bit(b, i) * 2u + bit(c, i);
      want |= std::uint32_t{bit(table, row)} << i;
    }
    run.expect(ptx::lop3(a, b, c, static_cast<std::uint8_t>(table)), want, a, b, c, table);
  }
  run.finish(256);
  CHECK(ptx::lop3(0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xf0 & 0xcc & 0xaa) == 0xc000c000);
  CHECK(ptx::lop3(0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xf0 ^ 0xcc ^ 0xaa) == 0xc33cc33c);
}

TEMPLATE_TEST_CASE("shifts beyond the width fill with zeros or signs", "[ptx][arithmetic]",
                   std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t,
                   std::int64_t) {
  using T = TestType;
  constexpr std::uint32_t width = sizeof(T) * 8;
  __extension__ typedef __int128 wide;
  comparison_run run;
  for (const std::uint64_t raw : special_integers()) {
    const auto a = static_cast<T>(raw);
    for (std::uint32_t n = 0; n < 70; ++n) {
      const wide power = wide{1} << n;
      const wide x = a;
      const wide down = x >= 0 ? x / power : -((-x + power - 1) / power);
      run.expect(ptx::shl(a, n),
                 n < width ? static_cast<T>(static_cast<std::uint64_t>(a) << n) : T(0), a, n);
      run.expect(ptx::shr(a, n), static_cast<T>(down), a, n);
    }
    for (const std::uint32_t n : {128u, 256u, 0x80000000u, 0xffffffffu}) {
      run.expect(ptx::shl(a, n), T(0), a, n);
      run.expect(ptx::shr(a, n), static_cast<T>(a < T(0) ? -1 : 0), a, n);
    }
  }
  run.finish(6000);
}

TEST_CASE("funnel shifts take 32 bits out of 64", "[ptx][arithmetic]") {
  using enum ptx::overflow_mode;
  comparison_run run;
  random_bits random(6);
  for (int i = 0; i < 200; ++i) {
    const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
    for (const std::uint32_t n : {0u, 1u, 5u, 16u, 31u, 32u, 33u, 63u, 64u, 100u, 0xffffffffu}) {
      const std::uint32_t w = n % 32, c = n < 32 ? n : 32;
      std::uint32_t left_wrap = 0, left_clamp = 0, right_wrap = 0, right_clamp = 0;
      for (std::uint32_t k = 0; k < 32; ++k) {
        const auto at = [&](std::uint32_t position) {
          return std::uint32_t{position < 32 ? bit(a, position) : bit(b, position - 32)};
        };
        left_wrap |= at(32 + k - w) << k;
        left_clamp |= at(32 + k - c) << k;
        right_wrap |= at(k + w) << k;
        right_clamp |= at(k + c) << k;
      }
      run.expect(ptx::shf_l<wrap>(a, b, n), left_wrap, a, b, n);
      run.expect(ptx::shf_l<clamp>(a, b, n), left_clamp, a, b, n);
      run.expect(ptx::shf_r<wrap>(a, b, n), right_wrap, a, b, n);
      run.expect(ptx::shf_r<clamp>(a, b, n), right_clamp, a, b, n);
    }
  }
  run.finish(8000);
}

TEST_CASE("prmt permutes bytes as the manual's tables say", "[ptx][arithmetic]") {
  using enum ptx::permute_mode;
  constexpr std::uint32_t a = 0x83828180, b = 0x07060504;
  // Each row names the source bytes of d.b3 to d.b0 for selector 0 to 3.
  constexpr std::uint32_t tables[][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
  };
  const auto pick = [](std::uint32_t names) {
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t name = names >> 4 * i & 0xf;
      const std::uint32_t byte = (name & 7) < 4 ? 0x80 + (name & 7) : name & 7;
      const std::uint32_t chosen = name < 8 ? byte : byte >= 0x80 ? 0xff : 0;
      result |= chosen << 8 * i;
    }
    return result;
  };
  comparison_run run;
  for (std::uint32_t s = 0; s < 8; ++s) {
    run.expect(ptx::prmt<f4e>(a, b, s), pick(tables[0][s % 4]), s);
    run.expect(ptx::prmt<b4e>(a, b, s), pick(tables[1][s % 4]), s);
    run.expect(ptx::prmt<rc8>(a, b, s), pick(tables[2][s % 4]), s);
    run.expect(ptx::prmt<ecl>(a, b, s), pick(tables[3][s % 4]), s);
    run.expect(ptx::prmt<ecr>(a, b, s), pick(tables[4][s % 4]), s);
    run.expect(ptx::prmt<rc16>(a, b, s), pick(tables[5][s % 4]), s);
  }
  for (std::uint32_t s = 0; s < 0x10000; ++s) run.expect(ptx::prmt<>(a, b, s), pick(s), s);
  run.finish(65584);
}

}  // namespace arithmetic_bits_test

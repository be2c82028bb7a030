#include <nogpu/ptx/arithmetic/video.hpp>

#include <cstdint>

#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_video_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;
using op = ptx::video_operation;
using part = ptx::merge_position;

namespace {

std::int64_t as_type(std::uint32_t v, bool is_signed) {
  return is_signed ? static_cast<std::int32_t>(v) : static_cast<std::int64_t>(v);
}

std::int64_t limited(std::int64_t v, std::int64_t low, std::int64_t high) {
  return v < low ? low : v > high ? high : v;
}

}  // namespace

TEST_CASE("scalar video arithmetic on whole words, in all combinations of signs",
          "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(100);
  const auto special = special_integers();
  for (int i = 0; i < 60000; ++i) {
    const auto pick = [&] {
      const std::uint64_t r = random();
      return static_cast<std::uint32_t>(r % 2 == 0 ? random() : special[r / 2 % special.size()]);
    };
    const std::uint32_t a = pick(), b = pick(), c = pick();
    ptx::video_scalar how;
    const std::uint64_t r = random();
    how.a_signed = (r & 1) != 0;
    how.b_signed = (r & 2) != 0;
    how.d_signed = (r & 4) != 0;
    how.sat = (r & 8) != 0;
    const std::int64_t x = as_type(a, how.a_signed), y = as_type(b, how.b_signed);
    const std::int64_t results[] = {x + y, x - y, x < y ? y - x : x - y, x < y ? x : y,
                                    x < y ? y : x};
    for (int k = 0; k < 5; ++k) {
      how.operation = static_cast<op>(k);
      std::int64_t want = results[k];
      if (how.sat && how.d_signed) want = limited(want, -0x80000000ll, 0x7fffffff);
      if (how.sat && !how.d_signed && want < 0) want = 0;
      const auto word = static_cast<std::uint32_t>(want);
      how.second = ptx::operation::none;
      run.expect(ptx::video(how, a, b, c), word, a, b, r, k);
      how.second = ptx::operation::add;
      run.expect(ptx::video(how, a, b, c), word + c, a, b, r, k);
      if (k < 2) want = static_cast<std::int32_t>(word);  // of a sum or difference
      if (!how.d_signed && want < 0) want += 1ll << 40;
      const bool less = want < as_type(c, how.d_signed);
      how.second = ptx::operation::min;
      run.expect(ptx::video(how, a, b, c), less ? word : c, a, b, r, k);
      how.second = ptx::operation::max;
      run.expect(ptx::video(how, a, b, c), less ? c : word, a, b, r, k);
    }
  }
  run.finish(1000000);
}

TEST_CASE("scalar video selects parts, saturates to the part written and merges the rest",
          "[ptx][arithmetic]") {
  ptx::video_scalar how{
      .operation = op::add, .a_signed = true, .b_signed = true, .d_signed = true, .sat = true};
  how.a_part = part::b0;
  how.b_part = part::h1;
  CHECK(ptx::video(how, 0x00000080, 0x00057fff, 0) == static_cast<std::uint32_t>(-128 + 5));
  how.d_part = part::b2;
  CHECK(ptx::video(how, 0x0000007f, 0x00ff0000, 0x11223344) == 0x117f3344);  // 382 limited to 127
  how.sat = false;
  how.d_part = part::b3;
  how.d_signed = false;
  how.a_part = part::b3;
  how.b_part = part::b1;
  CHECK(ptx::video(how, 0xff000000, 0x00000200, 0x11223344) == 0x01223344);
  how.d_part = part::h0;
  CHECK(ptx::video(how, 0xff000000, 0x00000200, 0x11223344) == 0x11220001);
}

TEST_CASE("scalar video gives what an H200 gives where that is not what the manual says",
          "[ptx][arithmetic]") {
  using enum ptx::operation;
  struct measured {
    op operation;
    const char* types;  // of d, a and b
    bool sat;
    part d;
    ptx::operation second;
    std::uint32_t a, b, c, result;
  };
  constexpr auto whole = part::none;
  const measured table[] = {
      {op::add, "uuu", true, whole, none, 1, 0xffffffff, 0, 0},
      {op::add, "uus", true, whole, none, 0xfffffffe, 0x1f, 0, 0x1d},
      {op::sub, "uus", true, whole, none, 0x80000001, 0x80000000, 0, 1},
      {op::absdiff, "usu", true, whole, none, 0x80000000, 0xfffffffe, 0, 0x7ffffffe},
      {op::add, "uuu", false, whole, min, 2, 0x7ffffffe, 0x80000001, 0x80000001},
      {op::add, "uuu", false, whole, max, 2, 0x7ffffffe, 0x80000001, 0x80000000},
      {op::sub, "uuu", false, whole, min, 1, 0x7ffffffe, 0xffffffff, 0xffffffff},
      {op::add, "sss", true, part::h1, none, 0, 1, 0x100, 0x100},
      {op::add, "uuu", false, part::h1, none, 0, 0x7fffffff, 0xffff0001, 0x7fff0001},
      {op::add, "uus", true, part::b0, none, 0, 0xffffffff, 0, 0xff},
      {op::sub, "uuu", true, part::b2, none, 0, 0x7f, 0x8000ffff, 0x80ffffff},
      {op::min, "sus", true, part::b0, none, 0, 0xffffffff, 0, 0x7f},
      {op::shl, "uuu", true, whole, none, 2, 0x21, 0, 0},
      {op::shl, "uuu", true, whole, none, 1, 0x20, 0, 0xffffffff},
      {op::shl, "ssu", true, whole, none, 2, 0x21, 0, 0x80000000},
      {op::shl, "uuu", true, part::b0, none, 1, 0x1f, 0x7ffffffe, 0x7fffff00},
      {op::shl, "uuu", true, part::h1, none, 1, 0x10, 0x7f, 0x1007f},
  };
  for (const measured& m : table) {
    ptx::video_scalar how;
    how.operation = m.operation;
    how.d_signed = m.types[0] == 's';
    how.a_signed = m.types[1] == 's';
    how.b_signed = m.types[2] == 's';
    how.sat = m.sat;
    how.d_part = m.d;
    how.second = m.second;
    INFO(static_cast<int>(m.operation) << ' ' << m.types << ' ' << m.a << ' ' << m.b);
    CHECK(ptx::video(how, m.a, m.b, m.c) == m.result);
  }
}

TEST_CASE("video shifts clamp or wrap their amount", "[ptx][arithmetic]") {
  ptx::video_scalar how{.operation = op::shl};
  CHECK(ptx::video(how, 1, 31, 0) == 0x80000000);
  CHECK(ptx::video(how, 0xffffffff, 32, 0) == 0);
  CHECK(ptx::video(how, 0xffffffff, 100, 0) == 0);
  how.sat = true;
  CHECK(ptx::video(how, 1, 32, 0) == 0xffffffff);
  CHECK(ptx::video(how, 0, 32, 0) == 0);
  CHECK(ptx::video(how, 0x80000000, 1, 0) == 0xffffffff);
  how.a_signed = how.d_signed = true;
  CHECK(ptx::video(how, 0x80000000, 2, 0) == 0x80000000);
  CHECK(ptx::video(how, 0x40000000, 1, 0) == 0x7fffffff);
  how.sat = false;
  how.operation = op::shr;
  CHECK(ptx::video(how, 0x80000000, 200, 0) == 0xffffffff);
  how.shift = ptx::overflow_mode::wrap;
  CHECK(ptx::video(how, 0x80000000, 33, 0) == 0xc0000000);
  how.b_part = part::b1;
  CHECK(ptx::video(how, 0x80000000, 0xff03ff, 5) == 0xf0000000);
  how.second = ptx::operation::add;
  CHECK(ptx::video(how, 0x80000000, 0xff03ff, 5) == 0xf0000005);
}

TEST_CASE("vset compares across signs", "[ptx][arithmetic]") {
  ptx::video_scalar how{.operation = op::set, .a_signed = true, .compare = ptx::comparison::lt};
  CHECK(ptx::video(how, 0xffffffff, 0, 7) == 1);
  how.a_signed = false;
  CHECK(ptx::video(how, 0xffffffff, 0, 7) == 0);
  how.second = ptx::operation::add;
  CHECK(ptx::video(how, 0, 1, 7) == 8);
  how.compare = ptx::comparison::ge;
  CHECK(ptx::video(how, 0, 1, 7) == 7);
}

TEST_CASE("vmad multiplies, adds, negates, scales and saturates", "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(101);
  __extension__ typedef __int128 wide;
  for (int i = 0; i < 100000; ++i) {
    const auto a = static_cast<std::uint32_t>(random() >> random() % 32),
               b = static_cast<std::uint32_t>(random() >> random() % 32),
               c = static_cast<std::uint32_t>(random() >> random() % 32);
    const std::uint64_t r = random();
    ptx::video_mad how;
    how.a_signed = (r & 1) != 0;
    how.b_signed = (r & 2) != 0;
    how.sat = (r & 4) != 0;
    how.shift_right = static_cast<std::uint8_t>(r % 3 == 0 ? 0 : r % 3 == 1 ? 7 : 15);
    const int variant = static_cast<int>(r >> 8 & 3);
    how.a_negated = variant == 1;
    how.c_negated = variant == 2;
    how.plus_one = variant == 3;
    const bool is_signed = how.a_signed || how.b_signed || variant == 1 || variant == 2;
    how.b_part = (r & 0x10) != 0 ? part::h0 : part::none;
    // A whole word is signed, and so is c.
    const std::uint32_t lower = b & 0xffff;
    const std::int64_t half = how.b_signed && lower >= 0x8000 ? lower - 0x10000ll : lower;
    const std::int64_t factor = how.b_part == part::h0 ? half : as_type(b, true);
    wide sum = wide{as_type(a, true)} * factor;
    if (variant == 1) sum = -sum;
    const wide addend = as_type(c, true);
    sum += variant == 2 ? -addend : addend;
    sum += variant == 3;
    // Division towards minus infinity, in the unsigned case of what 64 bits hold.
    if (!is_signed && how.shift_right != 0 && sum < 0) sum += wide{1} << 64;
    const wide divisor = wide{1} << how.shift_right;
    sum = sum >= 0 ? sum / divisor : -((-sum + divisor - 1) / divisor);
    if (how.sat) {
      const wide low = is_signed ? -0x80000000ll : 0, high = is_signed ? 0x7fffffff : 0xffffffff;
      sum = sum < low ? low : sum > high ? high : sum;
    }
    run.expect(ptx::vmad(how, a, b, c), static_cast<std::uint32_t>(sum), a, b, c, r);
  }
  run.finish(100000);
}

TEST_CASE("video arithmetic on halves and bytes", "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(102);
  for (int i = 0; i < 60000; ++i) {
    const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random()),
               c = static_cast<std::uint32_t>(random());
    const std::uint64_t r = random();
    ptx::video_simd how;
    how.lanes = (r & 1) != 0 ? 2 : 4;
    how.a_signed = (r & 2) != 0;
    how.b_signed = (r & 4) != 0;
    how.d_signed = (r & 8) != 0;
    how.accumulate = (r & 0x10) != 0;
    how.sat = !how.accumulate && (r & 0x20) != 0;
    how.mask = static_cast<std::uint8_t>(r >> 8 & 0xf);
    const std::uint32_t choices = how.lanes == 2 ? 0x3333 : 0x7777;
    how.a_lanes = static_cast<std::uint16_t>(r >> 16 & choices);
    how.b_lanes = static_cast<std::uint16_t>(r >> 32 & choices);
    how.compare = ptx::comparison::le;
    const int bits = 32 / how.lanes;
    const std::int64_t size = std::int64_t{1} << bits;
    for (const op o : {op::add, op::sub, op::absdiff, op::min, op::max, op::avrg, op::set}) {
      how.operation = o;
      std::uint32_t want = how.accumulate ? c : 0;
      for (int lane = 0; lane < how.lanes; ++lane) {
        const auto take = [&](std::uint16_t lanes, bool is_signed) {
          const int from = lanes >> 4 * lane & 0xf;
          const std::uint32_t word = from < how.lanes ? a : b;
          const std::int64_t v = word / (std::int64_t{1} << from % how.lanes * bits) % size;
          return is_signed && v >= size / 2 ? v - size : v;
        };
        const std::int64_t x = take(how.a_lanes, how.a_signed), y = take(how.b_lanes, how.b_signed);
        std::int64_t t = 0;
        switch (o) {
          case op::add: t = x + y; break;
          case op::sub: t = x - y; break;
          case op::absdiff: t = x < y ? y - x : x - y; break;
          case op::min: t = x < y ? x : y; break;
          case op::max: t = x < y ? y : x; break;
          case op::avrg: t = x + y >= 0 ? (x + y + 1) / 2 : -((-(x + y) + 1) / 2); break;
          default: t = x <= y; break;
        }
        if (how.sat) {
          t = how.d_signed ? limited(t, -size / 2, size / 2 - 1) : limited(t, 0, size - 1);
        }
        const bool chosen = (how.mask >> lane & 1) != 0;
        if (how.accumulate) {
          if (chosen) want += static_cast<std::uint32_t>(t);
        } else {
          const std::int64_t kept = c / (std::int64_t{1} << lane * bits) % size;
          want |= static_cast<std::uint32_t>((chosen ? t : kept) & (size - 1)) << lane * bits;
        }
      }
      run.expect(ptx::video(how, a, b, c), want, a, b, c, r, static_cast<int>(o));
    }
  }
  run.finish(400000);
}

TEST_CASE("the default lanes are those of a and of b", "[ptx][arithmetic]") {
  ptx::video_simd how{.operation = op::sub};
  CHECK(ptx::video(how, 0x05060708, 0x01020304, 0) == 0x04040404);
  how.operation = op::avrg;
  how.a_signed = how.b_signed = how.d_signed = true;
  // Halves round away from zero.
  CHECK(ptx::video(how, 0x01ff02fe, 0x02fe0101, 0) == 0x02fe02ff);
  how = {.operation = op::add, .lanes = 2, .mask = 3, .a_lanes = 0x10, .b_lanes = 0x32};
  CHECK(ptx::video(how, 0x0001ffff, 0x00020001, 0) == 0x00030000);
}

}  // namespace arithmetic_video_test

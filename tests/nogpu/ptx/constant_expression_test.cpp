#include <nogpu/ptx/constant_expression.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"

namespace constant_expression_test {

namespace ptx = nogpu::ptx;
using ptx::detail::constant;

namespace {

bool evaluate(const std::string& text, constant& value) {
  const ptx::parse_options options;
  ptx::detail::parser_context context(text, options);
  return ptx::detail::parse_constant(context, value);
}

}  // namespace

// The oracle is the C++ compiler: the same text is an expression of both languages.
#define SAME_AS_CPP(...)                                                                     \
  do {                                                                                       \
    constant value;                                                                          \
    INFO(#__VA_ARGS__);                                                                      \
    REQUIRE(evaluate(#__VA_ARGS__, value));                                                  \
    CHECK(value.bits == static_cast<std::uint64_t>(static_cast<std::int64_t>(__VA_ARGS__))); \
  } while (false)

TEST_CASE("expressions have the values that C gives them", "[ptx]") {
  SAME_AS_CPP(1 + 2 * 3);
  SAME_AS_CPP((1 + 2) * 3);
  SAME_AS_CPP(10 - 4 - 3);
  SAME_AS_CPP(100 / 7 % 4);
  SAME_AS_CPP(-7 / 2);
  SAME_AS_CPP(-7 % 3);
  SAME_AS_CPP(~5 & 0xff);
  SAME_AS_CPP(1 << 4 | 3);
  SAME_AS_CPP(6 ^ (3 & 2));
  SAME_AS_CPP(-16 >> 2);
  SAME_AS_CPP(!0 + !5);
  SAME_AS_CPP((3 > 2) + (2 >= 2) + (1 < 0) + (1 <= 0));
  SAME_AS_CPP((3 < 3) + 2 * (3 > 3) + 4 * (3 <= 3) + 8 * (3 >= 3));
  SAME_AS_CPP((2 < 3) + 2 * (2 > 3) + 4 * (2 <= 3) + 8 * (2 >= 3));
  SAME_AS_CPP((-1 < 3) + 2 * (-1 > 3) + 4 * (-1 <= 3) + 8 * (-1 >= 3));
  SAME_AS_CPP((3U < 3U) + 2 * (3U > 3U) + 4 * (3U <= 3U) + 8 * (3U >= 3U));
  SAME_AS_CPP((2U < 3U) + 2 * (2U > 3U) + 4 * (2U <= 3U) + 8 * (2U >= 3U));
  SAME_AS_CPP((1 == 1) + (1 != 1));
  SAME_AS_CPP(0 || (2 && 3));
  SAME_AS_CPP(1 ? 5 : 6);
  SAME_AS_CPP(0 ? 5 : 0 ? 6 : 7);
  SAME_AS_CPP(-(-5));
}

TEST_CASE("arithmetic has 64 bits and wraps, unsigned wins", "[ptx]") {
  constant value;
  REQUIRE(evaluate("0xFFFFFFFFFFFFFFFF + 2", value));
  CHECK(value.bits == 1);
  REQUIRE(evaluate("-1 / 2U", value));
  CHECK(value.bits == UINT64_MAX / 2);
  REQUIRE(evaluate("(-9223372036854775807 - 1) / -1", value));
  CHECK(value.bits == 0x8000000000000000u);
  REQUIRE(evaluate("1 << 63", value));
  CHECK(value.bits == 0x8000000000000000u);
  REQUIRE(evaluate("1 << 64", value));
  CHECK(value.bits == 0);
  REQUIRE(evaluate("0xFFFFFFFFFFFFFFFFU >> 63", value));
  CHECK(value.bits == 1);
  REQUIRE(evaluate("0xFFFFFFFFFFFFFFFFU >> 64", value));
  CHECK(value.bits == 0);
  REQUIRE(evaluate("(.s64)0xFFFFFFFFFFFFFFFF >> 60", value));
  CHECK(value.bits == UINT64_MAX);
  REQUIRE(evaluate("WARP_SZ", value));
  CHECK(value.bits == 32);
}

TEST_CASE("broken expressions are refused", "[ptx]") {
  constant value;
  for (const char* text : {"", "1 +", "(1", "1 / 0", "1 % 0", "1 ? 2", "1.5 + 1", "~1.5",
                           "(.s64)1.5", "*", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(evaluate(text, value));
  }
}

TEST_CASE("nesting is bounded", "[ptx]") {
  constant value;
  const std::size_t shallow = 20, deep = 100'000;
  CHECK(evaluate(std::string(shallow, '(') + "1" + std::string(shallow, ')'), value));
  CHECK_FALSE(evaluate(std::string(deep, '(') + "1" + std::string(deep, ')'), value));
  CHECK_FALSE(evaluate(std::string(deep, '-') + "1", value));
  std::string conditions;
  for (std::size_t i = 0; i < deep; ++i) conditions += "1?1:";
  CHECK_FALSE(evaluate(conditions + "1", value));
}

TEST_CASE("constants become bits of the type that uses them", "[ptx]") {
  using ptx::type;
  using form = constant::form;
  std::uint64_t bits = 0;
  CHECK(ptx::detail::bits_as({form::signed_integer, UINT64_MAX}, type::u16, bits));
  CHECK(bits == 0xffff);
  CHECK(ptx::detail::bits_as({form::floating, 0x3ff8000000000000}, type::f32, bits));
  CHECK(bits == 0x3fc00000);
  CHECK(ptx::detail::bits_as({form::single, 0x3fc00000}, type::f64, bits));
  CHECK(bits == 0x3ff8000000000000);
  CHECK(ptx::detail::bits_as({form::single, 0x3fc00000}, type::b32, bits));
  CHECK(bits == 0x3fc00000);
  CHECK_FALSE(ptx::detail::bits_as({form::single, 0x3fc00000}, type::u32, bits));
  CHECK_FALSE(ptx::detail::bits_as({form::signed_integer, 1}, type::f32, bits));
}

}  // namespace constant_expression_test

#include <nogpu/ptx/lexer.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace lexer_test {

using nogpu::ptx::lexer;
using nogpu::ptx::token;
using nogpu::ptx::token_kind;

namespace {

token only(std::string_view text) { return lexer(text).peek(); }

}  // namespace

TEST_CASE("integers have the bases and suffixes of PTX", "[ptx]") {
  struct {
    const char* text;
    std::uint64_t value;
    bool is_unsigned;
  } const cases[] = {{"0", 0, false},
                     {"42", 42, false},
                     {"0x1F", 31, false},
                     {"0xABCDEF", 11259375, false},
                     {"0xabcdef", 11259375, false},
                     {"017", 15, false},
                     {"0b1011", 11, false},
                     {"42U", 42, true},
                     {"0xFFFFFFFFFFFFFFFF", UINT64_MAX, true},
                     {"18446744073709551615", UINT64_MAX, true},
                     {"9223372036854775807", INT64_MAX, false}};
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const token t = only(c.text);
    CHECK(t.kind == token_kind::integer);
    CHECK(t.integer == c.value);
    CHECK(t.is_unsigned == c.is_unsigned);
  }
}

TEST_CASE("floating-point constants are bits or decimal", "[ptx]") {
  CHECK(only("0f3F800000").kind == token_kind::single);
  CHECK(only("0f3F800000").integer == 0x3f800000);
  CHECK(only("0D3ff0000000000000").kind == token_kind::floating);
  CHECK(only("0D3ff0000000000000").integer == 0x3ff0000000000000);
  CHECK(only("1.5").integer == 0x3ff8000000000000);
  CHECK(only("1e3").integer == 0x408f400000000000);
  CHECK(only("25e-2").integer == 0x3fd0000000000000);
}

TEST_CASE("what is no number is bad, with a reason", "[ptx]") {
  for (const char* text :
       {"08", "0x", "0xg", "0b2", "12ab", "0f3F80000", "0f3F8000000", "0d12", "1e", "1e+", "1.5x",
        "18446744073709551616", "\"open", "/* open", "#", "'", "\x80", "."}) {
    CAPTURE(text);
    const token t = only(text);
    CHECK(t.kind == token_kind::bad);
    CHECK(t.problem != nullptr);
  }
}

TEST_CASE("names, words and punctuation are told apart", "[ptx]") {
  lexer tokens("@!%p1 ld.shared::cta.u32 %r1, [$x_1+4]; // end\n/* a\nb */ }");
  std::vector<std::string> texts;
  std::uint32_t last_line = 0;
  while (tokens.peek().kind != token_kind::end) {
    const token t = tokens.take();
    texts.emplace_back(t.text);
    last_line = t.line;
  }
  const std::vector<std::string> expected = {"@",    "!",   "%p1", "ld", ".shared::cta",
                                             ".u32", "%r1", ",",   "[",  "$x_1",
                                             "+",    "4",   "]",   ";",  "}"};
  CHECK(texts == expected);
  CHECK(last_line == 3);
}

TEST_CASE("columns count from one", "[ptx]") {
  lexer tokens("a\n  bc");
  CHECK(tokens.column_of(tokens.peek()) == 1);
  tokens.take();
  CHECK(tokens.column_of(tokens.peek()) == 3);
  CHECK(tokens.peek().line == 2);
}

TEST_CASE("looking ahead consumes nothing", "[ptx]") {
  lexer tokens("a : b");
  CHECK(tokens.peek_second().is(":"));
  CHECK(tokens.take().text == "a");
  CHECK(tokens.peek().is(":"));
}

TEST_CASE("a section is skipped to its brace, lines counted", "[ptx]") {
  lexer tokens("{ 1\n2\n} x");
  CHECK(tokens.skip_to_brace());
  CHECK(tokens.peek().text == "x");
  CHECK(tokens.peek().line == 3);
  lexer open("{ 1\n");
  CHECK_FALSE(open.skip_to_brace());
  CHECK(open.peek().kind == token_kind::end);
}

}  // namespace lexer_test

#pragma once
/// Integer and floating-point constants, and the C-like expressions over them that PTX allows in
/// place of a number.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include <nogpu/ptx/parser_context.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

struct constant {
  enum class form : std::uint8_t { signed_integer, unsigned_integer, single, floating };
  form kind = form::signed_integer;
  std::uint64_t bits = 0;

  bool is_integer() const { return kind == form::signed_integer || kind == form::unsigned_integer; }
  double as_double() const {
    if (kind == form::single) {
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    return std::bit_cast<double>(bits);
  }
};

/// The bits of a constant as a value of `t`, zero-extended. Integers are truncated to the width, as
/// PTX says; false if an integer meets a floating type or the other way round.
inline bool bits_as(const constant& value, type t, std::uint64_t& bits) {
  const std::uint32_t size = size_of(t);
  const bool floating_type = t == type::f32 || t == type::f64;
  if (value.is_integer()) {
    if (floating_type || t == type::none) return false;
    if (t == type::pred) {
      bits = value.bits != 0;
    } else {
      bits = size >= 8 ? value.bits : value.bits & ((1ull << (8 * size)) - 1);
    }
    return true;
  }
  const bool fits_bits = is_bits(t) && size == (value.kind == constant::form::single ? 4u : 8u);
  if (fits_bits) {
    bits = value.bits;
  } else if (t == type::f64) {
    bits = std::bit_cast<std::uint64_t>(value.as_double());
  } else if (t == type::f32 && value.kind == constant::form::single) {
    bits = value.bits;
  } else if (t == type::f32) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(value.as_double()));
  } else {
    return false;
  }
  return true;
}

bool parse_constant(parser_context& context, constant& value, std::uint32_t depth = 0);

/// One step of an expression on two integers. PTX computes with 64 bits; unsigned wins.
inline bool combine(parser_context& context, const token& sign, const constant& a,
                    const constant& b, constant& result) {
  if (!a.is_integer() || !b.is_integer()) {
    return context.fail(sign, "constant expressions combine integers only");
  }
  const bool is_unsigned =
      a.kind == constant::form::unsigned_integer || b.kind == constant::form::unsigned_integer;
  const auto sa = static_cast<std::int64_t>(a.bits), sb = static_cast<std::int64_t>(b.bits);
  const std::uint64_t ua = a.bits, ub = b.bits;
  const std::string_view op = sign.text;
  const auto truth = [&](bool value) {
    result = {constant::form::signed_integer, value ? 1u : 0u};
    return true;
  };
  if (op == "==") return truth(ua == ub);
  if (op == "!=") return truth(ua != ub);
  if (op == "<") return truth(is_unsigned ? ua < ub : sa < sb);
  if (op == ">") return truth(is_unsigned ? ua > ub : sa > sb);
  if (op == "<=") return truth(is_unsigned ? ua <= ub : sa <= sb);
  if (op == ">=") return truth(is_unsigned ? ua >= ub : sa >= sb);
  if (op == "&&") return truth(ua != 0 && ub != 0);
  if (op == "||") return truth(ua != 0 || ub != 0);
  result.kind = is_unsigned ? constant::form::unsigned_integer : constant::form::signed_integer;
  switch (op[0]) {
    case '+': result.bits = ua + ub; return true;
    case '-': result.bits = ua - ub; return true;
    case '*': result.bits = ua * ub; return true;
    case '&': result.bits = ua & ub; return true;
    case '|': result.bits = ua | ub; return true;
    case '^': result.bits = ua ^ ub; return true;
    case '<': result.bits = ub > 63 ? 0 : ua << ub; return true;
    case '>':
      result.kind = a.kind;
      if (a.kind == constant::form::unsigned_integer) {
        result.bits = ub > 63 ? 0 : ua >> ub;
      } else {
        result.bits = static_cast<std::uint64_t>(sa >> (ub > 63 ? 63 : ub));
      }
      return true;
    default: break;
  }
  if (ub == 0) return context.fail(sign, "division by zero in a constant expression");
  const bool remainder = op[0] == '%';
  if (is_unsigned) {
    result.bits = remainder ? ua % ub : ua / ub;
  } else if (sb == -1) {  // The one quotient that overflows wraps around.
    result.bits = remainder ? 0 : 0 - ua;
  } else {
    result.bits = static_cast<std::uint64_t>(remainder ? sa % sb : sa / sb);
  }
  return true;
}

inline bool parse_unary(parser_context& context, constant& value, std::uint32_t depth) {
  const token t = context.tokens.peek();
  if (depth > context.options.limits.nested_expressions) {
    return context.fail(t, "this constant expression is nested too deeply", refusal::too_large);
  }
  if (t.kind == token_kind::integer) {
    value = {t.is_unsigned ? constant::form::unsigned_integer : constant::form::signed_integer,
             t.integer};
  } else if (t.kind == token_kind::single || t.kind == token_kind::floating) {
    value = {t.kind == token_kind::single ? constant::form::single : constant::form::floating,
             t.integer};
  } else if (t.kind == token_kind::identifier && t.text == "WARP_SZ") {
    value = {constant::form::signed_integer, 32};
  } else if (t.is("(")) {
    context.tokens.take();
    const token cast = context.tokens.peek();
    if (cast.is(".s64") || cast.is(".u64")) {
      context.tokens.take();
      if (!context.expect(")") || !parse_unary(context, value, depth + 1)) return false;
      if (!value.is_integer()) return context.fail(cast, "a cast applies to integers only");
      value.kind =
          cast.text == ".s64" ? constant::form::signed_integer : constant::form::unsigned_integer;
      return true;
    }
    return parse_constant(context, value, depth + 1) && context.expect(")");
  } else if (t.is("-") || t.is("+") || t.is("!") || t.is("~")) {
    context.tokens.take();
    if (!parse_unary(context, value, depth + 1)) return false;
    if (t.text == "-" && !value.is_integer()) {
      value.bits ^= value.kind == constant::form::single ? 0x8000'0000ull : 1ull << 63;
      return true;
    }
    if (!value.is_integer()) return context.fail(t, "this operator applies to integers only");
    if (t.text == "-") value.bits = 0 - value.bits;
    if (t.text == "~") value.bits = ~value.bits;
    if (t.text == "!") value = {constant::form::signed_integer, value.bits == 0 ? 1u : 0u};
    return true;
  } else {
    return context.fail_expected("a number");
  }
  context.tokens.take();
  return true;
}

/// Returns the precedence of a binary operator; 0 for other tokens.
inline int precedence_of(const token& t) {
  constexpr std::string_view never = ";,)]}{(";
  if (t.kind != token_kind::punctuation || never.find(t.text[0]) != never.npos) return 0;
  constexpr std::string_view by_precedence[] = {
      "||", "&&", "|", "^", "&", " == != ", " < <= > >= ", " << >> ", " + - ", " * / % "};
  for (int level = 0; level < 10; ++level) {
    const std::string_view operators = by_precedence[level];
    if (operators[0] != ' ') {
      if (operators == t.text) return level + 1;
    } else if (operators.find(" " + std::string(t.text) + " ") != std::string_view::npos) {
      return level + 1;
    }
  }
  return 0;
}

inline bool parse_binary(parser_context& context, constant& value, int weakest,
                         std::uint32_t depth) {
  if (!parse_unary(context, value, depth)) return false;
  for (;;) {
    const token sign = context.tokens.peek();
    const int precedence = precedence_of(sign);
    if (precedence == 0 || precedence < weakest) return true;
    context.tokens.take();
    constant right;
    if (!parse_binary(context, right, precedence + 1, depth + 1)) return false;
    const constant left = value;
    if (!combine(context, sign, left, right, value)) return false;
  }
}

/// An expression, with `?:` on top.
inline bool parse_constant(parser_context& context, constant& value, std::uint32_t depth) {
  if (!parse_binary(context, value, 1, depth)) return false;
  if (!context.tokens.peek().is("?")) return true;
  const token question = context.tokens.take();
  constant yes, no;
  if (!parse_constant(context, yes, depth + 1) || !context.expect(":") ||
      !parse_constant(context, no, depth + 1)) {
    return false;
  }
  if (!value.is_integer()) return context.fail(question, "?: needs an integer condition");
  value = value.bits != 0 ? yes : no;
  return true;
}

/// An expression whose value is an integer from 0 to `limit`.
inline bool parse_size(parser_context& context, std::uint64_t limit, std::uint64_t& size) {
  const token where = context.tokens.peek();
  constant value;
  if (!parse_constant(context, value)) return false;
  const bool negative = value.kind == constant::form::signed_integer && value.bits >> 63 != 0;
  if (!value.is_integer() || negative) {
    return context.fail(where, "expected an integer that is not negative");
  }
  if (value.bits > limit) {
    return context.fail(
        where, std::to_string(value.bits) + " is too large: at most " + std::to_string(limit),
        refusal::too_large);
  }
  size = value.bits;
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail

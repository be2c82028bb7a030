#pragma once
/// Reads what stands behind the = of a variable: numbers, nested lists, addresses of symbols.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nogpu/ptx/constant_expression.hpp>
#include <nogpu/ptx/operands.hpp>
#include <nogpu/ptx/parser_context.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// The shape of the variable that is being initialized.
struct initializer_shape {
  std::vector<std::uint64_t> strides;  ///< bytes of one item at each level, the innermost last
  std::uint64_t bytes = 0;             ///< of the whole; 0 if the first dimension is open
  bool scalar = false;                 ///< neither an array nor a vector
};

inline bool store_bytes(parser_context& context, const token& where, variable& v,
                        std::uint64_t offset, std::uint32_t size, std::uint64_t bits) {
  if (v.initial.size() < offset + size) {
    context.initializer_bytes += offset + size - v.initial.size();
    if (context.initializer_bytes > context.options.limits.initializer_bytes) {
      return context.fail(where, "the initializers are too long", refusal::too_large);
    }
    v.initial.resize(offset + size);
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    v.initial[offset + i] = static_cast<std::byte>(bits >> (8 * i) & 0xff);
  }
  return true;
}

/// symbol, generic(symbol), either + offset; inside mask( ) too.
inline bool parse_symbol_value(parser_context& context, relocation& r) {
  const token name = context.tokens.take();
  token symbol_name = name;
  r.generic = name.text == "generic" && context.tokens.peek().is("(");
  if (r.generic) {
    context.tokens.take();
    if (!context.expect_identifier(symbol_name)) return false;
  }
  const name_entry* entry = context.names.find(symbol_name.text);
  if (entry == nullptr ||
      (entry->kind != name_kind::global && entry->kind != name_kind::function)) {
    return context.fail(symbol_name, context.quote(symbol_name) +
                                         " is not a variable or function that was declared before");
  }
  r.target = symbol_of(*entry);
  std::uint64_t addend = 0;
  if (!parse_offset(context, addend)) return false;
  if (r.generic && !context.expect(")")) return false;
  std::uint64_t more = 0;
  if (!parse_offset(context, more)) return false;
  r.addend = static_cast<std::int64_t>(addend + more);
  return true;
}

inline bool parse_address_item(parser_context& context, variable& v, std::uint64_t offset) {
  const token where = context.tokens.peek();
  relocation r;
  r.offset = offset;
  r.size = size_of(v.element);
  if (where.kind == token_kind::integer) {
    r.mask = context.tokens.take().integer;
    if (!context.expect("(") || !parse_symbol_value(context, r) || !context.expect(")")) {
      return false;
    }
    const int low = std::countr_zero(r.mask);
    if (r.mask == 0 || low % 8 != 0 || r.mask >> low != 0xff || r.size != 1) {
      return context.fail(where, "a mask selects one byte of an address, for an 8-bit element");
    }
  } else {
    if (!parse_symbol_value(context, r)) return false;
    if (r.size < 4 || is_floating(v.element)) {
      return context.fail(where, "an address does not fit in ." + std::string(name_of(v.element)));
    }
  }
  if (!store_bytes(context, where, v, offset, r.size, 0)) return false;
  v.relocations.push_back(r);
  return true;
}

inline bool parse_initializer_item(parser_context& context, variable& v, std::uint64_t offset) {
  const token where = context.tokens.peek();
  const bool symbolic = where.kind == token_kind::identifier && where.text != "WARP_SZ";
  const bool masked = where.kind == token_kind::integer && context.tokens.peek_second().is("(");
  if (symbolic || masked) return parse_address_item(context, v, offset);
  constant value;
  if (!parse_constant(context, value)) return false;
  std::uint64_t bits = 0;
  if (!bits_as(value, v.element, bits)) {
    return context.fail(where, "this number cannot be a ." + std::string(name_of(v.element)));
  }
  return store_bytes(context, where, v, offset, size_of(v.element), bits);
}

/// { ... } at a level of the shape, filling `bytes` from `offset`; `bytes` 0 is open. `used`
/// receives the bytes from `offset` to the last item's end.
inline bool parse_initializer_list(parser_context& context, variable& v,
                                   const initializer_shape& shape, std::size_t level,
                                   std::uint64_t offset, std::uint64_t bytes, std::uint64_t& used) {
  if (!context.expect("{")) return false;
  used = 0;
  if (context.accept("}")) return true;
  do {
    const token where = context.tokens.peek();
    const bool nested = where.is("{");
    if (nested && level + 1 >= shape.strides.size()) {
      return context.fail(where, "more nested braces than dimensions");
    }
    if (!nested && level + 1 < shape.strides.size()) {
      return context.fail(where, "each row of an array has braces of its own");
    }
    const std::uint64_t stride = nested ? shape.strides[level] : shape.strides.back();
    used = (used + stride - 1) / stride * stride;  // a nested list starts a new row
    if (bytes != 0 && used + stride > bytes) {
      return context.fail(where, "more initializers than elements");
    }
    if (nested) {
      std::uint64_t inner = 0;
      if (!parse_initializer_list(context, v, shape, level + 1, offset + used, stride, inner)) {
        return false;
      }
    } else if (!parse_initializer_item(context, v, offset + used)) {
      return false;
    }
    used += stride;
  } while (context.accept(","));
  return context.expect("}");
}

/// The part after the =. It determines the size of a first dimension that was left open.
inline bool parse_initializer(parser_context& context, variable& v,
                              const initializer_shape& shape) {
  if (shape.scalar) {
    return context.tokens.peek().is("{")
               ? context.fail(context.tokens.peek(), "the value of a scalar has no braces")
               : parse_initializer_item(context, v, 0);
  }
  std::uint64_t used = 0;
  if (!parse_initializer_list(context, v, shape, 0, 0, shape.bytes, used)) return false;
  if (v.unsized) {
    const std::uint64_t row = shape.strides.front();
    v.size = (used + row - 1) / row * row;
    v.unsized = false;
  }
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail

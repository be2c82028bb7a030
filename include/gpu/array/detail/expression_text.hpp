#pragma once
/// \file
/// `expression_writer`: turns expressions into the texts of a kernel.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/interned_text.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/operation_helpers.hpp>
#include <gpu/array/detail/operation_types.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/snippet.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

inline const text& text_at(const expression_word* words) noexcept {
  return reinterpret_cast<const interned_text*>(static_cast<std::uintptr_t>(words[1]))->code;
}

/// A value in the body of a kernel: a variable, or an operand.
struct body_value {
  text name;
  element_kind kind;
};

/// Writes `value`, converted to a kind as a C++ cast does.
inline void write_converted(text_builder& out, const body_value& value, element_kind to) {
  const kind_facts target = facts_of(to);
  if (value.kind == to) {
    out << value.name;
  } else if (target.type == kind_class::boolean && class_of(value.kind) == kind_class::complex) {
    out << '(' << value.name << " != " << facts_of(value.kind).device_name << "(0))";
  } else if (target.type == kind_class::boolean && is_short_kind(value.kind)) {
    out << "((float)" << value.name << " != 0)";
  } else if (target.type == kind_class::complex && class_of(value.kind) != kind_class::complex) {
    out << target.device_name << '(';
    write_converted(out, value, real_kind(to));
    out << ')';
  } else {
    const bool by_float = is_short_kind(value.kind) && to != element_kind::float32;
    out << '(' << target.device_name << ')' << (by_float ? "(float)" : "") << value.name;
  }
}

/// Returns the type in which an operation computes operands of a kind: unsigned where integers wrap
/// around, float for numbers of 16 bits.
inline const char* computed_type(opcode what, element_kind kind) noexcept {
  const operation_rule rule = facts_of(what).rule;
  const bool wraps = rule == operation_rule::arithmetic || rule == operation_rule::no_booleans;
  if (wraps && is_integral_kind(kind))
    return facts_of(kind).bytes == 8 ? "unsigned long long" : "unsigned int";
  return facts_of(computed_kind(kind)).device_name;
}

/// Writes the statements that compute expressions for element `i`. Equal values are computed once.
class expression_writer {
 public:
  explicit expression_writer(const expression_layout& layout) : layout_{layout} {
    std::size_t views = 0;
    for (std::size_t s = 0; s < layout.slot_count; ++s)
      views += layout.slots[s].header().what == opcode::view ? 1u : 0u;
    for (std::size_t s = 0; s < layout.slot_count; ++s) add_slot(s, views == 1);
  }

  /// Writes the computation of an expression and its store into `out[i]`, which has elements of
  /// `kind`.
  void write(const expression_ref& expression, string_ref out, element_kind kind) {
    const body_value value = write_value(expression);
    stores_ << out << "[i] = ";
    write_converted(stores_, value, kind);
    stores_ << ";\n";
  }

  /// Writes the body as a value of type `gpu_value`: `map`, in which `x[i]` stands for the element
  /// of the expression. The kernel's name begins with `kernel`.
  void write_map(const expression_ref& expression, string_ref map, string_ref kernel) {
    symbol_ << kernel << '_';
    body_ << "[&]() -> gpu_value {\n";
    const body_value element = write_value(expression);
    stores_ << "return ";
    constexpr string_ref place = "x[i]";
    while (!map.empty()) {
      const bool is_place = starts_with(map, place);
      stores_ << (is_place ? string_ref(element.name) : map.substring(0, 1));
      map = without_front(map, is_place ? place.size() : 1);
    }
    stores_ << ";\n}()";
  }

  /// Ends the texts, which can be read from then on.
  void finish() {
    body_ << required(stores_.finish());
    body = required(body_.finish());
    preamble = required(preamble_.finish());
    setup = required(setup_.finish());
    std::uint32_t digest = 2166136261u;
    for (const text* part : {&body, &preamble, &setup}) {
      for (const char c : *part) digest = (digest ^ static_cast<unsigned char>(c)) * 16777619u;
    }
    if (!name.empty()) return;
    if (symbol_.size() == 0) symbol_ << "copy_";
    for (int shift = 28; shift >= 0; shift -= 4)
      symbol_ << "0123456789abcdef"[digest >> shift & 15];
    name = required(symbol_.finish());
  }

  text body, preamble, setup;
  text name;  ///< of the kernel: what it has been called, or its operations and a digest
  sequence<text> slot_names;
  bool is_fast = false;

 private:
  struct computed {
    text code;
    element_kind kind;
    text variable;
  };

  /// Writes the statements that compute an expression.
  body_value write_value(const expression_ref& expression) {
    sequence<body_value> stack;
    for (std::size_t at = 0; at < expression.count;) {
      const expression_word* const words = expression.words + at;
      at += header_at(words).words;
      write_part(words, stack);
    }
    return stack.back();
  }

  void add_slot(std::size_t s, bool one_view) {
    const expression_slot& slot = layout_.slots[s];
    const opcode what = slot.header().what;
    text_builder named;
    if (what == opcode::view && one_view) {
      named << 'x';
    } else {
      named << (what == opcode::view ? 'x' : what == opcode::number ? 'a' : 's') << s;
    }
    slot_names.push_back(required(named.finish()));
    if (what != opcode::leaf) return;
    need(slot.description().preamble);
    if (slot.repeats) need(repeated_helper);
    write_leaf_text(setup_, s, slot.description().setup);
  }

  /// Takes a name: what an identifier cannot have becomes '_'.
  void add_name(string_ref given) {
    text_builder out;
    for (const char c : given) out << (is_identifier_part(c) ? c : '_');
    name = required(out.finish());
    if (is_kernel_name(name) && !starts_with(name, "gpu_")) return;
    out << "kernel_" << name;
    name = required(out.finish());
  }

  /// Writes a text of a leaf with the names of its slot.
  void write_leaf_text(text_builder& out, std::size_t s, const char* code) {
    for (; *code != '\0'; ++code) {
      if (*code != '$' || code[1] == '\0') {
        out << *code;
        continue;
      }
      ++code;
      if (*code == 's') {
        out << slot_names[s];
      } else if (*code == 'v') {
        out << 'v' << slot_names[s];
      } else if (*code == 'i') {
        if (layout_.slots[s].repeats) {
          out << "r" << slot_names[s] << ".at(i)";
        } else {
          out << 'i';
        }
      } else {
        out << '$' << *code;
      }
    }
  }

  void write_part(const expression_word* words, sequence<body_value>& stack) {
    const word_header header = header_at(words);
    if (header.what <= opcode::leaf) return stack.push_back(operand(words));
    const operation_facts& facts = facts_of(header.what);
    if (header.what == opcode::named) return add_name(text_at(words));
    if (header.what == opcode::fast) return void(is_fast = true);
    const std::size_t count = header.what == opcode::formula ? header.extra : facts.operands;
    sequence<body_value> operands(stack.end() - count, stack.end());
    for (std::size_t k = 0; k < count; ++k) stack.pop_back();
    text_builder code;
    if (header.what == opcode::cast) {
      write_converted(code, operands[0], header.kind);
    } else if (header.what == opcode::take) {
      write_taken(code, operands, header.kind);
    } else if (header.what == opcode::formula) {
      write_formula(code, text_at(words), operands, header.kind);
    } else {
      write_operation(code, facts, operands, header.kind);
    }
    stack.push_back(value_of(required(code.finish()), facts.name, header.kind));
  }

  body_value operand(const expression_word* words) {
    std::size_t s = 0;
    while (layout_.slots[s].words != words && !same_slot(layout_.slots[s].words, words)) ++s;
    const word_header header = header_at(words);
    if (header.what == opcode::leaf) {
      text_builder code;
      code << '(' << facts_of(header.kind).device_name << ")(";
      write_leaf_text(code, s, layout_.slots[s].description().text);
      code << ')';
      return value_of(required(code.finish()), layout_.slots[s].description().name, header.kind);
    }
    text_builder code;
    code << slot_names[s] << (header.what == opcode::view ? "[i]" : "");
    return {required(code.finish()), header.kind};
  }

  /// Returns the variable that holds a value; one that is there, if the same has been computed.
  body_value value_of(text code, const char* what, element_kind kind) {
    if (is_short_kind(kind) || class_of(kind) == kind_class::complex) need(numbers_include);
    for (const computed& each : computed_) {
      if (each.kind == kind && each.code == code) return {each.variable, kind};
    }
    text_builder named;
    named << 'v' << computed_.size();
    computed_.push_back({std::move(code), kind, required(named.finish())});
    const computed& made = computed_.back();
    body_ << "const " << facts_of(kind).device_name << ' ' << made.variable << " = " << made.code
          << ";\n";
    constexpr std::size_t longest_name = 48;
    if (symbol_.size() + __builtin_strlen(what) < longest_name) symbol_ << what << '_';
    return {made.variable, kind};
  }

  void write_operation(text_builder& out, const operation_facts& facts,
                       const sequence<body_value>& operands, element_kind result) {
    operand_type given[3] = {};
    for (std::size_t k = 0; k < operands.size(); ++k) given[k] = {operands[k].kind};
    const operation_types types = resolve_types(facts.what, given);
    const element_kind last = types.operands[operands.size() - 1];
    const char* code = facts.text;
    if (class_of(last) == kind_class::complex && facts.complex_text != nullptr)
      code = facts.complex_text;
    if (is_short_kind(last) && facts.short_text != nullptr) code = facts.short_text;
    if (facts.rule == operation_rule::rounding && is_integral_kind(last)) code = "$1";
    if (code == facts.text) need(facts.helper);
    // Of 64 bits, one with a sign and one without: no type holds both.
    const bool ordered =
        is_integral_kind(types.operands[0]) && types.operands[0] != last &&
        (facts.rule == operation_rule::equality || facts.rule == operation_rule::order);
    if (ordered) need(order_helper);
    out << '(' << facts_of(result).device_name << ")(";
    for (; *code != '\0'; ++code) {
      if (*code != '$') {
        out << *code;
        continue;
      }
      ++code;
      if (*code == 't') {
        out << computed_type(facts.what, last);
        continue;
      }
      const auto k = static_cast<std::size_t>(*code - '1');
      if (ordered) {
        if (k == 1) {
          out << '0';
          continue;
        }
        out << "gpu_order(";
        write_operand(out, facts.what, operands[0], types.operands[0]);
        out << ", ";
        write_operand(out, facts.what, operands[1], types.operands[1]);
        out << ')';
        continue;
      }
      write_operand(out, facts.what, operands[k], types.operands[k]);
    }
    out << ')';
  }

  void write_operand(text_builder& out, opcode what, const body_value& value, element_kind kind) {
    const char* const type = computed_type(what, kind);
    const bool is_cast = string_ref(type) != facts_of(computed_kind(kind)).device_name;
    if (is_cast) out << '(' << type << ')';
    write_converted(out, value, computed_kind(kind));
  }

  /// Writes the element that an index chooses: operands are the view and the index.
  void write_taken(text_builder& out, const sequence<body_value>& operands, element_kind result) {
    need(take_helper);
    const string_ref element = operands[0].name;
    const string_ref view = element.substring(0, element.size() - sizeof "[i]" + 1);
    out << '(' << facts_of(result).device_name << ")(&" << element << ")[gpu_taken(";
    const bool is_unsigned = operands[1].kind == element_kind::uint64;
    write_converted(out, operands[1], is_unsigned ? element_kind::uint64 : element_kind::int64);
    out << ", " << view << "_size) * " << view << "_stride]";
  }

  void write_formula(text_builder& out, const text& code, const sequence<body_value>& operands,
                     element_kind result) {
    text_builder function;
    function << "gpu_formula" << formulas_++;
    const text called = required(function.finish());
    preamble_ << "__device__ " << facts_of(result).device_name << ' ' << called << '(';
    out << called << '(';
    for (std::size_t k = 0; k < operands.size(); ++k) {
      preamble_ << (k == 0 ? "const " : ", const ") << facts_of(operands[k].kind).device_name << ' '
                << static_cast<char>('a' + static_cast<int>(k));
      out << (k == 0 ? "" : ", ") << operands[k].name;
    }
    preamble_ << ") {\n  return (" << facts_of(result).device_name << ")(\n"
              << code << "\n  );\n}\n";
    out << ')';
  }

  /// Adds a text to the preamble, once.
  void need(const char* helper) {
    if (*helper == '\0') return;
    for (const char* each : helpers_) {
      if (string_ref(each) == helper) return;
    }
    helpers_.push_back(helper);
    preamble_ << helper;
    if (helper[__builtin_strlen(helper) - 1] != '\n') preamble_ << '\n';
  }

  const expression_layout& layout_;
  sequence<computed> computed_;
  sequence<const char*> helpers_;
  text_builder body_, stores_, preamble_, setup_, symbol_;
  int formulas_ = 0;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// Reads the one debugging section that matters here: .debug_str has the names of inlined
/// functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <nogpu/ptx/parser_context.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// label: and .b8 95, 90, ... of .debug_str; other data is passed over.
inline bool parse_strings(parser_context& context) {
  while (!context.tokens.peek().is("}")) {
    const token t = context.tokens.peek();
    if (t.kind == token_kind::identifier) {
      context.tokens.take();
      if (!context.expect(":")) return false;
      context.debug_labels.try_emplace(t.text, context.debug_strings.size());
      continue;
    }
    if (t.kind != token_kind::word) return context.fail_expected("a label, data or }");
    const type element = type_of_word(t.text);
    context.tokens.take();
    do {
      std::uint64_t value = 0;
      if (context.tokens.peek().kind == token_kind::identifier) {
        context.tokens.take();
      } else if (!context.expect_unsigned(UINT64_MAX, value)) {
        return false;
      }
      if (element == type::b8) context.debug_strings += static_cast<char>(value & 0xff);
    } while (context.accept(","));
  }
  context.tokens.take();
  return true;
}

/// .section name { ... }
inline bool parse_section(parser_context& context) {
  const token name = context.tokens.peek();
  if (name.kind != token_kind::word && name.kind != token_kind::identifier) {
    return context.fail_expected("the name of a section");
  }
  context.tokens.take();
  if (!context.expect("{")) return false;
  if (name.text == ".debug_str") return parse_strings(context);
  return context.tokens.skip_to_brace() || context.fail(name, "this section is not closed");
}

/// Gives the locations of inlined code the names of their functions.
inline void name_inlined_functions(parser_context& context) {
  const std::string_view strings = context.debug_strings;
  for (const function_name_use& use : context.function_name_uses) {
    const auto found = context.debug_labels.find(use.label);
    if (found == context.debug_labels.end() || use.offset > strings.size()) continue;
    const std::size_t begin = found->second + use.offset;
    if (begin >= strings.size()) continue;
    const std::size_t end = strings.find('\0', begin);
    context.out.functions[use.function].locations[use.location].function_name =
        strings.substr(begin, end == strings.npos ? end : end - begin);
  }
}

}}}  // namespace nogpu::v1::ptx::detail

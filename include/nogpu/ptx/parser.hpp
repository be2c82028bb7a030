#pragma once
/// Reads PTX text: `parse(text)` gives the module or says what is wrong with it, and where.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nogpu/ptx/arithmetic/default_environment.hpp>
#include <nogpu/ptx/debug_sections.hpp>
#include <nogpu/ptx/functions.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

namespace detail {

/// Returns whether the version of PTX exists, up to the newest of CUDA 13.0.
inline bool is_version(std::uint32_t major, std::uint32_t minor) {
  constexpr std::uint32_t last_minor[] = {5, 3, 2, 3, 1, 5, 8, 8, 0};
  return major > 9 || (major == 9 && minor > 0) || (major != 0 && minor <= last_minor[major - 1]);
}

/// Returns the first version of PTX that has a target, as 78 for 7.8; 0 if the target does not
/// exist.
inline std::uint32_t first_version_of(std::uint32_t target, bool specific) {
  struct row {
    std::uint8_t target, version;
  };
  constexpr row rows[] = {{10, 10}, {11, 10}, {12, 12}, {13, 12}, {20, 20}, {21, 20}, {30, 30},
                          {32, 40}, {35, 31}, {37, 41}, {50, 40}, {52, 41}, {53, 42}, {60, 50},
                          {61, 50}, {62, 50}, {70, 51}, {72, 61}, {75, 63}, {80, 70}, {82, 62},
                          {86, 71}, {87, 74}, {88, 73}, {89, 78}, {90, 78}};
  if (specific) return target == 90 ? 80 : 0;
  for (const row& r : rows) {
    if (r.target == target) return r.version;
  }
  return 0;
}

/// .version major.minor
inline bool parse_version(parser_context& context) {
  if (!context.accept(".version")) return context.fail_expected(".version");
  const token t = context.tokens.peek();
  const std::string_view text = t.text;
  const std::size_t dot = text.find('.');
  std::uint32_t numbers[2] = {};
  bool good = t.kind == token_kind::floating && dot != text.npos && text.size() <= 6;
  std::size_t part = 0;
  for (const char c : text) {
    if (!good) break;
    if (c == '.') {
      ++part;
    } else if (c >= '0' && c <= '9') {
      numbers[part] = numbers[part] * 10 + static_cast<std::uint32_t>(c - '0');
    } else {
      good = false;
    }
  }
  if (!good) return context.fail_expected("a version such as 8.3");
  context.tokens.take();
  const parse_options& options = context.options;
  const bool newer =
      numbers[0] > options.max_version_major ||
      (numbers[0] == options.max_version_major && numbers[1] > options.max_version_minor);
  context.version = numbers[0] * 10 + numbers[1];
  if (!newer && !is_version(numbers[0], numbers[1])) {
    return context.fail(t, "there is no PTX " + std::string(text), refusal::unsupported_version);
  }
  if (!newer) return true;
  return context.fail(t,
                      "PTX " + std::string(text) + " is newer than " +
                          std::to_string(options.max_version_major) + "." +
                          std::to_string(options.max_version_minor) +
                          ", the newest that is supported: compile with an older toolkit",
                      refusal::unsupported_version);
}

/// One word of .target: sm_90a, debug, texmode_independent ...
inline bool parse_target_word(parser_context& context) {
  token t;
  if (!context.expect_identifier(t)) return false;
  if (t.text == "map_f64_to_f32") {
    return context.out.target < 13 ||
           context.fail(t, "map_f64_to_f32 is for targets before sm_13, which have no .f64",
                        refusal::unsupported_target);
  }
  if (t.text == "texmode_unified" || t.text == "texmode_independent") return true;
  if (t.text == "debug") return context.out.debug = true;
  std::string_view digits = t.text;
  const bool named = digits.starts_with("sm_") || digits.starts_with("compute_");
  digits.remove_prefix(named ? digits.find('_') + 1 : 0);
  const bool specific = !digits.empty() && (digits.back() == 'a' || digits.back() == 'f');
  if (specific) digits.remove_suffix(1);
  std::uint32_t target = 0;
  bool good = named && !digits.empty() && digits.size() <= 3;
  for (const char c : digits) {
    good = good && c >= '0' && c <= '9';
    target = target * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (!good) return context.fail(t, context.quote(t) + " is not a target such as sm_90");
  context.out.target = target;
  context.out.specific = specific;
  const std::uint32_t device = context.options.max_target;
  if (target > device || (specific && target != device)) {
    return context.fail(
        t,
        std::string(t.text) + " does not run on this device, which is sm_" + std::to_string(device),
        refusal::unsupported_target);
  }
  const std::uint32_t first = t.text.ends_with('f') ? 0 : first_version_of(target, specific);
  if (first == 0) {
    return context.fail(t, "there is no target " + std::string(t.text),
                        refusal::unsupported_target);
  }
  if (context.version >= first) return true;
  return context.fail(t,
                      std::string(t.text) + " needs PTX " + std::to_string(first / 10) + "." +
                          std::to_string(first % 10) + " or newer, this is " +
                          std::to_string(context.version / 10) + "." +
                          std::to_string(context.version % 10),
                      refusal::unsupported_target);
}

/// .version, .target, .address_size
inline bool parse_module_head(parser_context& context) {
  if (!parse_version(context)) return false;
  if (!context.accept(".target")) return context.fail_expected(".target");
  do {
    if (!parse_target_word(context)) return false;
  } while (context.accept(","));
  if (context.out.target == 0) return context.fail_expected("a target such as sm_90");
  if (!context.accept(".address_size")) return true;
  const token where = context.tokens.peek();
  std::uint64_t size = 0;
  if (!context.expect_unsigned(64, size)) return false;
  return size == 64 ||
         context.fail(where, "only .address_size 64 is executed", refusal::unsupported_target);
}

/// .global, .const and .shared variables of a module.
inline bool parse_module_variables(parser_context& context, linkage link) {
  declaration_head head;
  head.link = link;
  const token start = context.tokens.peek();
  if (!parse_head(context, head)) return false;
  if (head.space != state_space::global && head.space != state_space::constant &&
      head.space != state_space::shared) {
    return context.fail(start, "only .global, .const and .shared are declared in a module");
  }
  do {
    variable v;
    token name;
    if (!parse_variable(context, head, v, name)) return false;
    const name_entry* known = context.names.find(name.text);
    if (known != nullptr && known->kind == name_kind::global) {
      variable& earlier = context.out.variables[known->index];
      const bool same = earlier.space == v.space && earlier.element == v.element &&
                        (earlier.size == v.size || earlier.unsized || v.unsized);
      const bool one_declares = earlier.link == linkage::external || v.link == linkage::external;
      if (!same || !one_declares) {
        return context.fail(name, context.quote(name) + " is declared twice");
      }
      if (earlier.link == linkage::external) earlier = std::move(v);
      continue;
    }
    name_entry entry;
    entry.kind = name_kind::global;
    entry.index = static_cast<std::uint32_t>(context.out.variables.size());
    if (!context.declare(name, entry)) return false;
    context.out.variables.push_back(std::move(v));
  } while (context.accept(","));
  return context.expect(";");
}

/// .alias name, target ;
inline bool parse_alias(parser_context& context) {
  token names[2];
  std::uint32_t indexes[2] = {};
  if (!context.expect_identifier(names[0]) || !context.expect(",") ||
      !context.expect_identifier(names[1])) {
    return false;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const name_entry* entry = context.names.find(names[i].text);
    if (entry == nullptr || entry->kind != name_kind::function) {
      return context.fail(names[i],
                          context.quote(names[i]) + " is not a function that was declared before");
    }
    indexes[i] = entry->index;
  }
  function& alias = context.out.functions[indexes[0]];
  const function& target = context.out.functions[indexes[1]];
  if (alias.defined || !target.defined || alias.entry || target.entry) {
    return context.fail(names[0],
                        "an alias must be a declared function that stands for a defined one");
  }
  alias.alias_of = indexes[1];
  return context.expect(";");
}

/// .file number "name" {, time, size}
inline bool parse_file(parser_context& context) {
  std::uint64_t number = 0, ignored = 0;
  if (!context.expect_unsigned(UINT32_MAX, number)) return false;
  if (context.tokens.peek().kind != token_kind::string) return context.fail_expected("a file name");
  const token name = context.tokens.take();
  context.out.files.push_back({static_cast<std::uint32_t>(number), std::string(name.text)});
  while (context.accept(",")) {
    if (!context.expect_unsigned(UINT64_MAX, ignored)) return false;
  }
  return true;
}

inline bool parse_module_item(parser_context& context) {
  linkage link = linkage::internal;
  for (;;) {
    if (context.accept(".visible")) {
      link = linkage::visible;
    } else if (context.accept(".extern")) {
      link = linkage::external;
    } else if (context.accept(".weak")) {
      link = linkage::weak;
    } else if (context.accept(".common")) {
      link = linkage::common;
    } else {
      break;
    }
  }
  if (context.accept(".entry")) return parse_function(context, link, true);
  if (context.accept(".func")) return parse_function(context, link, false);
  if (context.accept(".file")) return parse_file(context);
  if (context.accept(".section")) return parse_section(context);
  if (context.accept(".alias")) return parse_alias(context);
  if (context.accept(".pragma")) return parse_pragma(context);
  if (context.accept(".loc")) return parse_location(context);
  if (context.tokens.peek().kind != token_kind::word) {
    return context.fail_expected("a declaration such as .entry, .func or .global");
  }
  return parse_module_variables(context, link);
}

inline bool parse_module(parser_context& context) {
  if (context.text.size() > context.options.limits.text_bytes) {
    return context.fail(
        token{},
        "the text is longer than " + std::to_string(context.options.limits.text_bytes) + " bytes",
        refusal::too_large);
  }
  if (!parse_module_head(context)) return false;
  while (context.tokens.peek().kind != token_kind::end) {
    context.scope.index = no_index;
    if (!parse_module_item(context)) return false;
  }
  name_inlined_functions(context);
  return true;
}

}  // namespace detail

/// The outcome of `parse`: a module, or why there is none.
struct parse_result {
  ptx::module value;
  std::optional<diagnostic> error;

  explicit operator bool() const { return !error.has_value(); }
};

/// Reads a PTX module. Everything in it is checked: syntax, names, types, what the .target has.
/// `text` may contain anything; a trailing zero byte ends it, as in the images of a driver.
/// Threads: any number may parse at the same time.
/// Cost: linear in the text; the module keeps a copy of it.
inline parse_result parse(std::string_view text, const parse_options& options = {}) {
  text = text.substr(0, text.find('\0'));
  const default_environment environment;  // for constants
  detail::parser_context context(text, options);
  parse_result result;
  if (!detail::parse_module(context)) {
    result.error = context.error.has_value()
                       ? std::move(context.error)
                       : diagnostic{1, 1, "the text could not be parsed", refusal::malformed};
    return result;
  }
  result.value = std::move(context.out);
  result.value.source = text;
  return result;
}

}}}  // namespace nogpu::v1::ptx

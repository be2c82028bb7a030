#pragma once
/// Reads functions and entries: names, parameters, performance directives, then the body.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/ptx/function_body.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// Names that a function's header introduces; they are declared once the function itself is.
using header_names = std::vector<std::pair<token, name_entry>>;

/// ( .param .b32 a, ... ) of a function.
inline bool parse_function_parameters(parser_context& context, std::vector<parameter>& list,
                                      name_kind kind, std::uint32_t& bytes, header_names& names) {
  if (!context.expect("(")) return false;
  if (context.accept(")")) return true;
  const std::uint32_t base = context.scope.out.entry ? entry_parameters_begin : 0;
  do {
    token name;
    parameter p;
    if (!parse_parameter(context, p, name, bytes, base)) return false;
    name_entry entry;
    entry.kind = kind;
    entry.index = static_cast<std::uint32_t>(list.size());
    if (p.reg != no_index) {
      if (context.scope.out.entry) {
        return context.fail(name, "the parameters of an entry are in .param space");
      }
      entry.kind = name_kind::reg;
      entry.value_type = p.element;
      if (!create_register(context, name, name.text, p.element, p.reg)) return false;
      entry.index = p.reg;
    }
    names.emplace_back(name, entry);
    list.push_back(std::move(p));
  } while (context.accept(","));
  return context.expect(")");
}

/// x {, y {, z}}: absent ones are 1.
inline bool parse_dimensions_of_launch(parser_context& context, dimensions& d) {
  std::uint32_t values[3] = {1, 1, 1};
  std::uint32_t count = 0;
  do {
    std::uint64_t value = 0;
    if (count == 3) return context.fail_expected("at most three dimensions");
    const token where = context.tokens.peek();
    if (!context.expect_unsigned(UINT32_MAX, value)) return false;
    if (value == 0) return context.fail(where, "each extent must be at least 1");
    values[count++] = static_cast<std::uint32_t>(value);
  } while (context.accept(","));
  d = {values[0], values[1], values[2]};
  return true;
}

/// .maxntid and its kind, between the parameters and the body.
inline bool parse_performance_directives(parser_context& context) {
  function& f = context.scope.out;
  const auto number = [&](std::uint32_t& value) {
    std::uint64_t read = 0;
    if (!context.expect_unsigned(UINT32_MAX, read)) return false;
    value = static_cast<std::uint32_t>(read);
    return true;
  };
  const auto positive = [&](std::uint32_t& value) {
    const token where = context.tokens.peek();
    return number(value) && (value != 0 || context.fail(where, "this is at least 1"));
  };
  std::uint32_t unused = 0;
  bool clusters = false;
  while (context.tokens.peek().kind == token_kind::word) {
    const token t = context.tokens.take();
    bool good = true;
    const bool of_entry = t.text == ".maxntid" || t.text == ".reqntid" || t.text == ".maxnreg" ||
                          t.text == ".minnctapersm" || t.text == ".blocksareclusters";
    if (of_entry && !f.entry)
      return context.fail(t, std::string(t.text) + " is only for an .entry");
    if (t.text == ".maxntid") {
      good = parse_dimensions_of_launch(context, f.max_threads);
    } else if (t.text == ".reqntid") {
      good = parse_dimensions_of_launch(context, f.required_threads);
    } else if (t.text == ".reqnctapercluster") {
      good = parse_dimensions_of_launch(context, f.required_cluster);
    } else if (t.text == ".minnctapersm") {
      good = positive(f.min_blocks_per_multiprocessor);
    } else if (t.text == ".maxnreg") {
      good = positive(f.max_registers);
    } else if (t.text == ".maxclusterrank") {
      good = number(f.max_cluster_rank);
    } else if (t.text == ".abi_preserve" || t.text == ".abi_preserve_control") {
      good = number(unused);
    } else if (t.text == ".maxnctapersm") {
      return context.fail(t, "PTX has no .maxnctapersm since 2.1: use .minnctapersm");
    } else if (t.text == ".explicitcluster") {
      f.explicit_cluster = true;
    } else if (t.text == ".noreturn") {
      if (f.entry || !f.returns.empty()) {
        return context.fail(t, ".noreturn is only for a .func without results");
      }
      f.no_return = true;
    } else if (t.text == ".pragma") {
      good = parse_pragma(context);
    } else if (t.text == ".blocksareclusters") {
      clusters = true;
    } else {
      return context.fail(t, context.quote(t) + " is not allowed between a function and its body");
    }
    if (!good) return false;
  }
  const token& end = context.tokens.peek();
  if (f.max_threads.x != 0 && f.required_threads.x != 0) {
    return context.fail(end, "a kernel has .maxntid or .reqntid, not both");
  }
  if (f.max_cluster_rank != 0 && f.required_cluster.x != 0) {
    return context.fail(end, "a kernel has .maxclusterrank or .reqnctapercluster, not both");
  }
  return !clusters || (f.required_threads.x != 0 && f.required_cluster.x != 0) ||
         context.fail(end, ".blocksareclusters needs .reqntid and .reqnctapercluster");
}

inline bool same_list(const std::vector<parameter>& a, const std::vector<parameter>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size != b[i].size || a[i].offset != b[i].offset) return false;
  }
  return true;
}

/// Finds the function of an earlier declaration, or adds it. Its index is stored in the scope.
inline bool place_function(parser_context& context, const token& name) {
  function& f = context.scope.out;
  const name_entry* known = context.names.find(name.text);
  if (known != nullptr && known->kind != name_kind::function) {
    return context.fail(name, context.quote(name) + " is declared twice");
  }
  if (known != nullptr) {
    context.scope.index = known->index;
    return true;
  }
  name_entry entry;
  entry.kind = name_kind::function;
  entry.index = static_cast<std::uint32_t>(context.out.functions.size());
  context.scope.index = entry.index;
  function declared;
  declared.name = f.name;
  declared.entry = f.entry;
  declared.line = f.line;
  context.out.functions.push_back(std::move(declared));
  return context.declare(name, entry);
}

/// Compares a declaration or definition with what came before under the same name, and stores it.
inline bool keep_function(parser_context& context, const token& name, bool seen_before) {
  function& f = context.scope.out;
  function& known = context.out.functions[context.scope.index];
  if (seen_before) {
    if (known.defined && f.defined) {
      return context.fail(name, "the function " + context.quote(name) + " is defined twice");
    }
    if (known.entry != f.entry || !same_list(known.parameters, f.parameters) ||
        !same_list(known.returns, f.returns)) {
      return context.fail(name, context.quote(name) + " differs from its earlier declaration");
    }
    if (known.defined) return true;
    if (f.link == linkage::internal) f.link = known.link;
    f.no_return = f.no_return || known.no_return;
  }
  f.alias_of = known.alias_of;
  known = std::move(f);
  return true;
}

/// .entry or .func, behind the linkage words.
inline bool parse_function(parser_context& context, linkage link, bool entry) {
  context.scope = function_scope{};
  function& f = context.scope.out;
  f.entry = entry;
  f.link = link;
  declaration_head ignored;
  if (context.accept(".attribute") && !parse_attributes(context, ignored)) return false;
  while (context.accept(".noreturn")) f.no_return = true;
  header_names names;
  std::uint32_t result_bytes = 0;
  if (!entry && context.tokens.peek().is("(") &&
      !parse_function_parameters(context, f.returns, name_kind::return_parameter, result_bytes,
                                 names)) {
    return false;
  }
  token name;
  if (!context.expect_identifier(name)) return false;
  f.name = name.text;
  f.line = name.line;
  if (context.tokens.peek().is("(") &&
      !parse_function_parameters(context, f.parameters, name_kind::parameter, f.parameter_bytes,
                                 names)) {
    return false;
  }
  if (!parse_performance_directives(context)) return false;
  const bool seen_before = context.names.find(name.text) != nullptr;
  if (!place_function(context, name)) return false;
  if (!context.tokens.peek().is("{")) {
    context.accept(";");
    return keep_function(context, name, seen_before);
  }
  if (link == linkage::external) return context.fail(name, "an .extern function has no body");
  f.defined = true;
  context.names.open();
  context.scope.families.open();
  for (const auto& [where, declared] : names) {
    if (!context.declare(where, declared)) return false;
  }
  const bool good = parse_body(context);
  context.names.close();
  context.scope.families.close();
  return good && keep_function(context, name, seen_before);
}

}}}  // namespace nogpu::v1::ptx::detail

#pragma once
/// The symbols that modules share when they are linked: who defines each, and what does not fit.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nogpu/ptx/device_runtime.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// A module that takes part in a link, by the name that messages call it.
struct link_unit {
  ptx::module code;
  std::string name;
};

namespace detail {

/// The origin of a function or variable: its unit, and its index in the unit's table.
struct symbol_home {
  std::uint32_t unit = no_index;
  std::uint32_t index = no_index;

  friend bool operator==(const symbol_home&, const symbol_home&) = default;
};

/// A name that all units share.
struct shared_symbol {
  bool is_function = false;
  symbol_home first;  // that names it
  symbol_home definition;
  linkage link = linkage::external;  // of the definition
};

using shared_symbols = std::map<std::string, shared_symbol, std::less<>>;

inline bool is_defined(const function& f) { return f.defined || f.alias_of != no_index; }
inline bool is_defined(const variable& v) { return v.link != linkage::external; }

inline bool same_places(const std::vector<parameter>& a, const std::vector<parameter>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size != b[i].size || a[i].offset != b[i].offset) return false;
  }
  return true;
}

/// Returns why a function or variable contradicts an earlier one of its name, or an empty string.
inline std::string_view difference(const function& a, const function& b) {
  const bool same = same_places(a.parameters, b.parameters) && same_places(a.returns, b.returns);
  return same ? "" : "Prototype doesn't match";
}
inline std::string_view difference(const variable& a, const variable& b) {
  if (a.space != b.space) return "Memory space doesn't match";
  const bool open = a.unsized || b.unsized;
  const bool common = a.link == linkage::common || b.link == linkage::common;
  return open || common || a.size == b.size ? "" : "Size doesn't match";
}

/// Returns whether a definition of linkage `link` replaces an earlier one; of two common variables
/// the larger one stays.
inline bool replaces(linkage link, std::uint64_t size, linkage earlier,
                     std::uint64_t earlier_size) {
  if (earlier == linkage::external) return true;
  if (earlier == linkage::common) return link != linkage::common || size > earlier_size;
  return earlier == linkage::weak && link == linkage::visible;
}

inline std::uint64_t size_of_symbol(const function&) { return 0; }
inline std::uint64_t size_of_symbol(const variable& v) { return v.size; }

/// Enters the symbols of one table of the last unit; appends what is wrong, a line each.
template <class Symbol>
void enter_symbols(const std::vector<link_unit>& units, std::vector<Symbol> module::* table,
                   shared_symbols& symbols, std::vector<std::string>& errors) {
  constexpr bool is_function = std::is_same_v<Symbol, function>;
  const auto unit = static_cast<std::uint32_t>(units.size() - 1);
  const std::vector<Symbol>& list = units.back().code.*table;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Symbol& each = list[i];
    if (each.link == linkage::internal && is_defined(each)) continue;
    const auto [found, fresh] = symbols.try_emplace(each.name);
    shared_symbol& known = found->second;
    if (fresh) {
      known.is_function = is_function;
      known.first = {unit, i};
    }
    const symbol_home& other = known.definition.unit != no_index ? known.definition : known.first;
    const auto complain = [&](std::string_view what, const char* first) {
      // For a function the position of the definition is reported, even if that came last.
      const std::uint32_t told = is_function && is_defined(each) ? unit : other.unit;
      errors.push_back("error   : " + std::string(what) + " for '" + each.name + "' in '" +
                       units.back().name + "', first " + first + " in '" + units[told].name + "'");
    };
    if (known.is_function != is_function) {
      complain("Memory space doesn't match", "specified");
      continue;
    }
    const Symbol& earlier = (units[other.unit].code.*table)[other.index];
    const std::string_view differs = difference(earlier, each);
    if (!differs.empty()) {
      complain(differs, is_function ? "defined" : "specified");
      continue;
    }
    if (!is_defined(each)) continue;
    if (known.link == linkage::visible && each.link == linkage::visible) {
      errors.push_back("error   : Multiple definition of '" + each.name + "' in '" +
                       units.back().name + "', first defined in '" + units[other.unit].name + "'");
      continue;
    }
    if (!replaces(each.link, size_of_symbol(each), known.link, size_of_symbol(earlier))) continue;
    known.definition = {unit, i};
    known.link = each.link;
  }
}

/// Functions that the device itself has, or that refuse the kernels that call them.
inline bool is_provided(std::string_view name) {
  return name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail" ||
         is_dynamic_parallelism(name);
}

/// Calls `visit` with each symbol of the module's tables that a function refers to.
template <class Function, class Visit> void for_each_reference(Function& f, Visit visit) {
  for (auto& o : f.operands) {
    if (o.target.kind == symbol_kind::global || o.target.kind == symbol_kind::function) {
      visit(o.target.kind, o.target.index);
    }
  }
  for (auto& site : f.calls) {
    if (site.function != no_index) visit(symbol_kind::function, site.function);
    for (auto& candidate : site.candidates) visit(symbol_kind::function, candidate);
  }
}

}  // namespace detail
}}}  // namespace nogpu::v1::ptx

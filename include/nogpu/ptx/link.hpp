#pragma once
/// Links PTX modules: one module of several, in which each name means what it means to a device
/// linker.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/ptx/link_symbols.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// Collects modules and makes one of them. Names that are neither `.visible`, `.extern`, `.weak`
/// nor
/// `.common` stay apart; a visible definition replaces a weak one, of several weak ones the first
/// stays, and of common variables the largest.
/// Errors are lines such as "error   : Undefined reference to 'f' in 'a.ptx'".
class linker {
 public:
  /// Adds a module. Returns what does not fit the modules before: a name defined twice, or with
  /// another prototype, size or space. The link is spoilt then.
  std::vector<std::string> add(ptx::module code, std::string name) {
    units_.push_back({std::move(code), std::move(name)});
    std::vector<std::string> errors;
    detail::enter_symbols(units_, &module::functions, symbols_, errors);
    detail::enter_symbols(units_, &module::variables, symbols_, errors);
    return errors;
  }

  /// The names that are asked for and nowhere defined, a line for each.
  std::vector<std::string> undefined() const {
    std::vector<std::string> errors;
    for (const missing_name& each : missing())
      errors.push_back("error   : Undefined reference to '" + each.name + "' in '" + each.unit +
                       "'");
    return errors;
  }

  /// A name that a unit asks for.
  struct missing_name {
    std::string name, unit;
  };
  std::vector<missing_name> missing() const {
    std::vector<missing_name> names;
    for (const link_unit& unit : units_) {
      std::set<std::uint32_t> used;
      for (const function& f : unit.code.functions) {
        detail::for_each_reference(f, [&](symbol_kind kind, std::uint32_t index) {
          if (kind == symbol_kind::function) used.insert(index);
        });
      }
      for (const std::uint32_t index : used) {
        const function& f = unit.code.functions[index];
        if (!is_found(f) && !detail::is_provided(f.name)) names.push_back({f.name, unit.name});
      }
      for (const variable& v : unit.code.variables) {
        if (v.space != state_space::shared && !is_found(v)) names.push_back({v.name, unit.name});
      }
    }
    return names;
  }

  /// Returns whether a module defines one of the names that are missing.
  static bool defines_any(const ptx::module& code, const std::vector<missing_name>& names) {
    const auto defined = [&](const auto& table) {
      return std::any_of(table.begin(), table.end(), [&](const auto& s) {
        return s.link != linkage::internal && detail::is_defined(s) &&
               std::any_of(names.begin(), names.end(),
                           [&](const missing_name& each) { return each.name == s.name; });
      });
    };
    return defined(code.functions) || defined(code.variables);
  }

  /// The linked module; `undefined()` has to be empty. Its source is that of the units one after
  /// the other, and lines are counted through. The linker is used up.
  ptx::module take() {
    places_.resize(units_.size());
    for (std::uint32_t unit = 0; unit < units_.size(); ++unit) collect(unit);
    for (std::uint32_t unit = 0; unit < units_.size(); ++unit) resolve(unit);
    for (const copied_symbol& each : copied_functions_) point_anew(each);
    for (const copied_symbol& each : copied_variables_) {
      for (relocation& r : out_.variables[each.to].relocations) {
        r.target.index = place_of(each.unit, r.target.kind, r.target.index);
      }
    }
    return std::move(out_);
  }

 private:
  /// The positions of a unit's symbols in the linked module.
  struct unit_places {
    std::vector<std::uint32_t> functions, variables;
    std::uint32_t first_file = 0;
  };
  struct copied_symbol {
    std::uint32_t unit, to;
  };

  template <class Symbol> bool is_found(const Symbol& s) const {
    if (detail::is_defined(s)) return true;
    const auto found = symbols_.find(s.name);
    return found != symbols_.end() && found->second.definition.unit != no_index;
  }

  /// The one symbol that a shared name refers to, or nothing for a name of the unit's own.
  template <class Symbol>
  detail::symbol_home home_of(const Symbol& s, std::uint32_t unit, std::uint32_t index) const {
    if (s.link == linkage::internal && detail::is_defined(s)) return {unit, index};
    const detail::shared_symbol& symbol = symbols_.find(s.name)->second;
    return symbol.definition.unit != no_index ? symbol.definition : symbol.first;
  }

  /// Moves what is defined here into the linked module.
  void collect(std::uint32_t unit) {
    module& code = units_[unit].code;
    unit_places& places = places_[unit];
    const auto first_line =
        static_cast<std::uint32_t>(std::count(out_.source.begin(), out_.source.end(), '\n'));
    const auto first_character = static_cast<std::uint32_t>(out_.source.size());
    out_.target = std::max(out_.target, code.target);
    out_.debug = out_.debug || code.debug;
    out_.source += code.source;
    if (out_.source.empty() || out_.source.back() != '\n') out_.source += '\n';
    for (const source_file& file : out_.files) {
      places.first_file = std::max(places.first_file, file.number + 1);
    }
    for (source_file& file : code.files) {
      out_.files.push_back({file.number + places.first_file, std::move(file.name)});
    }

    places.functions.assign(code.functions.size(), no_index);
    places.variables.assign(code.variables.size(), no_index);
    for (std::uint32_t i = 0; i < code.functions.size(); ++i) {
      if (home_of(code.functions[i], unit, i) != detail::symbol_home{unit, i}) continue;
      function& f =
          keep(code.functions[i], out_.functions, copied_functions_, unit, places.functions[i]);
      f.line += first_line;
      for (instruction& each : f.instructions) {
        each.line += first_line;
        each.text_begin += first_character;
      }
      for (location& each : f.locations) {
        each.file += places.first_file;
        if (each.inlined_file != no_index) each.inlined_file += places.first_file;
      }
    }
    for (std::uint32_t i = 0; i < code.variables.size(); ++i) {
      if (home_of(code.variables[i], unit, i) != detail::symbol_home{unit, i}) continue;
      keep(code.variables[i], out_.variables, copied_variables_, unit, places.variables[i]).line +=
          first_line;
    }
  }

  /// Moves one symbol. If a local name is taken by another unit, adds the unit's name
  /// behind it: the host finds the first.
  template <class Symbol>
  Symbol& keep(Symbol& symbol, std::vector<Symbol>& table, std::vector<copied_symbol>& copied,
               std::uint32_t unit, std::uint32_t& place) {
    place = static_cast<std::uint32_t>(table.size());
    copied.push_back({unit, place});
    const bool shared = symbols_.find(symbol.name) != symbols_.end();
    const bool own = symbol.link == linkage::internal && detail::is_defined(symbol);
    const bool taken = own && (shared || !own_names_.insert(symbol.name).second);
    table.push_back(symbol);  // and not moved: names of others are still looked up by it
    if (taken) table.back().name += '@' + std::to_string(unit);
    return table.back();
  }

  /// Finds out where the names of a unit are that are defined elsewhere.
  void resolve(std::uint32_t unit) {
    const module& code = units_[unit].code;
    unit_places& places = places_[unit];
    for (std::uint32_t i = 0; i < code.functions.size(); ++i) {
      const detail::symbol_home home = home_of(code.functions[i], unit, i);
      places.functions[i] = places_[home.unit].functions[home.index];
    }
    for (std::uint32_t i = 0; i < code.variables.size(); ++i) {
      const detail::symbol_home home = home_of(code.variables[i], unit, i);
      places.variables[i] = places_[home.unit].variables[home.index];
    }
  }

  std::uint32_t place_of(std::uint32_t unit, symbol_kind kind, std::uint32_t index) const {
    if (kind == symbol_kind::function) return places_[unit].functions[index];
    return kind == symbol_kind::global ? places_[unit].variables[index] : index;
  }

  void point_anew(const copied_symbol& copied) {
    function& f = out_.functions[copied.to];
    if (f.alias_of != no_index) f.alias_of = places_[copied.unit].functions[f.alias_of];
    detail::for_each_reference(f, [&](symbol_kind kind, std::uint32_t& index) {
      index = place_of(copied.unit, kind, index);
    });
  }

  std::vector<link_unit> units_;
  detail::shared_symbols symbols_;
  std::set<std::string, std::less<>> own_names_;
  std::vector<unit_places> places_;
  std::vector<copied_symbol> copied_functions_, copied_variables_;
  ptx::module out_;
};

}}}  // namespace nogpu::v1::ptx

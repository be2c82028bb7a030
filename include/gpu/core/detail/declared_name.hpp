#pragma once
/// \file
/// Compares names of kernels as people write them, such as `n::axpy<float>` and `sub(float*)`, with
/// the declarations that are mangled in a module.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cxxabi.h>
#include <cstddef>
#include <cstdlib>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns `void axpy<float>(float, float*)` for `_Z4axpyIfEvT_PS0_`, or an empty text if the name
/// is not mangled. The text is `lost()` if memory runs out.
inline text demangled(const char* name) noexcept {
  if (name[0] != '_' || name[1] != 'Z') return {};
  int status = 0;
  char* const readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  constexpr int out_of_memory = -1;
  text_builder made;
  if (status == out_of_memory) made.lose();
  made << static_cast<const char*>(readable);
  std::free(readable);
  return made.finish();
}

/// Lets `write_canonical` write into a text.
struct canonical_text {
  text_builder out;
  void put(char c) noexcept { out << c; }
  void put(string_ref characters) noexcept { out << characters; }
};

/// Returns the position of the bracket that the last character closes, or the length if it closes
/// none.
constexpr std::size_t opening_bracket(string_ref text, char open, char close) noexcept {
  int depth = 0;
  for (std::size_t i = text.size(); i-- != 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return text.size();
}

/// Returns the position of the first of `characters` from `first` on that is in no brackets, or the
/// length.
constexpr std::size_t find_outside(string_ref text, std::size_t first,
                                   string_ref characters) noexcept {
  int depth = 0;
  for (std::size_t i = first; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0) {
      for (const char each : characters) {
        if (c == each) return i;
      }
    }
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
  }
  return text.size();
}

inline void write_plain_list(text_builder& out, string_ref list) noexcept;

/// Writes a type with `const` in front, as in `const float*`, or a value of a template argument
/// without its cast and suffix.
inline void write_plain_type(text_builder& out, string_ref type) noexcept {
  constexpr string_ref const_word("const "), cast_to("(");
  bool is_const = false;
  if (starts_with(type, const_word)) {
    is_const = true;
    type = without_front(type, const_word.size());
  }
  if (starts_with(type, cast_to)) {
    std::size_t end = find_outside(type, 1, ")");
    if (end + 1 < type.size()) type = without_front(type, end + 1);
  }
  if (!type.empty() && (is_digit(type[0]) || type[0] == '-')) {
    std::size_t size = type.size();
    while (size != 0 && (type[size - 1] == 'u' || type[size - 1] == 'l' || type[size - 1] == 'U' ||
                         type[size - 1] == 'L')) {
      --size;
    }
    out << type.substring(0, size);
    return;
  }
  std::size_t end = find_outside(type, 0, "*&([");
  string_ref behind = without_front(type, end);
  constexpr string_ref const_behind(" const");
  if (end >= const_behind.size() && occurs_at(type, end - const_behind.size(), const_behind)) {
    is_const = true;
    end -= const_behind.size();
  }
  while (end != 0 && type[end - 1] == ' ') --end;
  if (is_const) out << const_word;
  for (std::size_t i = 0; i < end;) {
    out << type[i];
    if (type[i++] != '<') continue;
    const std::size_t close = find_outside(type, i, ">");
    write_plain_list(out, type.substring(i, close - i));
    i = close;
  }
  out << behind;
}

/// Writes types and values that commas separate.
inline void write_plain_list(text_builder& out, string_ref list) noexcept {
  for (std::size_t first = 0; first < list.size();) {
    const std::size_t end = find_outside(list, first, ",");
    if (first != 0) out << ", ";
    write_plain_type(out, list.substring(first, end - first));
    first = end + 1;
    if (first < list.size() && list[first] == ' ') ++first;
  }
}

/// A kernel's name in its parts, of which a name that somebody writes may lack the last two:
/// `n::axpy`, `float, 4` and `float*, int` in `void n::axpy<float, 4>(float*, int)`.
struct declared_name {
  text name;
  text arguments;
  text parameters;
  bool has_arguments = false;
  bool has_parameters = false;

  /// Writes the name with its template arguments, for messages.
  void write_short(text_builder& out) const noexcept {
    out << name;
    if (has_arguments) out << '<' << arguments << '>';
  }
  /// Writes the name as `module::kernel` takes it.
  void write(text_builder& out) const noexcept {
    write_short(out);
    if (has_parameters) out << '(' << parameters << ')';
  }
  bool lost() const noexcept { return name.lost() || arguments.lost() || parameters.lost(); }
};

/// Returns the list in a normal form.
inline text plain_list(string_ref list) noexcept {
  text_builder out;
  write_plain_list(out, list);
  return out.finish();
}

/// Splits a name, a declaration, or a cast to an overload: `static_cast<void(*)(int*)>(f)`.
inline declared_name split_declaration(string_ref written) noexcept {
  canonical_text canonical;
  write_canonical(canonical, written);
  const text whole = canonical.out.finish();
  declared_name made;
  if (whole.lost()) {
    made.name = whole;
    return made;
  }
  string_ref rest(whole);
  constexpr string_ref cast("static_cast<void(*)("), nothing("void "), global("::"),
      unnamed("(anonymous namespace)::");
  const bool closed = !rest.empty() && rest[rest.size() - 1] == ')';
  if (starts_with(rest, cast) && closed) {
    rest = without_front(rest, cast.size());
    const std::size_t end = find_outside(rest, 0, ")");
    made.has_parameters = true;
    made.parameters = plain_list(rest.substring(0, end));
    rest = without_front(rest, end < rest.size() ? end + 1 : end);
    if (starts_with(rest, ">(")) rest = rest.substring(2, rest.size() - 3);
  } else if (closed) {
    const std::size_t open = opening_bracket(rest, '(', ')');
    if (open != rest.size()) {
      made.has_parameters = true;
      made.parameters = plain_list(rest.substring(open + 1, rest.size() - open - 2));
      if (made.parameters == "void") made.parameters = {};
      rest = rest.substring(0, open);
    }
  }
  if (!rest.empty() && rest[rest.size() - 1] == '>') {
    const std::size_t open = opening_bracket(rest, '<', '>');
    if (open != rest.size()) {
      made.has_arguments = true;
      made.arguments = plain_list(rest.substring(open + 1, rest.size() - open - 2));
      rest = rest.substring(0, open);
    }
  }
  if (starts_with(rest, nothing)) rest = without_front(rest, nothing.size());
  if (starts_with(rest, "&")) rest = without_blanks(without_front(rest, 1));
  if (starts_with(rest, global)) rest = without_front(rest, global.size());
  text_builder name;
  for (std::size_t i = 0; i < rest.size();) {
    if (occurs_at(rest, i, unnamed)) {
      i += unnamed.size();
    } else {
      name << rest[i++];
    }
  }
  made.name = name.finish();
  return made;
}

/// Splits the name of a kernel in a module, mangled or not.
inline declared_name split_symbol(const char* symbol) noexcept {
  const text declaration = demangled(symbol);
  if (!declaration.empty() && !declaration.lost()) return split_declaration(declaration);
  declared_name made;
  made.name = declaration.lost() ? declaration : text(symbol);
  return made;
}

/// Returns the mangled name of a variable in namespaces, `_ZN1n1xE` for `n::x`; empty if the name
/// has no namespaces. (A variable in none keeps its name.)
inline text nested_symbol(string_ref name) noexcept {
  text_builder out;
  out << "_ZN";
  std::size_t parts = 0;
  for (std::size_t first = 0;; ++parts) {
    std::size_t end = first;
    while (end < name.size() && is_identifier_part(name[end])) ++end;
    const bool is_last = end == name.size();
    if (end == first ? parts != 0 || is_last : is_digit(name[first])) return {};
    if (end != first) out << end - first << name.substring(first, end - first);
    if (is_last) break;
    if (!occurs_at(name, end, "::")) return {};
    first = end + 2;
  }
  if (parts == 0) return {};
  out << 'E';
  return out.finish();
}

/// Returns the last part of a name, without its namespaces.
inline string_ref last_part(string_ref name) noexcept {
  std::size_t first = name.size();
  while (first != 0 && name[first - 1] != ':') --first;
  return without_front(name, first);
}
inline string_ref without_last_part(string_ref name) noexcept {
  const std::size_t left = name.size() - last_part(name).size();
  return name.substring(0, left < 2 ? 0 : left - 2);
}

/// Returns whether `asked` is what is left of `name` if some of its namespaces are left out.
inline bool leaves_out_namespaces(string_ref asked, string_ref name) noexcept {
  if (last_part(asked).empty() || last_part(asked) != last_part(name)) return false;
  while (!asked.empty() && !name.empty()) {
    if (last_part(asked) == last_part(name)) asked = without_last_part(asked);
    name = without_last_part(name);
  }
  return asked.empty();
}

/// The quality of a match between a requested name and a kernel.
enum class name_fit : unsigned char { none, without_namespaces, whole };

/// Returns how well `asked` names `kernel`. Template arguments and parameters may be left out.
inline name_fit fit_of(const declared_name& asked, const declared_name& kernel) noexcept {
  if (asked.has_arguments && !(kernel.has_arguments && asked.arguments == kernel.arguments)) {
    return name_fit::none;
  }
  if (asked.has_parameters && !(kernel.has_parameters && asked.parameters == kernel.parameters)) {
    return name_fit::none;
  }
  if (asked.name == kernel.name) return name_fit::whole;
  return !asked.name.empty() && leaves_out_namespaces(asked.name, kernel.name)
             ? name_fit::without_namespaces
             : name_fit::none;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `snippet`: the description of a kernel that is generated from a user's text, and its checks.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/device_names.hpp>
#include <gpu/generated/element_type.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Declares a parameter of a generated kernel that is a plain pointer: its length is not compared
/// with that of other parameters, and `i` need not be its index.
///
///     gpu::elementwise<gpu::raw<const float*>, int, float*>::create(
///         "table, size, y", "y[i] = table[i % size]");
template <class Pointer> struct raw {
  static_assert(std::is_pointer_v<Pointer>, "gpu::raw is for pointers: gpu::raw<const float*>");
};

namespace detail {

enum class parameter_kind : unsigned char {
  number,    ///< passed by value: a number or a structure
  elements,  ///< device memory whose element `i` belongs to index `i`
  pointer,   ///< device memory that the snippet indexes as it likes
};

struct snippet_parameter {
  parameter_kind kind;
  bool writable;
  element_type type;
  text name;
};

/// The parts of a generated kernel that its user writes.
struct snippet {
  const char* function = "";  ///< of the library, for messages: `gpu::elementwise`
  text name;                  ///< of the kernel
  sequence<snippet_parameter> parameters;
  text preamble;  ///< before the kernel: functions, types, includes
  text before;    ///< in each thread, before its elements
  text body;      ///< for each element
  /// Tried for all elements of a group, if it is not empty: computes the results of `body`, or sets
  /// `undecided`, and then `body` runs for the whole group. One branch for a group costs less than
  /// one for each element. Several tiles then share what `before` prepares.
  text quick;
  text after;  ///< in each thread, after its elements
  compile_options options;
  unsigned widest_element = 0;  ///< bytes, of the parameters with elements; 0 without any
  unsigned full_width = 0;      ///< elements that make 16 bytes of the widest; 4 without any
};

/// Describes the parameter of a kernel that is declared as `P`.
template <class P> struct parameter_description {
  static constexpr parameter_kind kind = parameter_kind::number;
  static constexpr bool writable = false;
  using element = P;
};
template <class T> struct parameter_description<T*> {
  static constexpr parameter_kind kind = parameter_kind::elements;
  static constexpr bool writable = !std::is_const_v<T>;
  using element = std::remove_cv_t<T>;
};
template <class T> struct parameter_description<raw<T*>> : parameter_description<T*> {
  static constexpr parameter_kind kind = parameter_kind::pointer;
};

template <class P> snippet_parameter describe_parameter() noexcept {
  using description = parameter_description<P>;
  return {description::kind, description::writable,
          element_type_of<typename description::element>(), text()};
}

/// Sets the widths that follow from the types of the parameters. Each call needs them.
inline void set_widths(snippet& s) noexcept {
  s.widest_element = 0;
  for (const snippet_parameter& each : s.parameters) {
    if (each.kind == parameter_kind::elements && each.type.bytes > s.widest_element)
      s.widest_element = each.type.bytes;
  }
  const unsigned bytes = s.widest_element == 0 ? 4 : s.widest_element;
  s.full_width = 16;
  while (s.full_width > 1 && s.full_width * bytes > 16) s.full_width /= 2;
}

/// Returns an `errc::invalid_argument` of a snippet.
inline unexpected<cuda_error> refuse_snippet(const snippet& s, text_builder& out,
                                             source_location where) noexcept {
  return fail(refusal(errc::invalid_argument, s.function, out.finish(), where));
}

/// Returns whether `name` is a word of C++ or of CUDA C++, or reserved for its compilers.
constexpr bool is_reserved_word(string_ref name) noexcept {
  constexpr string_ref words[] = {"alignas",      "alignof",   "and",         "asm",
                                  "auto",         "bitand",    "bitor",       "bool",
                                  "break",        "case",      "catch",       "char",
                                  "char8_t",      "char16_t",  "char32_t",    "class",
                                  "co_await",     "co_return", "co_yield",    "compl",
                                  "concept",      "const",     "const_cast",  "consteval",
                                  "constexpr",    "constinit", "continue",    "decltype",
                                  "default",      "delete",    "do",          "double",
                                  "dynamic_cast", "else",      "enum",        "explicit",
                                  "export",       "extern",    "false",       "float",
                                  "for",          "friend",    "goto",        "if",
                                  "inline",       "int",       "long",        "mutable",
                                  "namespace",    "new",       "noexcept",    "not",
                                  "nullptr",      "operator",  "or",          "private",
                                  "protected",    "public",    "register",    "reinterpret_cast",
                                  "requires",     "return",    "short",       "signed",
                                  "sizeof",       "static",    "static_cast", "static_assert",
                                  "struct",       "switch",    "template",    "this",
                                  "thread_local", "throw",     "true",        "try",
                                  "typedef",      "typeid",    "typename",    "union",
                                  "unsigned",     "using",     "virtual",     "void",
                                  "volatile",     "wchar_t",   "while",       "xor"};
  for (const string_ref word : words) {
    if (name == word) return true;
  }
  return starts_with(name, "__");
}

/// Returns the error for a name that a parameter cannot have.
inline unexpected<cuda_error> refuse_name(const snippet& s, string_ref name, const char* reason,
                                          source_location where) noexcept {
  text_builder out;
  out << "a parameter cannot be called \"" << escaped{name} << "\": " << reason
      << ". Choose another name.";
  return refuse_snippet(s, out, where);
}

/// Returns whether a kernel can have a name. Some belong to the text around it, or to CUDA.
inline bool is_kernel_name(string_ref name) noexcept {
  constexpr string_ref taken[] = {"gpu",        "gpu_value", "gpu_index",
                                  "gpu_layout", "gpu_group", "gpu_run"};
  for (const string_ref each : taken) {
    if (name == each) return false;
  }
  return is_identifier(name) && !is_reserved_word(name) && !is_device_name(name);
}

/// Checks the name of parameter number `position`, and that no other before has it.
inline result<> check_parameter_name(const snippet& s, std::size_t position,
                                     source_location where) noexcept {
  const string_ref name = s.parameters[position].name;
  if (is_reserved_word(name)) return refuse_name(s, name, "it is a word of C++", where);
  if (name == "i" || name == "n" || starts_with(name, "gpu_")) {
    return refuse_name(s, name,
                       "i is the index of the element, n the number of elements, and names that "
                       "begin with gpu_ belong to the library",
                       where);
  }
  text_builder out;
  if (!is_identifier(name)) {
    out << '"' << name << "\" is not the name of a parameter. Write only the names, separated by "
        << "commas, as in \"a, x, y\": the types are the template's arguments.";
    return refuse_snippet(s, out, where);
  }
  for (std::size_t other = 0; other < position; ++other) {
    if (string_ref(s.parameters[other].name) != name) continue;
    out << "two parameters are called \"" << escaped{name} << "\". Give each its own name.";
    return refuse_snippet(s, out, where);
  }
  return {};
}

/// Gives the parameters the names in `names`, which are separated by commas.
inline result<> name_parameters(snippet& s, string_ref names, source_location where) {
  std::size_t count = 0, start = 0;
  for (std::size_t at = 0; at <= names.size(); ++at) {
    if (at < names.size() && names[at] != ',') continue;
    string_ref name = names.substring(start, at - start);
    const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\t'; };
    while (!name.empty() && is_blank(name[0])) name = without_front(name, 1);
    while (!name.empty() && is_blank(name[name.size() - 1]))
      name = name.substring(0, name.size() - 1);
    start = at + 1;
    if (count < s.parameters.size()) s.parameters[count].name = required(name.to_text());
    ++count;
  }
  if (names.empty()) count = 0;
  if (count != s.parameters.size()) {
    text_builder out;
    out << '"' << names << "\" names " << count << " parameters, but the template's arguments are "
        << s.parameters.size() << " types. Name each parameter once, separated by commas.";
    return fail(refusal(errc::invalid_argument, s.function, out.finish(), where, count,
                        s.parameters.size()));
  }
  for (std::size_t p = 0; p < count; ++p) GPU_TRY(check_parameter_name(s, p, where));
  if (!is_kernel_name(s.name)) {
    text_builder out;
    out << '"' << s.name
        << "\" cannot be the name of a kernel. Use letters, digits and '_', but not a word of C++, "
           "a name that CUDA uses, or one that begins with gpu_.";
    return refuse_snippet(s, out, where);
  }
  return {};
}

}  // namespace detail
}}  // namespace gpu::v1

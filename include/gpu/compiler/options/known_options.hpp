#pragma once
/// \file
/// NVRTC's options, as its manual lists them: their names, their values, and which of them exclude
/// each other.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <initializer_list>

namespace gpu { inline namespace v1 { namespace detail {

/// The kind of value that an option takes.
enum class option_value : unsigned char {
  none,
  boolean,  ///< `true` or `false`
  text,     ///< anything
};

struct known_option {
  const char* name;   ///< the long one
  const char* alias;  ///< the short one, or null
  option_value value;
  bool repeats;  ///< may be given several times
};

/// All options, in the order in which they are passed to NVRTC; see `order_of` for those that keep
/// the caller's order.
inline constexpr known_option known_options[] = {
    {"--gpu-architecture", "-arch", option_value::text, false},
    {"--std", "-std", option_value::text, false},
    {"--device-c", "-dc", option_value::none, false},
    {"--device-w", "-dw", option_value::none, false},
    {"--relocatable-device-code", "-rdc", option_value::boolean, false},
    {"--extensible-whole-program", "-ewp", option_value::none, false},
    {"--device-debug", "-G", option_value::none, false},
    {"--generate-line-info", "-lineinfo", option_value::none, false},
    {"--dopt", "-dopt", option_value::text, false},
    {"--Ofast-compile", "-Ofc", option_value::text, false},
    {"--ptxas-options", "-Xptxas", option_value::text, true},
    {"--maxrregcount", nullptr, option_value::text, false},
    {"--ftz", nullptr, option_value::boolean, false},
    {"--prec-sqrt", nullptr, option_value::boolean, false},
    {"--prec-div", nullptr, option_value::boolean, false},
    {"--fmad", nullptr, option_value::boolean, false},
    {"--use_fast_math", nullptr, option_value::none, false},
    {"--extra-device-vectorization", nullptr, option_value::none, false},
    {"--modify-stack-limit", nullptr, option_value::boolean, false},
    {"--dlink-time-opt", "-dlto", option_value::none, false},
    {"--gen-opt-lto", nullptr, option_value::none, false},
    {"--optix-ir", nullptr, option_value::none, false},
    {"--jump-table-density", "-jtd", option_value::text, false},
    {"--device-stack-protector", nullptr, option_value::boolean, false},
    {"--no-cache", nullptr, option_value::none, false},
    {"--define-macro", "-D", option_value::text, true},
    {"--undefine-macro", "-U", option_value::text, true},
    {"--include-path", "-I", option_value::text, true},
    {"--pre-include", "-include", option_value::text, true},
    {"--no-source-include", nullptr, option_value::none, false},
    {"--builtin-move-forward", nullptr, option_value::boolean, false},
    {"--builtin-initializer-list", nullptr, option_value::boolean, false},
    {"--disable-warnings", "-w", option_value::none, false},
    {"--restrict", nullptr, option_value::none, false},
    {"--device-as-default-execution-space", "-default-device", option_value::none, false},
    {"--device-int128", nullptr, option_value::none, false},
    {"--device-float128", nullptr, option_value::none, false},
    {"--optimization-info", "-opt-info", option_value::text, true},
    {"--display-error-number", "-err-no", option_value::none, false},
    {"--no-display-error-number", "-no-err-no", option_value::none, false},
    {"--diag-error", nullptr, option_value::text, true},
    {"--diag-suppress", nullptr, option_value::text, true},
    {"--diag-warn", nullptr, option_value::text, true},
    {"--brief-diagnostics", "-brief-diag", option_value::boolean, false},
    {"--time", nullptr, option_value::text, false},
    {"--split-compile", nullptr, option_value::text, false},
    {"--fdevice-syntax-only", nullptr, option_value::none, false},
    {"--minimal", nullptr, option_value::none, false},
    {"--fdevice-time-trace", nullptr, option_value::text, false},
    {"--frandom-seed", nullptr, option_value::text, false},
    {"--pch", nullptr, option_value::none, false},
    {"--create-pch", nullptr, option_value::text, false},
    {"--use-pch", nullptr, option_value::text, false},
    {"--pch-dir", nullptr, option_value::text, false},
    {"--pch-verbose", nullptr, option_value::boolean, false},
    {"--pch-messages", nullptr, option_value::boolean, false},
    {"--instantiate-templates-in-pch", nullptr, option_value::boolean, false},
    {"--discard-value-names", nullptr, option_value::boolean, false},
    {"--version-ident", nullptr, option_value::boolean, false},
    {"--fassociative-math", nullptr, option_value::none, false},
    {"-Xcudafe", nullptr, option_value::text, true},
};
inline constexpr unsigned known_option_count = sizeof known_options / sizeof known_options[0];
/// The version of NVRTC that has these options; a newer one may have more.
inline constexpr int known_options_version = 13000;

/// Returns the index of an option in the list, by its long name.
constexpr unsigned option_number(string_ref name) {
  for (unsigned i = 0; i < known_option_count; ++i) {
    if (string_ref(known_options[i].name) == name) return i;
  }
  return known_option_count;
}

/// Returns the key by which options are sorted. Options whose order among each other matters have
/// the same key.
inline unsigned order_of(unsigned number) noexcept {
  if (number == option_number("--undefine-macro")) return option_number("--define-macro");
  if (number == option_number("--diag-suppress") || number == option_number("--diag-warn")) {
    return option_number("--diag-error");
  }
  return number;
}

/// Returns whether `name` names an option: its long name, with one dash or two, or its alias.
inline bool is_name_of(const known_option& option, string_ref name) noexcept {
  const string_ref full = option.name;
  if (name == full || (option.alias != nullptr && name == string_ref(option.alias))) return true;
  return starts_with(full, "--") && name == full.substring(1, full.size() - 1);
}

/// The parts of an option as it was written.
struct parsed_option {
  unsigned number = known_option_count;  ///< in `known_options`; past its end if it is unknown
  bool has_value = false;
  string_ref name = {};   ///< as written
  string_ref value = {};  ///< after the `=`, or after the name for `-D`, `-U` and `-I`
};

/// Splits an option into name and value, and looks it up.
inline parsed_option parse_option(string_ref written) noexcept {
  parsed_option parsed;
  for (const char* joined : {"-D", "-U", "-I"}) {
    if (!starts_with(written, joined)) continue;
    for (unsigned i = 0; i < known_option_count; ++i) {
      if (known_options[i].alias == nullptr || string_ref(known_options[i].alias) != joined)
        continue;
      string_ref value = written.substring(2, written.size() - 2);
      while (!value.empty() && (value[0] == ' ' || value[0] == '=')) {
        value = value.substring(1, value.size() - 1);
      }
      return {i, !value.empty(), written.substring(0, 2), value};
    }
  }
  std::size_t equals = 0;
  while (equals < written.size() && written[equals] != '=') ++equals;
  parsed.name = written.substring(0, equals);
  if (equals < written.size()) {
    parsed.has_value = true;
    parsed.value = written.substring(equals + 1, written.size() - equals - 1);
  }
  for (unsigned i = 0; i < known_option_count; ++i) {
    if (is_name_of(known_options[i], parsed.name)) parsed.number = i;
  }
  return parsed;
}

/// Returns the name of the macro in `NAME=value` or `NAME(parameters)=value`.
inline string_ref macro_name(string_ref definition) noexcept {
  std::size_t size = 0;
  while (size < definition.size() && definition[size] != '=' && definition[size] != '(') ++size;
  return definition.substring(0, size);
}

/// Splits a line of options at its spaces. Quotation marks of both kinds hold words together.
inline sequence<option_text> split_words(string_ref line) {
  sequence<option_text> words;
  text_builder word;
  char quote = '\0';
  bool begun = false;
  for (const char c : line) {
    const bool space = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && space) {
      if (begun) words.push_back(required(word.finish()));
      begun = false;
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      begun = true;
    } else if (c == quote) {
      quote = '\0';
    } else {
      word << c;
      begun = true;
    }
  }
  if (begun) words.push_back(required(word.finish()));
  return words;
}

/// Two options that exclude each other; a null value stands for any.
struct contradiction {
  const char* first;
  const char* first_value;
  const char* second;
  const char* second_value;
};
inline constexpr contradiction contradictions[] = {
    {"--use_fast_math", nullptr, "--ftz", "false"},
    {"--use_fast_math", nullptr, "--prec-div", "true"},
    {"--use_fast_math", nullptr, "--prec-sqrt", "true"},
    {"--dlink-time-opt", nullptr, "--relocatable-device-code", "false"},
    {"--dlink-time-opt", nullptr, "--extensible-whole-program", nullptr},
    {"--dlink-time-opt", nullptr, "--device-w", nullptr},
    {"--relocatable-device-code", "true", "--extensible-whole-program", nullptr},
    {"--relocatable-device-code", "true", "--device-w", nullptr},
    {"--relocatable-device-code", "false", "--device-c", nullptr},
    {"--device-c", nullptr, "--device-w", nullptr},
    {"--display-error-number", nullptr, "--no-display-error-number", nullptr},
    {"--pch", nullptr, "--create-pch", nullptr},
    {"--pch", nullptr, "--use-pch", nullptr},
};

}}}  // namespace gpu::v1::detail

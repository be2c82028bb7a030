#pragma once
/// \file
/// Puts the members of `compile_options`, its extra options and those of the environment together,
/// and refuses what is unknown, doubled or contradictory, by name and before NVRTC is asked.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/options/known_options.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/kernel/detail/name_suggestions.hpp>

namespace gpu::inline v0::detail {

/// One option that was chosen, and where.
struct chosen_option {
  unsigned number;  ///< in `known_options`; past its end for one that only this NVRTC may know
  bool has_value;
  text value;          ///< of an option that is unknown here: all of it
  const char* origin;  ///< such as `compile_options::extra`
};

/// As NVRTC takes it, in its long form.
inline text spelled(const chosen_option& option) {
  if (option.number == known_option_count) return option.value;
  text_builder out;
  out << known_options[option.number].name;
  if (option.has_value) out << '=' << option.value;
  return required(out.finish());
}

/// The name of the macro in `NAME=value` or `NAME(parameters)=value`.
inline string_ref macro_name(string_ref definition) noexcept {
  std::size_t size = 0;
  while (size < definition.size() && definition[size] != '=' && definition[size] != '(') ++size;
  return definition.substring(0, size);
}

inline bool is_identifier(string_ref name) noexcept {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return !name.empty();
}

/// Splits a line of options at its spaces; quotation marks of both kinds hold words together.
inline sequence<text> split_words(string_ref line) {
  sequence<text> words;
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

/// Two options that cannot both be meant; a null value stands for any.
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

/// Collects the options; `finish` gives them in NVRTC's words and in one order.
template <class Builder = text_builder> class option_chooser {
 public:
  explicit option_chooser(source_location where) noexcept : where_{where} {}

  /// Takes what the members of `options` say.
  result<> add_members(const compile_options& options) {
    target_ = options.architecture;
    if (target_ != architecture()) target_origin_ = "compile_options::architecture";
    GPU_TRY(require_enumerator(options.standard, "cpp_standard", "gpu::compile", where_));
    if (options.standard != cpp_standard::unspecified) {
      Builder value;
      const int year = static_cast<int>(options.standard);
      value << "c++" << (year < 10 ? "0" : "") << year;
      member("--std", required(value.finish()), "compile_options::standard");
    }
    Builder sentence;
    if (write_register_refusal(sentence, "compile_options", options.max_registers)) {
      return refuse(sentence, static_cast<std::uint64_t>(options.max_registers), 255);
    }
    if (options.max_registers != 0) {
      member("--maxrregcount", required((Builder() << options.max_registers).finish()),
             "compile_options::max_registers");
    }
    if (options.debug_optimized && !options.debug) {
      Builder out;
      out << "compile_options::debug_optimized says how to debug, but compile_options::debug is "
             "false. Set it too.";
      return refuse(out);
    }
    const text off = required(text("false")), on = required(text("true"));
    if (options.link_time_optimization)
      member("--dlink-time-opt", {}, "compile_options::link_time_optimization");
    if (options.relocatable)
      member("--relocatable-device-code", on, "compile_options::relocatable");
    if (options.debug) member("--device-debug", {}, "compile_options::debug");
    if (options.debug_optimized)
      member("--dopt", required(text("on")), "compile_options::debug_optimized");
    if (options.line_info) member("--generate-line-info", {}, "compile_options::line_info");
    if (options.flush_denormals) member("--ftz", on, "compile_options::flush_denormals");
    if (!options.precise_square_root)
      member("--prec-sqrt", off, "compile_options::precise_square_root");
    if (!options.precise_division) member("--prec-div", off, "compile_options::precise_division");
    if (!options.fused_multiply_add) member("--fmad", off, "compile_options::fused_multiply_add");
    if (options.fast_math) member("--use_fast_math", {}, "compile_options::fast_math");
    if (options.default_device) {
      member("--device-as-default-execution-space", {}, "compile_options::default_device");
    }
    for (const macro_definition& macro : options.defines) {
      Builder definition;
      definition << macro.name << '=' << macro.value;
      GPU_TRY(add({option_number("--define-macro"), true, required(definition.finish()),
                   "compile_options::defines"}));
    }
    for (const option_text& folder : options.include_folders) {
      GPU_TRY(
          add({option_number("--include-path"), true, folder, "compile_options::include_folders"}));
    }
    return {};
  }

  /// Takes options as text; `knows_more` where this NVRTC is newer than the list of known ones.
  /// Those that are `defaults` give way to what was chosen before.
  template <class Texts>
  result<> add_texts(const Texts& texts, const char* origin, bool defaults, bool knows_more) {
    const std::size_t before = defaults ? chosen_.size() : 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const text& written = texts[i];
      parsed_option parsed = parse_option(written);
      if (parsed.number == known_option_count) {
        if (!knows_more) return refuse_unknown(written, parsed, origin);
        chosen_.push_back({known_option_count, false, written, origin});
        continue;
      }
      const known_option& option = known_options[parsed.number];
      const bool needs_value =
          option.value == option_value::boolean || option.value == option_value::text;
      if (needs_value && !parsed.has_value && i + 1 < texts.size()) {
        parsed.has_value = true;
        parsed.value = texts[++i];
      }
      GPU_TRY(check_value(option, parsed, origin));
      if (defaults && is_settled(parsed, before)) continue;
      if (parsed.number == option_number("--gpu-architecture")) {
        GPU_TRY(choose_architecture(parsed.value, origin));
        continue;
      }
      GPU_TRY(add({parsed.number, parsed.has_value, required(parsed.value.to_text()), origin}));
    }
    return {};
  }

  /// Refuses what contradicts itself, and puts the rest in order.
  result<> finish(sequence<text>& options, sequence<text>& folders) {
    for (const contradiction& pair : contradictions) {
      const chosen_option* first = find(option_number(pair.first), pair.first_value);
      const chosen_option* second = find(option_number(pair.second), pair.second_value);
      if (first == nullptr || second == nullptr) continue;
      Builder out;
      out << "the options " << spelled(*first) << " (" << first->origin << ") and "
          << spelled(*second) << " (" << second->origin
          << ") contradict each other. Take one of them out.";
      return refuse(out);
    }
    if (const chosen_option* optix = find(option_number("--optix-ir"))) {
      Builder out;
      out << "the option --optix-ir (" << optix->origin
          << ") makes OptiX-IR instead of PTX and machine code, for which a compiled_program has "
             "no "
             "place. Take it out.";
      return refuse(out);
    }
    // Few, and mostly in order.
    for (std::size_t i = 1; i < chosen_.size(); ++i) {
      for (std::size_t j = i; j > 0; --j) {
        if (order_of(chosen_[j - 1].number) <= order_of(chosen_[j].number)) break;
        chosen_option before = detail::move(chosen_[j - 1]);
        chosen_[j - 1] = detail::move(chosen_[j]);
        chosen_[j] = detail::move(before);
      }
    }
    for (const chosen_option& option : chosen_) {
      if (option.number == option_number("--include-path")) {
        folders.push_back(option.value);
      } else {
        options.push_back(spelled(option));
      }
    }
    return {};
  }

  /// Whether an option was chosen, with that value where one is named.
  const chosen_option* find(unsigned number, const char* value = nullptr) const noexcept {
    for (const chosen_option& option : chosen_) {
      if (option.number == number && (value == nullptr || option.value == value)) return &option;
    }
    return nullptr;
  }
  /// Chooses what nobody else has a say in.
  void choose(const char* name, text value) {
    chosen_.push_back({option_number(name), true, detail::move(value), "gpu::compile"});
  }
  architecture target() const noexcept { return target_; }

 private:
  void member(const char* name, const text& value, const char* member_name) {
    chosen_.push_back({option_number(name), !value.empty(), value, member_name});
  }

  result<> add(chosen_option option) {
    const char* zero_or_line = nullptr;
    for (const char& c : option.value) {
      if (c == '\0' || c == '\n') zero_or_line = &c;
    }
    if (zero_or_line != nullptr) {
      Builder out;
      out << "an option " << known_options[option.number].name << " (" << option.origin << ") has "
          << (*zero_or_line == '\0' ? "a zero byte" : "a line's end") << " at "
          << static_cast<std::size_t>(zero_or_line - option.value.data()) << " of "
          << option.value.size() << ", which NVRTC cannot take. Take it out.";
      return refuse(out);
    }
    if (option.number == option_number("--define-macro")) return add_macro(detail::move(option));
    if (known_options[option.number].repeats) {
      chosen_.push_back(detail::move(option));
      return {};
    }
    const chosen_option* before = find(option.number);
    if (before == nullptr) {
      chosen_.push_back(detail::move(option));
      return {};
    }
    return refuse_doubled(*before, spelled(option), option.origin);
  }

  result<> add_macro(chosen_option option) {
    const string_ref name = macro_name(option.value);
    if (!is_identifier(name)) {
      Builder out;
      out << "the macro \"" << name << "\" (" << option.origin
          << ") is not named as C++ names things: with letters, digits and _, not beginning with a "
             "digit. Rename it.";
      return refuse(out);
    }
    for (const chosen_option& before : chosen_) {
      if (before.number != option.number || macro_name(before.value) != name) continue;
      if (before.value == option.value) return {};
      return refuse_doubled(before, spelled(option), option.origin);
    }
    chosen_.push_back(detail::move(option));
    return {};
  }

  /// Whether the code has said something about what an option of the environment is about.
  bool is_settled(const parsed_option& parsed, std::size_t before) const noexcept {
    if (parsed.number == option_number("--gpu-architecture")) return target_origin_ != nullptr;
    for (std::size_t i = 0; i < before; ++i) {
      const chosen_option& option = chosen_[i];
      if (option.number != parsed.number) continue;
      if (!known_options[option.number].repeats) return true;
      if (option.number == option_number("--define-macro") &&
          macro_name(option.value) == macro_name(parsed.value)) {
        return true;
      }
    }
    return false;
  }

  result<> choose_architecture(string_ref written, const char* origin) {
    const bool real = starts_with(written, "sm_");
    const std::size_t prefix = real ? 3 : 8;
    if (real || starts_with(written, "compute_")) {
      int number = 0;
      std::size_t at = prefix;
      for (; at < written.size() && written[at] >= '0' && written[at] <= '9' && number < 10000;
           ++at) {
        number = number * 10 + (written[at] - '0');
      }
      const char variant = at < written.size() ? written[at] : '\0';
      if (at > prefix && written.size() - at <= 1) {
        if (target_origin_ != nullptr) {
          Builder out;
          out << "the option --gpu-architecture=" << written << " (" << origin
              << ") has been given already, by " << target_origin_ << ". Take one of them out.";
          return refuse(out);
        }
        target_ = real ? architecture::sm(number, variant) : architecture::compute(number, variant);
        target_origin_ = origin;
        return {};
      }
    }
    Builder out;
    out << "the option --gpu-architecture (" << origin << ") has the value \"" << written
        << "\", but is of the form sm_90 or compute_90. Write it so.";
    return refuse(out);
  }

  result<> check_value(const known_option& option, const parsed_option& parsed,
                       const char* origin) const {
    Builder out;
    out << "the option " << option.name << " (" << origin << ')';
    switch (option.value) {
      case option_value::none:
        if (!parsed.has_value) return {};
        out << " takes no value, but has \"" << parsed.value << "\". Leave the value out.";
        break;
      case option_value::boolean:
        if (parsed.value == "true" || parsed.value == "false") return {};
        out << " is true or false, but is \"" << parsed.value << "\" here. Choose one.";
        break;
      case option_value::text:
        if (!parsed.value.empty()) return {};
        out << " needs a value behind an equals sign. Give it one.";
        break;
    }
    return refuse(out);
  }

  [[gnu::cold]] result<> refuse_unknown(const text& written, const parsed_option& parsed,
                                        const char* origin) const {
    const char* nearest = "";
    std::size_t least = ~std::size_t{0};
    for (const known_option& option : known_options) {
      for (const char* name : {option.name, option.alias}) {
        if (name == nullptr) continue;
        const std::size_t distance = edit_distance(parsed.name, name);
        if (distance < least) {
          least = distance;
          nearest = name;
        }
      }
    }
    Builder out;
    out << "NVRTC has no option \"" << written << "\" (" << origin << "). The nearest is "
        << nearest << "; each option is a string of its own, and its value follows an equals sign.";
    return refuse(out);
  }

  [[gnu::cold]] result<> refuse_doubled(const chosen_option& before, const text& again,
                                        const char* origin) const {
    Builder out;
    out << "the option " << again << " (" << origin << ") has been given already, as "
        << spelled(before) << " (" << before.origin << "). Take one of them out.";
    return refuse(out);
  }

  result<> refuse(Builder& sentence, std::uint64_t asked = 0, std::uint64_t limit = 0) const {
    return fail(
        refusal(errc::invalid_argument, "gpu::compile", sentence.finish(), where_, asked, limit));
  }

  source_location where_;
  architecture target_ = {};
  const char* target_origin_ = nullptr;
  sequence<chosen_option> chosen_;
};

}  // namespace gpu::inline v0::detail

#pragma once
/// \file
/// `option_chooser`: collects options from several origins, and rejects those that are unknown,
/// repeated or contradictory, by name and before NVRTC is called.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/options/known_options.hpp>
#include <gpu/compiler/options/nvcc_options.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel/detail/name_suggestions.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// One option that was chosen, and its origin.
struct chosen_option {
  unsigned number;  ///< in `known_options`; past its end for one that only this NVRTC may know
  bool has_value;
  text value;          ///< if the option is unknown here: all of it
  const char* origin;  ///< such as `compile_options::extra`
};

/// Returns an option as NVRTC takes it, with its long name.
inline text spelled(const chosen_option& option) {
  if (option.number == known_option_count) return option.value;
  text_builder out;
  out << known_options[option.number].name;
  if (option.has_value) out << '=' << option.value;
  return required(out.finish());
}

/// Returns the known name of an option that is most like `name`.
inline const char* nearest_option(string_ref name) noexcept {
  const char* nearest = "";
  std::size_t least = ~std::size_t{0};
  for (const known_option& option : known_options) {
    for (const char* known : {option.name, option.alias}) {
      if (known == nullptr) continue;
      const std::size_t distance = edit_distance(name, known);
      if (distance < least) {
        least = distance;
        nearest = known;
      }
    }
  }
  return nearest;
}

/// Collects options; `finish` returns them as NVRTC takes them, in one order.
class option_chooser {
 public:
  explicit option_chooser(source_location where) noexcept : where_{where} {}

  /// Adds an option that is known to be valid. An empty value means none.
  void choose(const char* name, const text& value, const char* origin) {
    chosen_.push_back({option_number(name), !value.empty(), value, origin});
  }

  void choose_architecture(architecture target, const char* origin) noexcept {
    target_ = target;
    target_origin_ = origin;
  }

  /// Adds an option with a value that the caller wrote.
  result<> add(const char* name, const text& value, const char* origin) {
    return add({option_number(name), true, value, origin});
  }

  /// Adds options as text. Unknown ones are left to NVRTC if it is `newer` than the list of known
  /// ones. Options that are `defaults` give way to those that were chosen before.
  result<> add_texts(const sequence<option_text>& texts, const char* origin, bool defaults,
                     bool newer) {
    const std::size_t before = defaults ? chosen_.size() : 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const text& written = texts[i];
      parsed_option parsed = parse_option(written);
      if (parsed.number == known_option_count) {
        const char* const instead = instead_of_nvcc_option(written);
        if (instead != nullptr) return refuse_nvcc_option(written, instead, origin);
        if (!newer) return refuse_unknown(written, parsed, origin);
        chosen_.push_back({known_option_count, false, written, origin});
        continue;
      }
      const known_option& option = known_options[parsed.number];
      if (option.value != option_value::none && !parsed.has_value && i + 1 < texts.size()) {
        parsed.has_value = true;
        parsed.value = texts[++i];
      }
      GPU_TRY(check_value(option, parsed, origin));
      if (defaults && is_chosen(parsed, before)) continue;
      if (parsed.number == option_number("--gpu-architecture")) {
        GPU_TRY(add_architecture(parsed.value, origin));
      } else {
        GPU_TRY(add({parsed.number, parsed.has_value, required(parsed.value.to_text()), origin}));
      }
    }
    return {};
  }

  /// Rejects contradictions, and puts the rest in order. Include folders go to `folders`.
  result<> finish(sequence<text>& options, sequence<text>& folders) {
    for (const contradiction& pair : contradictions) {
      const chosen_option* first = find(option_number(pair.first), pair.first_value);
      const chosen_option* second = find(option_number(pair.second), pair.second_value);
      if (first == nullptr || second == nullptr) continue;
      text_builder out;
      out << "the options " << spelled(*first) << " (" << first->origin << ") and "
          << spelled(*second) << " (" << second->origin
          << ") contradict each other. Remove one of them.";
      return refuse(out);
    }
    if (const chosen_option* optix = find(option_number("--optix-ir"))) {
      text_builder out;
      out << "the option --optix-ir (" << optix->origin
          << ") makes OptiX-IR instead of PTX and machine code, and a compiled_program cannot hold "
             "it. Remove the option.";
      return refuse(out);
    }
    // There are few, and they are mostly in order.
    for (std::size_t i = 1; i < chosen_.size(); ++i) {
      for (std::size_t j = i; j > 0; --j) {
        if (order_of(chosen_[j - 1].number) <= order_of(chosen_[j].number)) break;
        chosen_option before = std::move(chosen_[j - 1]);
        chosen_[j - 1] = std::move(chosen_[j]);
        chosen_[j] = std::move(before);
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

  /// Returns the option that was chosen, or null; with this value, if one is named.
  const chosen_option* find(unsigned number, const char* value = nullptr) const noexcept {
    for (const chosen_option& option : chosen_) {
      if (option.number == number && (value == nullptr || option.value == value)) return &option;
    }
    return nullptr;
  }
  /// Returns whether an option that was chosen decides about line information.
  bool decides_lines() const noexcept {
    for (const char* name : {"--generate-line-info", "--device-debug", "--dlink-time-opt"}) {
      if (find(option_number(name)) != nullptr) return true;
    }
    return false;
  }
  architecture target() const noexcept { return target_; }

  /// Makes the error with this sentence.
  result<> refuse(text_builder& sentence, std::uint64_t asked = 0, std::uint64_t limit = 0) const {
    return fail(
        refusal(errc::invalid_argument, "gpu::compile", sentence.finish(), where_, asked, limit));
  }

 private:
  result<> add(chosen_option option) {
    for (std::size_t i = 0; i < option.value.size(); ++i) {
      const char c = option.value.data()[i];
      if (c != '\0' && c != '\n') continue;
      text_builder out;
      out << "the option " << known_options[option.number].name << " (" << option.origin
          << ") has a " << (c == '\0' ? "zero byte" : "newline") << " at position " << i << " of "
          << option.value.size() << ", which NVRTC cannot take. Remove it.";
      return refuse(out);
    }
    if (option.number == option_number("--define-macro")) return add_macro(option);
    const chosen_option* before = find(option.number);
    if (before != nullptr && !known_options[option.number].repeats) {
      return refuse_repeated(*before, option);
    }
    chosen_.push_back(std::move(option));
    return {};
  }

  result<> add_macro(const chosen_option& option) {
    const string_ref name = macro_name(option.value);
    if (!is_identifier(name)) {
      text_builder out;
      out << '"' << name << "\" (" << option.origin
          << ") is not a valid macro name: use letters, digits and _, and do not begin with a "
             "digit.";
      return refuse(out);
    }
    for (const chosen_option& before : chosen_) {
      if (before.number != option.number || macro_name(before.value) != name) continue;
      if (before.value == option.value) return {};
      return refuse_repeated(before, option);
    }
    chosen_.push_back(option);
    return {};
  }

  result<> add_architecture(string_ref written, const char* origin) {
    text_builder out;
    architecture parsed;
    if (!parse_architecture(written, parsed)) {
      out << "the option --gpu-architecture (" << origin << ") has the value \"" << escaped{written}
          << "\", but must be of the form sm_90 or compute_90.";
      return refuse(out);
    }
    if (target_origin_ != nullptr) {
      out << "the option --gpu-architecture=" << written << " (" << origin
          << ") was already given by " << target_origin_ << ". Remove one of them.";
      return refuse(out);
    }
    choose_architecture(parsed, origin);
    return {};
  }

  /// Returns whether one of the first `count` options decides the same as a default.
  bool is_chosen(const parsed_option& parsed, std::size_t count) const noexcept {
    if (parsed.number == option_number("--gpu-architecture")) return target_origin_ != nullptr;
    for (std::size_t i = 0; i < count; ++i) {
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

  result<> check_value(const known_option& option, const parsed_option& parsed,
                       const char* origin) const {
    text_builder out;
    out << "the option " << option.name << " (" << origin << ')';
    switch (option.value) {
      case option_value::none:
        if (!parsed.has_value) return {};
        out << " takes no value, but has \"" << escaped{parsed.value} << "\". Remove the value.";
        break;
      case option_value::boolean:
        if (parsed.value == "true" || parsed.value == "false") return {};
        out << " must be true or false, but is \"" << escaped{parsed.value} << "\".";
        break;
      case option_value::text:
        if (!parsed.value.empty()) return {};
        out << " needs a value after an equals sign.";
        break;
    }
    return refuse(out);
  }

  result<> refuse_unknown(const text& written, const parsed_option& parsed,
                          const char* origin) const {
    text_builder out;
    out << "NVRTC has no option \"" << escaped{written} << "\" (" << origin << "). The nearest is "
        << nearest_option(parsed.name)
        << ". Pass each option as a string of its own, with its value after an equals sign.";
    return refuse(out);
  }

  result<> refuse_nvcc_option(const text& written, const char* instead, const char* origin) const {
    text_builder out;
    out << "\"" << escaped{written} << "\" (" << origin
        << ") is an option of nvcc, which NVRTC does not have. " << instead;
    return refuse(out);
  }

  result<> refuse_repeated(const chosen_option& before, const chosen_option& again) const {
    text_builder out;
    out << "the option " << spelled(again) << " (" << again.origin << ") was already given, as "
        << spelled(before) << " (" << before.origin << "). Remove one of them.";
    return refuse(out);
  }

  source_location where_;
  architecture target_ = {};
  const char* target_origin_ = nullptr;
  sequence<chosen_option> chosen_;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `compile_options`: how a program is compiled.

#include <gpu/compiler/architecture.hpp>
#include <gpu/core/string_ref.hpp>

#include <vector>

namespace gpu {

/// A string of its own, made from whatever string the caller has, or from an integer.
struct option_text : text {
  option_text() noexcept = default;
  template <class String>
    requires std::is_convertible_v<const String&, string_ref>
  option_text(const String& string) noexcept : text(string_ref(string).to_text()) {}
  template <class Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, char> &&
             !std::is_same_v<Integer, bool>)
  option_text(Integer value) noexcept : text((detail::text_builder() << value).finish()) {}
};

/// `#define name value`, as in `{"BLOCK", 256}`; `{"FAST"}` defines it as 1.
struct macro_definition {
  option_text name;
  option_text value = 1;
};

/// The C++ standard of device code.
enum class cpp_standard : unsigned char { cpp11 = 11, cpp14 = 14, cpp17 = 17, cpp20 = 20 };

/// How a program is compiled:
///
///     gpu::compile(source, {.defines = {{"BLOCK", 256}}, .fast_math = true});
struct compile_options {
  gpu::architecture architecture = {};  ///< of the device in use, where nothing is said
  cpp_standard standard = cpp_standard::cpp20;
  std::vector<macro_definition> defines = {};
  /// Where `#include` looks, in this order.
  std::vector<option_text> include_folders = {};
  bool fast_math = false;  ///< faster and less exact arithmetic (--use_fast_math)
  bool line_info = false;  ///< source lines for profilers and compute-sanitizer
  bool debug = false;      ///< without optimisation, with what a debugger needs (--device-debug)
  /// Further options as NVRTC's manual has them, passed on as they are.
  std::vector<option_text> extra = {};
};

}  // namespace gpu

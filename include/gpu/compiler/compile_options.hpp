#pragma once
/// \file
/// `compile_options`: how a program is compiled.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/macro_value.hpp>

#include <gpu/core/sequence.hpp>

namespace gpu::inline v0 {

class compile_cache;

/// A string of its own, made from whatever string the caller has. If the host runs out of memory
/// for it, operator new decides, as for `std::string`.
struct option_text : text {
  option_text() noexcept = default;
  template <class String>
    requires detail::convertible<const String&, string_ref>
  option_text(const String& string) : text(detail::required(string_ref(string).to_text())) {}
};

/// `#define name value`, as in `{"BLOCK", 256}` or `{"TYPE", "float"}`; `{"FAST"}` defines it as 1.
/// The name may have parameters: `{"SQUARE(x)", "((x) * (x))"}`.
struct macro_definition {
  option_text name;
  macro_value value = {};
};

/// The C++ standard of device code.
enum class cpp_standard : unsigned char {
  unspecified,  ///< that of GPU_COMPILE_OPTIONS, or else C++20
  cpp03 = 3,
  cpp11 = 11,
  cpp14 = 14,
  cpp17 = 17,
  cpp20 = 20,
};

/// The enumerator, such as "cpp20"; null for a value that this library does not know.
constexpr const char* name_of(cpp_standard standard) noexcept {
  switch (standard) {
    case cpp_standard::unspecified:
      return "unspecified";
    case cpp_standard::cpp03:
      return "cpp03";
    case cpp_standard::cpp11:
      return "cpp11";
    case cpp_standard::cpp14:
      return "cpp14";
    case cpp_standard::cpp17:
      return "cpp17";
    case cpp_standard::cpp20:
      return "cpp20";
  }
  return nullptr;
}

/// How a program is compiled:
///
///     gpu::compile(source, {.defines = {{"BLOCK", 256}}, .fast_math = true});
///
/// The environment variable GPU_COMPILE_OPTIONS may hold more options, as NVRTC's manual has them,
/// with spaces between them. They count where the program's own options say nothing about the same
/// thing.
struct compile_options {
  gpu::architecture architecture = {};  ///< of the device in use, where nothing is said
  cpp_standard standard = {};
  sequence<macro_definition> defines = {};
  /// Where `#include` looks, in this order.
  sequence<option_text> include_folders = {};
  /// Whether `#include` also looks, after the folders above, in those of the CUDA toolkit that is
  /// found on this machine, libcu++ among them.
  bool toolkit_headers = true;
  /// Unmarked functions and variables are `__device__` (--device-as-default-execution-space).
  bool default_device = false;

  bool fast_math = false;           ///< faster and less exact arithmetic (--use_fast_math)
  bool fused_multiply_add = true;   ///< may round a product and a sum once (--fmad)
  bool flush_denormals = false;     ///< takes denormal `float`s for zero (--ftz)
  bool precise_division = true;     ///< `float` quotients are rounded correctly (--prec-div)
  bool precise_square_root = true;  ///< and so are `float` square roots (--prec-sqrt)
  int max_registers = 0;            ///< of a thread; 0 leaves it to the compiler (--maxrregcount)

  bool line_info = false;  ///< source lines for profilers and compute-sanitizer
  bool debug = false;      ///< without optimisation, with what a debugger needs (--device-debug)
  bool debug_optimized = false;  ///< beside `debug`: optimised all the same (--dopt=on)

  /// Code to be linked with other code, by a `linker`: functions may be defined elsewhere
  /// (--relocatable-device-code).
  bool relocatable = false;
  /// Makes LTO-IR, for a `linker` that optimises across all its inputs, instead of machine code and
  /// PTX (--dlink-time-opt).
  bool link_time_optimization = false;

  /// Further options as NVRTC's manual has them, one each: `{"--split-compile=0",
  /// "-opt-info=inline"}`. An unknown one is refused, and so is one that a member above has said
  /// already.
  sequence<option_text> extra = {};

  /// Where compiled programs are kept; null for the cache of the process.
  compile_cache* cache = nullptr;
};

namespace detail {

/// Writes why a cap on registers is none; false where it is one, or 0 for none.
template <class Builder>
bool write_register_refusal(Builder& out, const char* options, int max_registers) {
  if (max_registers >= 0 && max_registers <= 255) return false;
  out << options << "::max_registers is " << max_registers
      << ", but a thread has from 1 to 255 registers. Choose a number of these, or 0 for no limit.";
  return true;
}

}  // namespace detail
}  // namespace gpu::inline v0

#pragma once
/// \file
/// `compile_options`: architecture, macros, include folders and everything else that `compile`
/// takes beside the program.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/macro_value.hpp>
#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

class compile_cache;

/// A string member of a structure of options: owns a copy of whatever string the caller has. If the
/// host runs out of memory for it, `operator new` throws, as for `std::string`.
struct option_text : text {
  option_text() noexcept = default;
  template <class String>
    requires std::is_convertible_v<const String&, string_ref>
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
  unspecified,  ///< the one in GPU_COMPILE_OPTIONS, or else C++20
  cpp03 = 3,
  cpp11 = 11,
  cpp14 = 14,
  cpp17 = 17,
  cpp20 = 20,
};

/// Returns the enumerator's name, such as "cpp20"; null for an invalid value.
constexpr const char* name_of(cpp_standard standard) noexcept {
  using enum cpp_standard;
  return detail::find_name(standard, {{unspecified, "unspecified"},
                                      {cpp03, "cpp03"},
                                      {cpp11, "cpp11"},
                                      {cpp14, "cpp14"},
                                      {cpp17, "cpp17"},
                                      {cpp20, "cpp20"}});
}

/// Options for compiling a program:
///
///     gpu::compile(source, {.defines = {{"BLOCK", 256}}, .fast_math = true});
///
/// The environment variable GPU_COMPILE_OPTIONS may hold more options, as NVRTC's manual has them,
/// separated by spaces. They are defaults: the members below and `extra` override them.
struct compile_options {
  gpu::architecture architecture = {};  ///< by default, that of the device in use
  cpp_standard standard = {};
  sequence<macro_definition> defines = {};
  /// The folders that `#include` searches, in this order.
  sequence<option_text> include_folders = {};
  /// If true, `#include` also searches, after the folders above, those of the CUDA toolkit on this
  /// machine, libcu++ among them.
  bool toolkit_headers = true;
  /// Unmarked functions and variables are `__device__` (--device-as-default-execution-space).
  bool default_device = false;

  bool fast_math = false;           ///< faster and less exact arithmetic (--use_fast_math)
  bool fused_multiply_add = true;   ///< may round a product and a sum once (--fmad)
  bool flush_denormals = false;     ///< treats denormal `float`s as zero (--ftz)
  bool precise_division = true;     ///< rounds `float` quotients correctly (--prec-div)
  bool precise_square_root = true;  ///< rounds `float` square roots correctly (--prec-sqrt)
  int max_registers = 0;            ///< per thread; 0 leaves it to the compiler (--maxrregcount)

  bool line_info = false;        ///< source lines for profilers and compute-sanitizer
  bool debug = false;            ///< no optimization, full debug information (--device-debug)
  bool debug_optimized = false;  ///< with `debug`: optimizes nevertheless (--dopt=on)

  /// Makes code for `gpu::link`, which may call functions that are defined in another program
  /// (--relocatable-device-code).
  bool relocatable = false;
  /// Makes LTO-IR instead of machine code and PTX, so that `gpu::link` optimizes across all its
  /// inputs (--dlink-time-opt).
  bool link_time_optimization = false;

  /// Further options as NVRTC's manual has them, one per string: `{"--split-compile=0",
  /// "-opt-info=inline"}`. Unknown options are rejected, and so are those that repeat or contradict
  /// a member above.
  sequence<option_text> extra = {};

  /// Keeps compiled programs; null for the cache of the process.
  compile_cache* cache = nullptr;
};

namespace detail {

/// Writes why a limit on registers is invalid. Returns false if it is valid.
inline bool explain_max_registers(text_builder& out, const char* options,
                                  int max_registers) noexcept {
  if (max_registers >= 0 && max_registers <= 255) return false;
  out << options << "::max_registers is " << max_registers
      << ", but must be from 1 to 255, or 0 for no limit.";
  return true;
}

}  // namespace detail
}}  // namespace gpu::v1

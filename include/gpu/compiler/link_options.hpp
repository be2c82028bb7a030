#pragma once
/// \file
/// `link_options`: how compiled code is linked.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>

#include <gpu/core/sequence.hpp>

namespace gpu::inline v0 {

/// How compiled code is linked:
///
///     gpu::link({math, kernels}, {.max_registers = 64, .verbose = true});
struct link_options {
  /// Of the device in use, where nothing is said. A virtual one gives PTX, and needs link-time
  /// optimisation.
  gpu::architecture architecture = {};
  /// Optimises across the inputs that are LTO-IR. Goes without saying where an input is LTO-IR by
  /// itself; has to be said for a fatbin, object or archive that has LTO-IR inside.
  bool link_time_optimization = false;

  bool optimize = true;   ///< off: -O0
  int max_registers = 0;  ///< of a thread; 0 leaves it to the compiler (-maxrregcount)
  bool line_info = false;
  bool debug = false;
  bool verbose = false;  ///< the log tells registers and memory of each kernel

  // With link-time optimisation, in place of what each input was compiled with:
  bool fast_math = false;           ///< all four below at their fastest
  bool fused_multiply_add = true;   ///< may round a product and a sum once (-fma)
  bool flush_denormals = false;     ///< takes denormal `float`s for zero (-ftz)
  bool precise_division = true;     ///< `float` quotients are rounded correctly (-prec-div)
  bool precise_square_root = true;  ///< and so are `float` square roots (-prec-sqrt)
  /// The kernels that will be asked for, by their names in the module; all others may be dropped.
  /// Nothing is dropped where none is named.
  sequence<option_text> kernels_used = {};
  /// The same for variables that the host asks for.
  sequence<option_text> variables_used = {};
  bool drop_unused_variables = false;  ///< those that no kernel uses, but for `variables_used`
  int compiler_threads = 1;            ///< 0: as many as the machine has cores

  /// Further options as nvJitLink's manual has them, one each: `{"-Xptxas=-v"}`. An unknown one is
  /// refused by name.
  sequence<option_text> extra = {};

  /// Where linked programs are kept; null for the cache of the process.
  compile_cache* cache = nullptr;
};

}  // namespace gpu::inline v0

#pragma once
/// \file
/// `link_options`: the options of a link.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>

#include <gpu/core/sequence.hpp>

namespace gpu { inline namespace v1 {

/// Options of a link:
///
///     gpu::link({math, kernels}, {.max_registers = 64, .verbose = true});
struct link_options {
  /// By default, that of the device in use. A virtual one gives PTX, and needs link-time
  /// optimization.
  gpu::architecture architecture = {};
  /// Optimizes across the inputs that are LTO-IR. Implied if an input is LTO-IR itself; has to be
  /// set for a fatbin, object or archive that contains LTO-IR.
  bool link_time_optimization = false;

  bool optimize = true;   ///< off: -O0
  int max_registers = 0;  ///< of a thread; 0 leaves it to the compiler (-maxrregcount)
  bool line_info = false;
  bool debug = false;
  bool verbose = false;  ///< the log has registers and memory of each kernel

  // With link-time optimization, these replace the options that each input was compiled with:
  bool fast_math = false;           ///< the fastest setting of the four below
  bool fused_multiply_add = true;   ///< may round a product and a sum once (-fma)
  bool flush_denormals = false;     ///< treats denormal `float`s as zero (-ftz)
  bool precise_division = true;     ///< `float` quotients are rounded correctly (-prec-div)
  bool precise_square_root = true;  ///< and so are `float` square roots (-prec-sqrt)
  /// The kernels that the host uses, by their names in the module; all others may be dropped. If
  /// empty, none are dropped.
  sequence<option_text> kernels_used = {};
  /// The variables that the host uses, likewise.
  sequence<option_text> variables_used = {};
  bool drop_unused_variables = false;  ///< drops those that no kernel uses, except `variables_used`
  int compiler_threads = 1;            ///< 0: as many as the machine has cores

  /// More options as in nvJitLink's manual, one per element: `{"-Xptxas=-v"}`. nvJitLink rejects
  /// unknown ones by name.
  sequence<option_text> extra = {};

  /// Keeps linked programs; null for the cache of the process.
  compile_cache* cache = nullptr;
};

}}  // namespace gpu::v1

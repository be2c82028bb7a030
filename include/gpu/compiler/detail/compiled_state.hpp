#pragma once
/// \file
/// Everything that one compilation made, in the form that copies of a `compiled_program` share and
/// that the cache keeps.

#include <gpu/compiler/architecture.hpp>
#include <gpu/core/string_ref.hpp>

#include <gpu/core/sequence.hpp>

namespace gpu::inline v0::detail {

/// A name that the program asked for, and what it is called in the module.
struct name_pair {
  text written;
  text lowered;
};

/// What a compilation made; nobody changes it any more once it is in a `compiled_program`. All of
/// it is texts and numbers, so that it can be written to a file: what is structured, such as
/// diagnostics and resource figures, is read from the texts when it is asked for.
struct compiled_state {
  text ptx;        ///< without a terminator in its size; empty where LTO-IR was made
  text cubin;      ///< empty where the architecture is a virtual one
  text lto_ir;     ///< empty without link-time optimisation
  text log;        ///< what NVRTC had to say, without `ptxas_log`
  text ptxas_log;  ///< the resource figures of each kernel, as the assembler prints them
  gpu::architecture architecture = {};
  sequence<name_pair> names = {};
  /// The options as NVRTC got them, include folders last; without those that the library adds to
  /// learn about the compilation.
  sequence<text> options = {};
  /// The files that the compilation opened, as NVRTC names them, each once, in the order of their
  /// first opening. Headers given as text are among them by their names; the source is not.
  sequence<text> headers = {};
  /// Whether `headers` is certain to be all of them: this NVRTC may be unable to tell.
  bool headers_complete = false;

  std::uint32_t owners = 1;
};

}  // namespace gpu::inline v0::detail

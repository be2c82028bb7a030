#pragma once
/// \file
/// `compiled_state`: all products of one compilation, which copies of a `compiled_program` share
/// and the cache stores.

#include <gpu/compiler/architecture.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A name that the program requested, and its name in the module.
struct name_pair {
  text written;
  text lowered;
};

/// The products of a compilation, which do not change once they are in a `compiled_program`. All
/// are texts and numbers, so that they can be written to a file: diagnostics and resource figures
/// are read from the texts on request.
struct compiled_state {
  text ptx;        ///< without a terminator in its size; empty if LTO-IR was made
  text cubin;      ///< empty for a virtual architecture
  text lto_ir;     ///< empty without link-time optimization
  text log;        ///< NVRTC's messages, without `ptxas_log`
  text ptxas_log;  ///< the resource figures of each kernel, as the assembler prints them
  gpu::architecture architecture = {};
  sequence<name_pair> names = {};
  /// The options as NVRTC got them, include folders last; without those that the library adds for
  /// its own use.
  sequence<text> options = {};
  /// The files that the compilation opened, as NVRTC names them, each once, in the order of first
  /// opening. Includes headers given as text, by their names, but not the source.
  sequence<text> headers = {};
  /// True if `headers` is certain to be complete.
  bool headers_complete = false;

  std::uint32_t owners = 1;
};

}}}  // namespace gpu::v1::detail

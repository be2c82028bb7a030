#pragma once
/// \file
/// `compile_request`: what to compile and how, with nothing left to the device or the environment.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// A program and its options, with nothing left to the device or the environment.
struct compile_request {
  const program& source;
  gpu::architecture architecture;     ///< real or virtual
  sequence<text> options = {};        ///< as NVRTC takes them, in one order; no include folders
  sequence<text> folders = {};        ///< the user's include folders, in their order
  sequence<text> found_folders = {};  ///< those of the toolkit; searched after the user's
  text compiler = {};                 ///< NVRTC's version and build; empty without NVRTC
  sequence<text> variables = {};      ///< the environment variables that change NVRTC's output
  bool adds_lines = false;            ///< whether the PTX gets line information without an option
};

/// Returns whether an option is among those of the request, exactly as `name`.
inline bool has_option(const compile_request& request, string_ref name) noexcept {
  for (const text& option : request.options) {
    if (string_ref(option) == name) return true;
  }
  return false;
}

}}}  // namespace gpu::v1::detail

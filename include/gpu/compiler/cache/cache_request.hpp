#pragma once
/// \file
/// `cache_request`: a compilation or a link, as the cache sees it.

#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache/summary.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// A request for a program, which the cache finds or has made. The cache knows of the compilers
/// only what is here.
class cache_request {
 public:
  /// The words of messages, such as "compile" and "compiled".
  struct words {
    origin_kind origin;
    const char* verb;
    const char* participle;
  };

  explicit cache_request(const words& w) noexcept : in_words{w} {}
  cache_request(const cache_request&) = delete;
  cache_request& operator=(const cache_request&) = delete;

  words in_words;
  text name = {};      ///< of the program, for messages
  text compiler = {};  ///< version and build of the compiler or linker to use; empty without one
  sequence<text> folders = {};            ///< where it looks for headers, in order
  sequence<text> installed_folders = {};  ///< of these, the ones that only an installer changes

  /// Returns a digest of everything that was asked for: texts, inputs, options, architecture.
  virtual digest key() const = 0;
  /// Returns a summary to compare with earlier requests.
  virtual request_summary summary() const = 0;
  /// Returns whether a program of the compiler in `conditions` will do; if not, sets `reason`.
  virtual bool accepts_compiler(const cache_conditions& conditions, text& reason) const = 0;
  /// Returns the name of a product that was asked for and is not in `state`, or null.
  virtual const char* missing_product(const compiled_state& state) const noexcept = 0;
  /// Compiles or links. If the program cannot be stored, sets `unstorable`, which may be null, to
  /// the reason. The compiler's identity is added by the caller.
  virtual result<> make(kept_program& made, text* unstorable) const = 0;
  /// Returns version and build of the compiler or linker that `make` used.
  virtual text used_compiler() const = 0;
  /// Writes notes about the compiler's library, which is open now, for processes to come.
  virtual void write_toolkit_notes(const cache_folder& folder) const = 0;

 protected:
  ~cache_request() = default;
};

}}}  // namespace gpu::v1::detail

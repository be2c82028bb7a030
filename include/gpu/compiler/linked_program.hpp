#pragma once
/// \file
/// `linked_program`: the result of `link`.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

namespace gpu { inline namespace v1 {

namespace detail {
struct linked_program_access;
}

/// Linked device code: machine code, or PTX for a virtual architecture. `module::load` takes it as
/// it is. If the driver cannot use the machine code, `module::load` links again for that driver, if
/// the inputs were PTX or LTO-IR. A value: copies share the bytes.
class linked_program {
 public:
  /// Returns the machine code; empty for a virtual architecture.
  const text& cubin() const noexcept { return code_.cubin(); }
  /// Returns the PTX that link-time optimization made; empty for a real architecture.
  const text& ptx() const noexcept { return code_.ptx(); }
  /// Returns the linker's messages: warnings and, if `verbose`, the resources of each kernel.
  const text& log() const noexcept { return code_.log(); }
  /// Returns the architecture it was linked for; real or virtual, never `of_device`.
  gpu::architecture architecture() const noexcept { return code_.architecture(); }
  /// Returns whether it came from the cache, and if not, why.
  const program_origin& origin() const noexcept { return code_.origin(); }

  /// Returns the name in the module of an instance that one of the linked programs requested; empty
  /// for any other.
  text lowered_name(string_ref expression) const noexcept {
    for (const detail::name_pair& name : names_) {
      if (string_ref(name.written) == expression) return name.lowered;
    }
    return {};
  }

  /// Calls `visit(written, lowered)` for each instance that one of the linked programs requested.
  template <class Visit> void for_each_name(Visit visit) const {
    for (const detail::name_pair& name : names_) {
      visit(string_ref(name.written), string_ref(name.lowered));
    }
  }

  /// Links the same inputs for the driver in use, which rejected the machine code. Returns an empty
  /// text if an input was neither PTX nor LTO-IR. For `module::load`.
  result<text> link_for_driver(source_location where = source_location::current()) const;

 private:
  friend struct detail::linked_program_access;

  compiled_program code_;
  sequence<detail::name_pair> names_;
  sequence<link_input> inputs_;
  link_options options_;
};

}}  // namespace gpu::v1

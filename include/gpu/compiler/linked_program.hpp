#pragma once
/// \file
/// `linked_program`: what `link` makes.

#include <gpu/compiler/detail/catch_bad_alloc.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>

namespace gpu::inline v0 {

namespace detail {
struct linked_program_access;
}

/// Device code that was linked: machine code, or PTX where the architecture is a virtual one.
/// `module::load` takes it as it is; where the driver has no use for the machine code, it makes
/// code for that driver of what was linked, if that was PTX or LTO-IR. A value: copies share the
/// bytes.
class linked_program {
 public:
  /// The machine code, or an empty text where the architecture was a virtual one.
  const text& cubin() const noexcept { return code_.cubin(); }
  /// The PTX that link-time optimisation made for a virtual architecture; empty for a real one.
  const text& ptx() const noexcept { return code_.ptx(); }
  /// What the linker had to say: warnings and, if `verbose`, what each kernel uses.
  const text& log() const noexcept { return code_.log(); }
  /// What it was linked for; real or virtual, never `of_device`.
  gpu::architecture architecture() const noexcept { return code_.architecture(); }
  /// Whether it came from the cache, and why not.
  const program_origin& origin() const noexcept { return code_.origin(); }

  /// The name in the module of an instance that one of the linked programs asked for; empty for any
  /// other.
  text lowered_name(string_ref expression) const noexcept {
    for (const detail::name_pair& name : names_) {
      if (string_ref(name.written) == expression) return name.lowered;
    }
    return {};
  }

  /// Calls `visit(written, lowered)` for each instance that one of the linked programs asked for.
  template <class Visit> void for_each_name(Visit visit) const {
    for (const detail::name_pair& name : names_) {
      visit(string_ref(name.written), string_ref(name.lowered));
    }
  }

  /// An image of the same code for the driver in use, where that has refused the machine code;
  /// empty where an input was neither PTX nor LTO-IR. For `module::load`.
  result<text> link_for_driver(source_location where = source_location::current()) const;

 private:
  friend struct detail::linked_program_access;

  compiled_program code_;
  sequence<detail::name_pair> names_;
  sequence<link_input> inputs_;
  link_options options_;
};

}  // namespace gpu::inline v0

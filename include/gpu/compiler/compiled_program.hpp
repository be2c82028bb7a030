#pragma once
/// \file
/// `compiled_program`: what `compile` makes.

#include <gpu/compiler/architecture.hpp>
#include <gpu/core/string_ref.hpp>

#include <vector>

namespace gpu {

namespace detail {
struct compiled_program_access;
}

/// Device code as PTX and, where it was compiled for a real architecture, as machine code. A value:
/// copies share the bytes. `module::load` takes it as it is.
class compiled_program {
 public:
  const text& ptx() const noexcept { return ptx_; }
  /// The machine code, or an empty text where the architecture was a virtual one.
  const text& cubin() const noexcept { return cubin_; }
  /// What NVRTC had to say: warnings, mostly none.
  const text& log() const noexcept { return log_; }
  /// What it was compiled for; real or virtual, never `of_device`.
  gpu::architecture architecture() const noexcept { return architecture_; }

  /// The name in the module of an instance that the program asked for; empty for any other.
  text lowered_name(string_ref expression) const noexcept {
    for (const name_pair& name : names_) {
      if (string_ref(name.written) == expression) return name.lowered;
    }
    return {};
  }

  /// Calls `visit(written, lowered)` for each instance that the program asked for.
  template <class Visit> void for_each_name(Visit visit) const {
    for (const name_pair& name : names_) visit(string_ref(name.written), string_ref(name.lowered));
  }

 private:
  friend struct detail::compiled_program_access;

  struct name_pair {
    text written;
    text lowered;
  };

  text ptx_;
  text cubin_;
  text log_;
  gpu::architecture architecture_ = {};
  std::vector<name_pair> names_;
};

}  // namespace gpu

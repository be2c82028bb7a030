#pragma once
/// \file
/// `compiled_program`: the result of `compile`.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/diagnostics.hpp>
#include <gpu/compiler/kernel_resources.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/kernel_candidates.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {
struct compiled_program_access;
}

/// Compiled device code: PTX and, for a real architecture, machine code. A value: copies share all
/// of it and cost one atomic increment. `module::load` takes it as it is.
/// **Threads**: copies of one program may be used and destroyed in different threads.
class compiled_program {
 public:
  /// Creates an empty program, as one that was moved from.
  compiled_program() noexcept = default;
  compiled_program(const compiled_program& other) noexcept
      : state_{other.state_}, origin_{other.origin_} {
    if (state_ != nullptr)
      detail::atomic_fetch_add<detail::memory_order::relaxed>(state_->owners, 1);
  }
  compiled_program(compiled_program&& other) noexcept
      : state_{std::exchange(other.state_, nullptr)}, origin_{std::move(other.origin_)} {}
  compiled_program& operator=(compiled_program other) noexcept {
    detail::compiled_state* mine = state_;
    state_ = other.state_;
    other.state_ = mine;
    origin_ = std::move(other.origin_);
    return *this;
  }
  ~compiled_program() {
    if (state_ == nullptr) return;
    if (detail::atomic_fetch_sub<detail::memory_order::acq_rel>(state_->owners, 1) == 1)
      delete state_;
  }

  const text& ptx() const noexcept { return state().ptx; }
  /// Returns the machine code; empty for a virtual architecture.
  const text& cubin() const noexcept { return state().cubin; }
  /// Returns the intermediate code for `link`; empty without link-time optimization.
  const text& lto_ir() const noexcept { return state().lto_ir; }
  /// Returns NVRTC's messages: warnings, usually none.
  const text& log() const noexcept { return state().log; }
  /// Returns the architecture it was compiled for; real or virtual, never `of_device`.
  gpu::architecture architecture() const noexcept { return state().architecture; }
  /// Returns the options of NVRTC that it was compiled with.
  const sequence<text>& options() const noexcept { return state().options; }
  /// Returns the headers that the compilation opened, each once, as NVRTC names them; those given
  /// as text by their names.
  const sequence<text>& headers() const noexcept { return state().headers; }
  /// Returns whether `headers` is certain to be complete: not every NVRTC can report all.
  bool headers_complete() const noexcept { return state().headers_complete; }

  /// Returns whether it came from the cache, and if not, why.
  const program_origin& origin() const noexcept { return origin_; }

  /// Returns the messages of the log.
  sequence<diagnostic> diagnostics() const { return detail::read_diagnostics(state().log); }
  /// Returns the resources of each kernel; empty without machine code.
  sequence<kernel_resources> resources() const { return detail::read_resources(state().ptxas_log); }
  /// Returns the resources of one kernel, by its name in the source, as `module::kernel` takes it,
  /// or in the module.
  /// **Errors**: `errc::unknown_name` if the machine code has no kernel of that name, or several
  /// that it may mean; `errc::out_of_host_memory`.
  result<kernel_resources> resources(string_ref kernel,
                                     source_location where = source_location::current()) const {
    const text lowered = lowered_name(kernel);
    const string_ref name = lowered.empty() ? kernel : string_ref(lowered);
    constexpr const char* function = "gpu::compiled_program::resources";
    const detail::declared_name wanted = detail::split_declaration(kernel);
    sequence<kernel_resources> all = resources();
    detail::kernel_candidates candidates;
    detail::text_builder names;
    detail::message_list list(names);
    bool lost = wanted.lost();
    for (kernel_resources& each : all) {
      if (string_ref(each.kernel) == name) return std::move(each);
      const detail::declared_name known = detail::split_symbol(each.kernel.c_str());
      lost = lost || known.lost();
      candidates.add(detail::fit_of(wanted, known), each.kernel.c_str(), known);
      if (!list.add()) continue;
      names << '"';
      known.write(names);
      names << '"';
    }
    if (lost || candidates.symbol.lost())
      return detail::fail(detail::out_of_host_memory_error(function, kernel.size(), where));
    if (candidates.count > 1)
      return detail::fail(candidates.ambiguity(function, "program", kernel, where));
    for (kernel_resources& each : all) {
      if (candidates.count == 1 && each.kernel == candidates.symbol) return std::move(each);
    }
    detail::text_builder out;
    out << "the program has no machine code of a kernel \"" << detail::escaped{kernel} << '"';
    list.finish();
    if (names.size() != 0) out << ". Available kernels: " << names.finish();
    out << ". Compile for a real architecture, and add .instance(\"" << detail::escaped{kernel}
        << "\") to the program for an instance of a template.";
    return detail::fail(detail::refusal(errc::unknown_name, function, out.finish(), where));
  }

  /// Returns the name in the module of an instance that the program requested; empty for any other.
  text lowered_name(string_ref expression) const noexcept {
    for (const detail::name_pair& name : state().names) {
      if (string_ref(name.written) == expression) return name.lowered;
    }
    return {};
  }

  /// Calls `visit(written, lowered)` for each instance that the program requested.
  template <class Visit> void for_each_name(Visit visit) const {
    for (const detail::name_pair& name : state().names) {
      visit(string_ref(name.written), string_ref(name.lowered));
    }
  }

 private:
  friend struct detail::compiled_program_access;

  const detail::compiled_state& state() const noexcept {
    static const detail::compiled_state none;
    return state_ != nullptr ? *state_ : none;
  }

  detail::compiled_state* state_ = nullptr;
  program_origin origin_;
};

namespace detail {

/// Gives compilers, linkers and the cache the parts of a `compiled_program`.
struct compiled_program_access {
  /// Takes ownership of a state made by `new`.
  static compiled_program adopt(compiled_state* state) noexcept {
    compiled_program made;
    made.state_ = state;
    return made;
  }
  static const compiled_state& state(const compiled_program& program) noexcept {
    return program.state();
  }
  static bool has_state(const compiled_program& program) noexcept {
    return program.state_ != nullptr;
  }
  static program_origin& origin(compiled_program& program) noexcept { return program.origin_; }
};

}  // namespace detail
}}  // namespace gpu::v1

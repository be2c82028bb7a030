#pragma once
/// \file
/// `recent_request`: the arguments of a call of `compile`, to be compared with those of recent
/// calls, so that a request that was resolved before needs not be resolved again.

#include <gpu/compiler/detail/text_set.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/toolkit/nvrtc_entry_points.hpp>
#include <gpu/driver/calls.hpp>

namespace gpu::inline v0::detail {

template <class List> bool same_texts(const List& a, const List& b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(string_ref(a[i]) == string_ref(b[i]))) return false;
  }
  return true;
}

/// Returns whether two programs are the same to a compiler.
inline bool same_programs(const program& a, const program& b) noexcept {
  if (!(a.source() == b.source() && a.name() == b.name() &&
        same_texts(a.instances(), b.instances()) && a.headers().size() == b.headers().size())) {
    return false;
  }
  for (std::size_t i = 0; i < a.headers().size(); ++i) {
    const program_header &one = a.headers()[i], &other = b.headers()[i];
    if (!(string_ref(one.name) == string_ref(other.name) &&
          string_ref(one.source) == string_ref(other.source))) {
      return false;
    }
  }
  return true;
}

/// Returns whether two structures of options are equal.
inline bool same_options(const compile_options& x, const compile_options& y) noexcept {
  // Names all members, so that a new member is an error here and not a wrong answer.
  const auto& [arch, standard, defines, folders, toolkit, default_device, fast, fused, flush,
               division, root, registers, lines, debug, optimized, relocatable, lto, extra, cache] =
      x;
  if (!(arch == y.architecture && standard == y.standard && toolkit == y.toolkit_headers &&
        default_device == y.default_device && fast == y.fast_math &&
        fused == y.fused_multiply_add && flush == y.flush_denormals &&
        division == y.precise_division && root == y.precise_square_root &&
        registers == y.max_registers && lines == y.line_info && debug == y.debug &&
        optimized == y.debug_optimized && relocatable == y.relocatable &&
        lto == y.link_time_optimization && cache == y.cache &&
        same_texts(folders, y.include_folders) && same_texts(extra, y.extra) &&
        defines.size() == y.defines.size())) {
    return false;
  }
  for (std::size_t i = 0; i < defines.size(); ++i) {
    const macro_definition &a = defines[i], &b = y.defines[i];
    if (!(string_ref(a.name) == string_ref(b.name) && string_ref(a.value) == string_ref(b.value))) {
      return false;
    }
  }
  return true;
}

/// Everything that resolving a request depends on and that can change within a process.
struct recent_request {
  const program& source;
  const compile_options& options;
  string_ref more_options = {};                // of the environment
  const nvrtc::entry_points* nvrtc = nullptr;  // the table in force, null before its first use
  std::uint64_t driver_generation = 0;         // of the driver's table
  int device = -1;                             // whose architecture is used, if none is named

  /// Fills in the members that the caller does not pass. Returns false if the request has to be
  /// resolved: if the driver cannot name the device, or NVRTC obeys the environment.
  bool complete() noexcept {
    if (environment_variable(generator_variable) != nullptr) return false;
    more_options = environment_variable("GPU_COMPILE_OPTIONS");
    nvrtc = nvrtc::entry_points_in_force();
    if (options.architecture.kind() != architecture::kind_type::of_device) return true;
    driver_generation = driver::entry_points_generation();
    device = options.architecture.number();
    if (device >= 0) return true;
    using table = driver::entry_points;
    CUcontext current = nullptr;
    if (!driver::call<&table::ctx_get_current>(source_location{}, &current).has_value())
      return false;
    device = 0;
    if (current == nullptr) return true;
    return driver::call<&table::ctx_get_device>(source_location{}, &device).has_value();
  }

  std::uint64_t hash() const noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(options.architecture.number()) +
                         static_cast<std::uint64_t>(device);
    hash = quick_hash(source.source(), hash);
    for (const option_text& instance : source.instances()) hash = quick_hash(instance, hash);
    for (const macro_definition& macro : options.defines) {
      hash = quick_hash(macro.value, quick_hash(macro.name, hash));
    }
    return hash;
  }
};

/// A copy of a `recent_request` that owns its parts, made after the compilation.
class remembered_request {
 public:
  explicit remembered_request(const recent_request& r)
      : source_{r.source},
        options_{r.options},
        more_options_{required(r.more_options.to_text())},
        nvrtc_{r.nvrtc},
        driver_generation_{r.driver_generation},
        device_{r.device} {}

  bool is(const recent_request& r) const noexcept {
    return nvrtc_ == r.nvrtc && device_ == r.device && driver_generation_ == r.driver_generation &&
           string_ref(more_options_) == r.more_options && same_programs(source_, r.source) &&
           same_options(options_, r.options);
  }

 private:
  program source_;
  compile_options options_;
  text more_options_;
  const nvrtc::entry_points* nvrtc_;
  std::uint64_t driver_generation_;
  int device_;
};

}  // namespace gpu::inline v0::detail

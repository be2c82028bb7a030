#pragma once
/// \file
/// `recent_request`: the arguments of a call of `compile`. A later call with the same arguments
/// finds its program without being resolved.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/detail/request_key.hpp>
#include <gpu/compiler/detail/text_set.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/system/library_table.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

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

/// Returns whether two sets of options are the same.
inline bool same_options(const compile_options& x, const compile_options& y) noexcept {
  // Names all members, so that a new one is an error here and not a wrong result.
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

/// All that resolving a request depends on and that can change in a process.
class recent_request : public request_key {
 public:
  /// Refers to its arguments.
  recent_request(const program& source, const compile_options& options) noexcept
      : source_{source}, options_{options} {}

  /// Adds what is not the caller's. Returns false if the request has to be resolved each time: the
  /// driver cannot say which device it is for, or NVRTC obeys a variable of the environment.
  bool complete() noexcept {
    if (environment_variable(generator_variable) != nullptr) return false;
    more_options_ = environment_variable("GPU_COMPILE_OPTIONS");
    nvrtc_ = nvrtc::entry_points_in_force();
    if (options_.architecture.kind() != architecture::kind_type::of_device) return true;
    driver_generation_ = driver::entry_points_generation();
    device_ = options_.architecture.number();
    if (device_ >= 0) return true;
    using table = driver::entry_points;
    CUcontext current = nullptr;
    if (!driver::call<&table::ctx_get_current>(source_location{}, &current).has_value())
      return false;
    device_ = 0;
    if (current == nullptr) return true;
    return driver::call<&table::ctx_get_device>(source_location{}, &device_).has_value();
  }

  std::uint64_t hash() const noexcept override {
    std::uint64_t hash = static_cast<std::uint64_t>(options_.architecture.number()) +
                         static_cast<std::uint64_t>(device_);
    hash = quick_hash(source_.source(), hash);
    for (const option_text& instance : source_.instances()) hash = quick_hash(instance, hash);
    for (const macro_definition& macro : options_.defines) {
      hash = quick_hash(macro.value, quick_hash(macro.name, hash));
    }
    return hash;
  }

  bool equals(const request_key& other) const noexcept override {
    const auto& r = static_cast<const recent_request&>(other);
    return nvrtc_ == r.nvrtc_ && device_ == r.device_ &&
           driver_generation_ == r.driver_generation_ && more_options_ == r.more_options_ &&
           same_programs(source_, r.source_) && same_options(options_, r.options_);
  }

  request_key* copy() const override;

 private:
  class owning;

  const program& source_;
  const compile_options& options_;
  string_ref more_options_ = {};                // the environment's
  const nvrtc::entry_points* nvrtc_ = nullptr;  // the table in force; null before its first use
  std::uint64_t driver_generation_ = 0;         // of the driver's table
  int device_ = -1;                             // for its architecture, if none is named
};

/// A request that owns what it refers to.
class recent_request::owning final : public recent_request {
 public:
  explicit owning(const recent_request& r)
      : recent_request(own_source_, own_options_),
        own_source_{r.source_},
        own_options_{r.options_},
        own_more_options_{required(r.more_options_.to_text())} {
    more_options_ = own_more_options_;
    nvrtc_ = r.nvrtc_;
    driver_generation_ = r.driver_generation_;
    device_ = r.device_;
  }

 private:
  program own_source_;
  compile_options own_options_;
  text own_more_options_;
};

inline request_key* recent_request::copy() const { return new owning(*this); }

}}}  // namespace gpu::v1::detail

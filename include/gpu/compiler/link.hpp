#pragma once
/// \file
/// `link`: links compiled code at run time.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/program_cache.hpp>
#include <gpu/compiler/cache/through_cache.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/link/cached_link.hpp>
#include <gpu/compiler/link/driver_link.hpp>
#include <gpu/compiler/link/nvjitlink_link.hpp>
#include <gpu/compiler/link/plan.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/linked_program.hpp>
#include <gpu/compiler/options/resolve_request.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>
#include <gpu/system/no_cancellation.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

/// Makes a `linked_program`.
struct linked_program_access {
  static result<> link(const sequence<link_input>& inputs, const link_options& options,
                       linked_program& made, source_location where) {
    link_plan plan{options};
    GPU_TRY(make_plan(inputs, plan, where));
    program_cache& cache = compile_cache_access::chosen(options.cache);
    read_toolkit_notes<nvjitlink::detail::library>(cache);
    cached_link linking(plan, where);
    if (cache.settings().in_memory) linking.compiler = linker_identity();
    made.code_ = GPU_TRY(through_cache(cache, linking));
    made.inputs_ = inputs;
    made.options_ = options;
    for (const link_input& input : inputs) {
      input.program().for_each_name([&](string_ref written, string_ref lowered) {
        made.names_.push_back({required(written.to_text()), required(lowered.to_text())});
      });
    }
    return {};
  }

  /// Links for the driver in use: PTX, and PTX that link-time optimization makes of LTO-IR. Leaves
  /// `image` empty if an input is neither.
  static result<> link_for_driver(const linked_program& program, text& image,
                                  source_location where) {
    link_options options = program.options_;
    int number = 0;
    GPU_TRY(get_compute_capability(-1, number, where));
    options.architecture = architecture::compute(number);
    link_plan lto{options, options.architecture, true}, rest{options, options.architecture};
    for (std::size_t i = 0; i < program.inputs_.size(); ++i) {
      const link_input& input = program.inputs_[i];
      link_piece piece{input.kind(), input.image(), input.name()};
      if (piece.kind == link_input_kind::program) {
        const bool is_lto = !input.program().lto_ir().empty();
        piece.kind = is_lto ? link_input_kind::lto_ir : link_input_kind::ptx;
        piece.bytes = is_lto ? input.program().lto_ir() : input.program().ptx();
      }
      const bool usable = piece.kind == link_input_kind::ptx ||
                          piece.kind == link_input_kind::fatbin ||
                          piece.kind == link_input_kind::lto_ir;
      if (!usable || piece.bytes.empty()) return {};
      (piece.kind == link_input_kind::lto_ir ? lto : rest).pieces.push_back(piece);
    }
    text log;
    if (!lto.pieces.empty()) {
      link_piece optimized{link_input_kind::ptx, {}, required(text("the optimized inputs"))};
      GPU_TRY(nvjitlink_link(lto, true, optimized.bytes, log, where));
      image = optimized.bytes;
      if (rest.pieces.empty()) return {};
      rest.pieces.push_back(optimized);
    }
    return driver_link(rest, image, log, where);
  }
};

}  // namespace detail

inline result<text> linked_program::link_for_driver(source_location where) const {
  return detail::catch_bad_alloc("gpu::module::load", where, [&]() -> result<text> {
    text image;
    GPU_TRY(detail::linked_program_access::link_for_driver(*this, image, where));
    return image;
  });
}

/// Links pieces of compiled code for a device, at run time, so that each can use functions and
/// `__device__` variables of the others. Inputs that are LTO-IR are optimized as if they were one
/// source.
///
///     const auto math = GPU_TRY(gpu::compile(math_source, {.relocatable = true}));
///     const auto kernels = GPU_TRY(gpu::compile(kernel_source, {.relocatable = true}));
///     const gpu::module module = GPU_TRY(gpu::module::load(GPU_TRY(gpu::link({math, kernels}))));
///
/// Uses nvJitLink, which needs no driver if an architecture is named. If it is not installed, uses
/// the driver's own linker, which does not take LTO-IR and links for its own device. A program that
/// was linked before from the same inputs comes from the cache (see `compile_cache`);
/// `linked_program::origin` says whether it did, and if not, why.
/// **Threads**: any number may link at once; a `pthread_cancel` waits for the end.
/// **Errors**: `errc::link_failed`, with the names that are undefined, defined twice or declared
/// differently, and the inputs that they are in; `errc::invalid_image` for an input that is damaged
/// or truncated; `errc::no_nvjitlink`, with the places that were searched;
/// `errc::out_of_host_memory`; nvJitLink's or the driver's own errors, with the log.
/// **Capture**: not affected.
/// (nvJitLinkComplete, cuLinkComplete)
inline result<linked_program> link(const sequence<link_input>& inputs,
                                   const link_options& options = {},
                                   source_location where = source_location::current()) {
  return detail::catch_bad_alloc("gpu::link", where, [&]() -> result<linked_program> {
    const detail::no_cancellation whole;
    linked_program made;
    GPU_TRY(detail::linked_program_access::link(inputs, options, made, where));
    return made;
  });
}

}}  // namespace gpu::v1

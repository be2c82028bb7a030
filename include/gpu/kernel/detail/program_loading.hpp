#pragma once
/// \file
/// Loads compiled and linked programs, and images with options for the driver's compiler.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/kernel/detail/module_state.hpp>
#include <gpu/kernel/jit_options.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Loads the machine code of a program, or its other code if the driver cannot run that.
template <class Program>
inline result<> load_program(const Program& program, CUlibrary& library,
                             source_location where) noexcept {
  if constexpr (requires { bytes_ref(program.lto_ir()); }) {
    const bool nothing_else =
        bytes_ref(program.cubin()).empty() && bytes_ref(program.ptx()).empty();
    if (nothing_else && !bytes_ref(program.lto_ir()).empty()) {
      text_builder out;
      out << "the program is LTO-IR, which the driver cannot load. Link it first: "
             "gpu::link({program}).";
      return fail(refusal(errc::invalid_image, "gpu::module::load", out.finish(), where));
    }
  }
  const last_error_mark before;
  result<> done = load_library(program.cubin(), program.ptx(), library, where);
  if constexpr (requires { program.link_for_driver(where); }) {
    if (is_for_other_device(done)) {
      const text image = GPU_TRY(program.link_for_driver(where));
      if (image.empty()) return done;
      before.restore();
      return load_library(image, library, where);
    }
  }
  return done;
}

/// Gives a module the names of the instances of templates in it.
template <class Program>
inline result<> take_names(module_state* state, const Program& program,
                           source_location where) noexcept {
  bool complete = true;
  program.for_each_name([&](string_ref written, string_ref lowered) {
    complete = complete && state->add_name(written, lowered);
  });
  if (complete) return {};
  return fail(out_of_host_memory_error("gpu::module::load", sizeof(module_name), where));
}

/// Rejects options that contradict each other, or that the driver would misinterpret.
inline result<> check_jit_options(const jit_options& options, source_location where) noexcept {
  constexpr const char* function = "gpu::module::load";
  GPU_TRY(require_enumerator<jit_target>(options.target, "jit_target", function, where));
  GPU_TRY(require_enumerator<jit_fallback>(options.fallback, "jit_fallback", function, where));
  GPU_TRY(
      require_enumerator<jit_cache_mode>(options.cache_mode, "jit_cache_mode", function, where));
  text_builder out;
  if (options.optimization_level < 0 || options.optimization_level > 4) {
    out << options.optimization_level
        << " is not a valid optimization_level; pass 0 (none) to 4 (most).";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                        static_cast<std::uint64_t>(std::int64_t{options.optimization_level}), 4));
  }
  if (options.threads_per_block != 0 && options.target != jit_target::of_context) {
    out << "threads_per_block (" << options.threads_per_block
        << ") applies to the device of the context and cannot be combined with a target. Leave one "
           "of "
           "them out.";
    return fail(
        refusal(errc::invalid_argument, function, out.finish(), where, options.threads_per_block));
  }
  if (options.min_blocks_per_multiprocessor != 0 && options.max_threads_per_block == 0) {
    out << "min_blocks_per_multiprocessor (" << options.min_blocks_per_multiprocessor
        << ") has no effect without a block size. Set max_threads_per_block too.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where,
                        options.min_blocks_per_multiprocessor));
  }
  return {};
}

/// Loads an image with options. Creates `log`, which has to live as long as the library.
inline result<> load_library_with_options(bytes_ref image, const jit_options& options,
                                          CUlibrary& library, jit_log*& log,
                                          source_location where) noexcept {
  GPU_TRY(check_jit_options(options, where));
  log = jit_log::create(options.log_capacity);
  if (log == nullptr) {
    const std::size_t bytes = jit_log::bytes(options.log_capacity);
    return fail(out_of_host_memory_error("gpu::module::load", bytes, where));
  }
  add_jit_options(log->arguments, options);
  result<> done = load_library(image, library, where, log);
  jit_report report;
  log->read(report);
  if (options.report != nullptr) *options.report = report;
  if (done.has_value() || report.errors.empty()) return done;
  text_builder out;
  out << "the driver's log:\n" << report.errors << '\n';
  cuda_error explained = done.error();
  return fail(record_error(std::move(explained).with_details(out.finish())));
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `driver_link`: links with the driver, on machines without nvJitLink, and for code that has to be
/// made for the driver in use.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/link/link_error.hpp>
#include <gpu/compiler/link/plan.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/kernel/jit_options.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the driver's name for a kind of input.
constexpr CUjitInputType driver_link_kind(link_input_kind kind) noexcept {
  switch (kind) {
    case link_input_kind::cubin: return CU_JIT_INPUT_CUBIN;
    case link_input_kind::fatbin: return CU_JIT_INPUT_FATBINARY;
    case link_input_kind::object: return CU_JIT_INPUT_OBJECT;
    case link_input_kind::library: return CU_JIT_INPUT_LIBRARY;
    default: return CU_JIT_INPUT_PTX;
  }
}

/// Returns those options of a link that the driver's compiler has.
inline jit_options driver_link_options(const link_options& options) noexcept {
  jit_options jit;
  jit.max_registers = static_cast<std::uint32_t>(options.max_registers);
  jit.optimization_level = options.optimize ? 4 : 0;
  jit.line_info = options.line_info;
  jit.debug = options.debug;
  jit.verbose = options.verbose;
  jit.compiler_threads = static_cast<std::uint32_t>(options.compiler_threads);
  return jit;
}

/// A link of the driver, with the memory for its logs, which has to outlive it.
struct driver_link_state {
  CUlinkState native = nullptr;
  jit_log* log = nullptr;

  driver_link_state() noexcept = default;
  driver_link_state(const driver_link_state&) = delete;
  driver_link_state& operator=(const driver_link_state&) = delete;
  ~driver_link_state() {
    if (native != nullptr) driver::destroy<&driver::entry_points::link_destroy>(native);
    jit_log::destroy(log);
  }
};

/// Adds the pieces and links them. A context must be current.
inline result<> run_driver_link(driver_link_state& state, const link_plan& plan, text& product,
                                source_location where) {
  using table = driver::entry_points;
  jit_arguments& arguments = state.log->arguments;
  GPU_TRY(driver::call<&table::link_create>(where, arguments.count, &arguments.names[0],
                                            &arguments.values[0], &state.native));
  for (const link_piece& piece : plan.pieces) {
    // For PTX, the driver expects the size to include the terminator.
    const bool is_ptx = piece.kind == link_input_kind::ptx;
    GPU_TRY(driver::call<&table::link_add_data>(
        where, state.native, driver_link_kind(piece.kind),
        static_cast<void*>(const_cast<char*>(piece.bytes.data())),
        piece.bytes.size() + (is_ptx ? 1u : 0u), piece.name.c_str(), 0u, nullptr, nullptr));
  }
  void* image = nullptr;
  std::size_t size = 0;
  GPU_TRY(driver::call<&table::link_complete>(where, state.native, &image, &size));
  product =
      text(static_cast<const char*>(image), size);  // the driver's copy is freed with the link
  if (!product.lost()) return require_linked_code(product, "the driver's linker", where);
  text_builder out;
  out << "the host had no " << size << " bytes left for the linked program. Free host memory.";
  return fail(link_refusal(errc::out_of_host_memory, out, where, size));
}

/// Links with the driver, for the device of the current context, or as `in_any_context` chooses.
inline result<> driver_link(const link_plan& plan, text& product, text& log,
                            source_location where) {
  constexpr std::size_t log_capacity = 65536;
  driver_link_state state;
  state.log = jit_log::create(log_capacity);
  if (state.log == nullptr) {
    text_builder out;
    out << "the host had no " << 2 * log_capacity << " bytes left for logs. Free host memory.";
    return fail(link_refusal(errc::out_of_host_memory, out, where, 2 * log_capacity));
  }
  add_jit_options(state.log->arguments, driver_link_options(plan.options));
  if (plan.options.architecture.kind() == architecture::kind_type::real) {
    const auto number = static_cast<std::uint64_t>(plan.architecture.number());
    const std::uint64_t base = plan.architecture.variant() == 'a'
                                   ? CU_COMPUTE_ACCELERATED_TARGET_BASE
                               : plan.architecture.variant() == 'f' ? CU_COMPUTE_FAMILY_TARGET_BASE
                                                                    : 0;
    state.log->arguments.add(CU_JIT_TARGET, base + number);
  }
  const result<> done =
      driver::in_any_context(where, [&] { return run_driver_link(state, plan, product, where); });
  jit_report report;
  state.log->read(report);
  log = report.errors.empty() ? report.info : report.errors;
  if (done.has_value()) {
    log = required(std::move(log));
    return {};
  }
  const cuda_error& error = done.error();
  return error.domain() == error_domain::driver ? fail(explain_link_error(&error, log, where))
                                                : result<>(fail(error));
}

}}}  // namespace gpu::v1::detail

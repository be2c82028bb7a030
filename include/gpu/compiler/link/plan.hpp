#pragma once
/// \file
/// `link_plan`: the form of each input that a linker gets, and the architecture.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/options/resolve_request.hpp>  // get_compute_capability
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel/detail/image.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// One input in the form that the linker gets.
struct link_piece {
  link_input_kind kind = link_input_kind::unknown;
  text bytes;
  text name;
};

/// A link whose choices are all resolved.
struct link_plan {
  const link_options& options;
  gpu::architecture architecture = {};
  bool link_time_optimization = false;
  sequence<link_piece> pieces = {};
};

inline cuda_error link_refusal(errc code, text_builder& out, source_location where,
                               std::uint64_t asked = 0, std::uint64_t limit = 0) noexcept {
  return refusal(code, "gpu::link", out.finish(), where, asked, limit);
}

/// Fails if a linker reported success and returned 0 bytes.
inline result<> require_linked_code(const text& product, const char* linker,
                                    source_location where) noexcept {
  if (!product.empty()) return {};
  text_builder out;
  out << linker << " reported success and returned no code. Try again, or install another version.";
  return fail(link_refusal(errc::link_failed, out, where));
}

/// Returns whether a cubin can be linked: one that was linked, or compiled on its own, cannot.
inline bool is_relocatable(bytes_ref cubin) noexcept {
  constexpr std::uint16_t relocatable = 1;
  return cubin.size() >= 64 && read_at<std::uint16_t>(cubin, 16) == relocatable;
}

/// Chooses the form of a program for a link.
inline result<> choose_form(const compiled_program& program, gpu::architecture target,
                            link_piece& piece, source_location where) {
  const gpu::architecture made_for = program.architecture();
  const bool same_device = made_for.number() == target.number() &&
                           made_for.variant() == target.variant() &&
                           target.kind() == architecture::kind_type::real;
  if (!program.lto_ir().empty()) {
    piece.kind = link_input_kind::lto_ir;
    piece.bytes = program.lto_ir();
  } else if (same_device && is_relocatable(program.cubin())) {
    piece.kind = link_input_kind::cubin;
    piece.bytes = program.cubin();
  } else {
    piece.kind = link_input_kind::ptx;
    piece.bytes = program.ptx();
  }
  text_builder out;
  if (piece.bytes.empty()) {
    out << piece.name << " is an empty program: it was moved from or never compiled. Pass the "
        << "program that has the code now.";
    return fail(link_refusal(errc::empty_handle, out, where));
  }
  // Code with architecture-specific features runs on that architecture only; other code also on
  // newer ones.
  const bool fits = made_for.number() == target.number() ||
                    (made_for.number() < target.number() && made_for.variant() == '\0');
  if (fits) return {};
  out << piece.name << " was compiled for ";
  write_architecture(out, made_for);
  out << " and cannot be linked for ";
  write_architecture(out, target);
  out << ". Compile it for that architecture or an older one.";
  return fail(link_refusal(errc::link_failed, out, where,
                           static_cast<std::uint64_t>(made_for.number()),
                           static_cast<std::uint64_t>(target.number())));
}

/// Rejects bytes that a linker would misread or, if they are an executable, ignore silently.
inline result<> check_piece(const link_piece& piece, source_location where) {
  text_builder out;
  if (piece.kind == link_input_kind::unknown) {
    out << piece.name << ", of " << piece.bytes.size()
        << " bytes, does not begin like PTX, a cubin, a fatbin, LTO-IR, a host object or an "
           "archive. "
           "Pass one of these, whole and unmodified.";
    return fail(link_refusal(errc::invalid_image, out, where, piece.bytes.size()));
  }
  const bool is_image = piece.kind == link_input_kind::ptx ||
                        piece.kind == link_input_kind::cubin ||
                        piece.kind == link_input_kind::fatbin;
  const result<> sound = is_image ? check_image(piece.bytes, where) : result<>();
  if (!sound.has_value()) {
    out << piece.name << ": " << sound.error().details();
    return fail(link_refusal(errc::invalid_image, out, where, piece.bytes.size()));
  }
  if (piece.kind == link_input_kind::cubin && !is_relocatable(piece.bytes)) {
    out << piece.name
        << " is machine code that cannot be linked again. Compile it with relocatable = true.";
    return fail(link_refusal(errc::link_failed, out, where));
  }
  return {};
}

/// Fills `plan.architecture` and `plan.pieces`.
inline result<> make_plan(const sequence<link_input>& inputs, link_plan& plan,
                          source_location where) {
  text_builder out;
  if (inputs.empty()) {
    out << "there is nothing to link: the list of inputs is empty. Pass at least one.";
    return fail(link_refusal(errc::invalid_argument, out, where, 0, 1));
  }
  const link_options& o = plan.options;
  if (explain_max_registers(out, "link_options", o.max_registers)) {
    return fail(link_refusal(errc::invalid_argument, out, where,
                             static_cast<std::uint64_t>(o.max_registers), 255));
  }
  if (o.compiler_threads < 0) {
    out << "link_options::compiler_threads is " << o.compiler_threads
        << ". Set it to a number of threads, or to 0 for as many as the machine has cores.";
    return fail(link_refusal(errc::invalid_argument, out, where,
                             static_cast<std::uint64_t>(o.compiler_threads)));
  }
  plan.architecture = o.architecture;
  if (plan.architecture.kind() == architecture::kind_type::of_device) {
    int number = 0;
    GPU_TRY(get_compute_capability(plan.architecture.number(), number, where));
    plan.architecture = architecture::sm(number);
  }
  plan.link_time_optimization = o.link_time_optimization;
  for (const link_input& input : inputs) {
    link_piece piece{input.kind(), input.image(), input.name()};
    if (piece.name.empty()) {
      text_builder name;
      name << "input " << plan.pieces.size();
      piece.name = required(name.finish());
    }
    if (piece.kind == link_input_kind::program) {
      GPU_TRY(choose_form(input.program(), plan.architecture, piece, where));
    }
    GPU_TRY(check_piece(piece, where));
    if (piece.kind == link_input_kind::lto_ir) plan.link_time_optimization = true;
    plan.pieces.push_back(piece);
  }
  if (plan.link_time_optimization) return {};
  if (plan.architecture.kind() == architecture::kind_type::virtual_) {
    out << "PTX for ";
    write_architecture(out, plan.architecture);
    out << " can only be made by link-time optimization, but no input is LTO-IR. Compile with "
           "link_time_optimization = true, or link for a real architecture.";
    return fail(link_refusal(errc::not_supported, out, where));
  }
  if (o.fast_math || !o.fused_multiply_add || o.flush_denormals || !o.precise_division ||
      !o.precise_square_root) {
    out << "link_options can change floating-point arithmetic only in LTO-IR, but no input is "
           "LTO-IR. "
           "Set it in compile_options, or compile with link_time_optimization = true.";
    return fail(link_refusal(errc::invalid_argument, out, where));
  }
  return {};
}

}}}  // namespace gpu::v1::detail

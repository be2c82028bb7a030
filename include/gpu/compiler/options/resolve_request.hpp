#pragma once
/// \file
/// `resolve_request`: turns a program and its options into a request that no longer depends on the
/// device or the environment.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/detail/device_in_use.hpp>
#include <gpu/compiler/options/chosen_options.hpp>
#include <gpu/compiler/options/compile_request.hpp>
#include <gpu/compiler/options/known_options.hpp>
#include <gpu/compiler/options/member_options.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/toolkit/header_search.hpp>
#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/compiler/toolkit/nvrtc_facts.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/system/environment.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

/// Sets `number` to the compute capability of a device, 90 for 9.0. If `device` is negative, uses
/// the device in use.
inline result<> get_compute_capability(CUdevice device, int& number, source_location where) {
  using table = driver::entry_points;
  if (device < 0) GPU_TRY(get_device_in_use(device, where));
  int major = 0, minor = 0;
  GPU_TRY(driver::call<&table::device_get_attribute>(
      where, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  GPU_TRY(driver::call<&table::device_get_attribute>(
      where, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  number = major * 10 + minor;
  return {};
}

/// Returns the target for a device: machine code for a GPU, PTX alone for other drivers, such as
/// the CPU driver, which do not run machine code.
inline architecture architecture_for(int number) noexcept {
  return driver::uses_libcuda() ? architecture::sm(number) : architecture::compute(number);
}

/// Resolves `target`: that of the device if NVRTC supports it, else the newest PTX that the device
/// can run. Without NVRTC, that of the device, which may be in the cache.
/// **Errors**: `errc::not_supported`, with the architectures that NVRTC supports; the driver's.
inline result<> resolve_architecture(architecture& target, const library_facts& facts,
                                     source_location where) {
  const sequence<int>& known = facts.architectures;
  int number = target.number();
  const bool of_device = target.kind() == architecture::kind_type::of_device;
  if (of_device) GPU_TRY(get_compute_capability(target.number(), number, where));
  if (!facts.present()) {
    if (of_device) target = architecture_for(number);
    return {};
  }
  int newest = 0;
  for (const int candidate : known) {
    if (candidate == number) {
      if (of_device) target = architecture_for(number);
      return {};
    }
    if (candidate < number && candidate > newest) newest = candidate;
  }
  if (of_device && newest != 0) {
    target = architecture::compute(newest);
    return {};
  }
  text_builder out;
  out << (of_device ? "the device's architecture " : "architecture ") << number
      << " is not one of those that this NVRTC supports: ";
  message_list list(out, " ");
  for (const int candidate : known) {
    if (list.add()) out << candidate;
  }
  list.finish();
  out << (of_device ? ". Install an older CUDA toolkit, which still supports the device."
                    : ". Choose one of these, or install a newer CUDA toolkit.");
  return fail(refusal(errc::not_supported, "gpu::compile", out.finish(), where,
                      static_cast<std::uint64_t>(number)));
}

/// Rejects a zero byte and a byte of 0xff, which UTF-8 never contains: NVRTC takes both for the end
/// of the text, and silently ignores the rest.
inline result<> refuse_end_bytes(const text& source, string_ref name, source_location where) {
  for (const int byte : {0, 0xff}) {
    const void* found = std::memchr(source.data(), byte, source.size());
    if (found == nullptr) continue;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - source.data());
    text_builder out;
    out << '"' << name << "\" has a " << (byte == 0 ? "zero byte" : "byte of 0xff")
        << " at position " << at << " of " << source.size()
        << ", at which NVRTC would stop reading. Remove it.";
    return fail(
        refusal(errc::invalid_argument, "gpu::compile", out.finish(), where, at, source.size()));
  }
  return {};
}

/// Rejects instances without a name. NVRTC's message would name a file that the user did not write.
inline result<> refuse_empty_instances(const program& p, source_location where) {
  for (std::size_t i = 0; i < p.instances().size(); ++i) {
    if (!without_blanks(p.instances()[i]).empty()) continue;
    text_builder out;
    out << "instance " << i << " of \"" << escaped{p.name()}
        << "\" is an empty name. Pass a name such as \"f<float>\", or leave the instance out.";
    return fail(refusal(errc::invalid_argument, "gpu::compile", out.finish(), where, i));
  }
  return {};
}

/// Fills in `request` from its source and `options`.
/// **Errors**: `errc::invalid_argument` for a source, an instance or an option that NVRTC would not
/// take; those of `resolve_architecture`.
inline result<> resolve_request(compile_request& request, const compile_options& options,
                                source_location where) {
  const program& p = request.source;
  GPU_TRY(refuse_end_bytes(p.source(), p.name(), where));
  for (const program_header& header : p.headers()) {
    GPU_TRY(refuse_end_bytes(header.source, header.name, where));
  }
  GPU_TRY(refuse_empty_instances(p, where));
  library_facts facts;
  GPU_TRY(get_nvrtc_facts(facts, where));
  request.compiler = facts.identity;
  request.variables = library_variables<nvrtc::detail::library>();
  const bool newer = facts.major * 1000 + facts.minor * 10 > known_options_version;

  option_chooser chooser(where);
  GPU_TRY(add_members(chooser, options, where));
  GPU_TRY(chooser.add_texts(options.extra, "compile_options::extra", false, newer));
  const char* line = environment_variable("GPU_COMPILE_OPTIONS");
  if (line != nullptr && *line != '\0') {
    GPU_TRY(chooser.add_texts(split_words(line), "GPU_COMPILE_OPTIONS", true, newer));
  }
  request.architecture = chooser.target();
  // The CPU driver's reports name lines of the source. A named architecture is for any driver.
  request.adds_lines = request.architecture.kind() == architecture::kind_type::of_device &&
                       !chooser.decides_lines() && !driver::uses_libcuda();
  GPU_TRY(resolve_architecture(request.architecture, facts, where));
  text_builder target;
  write_architecture(target, request.architecture);
  chooser.choose("--gpu-architecture", required(target.finish()), "gpu::compile");
  if (chooser.find(option_number("--std")) == nullptr) {
    chooser.choose("--std", required(text("c++20")), "gpu::compile");
  }
  GPU_TRY(chooser.finish(request.options, request.folders));
  if (options.toolkit_headers) request.found_folders = found_headers(facts.library).folders;
  return {};
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `compile`: CUDA C++ in, device code out, at run time.

#include <gpu/compiler/nvrtc_compile.hpp>
#include <gpu/driver/calls.hpp>

namespace gpu {

namespace detail {

/// Sets `numbers` to the architectures that NVRTC knows, as in `sm_90`, in ascending order.
template <class Numbers>
inline result<> get_supported_architectures(Numbers& numbers, source_location where) {
  int count = 0;
  GPU_TRY(nvrtc::call<&nvrtc::entry_points::get_num_supported_archs>(where, &count));
  numbers.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  if (numbers.empty()) return {};
  return nvrtc::call<&nvrtc::entry_points::get_supported_archs>(where, numbers.data());
}

/// Sets `number` to the compute capability of a device, 90 for 9.0; of the current context's or
/// else of the first, where `device` is negative.
template <class Builder = text_builder>
inline result<> get_compute_capability(CUdevice device, int& number, source_location where) {
  using table = driver::entry_points;
  if (device < 0) {
    CUcontext current = nullptr;
    GPU_TRY(driver::call<&table::ctx_get_current>(where, &current));
    if (current != nullptr) {
      GPU_TRY(driver::call<&table::ctx_get_device>(where, &device));
    } else {
      GPU_TRY(driver::call<&table::device_get>(where, &device, 0));
    }
  }
  int major = 0, minor = 0;
  GPU_TRY(driver::call<&table::device_get_attribute>(
      where, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  GPU_TRY(driver::call<&table::device_get_attribute>(
      where, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  number = major * 10 + minor;
  return {};
}

/// Settles what to compile for: machine code where NVRTC knows the device, else the newest PTX that
/// the device can run.
template <class Builder = text_builder>
inline result<> settle(architecture& target, source_location where) {
  std::vector<int> known;
  GPU_TRY(get_supported_architectures(known, where));
  int number = target.number();
  const bool of_device = target.kind() == architecture::kind_type::of_device;
  if (of_device) GPU_TRY(get_compute_capability(target.number(), number, where));
  int newest = 0;
  for (const int candidate : known) {
    if (candidate == number) {
      if (of_device) target = architecture::sm(number);
      return {};
    }
    if (candidate < number && candidate > newest) newest = candidate;
  }
  if (of_device && newest != 0) {
    target = architecture::compute(newest);
    return {};
  }
  Builder out;
  out << (of_device ? "the device's architecture " : "architecture ") << number
      << " is not among those that this NVRTC knows:";
  for (const int candidate : known) out << ' ' << candidate;
  out << (of_device ? ". Install an older CUDA toolkit, which still knows the device."
                    : ". Choose one of these, or install a newer CUDA toolkit.");
  return fail(refusal(errc::not_supported, "gpu::compile", out.finish(), where,
                      static_cast<std::uint64_t>(number)));
}

/// The options as NVRTC takes them.
template <class Builder = text_builder>
inline std::vector<text> option_list(const compile_options& options, architecture target) {
  std::vector<text> list;
  const auto add = [&](const auto&... pieces) {
    Builder out;
    (out << ... << pieces);
    list.push_back(out.finish());
  };
  const bool real = target.kind() == architecture::kind_type::real;
  const char variant[] = {target.variant(), '\0'};
  const char* const variant_text = variant;
  add("--gpu-architecture=", real ? "sm_" : "compute_", target.number(), variant_text);
  add("--std=c++", static_cast<int>(options.standard));
  for (const macro_definition& macro : options.defines) {
    add("--define-macro=", macro.name, "=", macro.value);
  }
  if (options.fast_math) add("--use_fast_math");
  if (options.line_info) add("--generate-line-info");
  if (options.debug) add("--device-debug");
  for (const option_text& option : options.extra) list.push_back(option);
  return list;
}

template <class Builder = text_builder>
inline result<> refuse_zero_bytes(const text& source, source_location where) noexcept {
  const void* zero = __builtin_memchr(source.data(), 0, source.size());
  if (zero == nullptr) return {};
  const auto at = static_cast<std::size_t>(static_cast<const char*>(zero) - source.data());
  Builder out;
  out << "the source has a zero byte at " << at << " of " << source.size()
      << ", where NVRTC would stop reading. Take it out.";
  return fail(
      refusal(errc::invalid_argument, "gpu::compile", out.finish(), where, at, source.size()));
}

}  // namespace detail

/// Compiles CUDA C++ for a device, at run time. `source` is a `program` or a string:
///
///     const gpu::compiled_program compiled = GPU_TRY(gpu::compile(source));
///     const gpu::module module = GPU_TRY(gpu::module::load(compiled));
///
/// Where `options` name no architecture, it is that of the thread's current context, or of device
/// 0: machine code where NVRTC knows that architecture, else the newest PTX below it. Where they
/// do, no driver is needed.
/// **Threads**: any number may compile at once. **Errors**: `errc::compile_failed`, with file,
/// line, source line and the whole log; `errc::no_nvrtc`, with where it was looked for;
/// `errc::not_supported` for an architecture that NVRTC does not know; NVRTC's own.
/// **Cost**: from a few milliseconds up; much more where large headers are included.
/// **Capture**: not affected. (nvrtcCompileProgram)
template <class Source>
  requires std::is_convertible_v<const Source&, program>
result<compiled_program> compile(const Source& source, const compile_options& options = {},
                                 source_location where = source_location::current()) {
  const program& p = source;
  GPU_TRY(detail::refuse_zero_bytes(p.source(), where));
  architecture target = options.architecture;
  GPU_TRY(detail::settle(target, where));
  detail::compile_request request{p, target, detail::option_list(options, target), {}, {}};
  for (const option_text& folder : options.include_folders) request.folders.push_back(folder);

  // Between here and the return, the cache is asked first and given what was made.
  auto* state = new (std::nothrow) detail::compiled_state;
  if (state == nullptr) {
    return detail::fail(detail::refusal(
        errc::out_of_host_memory, "gpu::compile",
        text("the host had no memory left for the compiled program. Free host memory."), where,
        sizeof(detail::compiled_state)));
  }
  compiled_program made = detail::compiled_program_access::adopt(state);
  GPU_TRY(detail::nvrtc_compile(request, *state, where));
  return made;
}

}  // namespace gpu

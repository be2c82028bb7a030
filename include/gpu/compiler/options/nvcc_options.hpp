#pragma once
/// \file
/// Options of nvcc that NVRTC does not have, and what to do instead.

#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/string_ref.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// An option of nvcc. A name that ends in `*` stands for all that begin with what is before it.
struct nvcc_option {
  const char* name;
  const char* instead;
};

inline constexpr const char* no_host_code =
    "A program has device code alone, and no host compiler or linker is run. Leave the option out.";
inline constexpr const char* no_files =
    "compile returns PTX and machine code as values (compiled_program::ptx, cubin). Leave the "
    "option "
    "out.";
inline constexpr const char* one_architecture =
    "Set compile_options::architecture; compile once for each architecture.";

inline constexpr nvcc_option nvcc_options[] = {
    {"-O0", "Set compile_options::debug for code that is not optimized."},
    {"-O*", "NVRTC optimizes unless compile_options::debug is set. Leave the option out."},
    {"--optimize*", "NVRTC optimizes unless compile_options::debug is set. Leave the option out."},
    {"-g", "Set compile_options::line_info for source lines, or debug for all debug information."},
    {"--debug",
     "Set compile_options::line_info for source lines, or debug for all debug information."},
    {"-gencode*", one_architecture},
    {"--generate-code*", one_architecture},
    {"-code*", one_architecture},
    {"--gpu-code*", one_architecture},
    {"-m64", "Device code has the 64-bit addresses of the host. Leave the option out."},
    {"-m32", "Device code has the 64-bit addresses of the host. Leave the option out."},
    {"--machine*", "Device code has the 64-bit addresses of the host. Leave the option out."},
    {"-lcu*", "Compile with compile_options::relocatable, and pass libraries to gpu::link."},
    {"-lnv*", "Compile with compile_options::relocatable, and pass libraries to gpu::link."},
    {"-lm", "Compile with compile_options::relocatable, and pass libraries to gpu::link."},
    {"-L*", "Compile with compile_options::relocatable, and pass libraries to gpu::link."},
    {"--library*", "Compile with compile_options::relocatable, and pass libraries to gpu::link."},
    {"-Xcompiler*", no_host_code},
    {"--compiler-options*", no_host_code},
    {"-Xlinker*", no_host_code},
    {"--linker-options*", no_host_code},
    {"-Xnvlink*", "Pass options of the linker to gpu::link."},
    {"-ccbin*", no_host_code},
    {"--compiler-bindir*", no_host_code},
    {"-Xptxas *", "Write the value after an equals sign, in the same string: \"-Xptxas=-v\"."},
    {"--expt-relaxed-constexpr",
     "Set compile_options::default_device, which makes unmarked functions device functions."},
    {"-expt-relaxed-constexpr",
     "Set compile_options::default_device, which makes unmarked functions device functions."},
    {"--extended-lambda", "Lambdas in device code need no option. Leave it out."},
    {"-extended-lambda", "Lambdas in device code need no option. Leave it out."},
    {"--expt-extended-lambda", "Lambdas in device code need no option. Leave it out."},
    {"-ptx", no_files},
    {"--ptx", no_files},
    {"-cubin", no_files},
    {"--cubin", no_files},
    {"-fatbin", no_files},
    {"-c", no_files},
    {"-o*", no_files},
    {"-shared", no_files},
    {"--keep", no_files},
    {"-keep", no_files},
    {"-v", "For what ptxas reports, see compiled_program::resources. Leave the option out."},
    {"--verbose", "For what ptxas reports, see compiled_program::resources. Leave the option out."},
};

/// Returns what to do instead of an option that nvcc has and NVRTC has not; null for any other.
inline const char* instead_of_nvcc_option(string_ref written) noexcept {
  for (const nvcc_option& each : nvcc_options) {
    const string_ref name(each.name);
    const bool open = name[name.size() - 1] == '*';
    if (open ? starts_with(written, name.substring(0, name.size() - 1)) : written == name) {
      return each.instead;
    }
  }
  return nullptr;
}

}}}  // namespace gpu::v1::detail

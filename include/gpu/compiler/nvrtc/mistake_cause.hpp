#pragma once
/// \file
/// Says in a sentence what caused a compiler's first error, where that is known.

#include <gpu/compiler/diagnostics.hpp>
#include <gpu/compiler/nvrtc/include_scan.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/source.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// A name that device code uses, and the header that declares it.
struct header_of_name {
  const char* name;
  const char* header;
};
inline constexpr header_of_name headers_of_names[] = {
    {"INFINITY", "math.h"},
    {"NAN", "math.h"},
    {"HUGE_VAL", "math.h"},
    {"HUGE_VALF", "math.h"},
    {"SIZE_MAX", "stdint.h"},
    {"half", "cuda_fp16.h"},
    {"half2", "cuda_fp16.h"},
    {"__half", "cuda_fp16.h"},
    {"__half2", "cuda_fp16.h"},
    {"__nv_bfloat16", "cuda_bf16.h"},
    {"__nv_bfloat162", "cuda_bf16.h"},
    {"__nv_fp8_e4m3", "cuda_fp8.h"},
    {"__nv_fp8_e5m2", "cuda_fp8.h"},
    {"cuComplex", "cuComplex.h"},
    {"cuFloatComplex", "cuComplex.h"},
    {"cuDoubleComplex", "cuComplex.h"},
    {"cooperative_groups", "cooperative_groups.h"},
    {"nvcuda", "mma.h"}};
/// The same for names of namespace std.
inline constexpr header_of_name headers_of_std_names[] = {{"array", "array"},
                                                          {"complex", "complex"},
                                                          {"size_t", "cstddef"},
                                                          {"int8_t", "cstdint"},
                                                          {"int16_t", "cstdint"},
                                                          {"int32_t", "cstdint"},
                                                          {"int64_t", "cstdint"},
                                                          {"uint8_t", "cstdint"},
                                                          {"uint16_t", "cstdint"},
                                                          {"uint32_t", "cstdint"},
                                                          {"uint64_t", "cstdint"},
                                                          {"ptrdiff_t", "cstddef"},
                                                          {"max", "algorithm"},
                                                          {"min", "algorithm"},
                                                          {"clamp", "algorithm"},
                                                          {"swap", "utility"},
                                                          {"move", "utility"},
                                                          {"pair", "utility"},
                                                          {"tuple", "tuple"},
                                                          {"numeric_limits", "limits"},
                                                          {"optional", "optional"},
                                                          {"span", "span"},
                                                          {"is_same_v", "type_traits"},
                                                          {"enable_if_t", "type_traits"},
                                                          {"sqrt", "cmath"},
                                                          {"exp", "cmath"},
                                                          {"abs", "cmath"},
                                                          {"pow", "cmath"},
                                                          {"sin", "cmath"},
                                                          {"cos", "cmath"}};

inline bool ends_with(string_ref whole, string_ref end) noexcept {
  return whole.size() >= end.size() &&
         whole.substring(whole.size() - end.size(), end.size()) == end;
}

/// Returns the header that declares a name, by the beginnings and ends that its relatives share.
inline const char* header_of_relatives(string_ref name) noexcept {
  if (starts_with(name, "M_")) return "math.h";
  if (starts_with(name, "FLT_") || starts_with(name, "DBL_")) return "float.h";
  if (starts_with(name, "curand")) return "curand_kernel.h";
  const bool has_bits = (starts_with(name, "int") || starts_with(name, "uint")) && name.size() > 4;
  if (has_bits && ends_with(name, "_t")) return "stdint.h";
  const bool is_limit = ends_with(name, "_MAX") || ends_with(name, "_MIN");
  if (is_limit && (starts_with(name, "INT") || starts_with(name, "UINT")) &&
      position_of("T_", name) == name.size())
    return "stdint.h";
  for (const char* type : {"CHAR_", "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "INT_", "UINT_", "LONG_",
                           "ULONG_", "LLONG_", "ULLONG_"}) {
    if (starts_with(name, type) && (is_limit || ends_with(name, "_BIT"))) return "limits.h";
  }
  return nullptr;
}

/// Returns what a message has between quotation marks behind `words`; empty without them.
inline string_ref quoted_behind(string_ref words, string_ref message) noexcept {
  const std::size_t at = position_of(words, message);
  if (at == message.size()) return {};
  const string_ref rest = without_front(message, at + words.size());
  return rest.substring(0, position_of("\"", rest));
}

/// Writes which header an unknown name needs.
inline bool explain_unknown_name(text_builder& out, string_ref message) {
  const auto write = [&](const char* scope, string_ref name, const char* header) {
    out << scope << name << " needs <" << header << ">: write #include <" << header << ">.\n";
    return true;
  };
  const string_ref member = quoted_behind("namespace \"std\" has no member \"", message);
  for (const header_of_name& each : headers_of_std_names) {
    if (member == each.name) return write("std::", member, each.header);
  }
  const string_ref name = quoted_behind("identifier \"", message);
  if (name.empty() || !ends_with(message, "is undefined")) return false;
  for (const header_of_name& each : headers_of_names) {
    if (name == each.name) return write("", name, each.header);
  }
  const char* const header = header_of_relatives(name);
  return header != nullptr && write("", name, header);
}

/// Returns whether a header of the toolkit declares functions of the host.
inline bool is_host_header(string_ref name) noexcept {
  for (const char* each :
       {"cuda.h", "curand.h", "nvrtc.h", "nvJitLink.h", "nccl.h", "nvml.h", "cupti.h", "cudaGL.h",
        "cuda_gl_interop.h", "cudaProfiler.h", "cuda_profiler_api.h"}) {
    if (name == each) return true;
  }
  for (const char* library : {"cublas", "cufft", "cusparse", "cusolver", "cudnn", "cutensor", "npp",
                              "nvjpeg", "nvtx3/", "thrust/"}) {
    if (starts_with(name, library)) return true;
  }
  return false;
}

/// Returns whether a header of CUB has, or includes, the functions that the host calls.
inline bool is_host_part_of_cub(string_ref name) noexcept {
  return name == "cub/cub.cuh" || starts_with(name, "cub/device/");
}

/// Writes what to do about a header for the host that the program includes, if the first error is
/// in `file`, which is not the program's own.
inline bool explain_host_declarations(text_builder& out, const program& p, string_ref file) {
  bool known = false;
  const auto look = [&](include_name include) {
    const string_ref name = include.name;
    if (known || (!is_host_header(name) && !is_host_part_of_cub(name))) return;
    known = true;
    if (is_host_part_of_cub(name)) {
      out << '<' << name
          << "> is for host code: include <cub/block/...> or <cub/warp/...> instead of <" << name
          << ">, such as <cub/block/block_reduce.cuh>.\n";
    } else {
      out << '<' << escaped{name} << "> is for host code: remove it from device code.\n";
    }
  };
  if (file == string_ref(p.name())) return false;
  for (const source_part& part : p.parts()) {
    if (file == string_ref(part.name)) return false;
  }
  for (const program_header& header : p.headers()) {
    if (file == string_ref(header.name)) return false;
  }
  include_scan(p.source()).for_each(look);
  for (const program_header& header : p.headers()) include_scan(header.source).for_each(look);
  return known;
}

/// Writes the cause of the first error of a program, if it is known.
inline void explain_cause(text_builder& out, const program& p, const logged_message& mistake) {
  if (mistake.line == 1 && starts_with(mistake.source_line, "\xef\xbb\xbf")) {
    out << escaped{mistake.file}
        << " begins with a byte order mark, which NVRTC does not skip: save it without one.\n";
    return;
  }
  if (explain_unknown_name(out, mistake.message)) return;
  explain_host_declarations(out, p, mistake.file);
}

}}}  // namespace gpu::v1::detail

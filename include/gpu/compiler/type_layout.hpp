#pragma once
/// \file
/// `get_type_layout`: the size and the alignment that a type has in device code.

#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The space that objects of a type take, in bytes. (Pointers have the same size on host and
/// device: `sizeof(void*)`.)
struct type_layout {
  std::size_t size = 0;
  std::size_t alignment = 0;
  friend constexpr bool operator==(type_layout, type_layout) noexcept = default;
};

namespace detail {

/// Reads the extent of an array that PTX declares. Returns 0 if PTX declares no such array.
inline std::size_t extent_in_ptx(const text& ptx, const char* array) noexcept {
  const char* at = __builtin_strstr(ptx.c_str(), array);
  if (at == nullptr) return 0;
  at += __builtin_strlen(array);
  std::size_t extent = 0;
  for (; is_digit(*at); ++at) extent = extent * 10 + static_cast<std::size_t>(*at - '0');
  return extent;
}

}  // namespace detail

/// Returns the layout of a type of CUDA C++, such as `"float3"`, in device code. `preamble` comes
/// before it: includes and definitions.
///
///     gpu::get_type_layout("particle", "struct particle { float x; double y; };");
///
/// Nothing runs on a device: the type is compiled, and the PTX has the answer. The program is found
/// in the cache the next time.
/// **Errors**: those of `compile`; `errc::not_supported` if NVRTC writes PTX in another way.
/// **Threads**: any. **Capture**: not affected. (nvrtcCompileProgram)
inline result<type_layout> get_type_layout(string_ref type, string_ref preamble = {},
                                           compile_options options = {},
                                           source_location where = source_location::current()) {
  constexpr const char* function = "gpu::get_type_layout";
  detail::text_builder source;
  source << preamble << "\nextern \"C\" __device__ char gpu_type_size[sizeof(" << type
         << ")], gpu_type_alignment[alignof(" << type << ")];\n";
  const text whole = source.finish();
  if (whole.lost())
    return detail::fail(detail::out_of_host_memory_error(function, preamble.size(), where));
  options.link_time_optimization = false;
  const compiled_program made = GPU_TRY(compile(string_ref(whole), options, where));
  const text& ptx = made.ptx();
  const type_layout found{detail::extent_in_ptx(ptx, " gpu_type_size["),
                          detail::extent_in_ptx(ptx, " gpu_type_alignment[")};
  if (found.size != 0 && found.alignment != 0) return found;
  return detail::fail(detail::refusal(
      errc::not_supported, function,
      text("the PTX does not declare the two arrays whose extents are size and alignment. Use an "
           "NVRTC from 12.0 to 13."),
      where));
}

}}  // namespace gpu::v1

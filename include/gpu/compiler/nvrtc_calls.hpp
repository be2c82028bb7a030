#pragma once
/// \file
/// Checked NVRTC calls.

#include <gpu/compiler/library_calls.hpp>
#include <gpu/compiler/nvrtc_entry_points.hpp>

namespace gpu::nvrtc {

/// Calls one function of the table in force and turns what it says into a `result`.
/// **Errors**: NVRTC's code with the call's name; or why there is no such function.
template <auto Member, class... Arguments>
result<> call(source_location where, Arguments... arguments) noexcept {
  return gpu::detail::library_call<detail::library, Member>(where, arguments...);
}

using unique_program =
    unique_handle<nvrtc_program,
                  gpu::detail::library_destroy<detail::library, &entry_points::destroy_program>>;

/// Sets `contents` to one of the texts or images that a program gives.
template <auto Size, auto Get>
result<> get_text(nvrtc_program program, text& contents, source_location where) noexcept {
  return gpu::detail::library_text<detail::library, Size, Get>(program, contents, where);
}

/// A text of NVRTC without the zero, or in logs the several, that end it.
inline text without_terminator(const text& t) noexcept {
  std::size_t size = t.size();
  while (size > 0 && t.data()[size - 1] == '\0') --size;
  return size == t.size() ? t : text(t.data(), size);
}

}  // namespace gpu::nvrtc

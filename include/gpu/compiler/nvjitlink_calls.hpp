#pragma once
/// \file
/// Checked calls of nvJitLink.

#include <gpu/compiler/library_calls.hpp>
#include <gpu/compiler/nvjitlink_entry_points.hpp>

namespace gpu::nvjitlink {

/// Whether there is an nvJitLink to link with.
template <class Library = detail::library> bool is_available() noexcept {
  return gpu::detail::library_table<Library>().create != nullptr;
}

/// Calls one function of the table in force and turns what it says into a `result`.
/// **Errors**: nvJitLink's code with the call's name; or why there is no such function.
template <auto Member, class... Arguments>
result<> call(source_location where, Arguments... arguments) noexcept {
  return gpu::detail::library_call<detail::library, Member>(where, arguments...);
}

using unique_link =
    unique_handle<nvjitlink_handle,
                  gpu::detail::library_destroy<detail::library, &entry_points::destroy>>;

/// Sets `contents` to one of the texts or images that a link gives.
template <auto Size, auto Get>
result<> get_text(nvjitlink_handle link, text& contents, source_location where) noexcept {
  return gpu::detail::library_text<detail::library, Size, Get>(link, contents, where);
}

}  // namespace gpu::nvjitlink

#pragma once
/// \file
/// Checked calls of nvJitLink: the one place where its codes become `result`s.

#include <gpu/compiler/nvjitlink_entry_points.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/unique_handle.hpp>

namespace gpu::nvjitlink {

namespace detail {

/// The name of the function behind a member of the table.
template <class Function> const char* name_of(Function entry_points::* member) noexcept {
  static constexpr entry_points none{};
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&(none.*member)) -
                                               reinterpret_cast<const char*>(&none));
  return entry_point_list[offset / sizeof(void (*)())].name;
}

template <class Builder = gpu::detail::text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error unavailable_error(const entry_points& table,
                                                                 const char* call,
                                                                 source_location where) noexcept {
  Builder out;
  const char* detail = table.unavailable_detail != nullptr ? table.unavailable_detail : "unknown";
  const bool too_old = table.unavailable == errc::nvjitlink_too_old;
  if (too_old) {
    out << "gpu needs nvJitLink 12.0 or newer, but " << detail;
  } else {
    out << "the library nvJitLink was not found; looked in: " << detail;
  }
  out << ". Install the CUDA toolkit, or pip install nvidia-nvjitlink, and set CUDA_PATH to its "
         "folder or GPU_NVJITLINK to the library's path.";
  return gpu::detail::refusal(too_old ? errc::nvjitlink_too_old : errc::no_nvjitlink, call,
                              out.finish(), where, too_old ? 12000 : 0);
}

}  // namespace detail

/// Whether there is an nvJitLink to link with.
inline bool is_available() noexcept { return current_entry_points().create != nullptr; }

/// Calls one function of the table in force and turns what it says into a `result`.
/// **Errors**: nvJitLink's code with the call's name; or why there is no such function.
template <auto Member, class... Arguments>
result<> call(source_location where, Arguments... arguments) noexcept {
  const entry_points& table = current_entry_points();
  const auto function = table.*Member;
  const char* name = detail::name_of(Member);
  if (function == nullptr) {
    return gpu::detail::fail(detail::unavailable_error(table, name, where));
  }
  const int code = function(arguments...);
  if (code != 0) {
    return gpu::detail::fail(cuda_error(error_domain::nvjitlink, code, name, where));
  }
  return {};
}

/// Destroys a link of nvJitLink.
struct destroy_link {
  void operator()(nvjitlink_handle link) const noexcept {
    const auto function = current_entry_points().destroy;
    if (function != nullptr) function(&link);
  }
};

using unique_link = unique_handle<nvjitlink_handle, destroy_link>;

/// Sets `contents` to one of the texts or images that a link gives: asks for the size first. A
/// terminator is not counted.
template <auto Size, auto Get, class Builder = gpu::detail::text_builder>
result<> get_text(nvjitlink_handle link, text& contents, source_location where) noexcept {
  std::size_t size = 0;
  GPU_TRY(call<Size>(where, link, &size));
  contents = text();
  if (size == 0) return {};
  auto* characters = static_cast<char*>(std::malloc(size));
  if (characters == nullptr) {
    Builder out;
    out << "the host had no " << size << " bytes left for what was linked. Free host memory.";
    return gpu::detail::fail(gpu::detail::refusal(errc::out_of_host_memory, detail::name_of(Get),
                                                  out.finish(), where, size));
  }
  const result<> got = call<Get>(where, link, characters);
  if (got.has_value()) contents = text(characters, size);
  std::free(characters);
  return got;
}

}  // namespace gpu::nvjitlink

#pragma once
/// \file
/// The name that an element type of the host has in generated device code.

#include <gpu/compiler/instance.hpp>
#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/type_name.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// An element type, as generated code sees it.
struct element_type {
  string_ref name;        ///< in device code: `float`, `gpu::complex<double>`, `my::particle`
  string_ref definition;  ///< text that defines a structure of the user's; else empty
  std::uint32_t bytes;
  std::uint32_t alignment;
};

template <class T> constexpr void write_element_name(name_writer& out) noexcept {
  write_type<T>(out);
}

/// Types of other libraries have counterparts in `gpu/device/numbers.cuh`, the header of generated
/// code, because their own headers take longer to compile than the kernel.
constexpr string_ref device_counterpart(string_ref name) noexcept {
  if (name == "std::complex<float>") return "gpu::complex<float>";
  if (name == "std::complex<double>") return "gpu::complex<double>";
  if (name == "__half") return "gpu::half";
  if (name == "__nv_bfloat16") return "gpu::bfloat16";
  return name;
}

template <class T> constexpr string_ref definition_of() noexcept {
  if constexpr (requires { string_ref(device_name<T>::definition); }) {
    return device_name<T>::definition;
  } else {
    return {};
  }
}

/// Returns the description of `T`, which is a number, `std::complex`, `__half`, `__nv_bfloat16`, a
/// vector type of CUDA's, or a structure with a `device_name` that has a `definition`.
template <class T> constexpr element_type element_type_of() noexcept {
  static_assert(std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>,
                "elements of generated kernels are trivially copyable objects");
  using name = device_text<write_element_name<T>>;
  return {device_counterpart(string_ref(name::text.characters, name::size)), definition_of<T>(),
          static_cast<std::uint32_t>(sizeof(T)), static_cast<std::uint32_t>(alignof(T))};
}

}}}  // namespace gpu::v1::detail

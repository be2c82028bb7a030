#pragma once
/// \file
/// Texts, errors and shapes in `std::format`, where the standard library has it.

#include <gpu/core/error.hpp>                // IWYU pragma: keep
#include <gpu/core/text.hpp>                 // IWYU pragma: keep
#include <gpu/memory/detail/shape_text.hpp>  // IWYU pragma: keep

#include <version>  // IWYU pragma: keep

#if defined(__cpp_lib_format)

#  include <format>
#  include <string_view>

/// Formats a text as a string, such as what `gpu::to_text` returns.
template <> struct std::formatter<gpu::text, char> : std::formatter<std::string_view, char> {
  auto format(const gpu::text& words, auto& context) const {
    return std::formatter<std::string_view, char>::format({words.data(), words.size()}, context);
  }
};

/// Formats an error as its message.
template <> struct std::formatter<gpu::cuda_error, char> : std::formatter<gpu::text, char> {
  auto format(const gpu::cuda_error& error, auto& context) const {
    return std::formatter<gpu::text, char>::format(error.message(), context);
  }
};

/// Formats a shape as NumPy does: `(3, 4)`.
template <int Rank>
struct std::formatter<gpu::shape<Rank>, char> : std::formatter<gpu::text, char> {
  auto format(const gpu::shape<Rank>& extents, auto& context) const {
    gpu::detail::text_builder out;
    gpu::detail::write_shape(out, extents);
    return std::formatter<gpu::text, char>::format(out.finish(), context);
  }
};

#endif

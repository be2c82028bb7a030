#pragma once
/// Small modules around a statement, for the tests of the parser.

#include <string>
#include <string_view>

#include <nogpu/ptx/parser.hpp>

namespace ptx_test {

inline constexpr std::string_view module_head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A kernel with a few registers of every type, then `body`, which starts in line 6.
inline std::string kernel(std::string_view body, std::string_view declarations = "") {
  std::string text(module_head);
  text += declarations;
  text +=
      "\n.visible .entry k(.param .u64 p, .param .u32 n) { .reg .pred %p<10>; .reg .b16 %rs<10>; "
      ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<10>; .reg .u32 u; "
      ".reg .b128 %q<3>; .shared .align 8 .b8 sh[64]; .local .align 8 .b8 lo[64]; .param .b32 "
      "pp;\n";
  text += body;
  text += "\nret;\n}\n";
  return text;
}

inline nogpu::ptx::parse_result parse_kernel(std::string_view body,
                                             std::string_view declarations = "") {
  return nogpu::ptx::parse(kernel(body, declarations));
}

/// The message of a refusal, or an empty text.
inline std::string refusal_of(const nogpu::ptx::parse_result& result) {
  return result.error.has_value() ? result.error->text : std::string();
}

}  // namespace ptx_test

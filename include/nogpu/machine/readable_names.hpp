// Names in a module as reports write them.
#pragma once

#include <gpu/core/detail/declared_name.hpp>

#include <cstddef>
#include <string>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Returns the declaration behind a name in the module, `scale(float*)` for `_Z5scalePf`.
inline std::string readable(const std::string& name) {
  const gpu::text declared = gpu::detail::demangled(name.c_str());
  return declared.empty() ? name : std::string(declared.c_str());
}
/// Returns the name of a kernel without its parameters, as `module::kernel` takes it.
inline std::string readable_kernel(const std::string& name) {
  gpu::detail::text_builder out;
  gpu::detail::split_symbol(name.c_str()).write_short(out);
  return out.finish().c_str();
}
/// Returns the name of a variable without the function that it is in.
inline std::string readable_variable(const std::string& name) {
  const std::string declared = readable(name);
  const std::size_t scope = declared.rfind("::");
  return scope == std::string::npos ? declared : declared.substr(scope + 2);
}

}}}  // namespace nogpu::v1::machine::detail

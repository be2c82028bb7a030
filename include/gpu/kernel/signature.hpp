#pragma once
/// \file
/// Compares the parameters that C++ states with those that a kernel really has.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>

namespace gpu::detail {

/// A parameter as the module describes it.
struct parameter_place {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// A parameter as C++ states it.
struct stated_parameter {
  string_ref type;
  std::size_t offset = 0;
  std::size_t size = 0;
  /// Another size that would do: a span may be passed for a pointer where nothing is typed. Or 0.
  std::size_t pointer_size = 0;
  std::size_t alignment = 1;
};

template <std::size_t Count> struct stated_parameters {
  stated_parameter list[Count == 0 ? 1 : Count];
  static constexpr std::size_t count = Count;
};

/// The parameters of `__global__ void f(P...)`, laid out as the compiler does it on the device.
template <class... P> constexpr stated_parameters<sizeof...(P)> lay_out() noexcept {
  stated_parameters<sizeof...(P)> stated{
      {stated_parameter{type_name_of<P>(), 0, sizeof(P), 0, alignof(P)}...}};
  std::size_t end = 0;
  for (std::size_t i = 0; i < sizeof...(P); ++i) {
    stated_parameter& p = stated.list[i];
    p.offset = (end + p.alignment - 1) / p.alignment * p.alignment;
    end = p.offset + p.size;
  }
  return stated;
}

template <class... P> inline constexpr stated_parameters<sizeof...(P)> layout_of = lay_out<P...>();

/// Whether stated parameters fit those of the module, at the same offsets and with the same sizes.
inline bool fits(const stated_parameter* stated, std::size_t stated_count,
                 const parameter_place* actual, std::size_t actual_count) noexcept {
  if (stated_count != actual_count) return false;
  for (std::size_t i = 0; i < actual_count; ++i) {
    if (stated[i].offset != actual[i].offset || stated[i].size != actual[i].size) return false;
  }
  return true;
}

/// The same where only the sizes are stated, as in a launch without types.
inline bool fits_sizes(const stated_parameter* stated, std::size_t stated_count,
                       const parameter_place* actual, std::size_t actual_count) noexcept {
  if (stated_count != actual_count) return false;
  for (std::size_t i = 0; i < actual_count; ++i) {
    const bool as_pointer = stated[i].pointer_size != 0 && stated[i].pointer_size == actual[i].size;
    if (stated[i].size != actual[i].size && !as_pointer) return false;
  }
  return true;
}

/// The two lists side by side, with the lines marked that differ.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error signature_error(
    const char* function, string_ref kernel, const stated_parameter* stated,
    std::size_t stated_count, const parameter_place* actual, std::size_t actual_count,
    bool with_offsets, source_location where) noexcept {
  Builder out;
  const auto plural = [](std::size_t n) { return n == 1 ? " parameter" : " parameters"; };
  out << "kernel " << kernel << " has " << actual_count << plural(actual_count) << ", and "
      << stated_count << (with_offsets ? " are stated" : " are passed")
      << (stated_count == actual_count ? ", but they differ" : "") << ":\n";
  const std::size_t lines = stated_count > actual_count ? stated_count : actual_count;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t start = out.size();
    const auto pad_to = [&](std::size_t column) {
      do out << ' ';
      while (out.size() < start + column);
    };
    out << "  #" << i;
    pad_to(8);
    if (i < actual_count) {
      out << "has " << actual[i].size << " bytes";
      if (with_offsets) out << " at offset " << actual[i].offset;
    } else {
      out << "has none";
    }
    pad_to(38);
    bool same = i < actual_count && i < stated_count;
    if (i < stated_count) {
      out << (with_offsets ? "stated " : "passed ") << stated[i].type << ", " << stated[i].size
          << " bytes";
      if (with_offsets) out << " at offset " << stated[i].offset;
      if (stated[i].pointer_size != 0) out << " (or " << stated[i].pointer_size << " as a pointer)";
      if (same) {
        same = stated[i].size == actual[i].size || stated[i].pointer_size == actual[i].size;
        if (with_offsets) same = same && stated[i].offset == actual[i].offset;
      }
    } else {
      out << (with_offsets ? "stated none" : "passed none");
    }
    out << (same ? "\n" : "   <-- differs\n");
  }
  out << (with_offsets
              ? "State the types of the __global__ function's parameters, in their order.\n"
              : "Pass what the __global__ function takes, in its order and in its types.\n");
  return refusal(errc::argument_mismatch, function, out.finish(), where, stated_count,
                 actual_count);
}

}  // namespace gpu::detail

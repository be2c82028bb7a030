#pragma once
/// \file
/// Compares the parameters that C++ states with those of the kernel in the module.

#include <gpu/core/detail/demangled.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>

namespace gpu::inline v0::detail {

/// A parameter as the module describes it.
struct module_parameter {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// A parameter as C++ states it.
struct stated_parameter {
  string_ref type;
  std::size_t offset = 0;
  std::size_t size = 0;
  /// Another size that fits, or 0: an untyped kernel takes a span for a pointer.
  std::size_t pointer_size = 0;
  std::size_t alignment = 1;
};

template <std::size_t Count> struct stated_parameters {
  stated_parameter list[Count == 0 ? 1 : Count];
  static constexpr std::size_t count = Count;
};

/// Returns the parameters of `__global__ void f(P...)` with the offsets that nvcc gives them.
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

/// Returns whether stated parameters have the offsets and sizes of the module's.
inline bool same_layout(const stated_parameter* stated, std::size_t stated_count,
                        const module_parameter* actual, std::size_t actual_count) noexcept {
  if (stated_count != actual_count) return false;
  for (std::size_t i = 0; i < actual_count; ++i) {
    if (stated[i].offset != actual[i].offset || stated[i].size != actual[i].size) return false;
  }
  return true;
}

/// Returns whether stated parameters have the sizes of the module's, for an untyped kernel.
inline bool same_sizes(const stated_parameter* stated, std::size_t stated_count,
                       const module_parameter* actual, std::size_t actual_count) noexcept {
  if (stated_count != actual_count) return false;
  for (std::size_t i = 0; i < actual_count; ++i) {
    const bool as_pointer = stated[i].pointer_size != 0 && stated[i].pointer_size == actual[i].size;
    if (stated[i].size != actual[i].size && !as_pointer) return false;
  }
  return true;
}

/// The words around the two lists: for a look-up that states types, or for a launch that passes
/// values.
struct signature_words {
  const char* function;
  const char* given;      ///< "stated" or "passed"
  const char* are_given;  ///< with its verb
  const char* cure;
  bool with_offsets;
};
inline constexpr signature_words stated_words{
    "gpu::module::kernel", "stated", " are stated",
    "State the parameter types of the __global__ function, in order.\n", true};
inline constexpr signature_words passed_words{
    "gpu::launch", "passed", " are passed",
    "Pass arguments of the parameter types of the __global__ function, in order.\n", false};

/// Writes a table: pads the cells of each line to the columns.
class table_writer {
 public:
  explicit table_writer(text_builder& out) noexcept : out_{out}, start_{out.size()} {}
  void end_line(const char* remark = "") noexcept {
    out_ << remark << '\n';
    start_ = out_.size();
  }
  void pad_to(std::size_t column) noexcept {
    while (out_.size() < start_ + column) out_ << ' ';
  }

 private:
  text_builder& out_;
  std::size_t start_;
};

/// Writes `   8 bytes at offset 16`, with the size right-aligned.
inline void write_size_and_offset(text_builder& out, std::size_t size, std::size_t offset,
                                  bool with_offset) noexcept {
  for (std::size_t power = 1000; power > 1 && size < power; power /= 10) out << ' ';
  out << size << (size == 1 ? " byte" : " bytes");
  if (with_offset) out << " at offset " << offset;
}

/// Returns the error for parameters that do not fit: those of the module and those of C++, side by
/// side, with the first difference marked. `asked` is the kernel's name as the user wrote it,
/// `name` as it is in the module.
inline cuda_error signature_error(const signature_words& words, string_ref asked, const text& name,
                                  const stated_parameter* stated, std::size_t stated_count,
                                  const module_parameter* actual, std::size_t actual_count,
                                  source_location where) noexcept {
  text_builder out;
  out << "kernel " << asked << " has " << actual_count
      << (actual_count == 1 ? " parameter" : " parameters") << ", and " << stated_count
      << words.are_given << (stated_count == actual_count ? ", but they differ" : "") << ":\n";
  std::size_t type_width = 7;
  for (std::size_t i = 0; i < stated_count; ++i) {
    if (stated[i].type.size() > type_width) type_width = stated[i].type.size();
  }
  constexpr std::size_t kernel_column = 6;
  const std::size_t given_column = kernel_column + (words.with_offsets ? 27 : 14);
  table_writer table(out);
  out << "   #";
  table.pad_to(kernel_column);
  out << "kernel";
  table.pad_to(given_column);
  out << words.given;
  table.end_line();
  bool marked = false;
  for (std::size_t i = 0; i < (stated_count > actual_count ? stated_count : actual_count); ++i) {
    out << (i + 1 < 10 ? "   " : "  ") << i + 1;
    table.pad_to(kernel_column);
    if (i < actual_count) {
      write_size_and_offset(out, actual[i].size, actual[i].offset, words.with_offsets);
    } else {
      out << "nothing";
    }
    table.pad_to(given_column);
    bool same = i < actual_count && i < stated_count;
    if (i < stated_count) {
      out << stated[i].type;
      table.pad_to(given_column + type_width + 2);
      write_size_and_offset(out, stated[i].size, stated[i].offset, words.with_offsets);
      if (stated[i].pointer_size != 0) out << " (or " << stated[i].pointer_size << " as a pointer)";
      if (same) {
        same = stated[i].size == actual[i].size || stated[i].pointer_size == actual[i].size;
        if (words.with_offsets) same = same && stated[i].offset == actual[i].offset;
      }
    } else {
      out << "nothing";
    }
    table.end_line(same || marked ? "" : "   <-- the first difference");
    marked = marked || !same;
  }
  const text declared = demangled(name.c_str());
  if (!declared.empty())
    out << "Its declaration, from its name in the module: " << declared << ".\n";
  out << words.cure;
  return refusal(errc::argument_mismatch, words.function, out.finish(), where, stated_count,
                 actual_count);
}

}  // namespace gpu::inline v0::detail

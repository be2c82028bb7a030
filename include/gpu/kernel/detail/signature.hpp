#pragma once
/// \file
/// Compares the parameters that C++ states with those that a kernel really has.

#include <gpu/core/detail/demangled.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>

namespace gpu::inline v0::detail {

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

/// The words around the two lists: for a look-up that states types, and for a launch that passes
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
    "State the types of the __global__ function's parameters, in their order.\n", true};
inline constexpr signature_words passed_words{
    "gpu::launch", "passed", " are passed",
    "Pass what the __global__ function takes, in its order and in its types.\n", false};

/// Writes into columns: each line is a text, and each cell begins where its column does.
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

/// Writes `   8 bytes at offset 16`: the sizes end in one column.
inline void write_place(text_builder& out, std::size_t size, std::size_t offset,
                        bool with_offset) noexcept {
  for (std::size_t power = 1000; power > 1 && size < power; power /= 10) out << ' ';
  out << size << (size == 1 ? " byte" : " bytes");
  if (with_offset) out << " at offset " << offset;
}

/// The parameters of a kernel that do not fit, as the module has them and as C++ gives them, side
/// by side, with the first difference marked.
/// `asked` is the kernel's name as the user wrote it, `name` as the module has it.
[[gnu::cold, gnu::noinline]] inline cuda_error signature_error(
    const signature_words& words, string_ref asked, const text& name,
    const stated_parameter* stated, std::size_t stated_count, const parameter_place* actual,
    std::size_t actual_count, source_location where) noexcept {
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
      write_place(out, actual[i].size, actual[i].offset, words.with_offsets);
    } else {
      out << "nothing";
    }
    table.pad_to(given_column);
    bool same = i < actual_count && i < stated_count;
    if (i < stated_count) {
      out << stated[i].type;
      table.pad_to(given_column + type_width + 2);
      write_place(out, stated[i].size, stated[i].offset, words.with_offsets);
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
  if (!declared.empty()) out << "Its name in the module says: " << declared << ".\n";
  out << words.cure;
  return refusal(errc::argument_mismatch, words.function, out.finish(), where, stated_count,
                 actual_count);
}

}  // namespace gpu::inline v0::detail

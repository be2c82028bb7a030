#pragma once
/// \file
/// Compares the parameters that C++ states with those of the kernel in the module.

#include <gpu/core/detail/declared_name.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/kernel_argument.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/kernel/detail/parameter_type.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// A parameter as the module describes it.
struct module_parameter {
  std::size_t offset = 0;
  std::size_t size = 0;
  parameter_type type{};  ///< unknown unless the kernel's name is mangled
};

/// A parameter as C++ states it.
struct stated_parameter {
  string_ref type;
  std::size_t size = 0;
  /// Another size that fits, or 0: an untyped kernel takes a span for a pointer.
  std::size_t pointer_size = 0;
  std::size_t alignment = 1;
  parameter_type known{};
};

template <std::size_t Count> struct stated_parameters {
  stated_parameter list[Count == 0 ? 1 : Count];
  static constexpr std::size_t count = Count;
};

/// The parameters of `__global__ void f(P...)`.
template <class... P>
inline constexpr stated_parameters<sizeof...(P)> stated_list = {
    {stated_parameter{type_name_of<P>(), sizeof(P), 0, alignof(P), parameter_type_of<P>()}...}};

/// Where the parameters of a kernel are, one after the other. A device aligns them from an address
/// on that is a multiple of 16 only: one that is aligned to more, such as a tensor map, may be
/// anywhere within its alignment.
class parameter_places {
 public:
  /// Returns where the next parameter is, if its counterpart in the module is at `actual`.
  std::size_t next(const stated_parameter& stated, std::size_t actual) noexcept {
    const bool may_differ = stated.alignment > 16 && actual - end_ < stated.alignment;
    const std::size_t place =
        may_differ ? actual : (end_ + stated.alignment - 1) & ~(stated.alignment - 1);
    end_ = place + stated.size;
    return place;
  }

 private:
  std::size_t end_ = 0;
};

/// Returns whether a parameter has the size of the module's and passes for its type.
inline bool fits(const stated_parameter& stated, const module_parameter& actual) noexcept {
  const bool as_pointer = stated.pointer_size != 0 && stated.pointer_size == actual.size;
  return (stated.size == actual.size || as_pointer) && may_pass(stated.known, actual.type);
}
inline bool all_fit(const stated_parameter* stated, std::size_t stated_count,
                    const module_parameter* actual, std::size_t actual_count,
                    bool with_offsets) noexcept {
  if (stated_count != actual_count) return false;
  parameter_places places;
  for (std::size_t i = 0; i < actual_count; ++i) {
    if (!fits(stated[i], actual[i])) return false;
    if (with_offsets && places.next(stated[i], actual[i].offset) != actual[i].offset) return false;
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

/// Writes a line of a table: pads its cells to the columns.
class table_writer {
 public:
  explicit table_writer(text_builder& line) noexcept : line_{line} {}
  void end_line(const char* remark = "") noexcept { line_ << remark << '\n'; }
  void pad_to(std::size_t column) noexcept {
    while (line_.size() < column) line_ << ' ';
  }

 private:
  text_builder& line_;
};

/// Writes `   8 bytes at offset 16`, with the size right-aligned.
inline void write_size_and_offset(text_builder& out, std::size_t size, std::size_t offset,
                                  bool with_offset) noexcept {
  for (std::size_t power = 1000; power > 1 && size < power; power /= 10) out << ' ';
  out << size << (size == 1 ? " byte" : " bytes");
  if (with_offset) out << " at offset " << offset;
}

/// The types of a kernel's parameters, as its mangled name declares them.
class declared_types {
 public:
  explicit declared_types(const declared_name& kernel) noexcept : parameters_{kernel.parameters} {}

  /// Returns the next type; empty if it is not known.
  string_ref next() noexcept {
    const string_ref all(parameters_);
    const std::size_t first = at_ < all.size() ? at_ : all.size();
    const std::size_t end = find_outside(all, first, ",");
    at_ = end + 2;
    return all.substring(first, end - first);
  }
  std::size_t widest() const noexcept {
    declared_types types = *this;
    std::size_t width = 0;
    for (string_ref type = types.next(); !type.empty(); type = types.next()) {
      if (type.size() > width) width = type.size();
    }
    return width;
  }

 private:
  text parameters_;
  std::size_t at_ = 0;
};

/// Returns the error for parameters that do not fit: those of the module and those of C++, side by
/// side, with the first difference marked. `asked` is the kernel's name as the user wrote it,
/// `name` as it is in the module.
inline cuda_error signature_error(const signature_words& words, string_ref asked, const text& name,
                                  const stated_parameter* stated, std::size_t stated_count,
                                  const module_parameter* actual, std::size_t actual_count,
                                  source_location where) noexcept {
  text_builder out;
  out << "kernel " << escaped{asked} << " has " << actual_count
      << (actual_count == 1 ? " parameter" : " parameters") << ", and " << stated_count
      << words.are_given << (stated_count == actual_count ? ", but they differ" : "") << ":\n";
  std::size_t type_width = 7;
  for (std::size_t i = 0; i < stated_count; ++i) {
    if (stated[i].type.size() > type_width) type_width = stated[i].type.size();
  }
  declared_types types(split_symbol(name.c_str()));
  const std::size_t declared_width = types.widest();
  constexpr std::size_t kernel_column = 6;
  const std::size_t size_column = kernel_column + (declared_width == 0 ? 0 : declared_width + 2);
  const std::size_t given_column = size_column + (words.with_offsets ? 27 : 14);
  text_builder line;
  table_writer table(line);
  line << "   #";
  table.pad_to(kernel_column);
  line << "kernel";
  table.pad_to(given_column);
  line << words.given;
  table.end_line();
  out << line.finish();
  parameter_places places;
  bool marked = false;
  constexpr std::size_t most_rows = 20;
  message_list rows(out, "", most_rows);
  for (std::size_t i = 0; i < (stated_count > actual_count ? stated_count : actual_count); ++i) {
    line << (i + 1 < 10 ? "   " : "  ") << i + 1;
    table.pad_to(kernel_column);
    if (i < actual_count) {
      line << types.next();
      table.pad_to(size_column);
      write_size_and_offset(line, actual[i].size, actual[i].offset, words.with_offsets);
    } else {
      line << "nothing";
    }
    table.pad_to(given_column);
    bool same = i < actual_count && i < stated_count;
    if (i < stated_count) {
      const std::size_t place = places.next(stated[i], same ? actual[i].offset : 0);
      same =
          same && fits(stated[i], actual[i]) && (!words.with_offsets || place == actual[i].offset);
      line << stated[i].type;
      table.pad_to(given_column + type_width + 2);
      write_size_and_offset(line, stated[i].size, place, words.with_offsets);
      if (stated[i].pointer_size != 0)
        line << " (or " << stated[i].pointer_size << " as a pointer)";
    } else {
      line << "nothing";
    }
    const bool first_difference = !same && !marked;
    table.end_line(first_difference ? "   <-- the first difference" : "");
    marked = marked || !same;
    const text row = line.finish();
    if (rows.add() || first_difference) out << row;
  }
  rows.finish();
  if (rows.count() > most_rows) out << '\n';
  out << words.cure;
  return refusal(errc::argument_mismatch, words.function, out.finish(), where, stated_count,
                 actual_count);
}

}}}  // namespace gpu::v1::detail

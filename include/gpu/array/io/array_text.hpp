#pragma once
/// \file
/// Rows of numbers in brackets, as NumPy prints an array.

#include <gpu/array/io/host_numbers.hpp>
#include <gpu/array/io/number_text.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/detail/view_layout.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The defaults of NumPy's `get_printoptions`.
inline constexpr std::size_t most_printed_elements = 1000;
inline constexpr std::size_t printed_edge = 3;
inline constexpr int printed_line = 75;

/// Returns the extents that are printed of an array with these extents: of a long axis of a large
/// array only the first and the last elements are.
inline view_layout printed_part(const view_layout& whole) noexcept {
  view_layout part = whole;
  if (whole.size() <= most_printed_elements) return part;
  for (int axis = 0; axis < part.rank; ++axis) {
    if (part.extents[axis] > 2 * printed_edge) part.extents[axis] = 2 * printed_edge;
  }
  return part;
}

class array_printer {
 public:
  /// `shape` is that of the array; `numbers` are those of its `printed_part`, in C order.
  array_printer(const view_layout& shape, const host_numbers& numbers) noexcept
      : shape_{shape}, part_{printed_part(shape)}, column_{numbers} {}

  text print() noexcept {
    std::size_t next = 0;
    if (shape_.size() == 0) return text("[]");
    print_axis(0, next);
    return out_.finish();
  }

 private:
  /// Prints from the next element on those that the axes from `axis` on count.
  void print_axis(int axis, std::size_t& next) noexcept {
    put("[", 1);
    const std::size_t extent = part_.extents[axis];
    const bool last = axis + 1 == shape_.rank;
    const bool shortened = extent != shape_.extents[axis];
    for (std::size_t i = 0; i < extent; ++i) {
      if (shortened && i == printed_edge) {
        if (last) {
          put_word("...", 3);
          blanks_ += 1;
        } else {
          put("...", 3);
          separate(axis);
        }
      }
      if (last) {
        number_word word;
        column_.write(word, next++);
        put_word(word.characters, word.size);
        if (i + 1 < extent) blanks_ += 1;
      } else {
        print_axis(axis + 1, next);
        if (i + 1 < extent) separate(axis);
      }
    }
    put("]", 1);
  }

  /// Begins a new line with the next element of an axis, after blank lines for the inner axes.
  void separate(int axis) noexcept {
    for (int lines = shape_.rank - axis - 1; lines > 0; --lines) begin_line();
    blanks_ = axis + 1;
  }
  void begin_line() noexcept {
    out_ << '\n';
    written_ = blanks_ = 0;
  }

  /// Prints an element, on a new line if it would not fit.
  void put_word(const char* characters, int count) noexcept {
    const int indent = shape_.rank;
    // The brackets that close later need room, too.
    const int width = printed_line - shape_.rank;
    if (length_of_line() + count > width && length_of_line() > indent) {
      begin_line();
      blanks_ = indent;
    }
    put(characters, count);
  }
  int length_of_line() const noexcept { return written_ + blanks_; }

  /// Prints characters; blanks at their end are printed when something follows on the line.
  void put(const char* characters, int count) noexcept {
    for (; blanks_ > 0; --blanks_, ++written_) out_ << ' ';
    int end = count;
    while (end > 0 && characters[end - 1] == ' ') --end;
    out_.append(characters, static_cast<std::size_t>(end));
    written_ += end;
    blanks_ = count - end;
  }

  view_layout shape_, part_;
  number_column column_;
  text_builder out_;
  int written_ = 0;  ///< characters of this line
  int blanks_ = 0;   ///< at its end, not written yet
};

}}}  // namespace gpu::v1::detail

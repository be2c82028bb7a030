#pragma once
/// \file
/// `to_svg`: the costs of kernels as a picture.

#include <nogpu/cost_text.hpp>
#include <nogpu/kernel_costs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nogpu { inline namespace v1 {

namespace detail {

/// Returns how many bytes of UTF-8 the first character has; 0 if they are none.
inline std::size_t character_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  const std::size_t length = first < 0x80    ? 1
                             : first < 0xc2  ? 0
                             : first < 0xe0  ? 2
                             : first < 0xf0  ? 3
                             : first <= 0xf4 ? 4
                                             : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates, what is past the last code point, and what XML does not allow.
  if (length == 3 && ((first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) >= 0xa0) ||
                      (first == 0xef && at(1) == 0xbf && at(2) >= 0xbe)))
    return 0;
  if (length == 4 && ((first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) >= 0x90)))
    return 0;
  return length;
}

/// Returns up to `most` characters as text of XML, with a dot dot for the rest. What is no
/// character becomes a question mark.
inline std::string picture_text(std::string_view text, std::size_t most) {
  std::string out, end;  // `end`: the last two characters that fit, if more follow
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(character.size());
    if (++count > most) {
      if (most < 3) return {};
      return out + "..";
    }
    std::string& to = count + 2 > most ? end : out;
    switch (character[0]) {
      case '&': to += "&amp;"; break;
      case '<': to += "&lt;"; break;
      case '>': to += "&gt;"; break;
      case '"': to += "&quot;"; break;
      default:
        if (length == 0) {
          to += '?';
        } else if (static_cast<unsigned char>(character[0]) < 0x20 && character[0] != '\n') {
          to += ' ';
        } else {
          to += character;
        }
    }
  }
  return out + end;
}

/// Positions in the picture, in pixels.
inline constexpr double picture_margin = 10, picture_width = 1200, frame_height = 18,
                        first_frame = 52, character_width = 6.6;

/// Returns a box of the picture with its label and what it says under the pointer. `depth`: 0 for
/// all kernels, which are below the others.
inline std::string frame_text(double from, double width, int depth, const char* color,
                              std::string_view label, std::string_view title) {
  const double y = first_frame + (3 - depth) * (frame_height + 1);
  const std::string left = fixed_number(picture_margin + from, 3), wide = fixed_number(width, 3);
  const auto fits = static_cast<std::size_t>(std::max(width - 6, 0.0) / character_width);
  std::string out = "<g><title>" + picture_text(title, title.size()) + "</title><rect x=\"" + left +
                    "\" y=\"" + fixed_number(y, 0) + "\" width=\"" + wide + "\" height=\"" +
                    fixed_number(frame_height, 0) + "\" fill=\"" + color +
                    "\" stroke=\"white\" stroke-width=\"0.5\"/>";
  if (const std::string shown = picture_text(label, fits); !shown.empty())
    out += "<text x=\"" + fixed_number(picture_margin + from + 3, 3) + "\" y=\"" +
           fixed_number(y + 13, 0) + "\">" + shown + "</text>";
  return out + "</g>\n";
}

inline const char* color_of(const cost_counts& line) {
  if (line.uncoalesced != 0 || line.bank_conflicts() != 0) return "#e0735c";
  return line.divergent_branches != 0 ? "#c39bd8" : "#eec25a";
}
inline const char* color_of(instruction_kind kind) {
  if (kind <= instruction_kind::conversion || kind == instruction_kind::matrix) return "#8db4e2";
  return kind >= instruction_kind::global_load && kind <= instruction_kind::texture ? "#93c793"
                                                                                    : "#c8c8c8";
}

/// Returns what a frame says under the pointer.
inline std::string frame_title(const std::string& name, const cost_counts& counts,
                               std::uint64_t all) {
  std::string out =
      name + "\n" + counted_noun(counts.instructions(), "instruction", "instructions") +
      " of warps, " +
      fixed_number(100 * static_cast<double>(counts.instructions()) / static_cast<double>(all), 1) +
      " %; " + fixed_number(counts.mean_lanes(), 1) + " lanes on average";
  if (counts.global_accesses != 0)
    out += "\nglobal memory: " + std::to_string(counts.sectors) + " sectors, " +
           std::to_string(counts.least_sectors) + " needed";
  if (counts.shared_accesses != 0)
    out += "\nshared memory: " + std::to_string(counts.wavefronts) + " wavefronts, " +
           std::to_string(counts.least_wavefronts) + " needed";
  if (counts.branches != 0)
    out += "\nbranches: " + std::to_string(counts.divergent_branches) + " of " +
           std::to_string(counts.branches) + " divergent";
  return out + "\n" + mix_text(counts);
}

}  // namespace detail

/// Returns a picture in SVG: boxes as wide as the share of the instructions that warps executed.
/// All kernels are at the bottom, on them each kernel, on that the lines of its source, and on
/// those the kinds of instructions. A box says more under the pointer. Lines are red if they have
/// accesses that are not coalesced or bank conflicts, else violet if they have divergent branches.
inline std::string to_svg(const cost_report& report) {
  using namespace detail;
  const std::uint64_t all = report.total().instructions();
  const double bottom = first_frame + 4 * (frame_height + 1) + picture_margin;
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
      fixed_number(picture_width + 2 * picture_margin, 0) + "\" height=\"" +
      fixed_number(bottom, 0) +
      "\" font-family=\"monospace\" font-size=\"11\">\n<rect x=\"0\" y=\"0\" width=\"100%\" "
      "height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"10\" y=\"20\" font-size=\"14\">Instructions of warps by kernel, line and "
      "kind</text>\n<text x=\"10\" y=\"38\">Lines are red with accesses that are not coalesced or "
      "bank conflicts, violet with divergent branches.</text>\n";
  if (all == 0) return out + "</svg>\n";
  const auto width_of = [all](std::uint64_t count) {
    return picture_width * static_cast<double>(count) / static_cast<double>(all);
  };
  const std::string heading = "all kernels: " + counted_noun(all, "instruction", "instructions");
  out += frame_text(0, picture_width, 0, "#b0b8c4", heading,
                    frame_title("all kernels", report.total(), all));
  std::uint64_t before = 0;  // instructions to the left
  for (const kernel_costs& kernel : report.kernels) {
    const cost_counts total = kernel.total();
    const std::uint64_t count = total.instructions();
    if (count == 0) continue;
    out += frame_text(width_of(before), width_of(count), 1, "#9fb0c8", kernel.name,
                      frame_title(kernel.name, total, all));
    for (const line_costs& line : kernel.lines) {
      const std::string place = line.place();
      out += frame_text(width_of(before), width_of(line.counts.instructions()), 2,
                        color_of(line.counts), place, frame_title(place, line.counts, all));
      for (std::size_t i = 0; i < instruction_kinds; ++i) {
        const std::uint64_t of_kind = line.counts.by_kind[i];
        if (of_kind == 0) continue;
        const auto kind = static_cast<instruction_kind>(i);
        const std::string name = name_of(kind);
        std::string title = place;
        title.append(": ").append(std::to_string(of_kind)).append(" ").append(name);
        out += frame_text(width_of(before), width_of(of_kind), 3, color_of(kind), name, title);
        before += of_kind;
      }
    }
  }
  return out + "</svg>\n";
}

}}  // namespace nogpu::v1

#pragma once
/// \file
/// `to_svg`: the memory of a caching allocator as a picture.

#include <gpu/measure/detail/number_text.hpp>
#include <gpu/measure/detail/svg.hpp>
#include <gpu/measure/memory_blocks.hpp>

#include <gpu/core/sequence.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns a number of bytes with its unit, such as `1.5 MiB`.
inline std::string bytes_text(std::size_t bytes) {
  constexpr struct {
    std::size_t bytes;
    const char* name;
  } units[] = {{std::size_t{1} << 30, " GiB"}, {std::size_t{1} << 20, " MiB"}, {1024, " KiB"}};
  for (const auto& unit : units) {
    if (bytes >= unit.bytes)
      return number_text(static_cast<double>(bytes) / static_cast<double>(unit.bytes), 4) +
             unit.name;
  }
  return std::to_string(bytes) + " bytes";
}

/// Returns a block as a box that says more under the pointer.
inline std::string memory_box(const caching_block& block, double x, double y, double width) {
  constexpr double height = 16;
  return "<g><title>" + bytes_text(block.bytes) + (block.used ? " in use" : " free") +
         " from byte " + std::to_string(block.address - block.segment) + "</title><rect x=\"" +
         fixed_text(x, 2) + "\" y=\"" + fixed_text(y, 0) + "\" width=\"" + fixed_text(width, 2) +
         "\" height=\"" + fixed_text(height, 0) + "\" fill=\"" +
         (block.used ? "#4878a8" : "#e4e8ec") + "\" stroke=\"white\" stroke-width=\"0.5\"/></g>\n";
}

}  // namespace detail

/// Returns a picture in SVG of the blocks of a `caching_allocator` or `caching_pinned_allocator`:
/// a row for each segment, as long as its share of the largest one, with blocks in use dark and
/// free ones pale. On the left are the number of the stream or lane, on the right the size of the
/// segment and its share in use. A block says its size and position under the pointer.
inline std::string to_svg(const sequence<caching_block>& blocks) {
  constexpr double left = 60, length = 640, top = 46, row = 22;
  // A segment is a run of blocks.
  struct segment {
    std::size_t first, end, bytes, used;
  };
  sequence<segment> segments;
  std::size_t most = 1, held = 0, used = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i == 0 || blocks[i].segment != blocks[i - 1].segment) segments.push_back({i, i, 0, 0});
    segment& last = segments.back();
    last.end = i + 1;
    last.bytes += blocks[i].bytes;
    if (blocks[i].used) last.used += blocks[i].bytes;
    most = std::max(most, last.bytes);
    held += blocks[i].bytes;
    if (blocks[i].used) used += blocks[i].bytes;
  }
  std::stable_sort(segments.begin(), segments.end(), [&](const segment& a, const segment& b) {
    return blocks[a.first].lane < blocks[b.first].lane;
  });
  const double bottom = top + row * static_cast<double>(segments.size()) + 10;
  std::string out = detail::svg_head(left + length + 190, bottom);
  out += detail::chart_text(
      10, 22, "font-size=\"14\"",
      detail::bytes_text(used) + " of " + detail::bytes_text(held) +
          " in use. Each row is a segment of a stream or lane, with its number.");
  double y = top;
  for (const segment& each : segments) {
    const unsigned long long lane = blocks[each.first].lane;
    out += detail::chart_text(left - 10, y + 12, "text-anchor=\"end\"",
                              lane == 0 ? std::string("any") : std::to_string(lane));
    const double scale = length / static_cast<double>(most);
    for (std::size_t i = each.first; i < each.end; ++i) {
      const double from = static_cast<double>(blocks[i].address - blocks[i].segment);
      out += detail::memory_box(blocks[i], left + from * scale, y,
                                static_cast<double>(blocks[i].bytes) * scale);
    }
    out += detail::chart_text(
        left + static_cast<double>(each.bytes) * scale + 10, y + 12, "",
        detail::bytes_text(each.bytes) + ", " +
            detail::fixed_text(
                100 * static_cast<double>(each.used) / static_cast<double>(each.bytes), 0) +
            " % in use");
    y += row;
  }
  return out + "</svg>\n";
}

}}  // namespace gpu::v1

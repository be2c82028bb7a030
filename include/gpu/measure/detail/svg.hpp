#pragma once
/// \file
/// The parts that pictures in SVG share.

#include <gpu/measure/detail/number_text.hpp>

#include <string>
#include <string_view>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns characters as XML has them between tags and in attributes.
inline std::string xml_text(std::string_view characters) {
  std::string out;
  for (const char c : characters) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// Returns the beginning of a picture: its size in pixels, its font, a white ground.
inline std::string svg_head(double width, double height) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + fixed_text(width, 0) +
         "\" height=\"" + fixed_text(height, 0) +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
}

inline std::string chart_line(double x1, double y1, double x2, double y2, const char* style) {
  return "<line x1=\"" + fixed_text(x1, 1) + "\" y1=\"" + fixed_text(y1, 1) + "\" x2=\"" +
         fixed_text(x2, 1) + "\" y2=\"" + fixed_text(y2, 1) + "\" " + style + "/>\n";
}
inline std::string chart_text(double x, double y, const char* style, std::string_view characters) {
  return "<text x=\"" + fixed_text(x, 1) + "\" y=\"" + fixed_text(y, 1) + "\" " + style + '>' +
         xml_text(characters) + "</text>\n";
}

}}}  // namespace gpu::v1::detail

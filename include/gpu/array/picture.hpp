#pragma once
/// \file
/// Pictures: `save_png` and `save_ppm` draw the elements of an array, `load_ppm` reads the pixels
/// of a file.

#include <gpu/array/array.hpp>
#include <gpu/array/color_map.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/detail/fetch.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/host_bytes.hpp>
#include <gpu/array/io/host_numbers.hpp>
#include <gpu/array/io/picture_levels.hpp>
#include <gpu/array/io/png_writer.hpp>
#include <gpu/array/io/ppm_header.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// The range and the colors of a picture of numbers.
struct picture_options {
  double low = __builtin_nan("");   ///< gets the first color; the smallest finite element if NaN
  double high = __builtin_nan("");  ///< gets the last color; the largest finite element if NaN
  color_map colors = color_map::gray;
};

namespace detail {

/// Satisfied by matrices of real numbers, and by arrays of (height, width, 3) bytes.
template <class A>
concept picture_viewable =
    viewable<A> && ((viewed_rank<const A&> == 2 && ordered_number<value_of_view<A>>) ||
                    (viewed_rank<const A&> == 3 && std::same_as<value_of_view<A>, unsigned char>));

/// Fails unless this is a picture, with colors if it has three axes, that has at least one pixel.
template <int Rank>
result<> require_picture(const char* function, const shape<Rank>& extents,
                         const picture_options& options, source_location where) noexcept {
  text_builder out;
  const ieee_number low = options.low, high = options.high;
  constexpr std::size_t most = 0x7fffffff;
  const bool fits = extents[0] - 1 < most && extents[1] - 1 < most;  // also those of 0
  if (!fits || (Rank == 3 && extents[Rank - 1] != 3)) {
    out << "the shape ";
    write_shape(out, extents);
    out << " is not that of a picture. Pass (height, width)"
        << (Rank == 3 ? ", or (height, width, 3) for colors" : "") << ", with 1 to " << most
        << " pixels in each direction.";
  } else if (!low.is_finite() && !low.is_nan()) {
    out << "low is infinite. Pass a number, or leave it out for the smallest element.";
  } else if (!high.is_finite() && !high.is_nan()) {
    out << "high is infinite. Pass a number, or leave it out for the largest element.";
  } else if (low >= high) {
    out << "low is not less than high. Pass the numbers that get the first and the last color.";
  } else if (static_cast<unsigned>(options.colors) >
             static_cast<unsigned>(color_map::blue_white_red)) {
    out << static_cast<int>(options.colors)
        << " is not a valid gpu::color_map. Use one of its enumerators.";
  } else {
    return {};
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

/// A picture of a call: its elements on the host.
struct picture_call {
  const picture_options& options;
  host_numbers numbers;
  std::size_t width, height;
  bool colored;  ///< the elements are red, green and blue

  // `memory` has room for a block of PNG and for a row.
  result<> write_png(file_sink& file, unsigned char* memory) const noexcept;
  result<> write_ppm(file_sink& file, unsigned char* memory) const noexcept;
};

inline result<> picture_call::write_png(file_sink& file, unsigned char* memory) const noexcept {
  png_writer png(file, memory);
  unsigned char* const row = memory + png_writer::block_bytes;
  const auto w = static_cast<std::uint32_t>(width), h = static_cast<std::uint32_t>(height);
  if (colored) {
    GPU_TRY(png.begin(w, h, png_pixels::rgb, nullptr, false));
    for (std::size_t y = 0; y < height; ++y)
      GPU_TRY(png.row(numbers.data + y * width * 3, width * 3));
    return png.finish();
  }
  const picture_levels levels(numbers, options.low, options.high);
  rgb palette[256];
  levels.get_colors(options.colors, palette);
  const bool gray = options.colors == color_map::gray && !levels.has_nan();
  GPU_TRY(
      png.begin(w, h, gray ? png_pixels::gray : png_pixels::palette, palette, levels.has_nan()));
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) row[x] = levels.level(y * width + x);
    GPU_TRY(png.row(row, width));
  }
  return png.finish();
}

inline result<> picture_call::write_ppm(file_sink& file, unsigned char* memory) const noexcept {
  const picture_levels levels(colored ? host_numbers{} : numbers, options.low, options.high);
  const bool gray = !colored && options.colors == color_map::gray && !levels.has_nan();
  text_builder words;
  words << (gray ? "P5\n" : "P6\n") << width << ' ' << height << "\n255\n";
  GPU_TRY(file.write(words.finish()));
  if (colored) return file.write(numbers.data, numbers.count);
  rgb palette[256];
  levels.get_colors(options.colors, palette);
  for (std::size_t y = 0; y < height; ++y) {
    std::size_t at = 0;
    for (std::size_t x = 0; x < width; ++x) {
      const unsigned char level = levels.level(y * width + x);
      const rgb& color = palette[level];
      memory[at++] = gray ? level : color.red;
      if (gray) continue;
      memory[at++] = color.green;
      memory[at++] = color.blue;
    }
    GPU_TRY(file.write(memory, at));
  }
  return {};
}

/// Copies the elements to the host, and writes the file by `write`.
template <class A>
result<> save_picture(const char* function, const stream_ref& stream, const A& a, string_ref path,
                      const picture_options& options, source_location where,
                      result<> (picture_call::*write)(file_sink&, unsigned char*) const noexcept) {
  using element = value_of_view<A>;
  constexpr int rank = viewed_rank<const A&>;
  const array_view<const element, rank> view = array_view_of(a);
  GPU_TRY(require_readable(function, stream, array_view_of(a), a, where));
  GPU_TRY(require_picture(function, view.shape(), options, where));
  const auto name = GPU_TRY(name_file(function, path, where));
  const auto elements = GPU_TRY(fetch(function, stream, view, where));
  const auto memory =
      GPU_TRY(host_bytes::create(function, png_writer::block_bytes + 3 * view.extent(1), where));
  file_sink file(name);
  GPU_TRY(file.open());
  const picture_call call{options,
                          {elements.data(), view.size(), number_format_of<element>()},
                          view.extent(1),
                          view.extent(0),
                          rank == 3};
  GPU_TRY((call.*write)(file, memory.data()));
  return file.commit();
}

}  // namespace detail

/// Draws a matrix of numbers as a PNG file, a pixel for each element, row 0 at the top: numbers
/// from `low` to `high` get the colors of a map, and NaN is transparent. An array of (height,
/// width, 3) bytes is written as red, green and blue.
///
///     GPU_TRY(gpu::save_png(stream, a, "a.png", {.colors = gpu::color_map::cubehelix}));
///
/// The file gets its name when it is complete.
/// **Ordering**: waits for the stream. **Errors**: `errc::invalid_argument` for an array without
/// pixels, `low` that is not less than `high`, infinite ones; `errc::file_error` with the path and
/// the reason; the reason of a faulty view; `errc::empty_handle`; out of host memory. **Cost**: all
/// elements are copied to the host. The file has about a byte for each element: it is not
/// compressed. **Capture**: not allowed.
template <detail::picture_viewable A>
result<> save_png(const stream_ref& stream, const A& a, string_ref path,
                  const picture_options& options = {},
                  source_location where = source_location::current()) {
  return detail::save_picture("gpu::save_png", stream, a, path, options, where,
                              &detail::picture_call::write_png);
}

/// The same as a PPM file; as a PGM file if the colors are gray. NaN is white, which takes a PPM
/// file.
template <detail::picture_viewable A>
result<> save_ppm(const stream_ref& stream, const A& a, string_ref path,
                  const picture_options& options = {},
                  source_location where = source_location::current()) {
  return detail::save_picture("gpu::save_ppm", stream, a, path, options, where,
                              &detail::picture_call::write_ppm);
}

/// Makes an array of (height, width, 3) bytes of the pixels of a PPM file, or of (height, width, 1)
/// of a PGM file; both of the binary kind, P6 and P5, with at most 255 levels, which become 0 to
/// 255. Of several pictures in a file it reads the first.
/// **Ordering**: waits for the stream. **Errors**: `errc::file_error` with the reason, and the byte
/// if the file is damaged; out of host or device memory. **Capture**: not allowed.
inline result<array<unsigned char, 3>> load_ppm(
    const stream_ref& stream, string_ref path,
    source_location where = source_location::current()) noexcept {
  constexpr const char* function = "gpu::load_ppm";
  GPU_TRY(detail::require_waiting(function, stream, where));
  const auto name = GPU_TRY(detail::name_file(function, path, where));
  const auto file = GPU_TRY(detail::open_named(name));
  const auto header = GPU_TRY(detail::read_ppm_header(name, file));
  const auto pixels = GPU_TRY(detail::host_bytes::create(function, header.bytes(), where));
  const std::size_t got =
      GPU_TRY(detail::read_named(name, file, header.begin, pixels.data(), header.bytes()));
  for (std::size_t i = 0; i < got; ++i) {
    const unsigned level = pixels.data()[i];
    if (level > header.highest)
      return detail::fail(name.damaged(header.begin + i, "a level is above the highest one"));
    pixels.data()[i] =
        static_cast<unsigned char>((level * 255 + header.highest / 2) / header.highest);
  }
  if (got < header.bytes())
    return detail::fail(name.damaged(header.begin + got, "the file ends before the last pixel"));
  const shape<3> extents{header.height, header.width, header.samples};
  auto made = GPU_TRY((gpu::empty<unsigned char>(stream, extents, where)));
  GPU_TRY(detail::upload(stream, pixels.data(), detail::copy_end_of(made), 1, where));
  return made;
}

}}  // namespace gpu::v1

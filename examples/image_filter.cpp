// Filters a picture on the GPU: every pixel becomes a weighted sum of itself and its neighbors.
// Reads a binary PPM or PGM file, or draws a picture of its own, and writes a PPM or PNG file.

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/array.hpp>
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

using picture = gpu::array<unsigned char, 3>;  // height, width, red, green and blue
using pixels = const unsigned char*;
using filter = gpu::elementwise<pixels, pixels, pixels, pixels, pixels, pixels, pixels, pixels,
                                pixels, unsigned char*>;

struct known_filter {
  std::string name, formula;  // of the pixel e and its neighbors: a b c, d e f, g h k
};
const known_filter known[] = {
    {"blur", "(a + 2 * b + c + 2 * d + 4 * e + 2 * f + g + 2 * h + k) / 16.0f"},
    {"sharpen", "5 * e - b - d - f - h"},
    {"edges", "hypotf(c - a + 2 * (f - d) + k - g, g - a + 2 * (h - b) + k - c)"},
    {"emboss", "128 + k - a"},
};

gpu::result<picture> draw(gpu::stream_ref stream) {
  // Rings in three colors around three centers.
  return gpu::from_function<unsigned char>(
      stream, gpu::shape{240, 320, 3},
      "128 + 127 * cosf(hypotf(i0 - 60.0f * (i2 + 1), i1 - 80.0f * (i2 + 1)) * 0.15f)");
}

gpu::result<> apply(gpu::stream_ref stream, const filter& neighbors, picture& image) {
  // A margin of one pixel repeats those at the rim.
  const auto framed =
      GPU_TRY(gpu::pad(stream, image, {{1, 1}, {1, 1}, {0, 0}}, gpu::pad_mode::edge));
  // All pixels' neighbors in one direction: the picture, moved by a pixel.
  const auto moved = [&](int y, int x) {
    const auto height = static_cast<std::ptrdiff_t>(image.extent(0));
    const auto width = static_cast<std::ptrdiff_t>(image.extent(1));
    return framed(gpu::slice(y, y + height), gpu::slice(x, x + width));
  };
  return neighbors(stream, moved(0, 0), moved(0, 1), moved(0, 2), moved(1, 0), moved(1, 1),
                   moved(1, 2), moved(2, 0), moved(2, 1), moved(2, 2), image);
}

bool ends_with(const std::string& name, const std::string& end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

gpu::result<> save(gpu::stream_ref stream, const picture& image, const std::string& path) {
  // Gray pictures have one sample for each pixel: a matrix.
  const gpu::picture_options as_it_is{.low = 0, .high = 255};
  const auto gray = image(gpu::all(), gpu::all(), 0);
  if (ends_with(path, ".png")) {
    return image.extent(2) == 3 ? gpu::save_png(stream, image, path)
                                : gpu::save_png(stream, gray, path, as_it_is);
  }
  return image.extent(2) == 3 ? gpu::save_ppm(stream, image, path)
                              : gpu::save_ppm(stream, gray, path, as_it_is);
}

gpu::result<> run(const known_filter& chosen, int times, const std::string& from,
                  const std::string& to) {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto image = GPU_TRY(from.empty() ? draw(stream) : gpu::load_ppm(stream, from));
  const std::string operation =
      "const float a = nw[i], b = north[i], c = ne[i], d = west[i], e = here[i], f = east[i], "
      "g = sw[i], h = south[i], k = se[i]; const float level = " +
      chosen.formula + "; out[i] = fminf(fmaxf(level, 0), 255) + 0.5f;";
  const auto neighbors = GPU_TRY(filter::create(
      "nw, north, ne, west, here, east, sw, south, se, out", operation, {.name = chosen.name}));
  for (int k = 0; k < times; ++k) GPU_TRY(apply(stream, neighbors, image));
  GPU_TRY(save(stream, image, to));
  std::printf("%s: %zu x %zu pixels, %s %d time%s\n", to.c_str(), image.extent(1), image.extent(0),
              chosen.name.c_str(), times, times == 1 ? "" : "s");
  return {};
}

int usage(const char* program) {
  std::fprintf(stderr,
               "usage: %s FILTER [--times N] [PICTURE.ppm] RESULT\n"
               "FILTER is blur, sharpen, edges or emboss, N from 1 to 1000; RESULT ends with .ppm, "
               ".pgm or .png.\n",
               program);
  return 2;
}

int main(int count, char** arguments) {
  const known_filter* chosen = nullptr;
  long times = 1;
  std::string files[2];
  int names = 0;
  bool valid = count > 2;
  for (int k = 1; k < count && valid; ++k) {
    const std::string argument = arguments[k];
    if (k == 1) {
      for (const known_filter& each : known) {
        if (each.name == argument) chosen = &each;
      }
      valid = chosen != nullptr;
    } else if (argument == "--times") {
      char* end = nullptr;
      times = ++k < count ? std::strtol(arguments[k], &end, 10) : 0;
      valid = times >= 1 && times <= 1000 && *end == '\0';
    } else {
      valid = names < 2;
      if (valid) files[names++] = argument;
    }
  }
  if (!valid || names == 0) return usage(arguments[0]);
  if (names == 1) std::swap(files[0], files[1]);
  gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::result<> done = run(*chosen, static_cast<int>(times), files[0], files[1]);
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  if (std::fflush(stdout) != 0) {
    std::perror("standard output");
    return 1;
  }
  return 0;
}

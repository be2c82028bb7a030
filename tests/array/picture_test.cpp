// Pictures of arrays, against files that Python makes and what zlib unpacks; and pixels from files.

#include "algorithm/algorithm_fixture.hpp"
#include "compiler/cache_support.hpp"
#include "support/host_memory.hpp"

#include <gpu/array.hpp>
#include <gpu/array/picture.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <dlfcn.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace picture_test { namespace {

using algorithm_test::fixture;
using bytes = std::vector<unsigned char>;

#include "array/picture_reference.inc"

std::vector<int> file_at(const std::string& path) {
  std::vector<int> read;
  for (const char c : test::read_file(path)) read.push_back(static_cast<unsigned char>(c));
  return read;
}

TEST_CASE("a matrix becomes the PNG file of its levels", "[array][picture]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.png";
  const auto levels = test::value_of(
      gpu::array<unsigned char, 2>::from(f.stream, bytes{0, 128, 255, 17, 64, 200}, {2, 3}));
  test::value_of(gpu::save_png(f.stream, levels, path));
  CHECK(file_at(path) == gray_png);
  test::value_of(gpu::save_png(f.stream, levels, path, {.low = 0, .high = 255}));
  CHECK(file_at(path) == gray_png);

  bytes samples(12);
  for (std::size_t i = 0; i < 12; ++i) samples[i] = static_cast<unsigned char>(i * 20);
  const auto colored =
      test::value_of(gpu::array<unsigned char, 3>::from(f.stream, samples, {2, 2, 3}));
  test::value_of(gpu::save_png(f.stream, colored, path));
  CHECK(file_at(path) == colors_png);

  const float nan = std::nanf("");
  const auto numbers = test::value_of(
      gpu::array<float, 2>::from(f.stream, std::vector{-1.f, 0.f, nan, 3.f}, {2, 2}));
  test::value_of(gpu::save_png(f.stream, numbers, path, {.colors = gpu::color_map::cubehelix}));
  CHECK(file_at(path) == helix_png);

  // What is out of range has the color of the end; the view is of every other element.
  const double infinity = std::numeric_limits<double>::infinity();
  auto wide = test::value_of(gpu::array<double, 2>::from(
      f.stream, std::vector{-infinity, 9., -0.6, 9., 0.0, 9., 7e300, 9.}, {1, 8}));
  test::value_of(gpu::save_png(f.stream, wide(gpu::all(), gpu::slice(0, gpu::to_end, 2)), path,
                               {.low = -1, .high = 1, .colors = gpu::color_map::blue_white_red}));
  CHECK(file_at(path) == diverging_png);
}

/// The pixels of a gray PNG file, each row after a 0; zlib says what the file is worth.
std::string unpacked(const std::string& file, std::size_t size) {
  void* const zlib = ::dlopen("libz.so.1", RTLD_NOW);
  if (zlib == nullptr) return {};
  const auto crc = reinterpret_cast<unsigned long (*)(unsigned long, const char*, unsigned)>(
      ::dlsym(zlib, "crc32"));
  const auto unpack = reinterpret_cast<int (*)(char*, unsigned long*, const char*, unsigned long)>(
      ::dlsym(zlib, "uncompress"));
  const auto number = [&](std::size_t at) {
    unsigned long value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(file[at + i]);
    return value;
  };
  std::string packed, kinds;
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t length = number(at);
    REQUIRE(at + 12 + length <= file.size());
    const std::string kind = file.substr(at + 4, 4);
    CHECK(crc(0, file.data() + at + 4, static_cast<unsigned>(length + 4)) ==
          number(at + 8 + length));
    if (kind == "IDAT") packed += file.substr(at + 8, length);
    kinds += kind[1];
    at += 12 + length;
  }
  CHECK((kinds.front() == 'H' && kinds.back() == 'E'));
  std::string made(size, '\0');
  unsigned long count = size;
  CHECK(unpack(made.data(), &count, packed.data(), packed.size()) == 0);
  CHECK(count == size);
  return made;
}

TEST_CASE("large pictures consist of several chunks", "[array][picture]") {
  const fixture f;
  const test::temporary_folder folder;
  // 65,535 bytes are as many as one chunk holds.
  for (const gpu::shape<2> shape : {gpu::shape<2>{300, 1000}, {13107, 4}, {1, 65534}, {1, 65535}}) {
    std::vector<float> values(shape.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 9973) - 5000;
    const auto a = test::value_of(gpu::array<float, 2>::from(f.stream, values, shape));
    test::value_of(gpu::save_png(f.stream, a, folder / "a.png", {.low = -5000, .high = 5000}));
    const std::string rows = unpacked(test::read_file(folder / "a.png"), (shape[1] + 1) * shape[0]);
    if (rows.empty()) return;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double level = (static_cast<double>(values[i]) + 5000) / 10000 * 255;
      const char found = rows[i / shape[1] * (shape[1] + 1) + 1 + i % shape[1]];
      if (std::abs(static_cast<unsigned char>(found) - level) > 0.5001) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("pictures go to PPM files and come back", "[array][picture]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.ppm";
  const auto levels =
      test::value_of(gpu::array<int, 2>::from(f.stream, {{-10, 0, 10}, {20, 40, 41}}));
  test::value_of(gpu::save_ppm(f.stream, levels, path, {.low = -10, .high = 41}));
  CHECK(test::read_file(path) == std::string("P5\n3 2\n255\n\0\x32\x64\x96\xfa\xff", 17));
  const auto gray = test::value_of(gpu::load_ppm(f.stream, path));
  CHECK(gray.shape() == gpu::shape{2, 3, 1});
  CHECK(f.download(gray) == bytes{0, 50, 100, 150, 250, 255});

  test::value_of(gpu::save_ppm(f.stream, levels, path,
                               {.low = -10, .high = 41, .colors = gpu::color_map::blue_white_red}));
  const auto colored = test::value_of(gpu::load_ppm(f.stream, path));
  CHECK(colored.shape() == gpu::shape{2, 3, 3});
  const bytes found = f.download(colored);
  CHECK(bytes(found.begin(), found.begin() + 3) == bytes{0, 0, 255});
  CHECK(bytes(found.end() - 3, found.end()) == bytes{255, 0, 0});
  test::value_of(gpu::save_ppm(f.stream, colored, folder / "b.ppm"));
  CHECK(test::read_file(folder / "b.ppm") == test::read_file(path));

  const auto flags = test::value_of(gpu::ones<bool>(f.stream, gpu::shape{1, 2}));
  test::value_of(gpu::save_ppm(f.stream, flags, path));  // low is high
  CHECK(test::read_file(path) == std::string("P5\n2 1\n255\n\0\0", 13));
}

TEST_CASE("pixels are read from binary PPM and PGM files", "[array][picture]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.ppm";
  const auto load = [&](const std::string& file) {
    test::write_file(path, file);
    return gpu::load_ppm(f.stream, path);
  };
  const auto few =
      test::value_of(load("P6 # a comment\n# another\n1\t2\r\n15\n\x01\x02\x03\x0f\x0e\x0d"));
  CHECK(few.shape() == gpu::shape{2, 1, 3});
  CHECK(f.download(few) == bytes{17, 34, 51, 255, 238, 221});
  CHECK(f.download(test::value_of(load("P5 2 1 255 abmore"))) == bytes{'a', 'b'});
  CHECK(f.download(test::value_of(load("P5\n#" + std::string(5000, 'x') + "\n1 1 255\nz"))) ==
        bytes{'z'});

  const std::string whole = "P6\n2 1\n255\nabcdef";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto error = test::error_of(load(whole.substr(0, size)));
    CHECK(test::says(error, ("is damaged at byte " + std::to_string(size)).c_str()));
  }
  const auto says = [&](const char* file, const char* what) {
    CHECK(test::says(test::error_of(load(file)), "gpu::load_ppm", "a.ppm\"", what));
  };
  says("P3 1 1 255 1 2 3", "damaged at byte 1: it does not begin as");
  says("P6 0 1 255 ", "no positive number");
  says("P6 1x1 255 abc", "has no blank here");
  says("P6 1 1 65535 abcdef", "more than 255 levels, at byte 12. Save it with 8 bits");
  says("P6 99999999999 1 255 abc", "above 2147483647");
  says("P6 2147483647 2147483647 255 abc", "ends before the last pixel");
  says("P5 2 1 15 \x01\x10", "damaged at byte 11: a level is above the highest one");
  CHECK(test::error_of(load("P5 #" + std::string(20000, 'x'))) == gpu::errc::file_error);
}

TEST_CASE("what cannot be drawn is refused", "[array][picture]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.png";
  auto a = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 3}));
  const auto refuses = [&](const auto& view, const gpu::picture_options& options,
                           const char* what) {
    CHECK(test::says(test::error_of(gpu::save_png(f.stream, view, path, options)), "gpu::save_png",
                     what));
  };
  refuses(a(gpu::slice(0, 0)), {}, "the shape (0, 3) is not that of a picture");
  const auto bytes4 = test::value_of(gpu::zeros<unsigned char>(f.stream, gpu::shape{2, 2, 4}));
  refuses(bytes4, {}, "(2, 2, 4) is not that of a picture. Pass (height, width), or (height");
  refuses(a, {.low = 2, .high = 2}, "low is not less than high");
  refuses(a, {.low = -std::numeric_limits<double>::infinity()}, "low is infinite");
  refuses(a, {.high = std::numeric_limits<double>::infinity()}, "high is infinite");
  refuses(a, {.colors = static_cast<gpu::color_map>(3)}, "3 is not a valid gpu::color_map");
  refuses(a(gpu::all(), gpu::slice(0, 2, 0)), {}, "step");
  CHECK(test::says(test::error_of(gpu::save_ppm(f.stream, a, "/dev/full")), "gpu::save_ppm",
                   "No space left"));
  CHECK(test::says(test::error_of(gpu::save_png(f.stream, a, folder / "x/y.png")), "No such file"));
  test::value_of(f.stream.synchronize());
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::error_of(gpu::save_png(f.stream, a, path)) == gpu::errc::capture_prohibited);
  CHECK(test::error_of(gpu::load_ppm(f.stream, path)) == gpu::errc::capture_prohibited);
  test::value_of(capture.end());
  CHECK(test::names_in(folder.path()).empty());
}

TEST_CASE("drawing fails with each of its calls and allocations", "[array][picture][cpu]") {
  const test::temporary_folder folder;
  const std::string path = folder / "a.ppm";
  const auto run = [&]() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto a = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{3, 4}));
    GPU_TRY(gpu::save_png(stream, a, folder / "a.png"));
    GPU_TRY(gpu::save_ppm(stream, gpu::transpose(a), path));
    GPU_TRY(gpu::load_ppm(stream, path));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
  CHECK(test::sweep_host_memory(run) == "");
}

}}  // namespace picture_test

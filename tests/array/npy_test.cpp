// .npy files, against those that NumPy writes.

#include "algorithm/algorithm_fixture.hpp"
#include "compiler/cache_support.hpp"
#include "support/host_memory.hpp"

#include <gpu/array.hpp>
#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/npy_header_reader.hpp>
#include <gpu/array/npy.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>

#include <cuda_fp16.h>  // IWYU pragma: keep
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <complex>  // IWYU pragma: keep
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace npy_test { namespace {

using algorithm_test::fixture;

/// The bytes of an array's elements in C order.
template <class T, int Rank> std::string bytes_of(const fixture& f, const gpu::array<T, Rank>& a) {
  const auto copied = test::value_of(gpu::evaluate(f.stream, a));
  std::string bytes(copied.size() * sizeof(T), '\0');
  const auto span = gpu::device_span<const char>::from_native(copied.native(), bytes.size());
  test::value_of(f.stream.synchronize());
  if (!bytes.empty()) test::value_of(gpu::copy(span, bytes));
  return bytes;
}

template <class T, int Rank>
gpu::array<T, Rank> loads(const fixture& f, const gpu::shape<Rank>& shape,
                          const std::string& elements, const std::string& file) {
  const test::temporary_folder folder;
  test::write_file(folder / "a.npy", file);
  auto loaded = test::value_of(gpu::load_npy<T, Rank>(f.stream, folder / "a.npy"));
  CHECK(loaded.shape() == shape);
  CHECK(bytes_of(f, loaded) == elements);
  return loaded;
}

/// The same, and the file is written as NumPy wrote it.
template <class T, int Rank>
void both(const fixture& f, const gpu::shape<Rank>& shape, const std::string& elements,
          const std::string& file) {
  const auto loaded = loads<T, Rank>(f, shape, elements, file);
  const test::temporary_folder folder;
  test::value_of(gpu::save_npy(f.stream, loaded, folder / "b.npy"));
  CHECK(test::read_file(folder / "b.npy") == file);
}

TEST_CASE("files of NumPy are read, and written byte for byte", "[array][npy]") {
  const fixture f;
#include "array/npy_reference.inc"
}

/// A file of (2, 3) floats.
std::string small_file(const fixture& f, const test::temporary_folder& folder) {
  const auto a = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  test::value_of(gpu::save_npy(f.stream, a, folder / "small.npy"));
  return test::read_file(folder / "small.npy");
}

TEST_CASE("a damaged .npy file is an error with its offset", "[array][npy]") {
  const fixture f;
  const auto folder = test::temporary_folder::in_memory();
  const std::string whole = small_file(f, folder), path = folder / "damaged.npy";
  const auto load = [&](const std::string& contents) {
    test::write_file(path, contents);
    return gpu::load_npy<float, 2>(f.stream, path);
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const auto error = test::error_of(load(whole.substr(0, size)));
    CHECK(error == gpu::errc::file_error);
    CHECK(test::says(error, ("is damaged at byte " + std::to_string(size)).c_str()));
  }
  const std::size_t header = 128;
  const std::pair<std::size_t, int> fine[] = {
#include "array/npy_header_reference.inc"
  };
  for (std::size_t at = 0; at < header; ++at) {
    for (const int bit : {0, 1, 4, 7}) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto loaded = load(flipped);
      CAPTURE(at, bit);
      CHECK(loaded.has_value() == (std::ranges::count(fine, std::pair(at, bit)) != 0));
    }
  }
  const auto says = [&](const std::string& words, const char* what) {
    std::string file = whole;
    const std::string padded = words + std::string(117 - words.size(), ' ') + '\n';
    file.replace(10, 118, padded);
    CHECK(test::says(test::error_of(load(file)), path.c_str(), what));
  };
  says("{'descr': '<f4', 'fortran_order': False}", "the header lacks one of");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "unknown key");
  says("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }", "not True or False");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", "no number");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3), }", "64 bits");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999, 9999999999999), }",
       "ends before the last element");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "no ')' here");
  says("{'descr': '<f3', 'fortran_order': False, 'shape': (2, 3), }", "not numbers");
  // What Python accepts, too.
  const std::string other = R"({"shape": (2L, 3L) , "fortran_order":False,'descr': "=f4"})";
  std::string file = whole;
  file.replace(10, 118, other + std::string(117 - other.size(), ' ') + '\n');
  CHECK(f.download(test::value_of(load(file))) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("headers are read as NumPy reads them", "[array][npy]") {
  const struct {
    std::string words;
    unsigned version;
    const char* read;  ///< the type, the order of the axes and the shape; empty if NumPy refuses
  } headers[] = {
#define NPY_HEADERS
#include "array/npy_header_reference.inc"
#undef NPY_HEADERS
  };
  const gpu::detail::named_file file{"gpu::load_npy", gpu::text("a.npy"), {}};
  std::size_t accepted = 0;
  for (const auto& [words, version, expected] : headers) {
    const auto header =
        gpu::detail::npy_header_reader(file, {words.data(), words.size()}, 10, version).read();
    std::string read;
    if (header.has_value()) {
      ++accepted;
      // What has one byte has no order.
      read = header->type.big_endian && header->type.bytes > 1 ? ">" : "<";
      read += header->type.kind + std::to_string(header->type.bytes);
      read += header->fortran ? " F [" : " C [";
      for (int axis = 0; axis < header->rank; ++axis)
        read += (axis == 0 ? "" : ", ") + std::to_string(header->extents[axis]);
      read += "]";
    }
    CAPTURE(words, version);
    CHECK(read == expected);
  }
  CHECK(accepted > 200);
}

TEST_CASE("of two arrays in a file the first is loaded", "[array][npy]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string first = small_file(f, folder);
  const auto second = test::value_of(gpu::arange<double>(f.stream, 5));
  test::value_of(gpu::save_npy(f.stream, second, folder / "second.npy"));
  for (const std::string& behind : {test::read_file(folder / "second.npy"), std::string("x")}) {
    test::write_file(folder / "both.npy", first + behind);
    const auto loaded = test::value_of(gpu::load_npy<float, 2>(f.stream, folder / "both.npy"));
    CHECK(f.download(loaded) == std::vector<float>{1, 2, 3, 4, 5, 6});
  }
}

TEST_CASE("a file of another type or shape is refused with both", "[array][npy]") {
  const fixture f;
  const test::temporary_folder folder;
  small_file(f, folder);
  const std::string path = folder / "small.npy";
  CHECK(test::says(test::error_of(gpu::load_npy<double, 2>(f.stream, path)), "gpu::load_npy",
                   "small.npy\" are of type float (NumPy's float32), not double",
                   "Call gpu::load_npy<float, 2>", "gpu::assign converts"));
  CHECK(test::says(test::error_of(gpu::load_npy<float>(f.stream, path)),
                   "has the shape (2, 3), so its rank is 2, not 1",
                   "Call gpu::load_npy<float, 2>"));
#include "array/npz_reference.inc"
  const auto load = [&](const std::string& contents) {
    test::write_file(path, contents);
    return test::error_of(gpu::load_npy<float>(f.stream, path));
  };
  CHECK(test::says(load(structures), "cannot be loaded: its elements are structures, at byte 20"));
  CHECK(test::says(load(strings), "not numbers of a known type, at byte 20"));
  CHECK(test::says(load(times), "not numbers of a known type"));
  CHECK(test::says(load(stored), "damaged at byte 0: it does not begin as a .npy file does"));
}

TEST_CASE("views are saved as what they show", "[array][npy]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "view.npy";
  auto a = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  test::value_of(gpu::save_npy(f.stream, gpu::transpose(a), path));
  const auto turned = test::value_of(gpu::load_npy<int, 2>(f.stream, path));
  CHECK(turned.is_contiguous(gpu::axis_order::fortran));
  CHECK(turned.shape() == gpu::shape{3, 2});
  CHECK(f.download(turned) == std::vector<int>{1, 2, 3, 4, 5, 6});
  test::value_of(gpu::save_npy(f.stream, gpu::reverse(a, 1), path));
  CHECK(f.download(test::value_of(gpu::load_npy<int, 2>(f.stream, path))) ==
        std::vector<int>{3, 2, 1, 6, 5, 4});
  const auto buffer = f.upload(std::vector<double>{0.5, -1});
  test::value_of(gpu::save_npy(f.stream, buffer, path));
  CHECK(f.download(test::value_of(gpu::load_npy<double>(f.stream, path))) ==
        std::vector<double>{0.5, -1});
}

TEST_CASE("a file of several pieces is the same after a round trip", "[array][npy]") {
  const fixture f;
  const test::temporary_folder folder;
  std::vector<std::int32_t> values((std::size_t{4} << 20) / 4 * 2 + 12345);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int32_t>(i * 2654435761u);
  const auto a = test::value_of(gpu::array<std::int32_t>::from(f.stream, values));
  test::value_of(gpu::save_npy(f.stream, a, folder / "large.npy"));
  const auto b = test::value_of(gpu::load_npy<std::int32_t>(f.stream, folder / "large.npy"));
  CHECK((f.download(b) == values));
}

TEST_CASE("a file that cannot be written leaves what was there", "[array][npy]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string before = small_file(f, folder), path = folder / "small.npy";
  const auto a = test::value_of(gpu::ones<double>(f.stream, gpu::shape{3000}));
  {
    // As if the disk were full.
    struct limit {
      rlimit old{};
      explicit limit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &old);
        const rlimit low{bytes, old.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &low);
      }
      ~limit() { ::setrlimit(RLIMIT_FSIZE, &old); }
    } const low(1000);
    CHECK(test::says(test::error_of(gpu::save_npy(f.stream, a, path)), "gpu::save_npy",
                     "small.npy\" could not be written: File too large"));
  }
  CHECK(test::read_file(path) == before);
  CHECK(test::says(test::error_of(gpu::save_npy(f.stream, a, "/dev/full")),
                   "could not be written: No space left on device. Free space"));
  CHECK(test::says(test::error_of(gpu::save_npy(f.stream, a, folder / "no/a.npy")),
                   "No such file or directory"));
  CHECK(test::says(test::error_of(gpu::save_npy(f.stream, a, folder.path())), "Is a directory"));
  if (::geteuid() != 0) {
    ::chmod(folder.path().c_str(), 0500);
    CHECK(test::says(test::error_of(gpu::save_npy(f.stream, a, folder / "new.npy")),
                     "Permission denied"));
    ::chmod(folder.path().c_str(), 0700);
  }
  CHECK(test::says(test::error_of(gpu::load_npy<float>(f.stream, folder / "none.npy")),
                   "none.npy\" could not be read: No such file"));
  CHECK(test::says(test::error_of(gpu::load_npy<float>(f.stream, "/dev/null")),
                   "it is not a regular file"));
  CHECK(
      test::says(test::error_of(gpu::load_npy<float>(f.stream, folder.path())), "Is a directory"));
  CHECK(test::names_in(folder.path()) == std::vector<std::string>{"small.npy"});

  // A link stays one, and the mode of the file is kept.
  REQUIRE(::symlink("small.npy", (folder / "link.npy").c_str()) == 0);
  ::chmod(path.c_str(), 0640);
  test::value_of(gpu::save_npy(f.stream, a, folder / "link.npy"));
  struct stat about{};
  REQUIRE(::lstat(path.c_str(), &about) == 0);
  CHECK((S_ISREG(about.st_mode) && (about.st_mode & 0777) == 0640));
  CHECK(test::value_of(gpu::load_npy<double>(f.stream, path)).size() == 3000);
}

TEST_CASE("a capture refuses to save and to load", "[array][npy]") {
  const fixture f;
  const auto a = test::value_of(gpu::ones<double>(f.stream, gpu::shape{3}));
  test::value_of(f.stream.synchronize());
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::says(test::error_of(gpu::save_npy(f.stream, a, "/dev/null")), "gpu::save_npy",
                   "the stream is being captured", "before or after the capture"));
  CHECK(test::error_of(gpu::load_npy<float>(f.stream, "x")) == gpu::errc::capture_prohibited);
  test::value_of(capture.end());
}

TEST_CASE("saving and loading fail with each of their calls and allocations", "[array][npy][cpu]") {
  const test::temporary_folder folder;
  const std::string path = folder / "a.npy";
  const auto run = [&]() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    // Page-locked memory is freed in the current context.
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto a = GPU_TRY((gpu::zeros<float>(stream, gpu::shape{3, 4})));
    GPU_TRY(gpu::save_npy(stream, a, path));
    GPU_TRY(gpu::save_npy(stream, gpu::reverse(a, 0), path));
    GPU_TRY((gpu::load_npy<float, 2>(stream, path)));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent", "cuCtxGetCurrent"}) == "");
  CHECK(test::sweep_host_memory(run) == "");
  CHECK(test::names_in(folder.path()) == std::vector<std::string>{"a.npy"});
}

}}  // namespace npy_test

// .npz files: those of NumPy, and those that NumPy can read.

#include "algorithm/algorithm_fixture.hpp"
#include "compiler/cache_support.hpp"
#include "support/host_memory.hpp"

#include <gpu/array.hpp>
#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/inflate.hpp>
#include <gpu/array/io/zip_reader.hpp>
#include <gpu/array/io/zip_writer.hpp>
#include <gpu/array/npz.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/system/open_file.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace npz_test { namespace {

using algorithm_test::fixture;

#include "array/npz_reference.inc"

TEST_CASE("arrays of NumPy's .npz files are found by name", "[array][npz]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.npz";
  for (const std::string& file : {stored, deflated, large}) {
    CAPTURE(file == deflated);
    test::write_file(path, file);
    CHECK(f.download(test::value_of(gpu::load_npz<float>(f.stream, path, "x"))) ==
          std::vector<float>{0, 1, 2});
    const auto table = test::value_of(gpu::load_npz<std::int64_t, 2>(f.stream, path, "table.npy"));
    CHECK(table.shape() == gpu::shape{2, 3});
    CHECK(f.download(table) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
    CHECK(f.download(test::value_of(gpu::load_npz<double>(f.stream, path, "zeros"))) ==
          std::vector<double>(100));
    CHECK(test::says(test::error_of(gpu::load_npz<float>(f.stream, path, "y")), "gpu::load_npz",
                     "a.npz\" has no array of the name y", "x, table, zeros"));
    CHECK(test::says(test::error_of(gpu::load_npz<double>(f.stream, path, "x")),
                     "are of type float (NumPy's float32), not double", "gpu::load_npz<float, 1>"));
  }
}

TEST_CASE("the names of the arrays that a .npz file has are ten at most", "[array][npz]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "many.npz";
  // As zipfile of Python writes a directory of empty members.
  std::string bytes;
  const auto put = [&](std::uint64_t value, int count) {
    for (; count > 0; --count, value >>= 8) bytes += static_cast<char>(value & 0xff);
  };
  constexpr unsigned count = 60000;
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = (i == 3 ? "\x1b[2J\n" : "x") + std::to_string(i) + ".npy";
    put(0x02014b50, 4), put(20, 2), put(20, 2), put(0, 20), put(name.size(), 2), put(0, 16);
    bytes += name;
  }
  const std::size_t size = bytes.size();
  put(0x06054b50, 4), put(0, 4), put(count, 2), put(count, 2), put(size, 4), put(0, 4), put(0, 2);
  test::write_file(path, bytes);
  const auto error = test::error_of(gpu::load_npz<float>(f.stream, path, "y\r"));
  CHECK(test::says(error,
                   "has no array of the name y\\r. Pass one of those that it has: x0, x1, x2, "
                   "\\x1b[2J\\n3, x4, x5, x6, x7, x8, x9, ... and 59,990 more."));
}

TEST_CASE("a .npz file may have no arrays", "[array][npz]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.npz";
  test::value_of(gpu::save_npz(f.stream, path));
  const auto error = test::error_of(gpu::load_npz<float>(f.stream, path, "y"));
  CHECK(error == gpu::errc::unknown_name);
  CHECK(test::says(error, "a.npz\" has no arrays, and so none of the name y. Pass"));
}

TEST_CASE("saved .npz files come back", "[array][npz]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.npz";
  auto x = test::value_of(gpu::arange<float>(f.stream, 10));
  auto m = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  test::value_of(gpu::save_npz(f.stream, path, "x", x, std::string("turned"), gpu::transpose(m),
                               "back", gpu::reverse(x, 0), "none", x(gpu::slice(0, 0))));
  CHECK(f.download(test::value_of(gpu::load_npz<float>(f.stream, path, "x"))).back() == 9);
  const auto turned = test::value_of(gpu::load_npz<int, 2>(f.stream, path, "turned"));
  CHECK((turned.shape() == gpu::shape{3, 2} && turned.stride(0) == 1));
  CHECK(f.download(test::value_of(gpu::load_npz<float>(f.stream, path, "back"))).front() == 9);
  CHECK(test::value_of(gpu::load_npz<float>(f.stream, path, "none")).size() == 0);
  test::value_of(gpu::save_npz(f.stream, path));
  CHECK(test::says(test::error_of(gpu::load_npz<float>(f.stream, path, "x")), "no array"));
  // The suffix belongs to the name of one of these.
  const auto first = [&](const char* name) {
    return f.download(test::value_of(gpu::load_npz<float>(f.stream, path, name))).front();
  };
  const auto back = gpu::reverse(x, 0);
  test::value_of(gpu::save_npz(f.stream, path, "x", x, "x.npy", back));
  CHECK((first("x") == 0 && first("x.npy") == 9));
  test::value_of(gpu::save_npz(f.stream, path, "x.npy", back, "x", x));
  CHECK((first("x") == 0 && first("x.npy") == 9));
  // Another program agrees that it is an archive, where Python is there.
  test::value_of(gpu::save_npz(f.stream, path, "x", x, "m", m));
  const std::string python = "python3 -c \"import zipfile; z = zipfile.ZipFile('" + path +
                             "'); assert z.testzip() is None and z.namelist() == ['x.npy', "
                             "'m.npy'] and len(z.read('x.npy')) == 168\"";
  if (std::system("python3 -c 'import zipfile' 2> /dev/null") == 0)
    CHECK(std::system(python.c_str()) == 0);
}

TEST_CASE("an archive has numbers of 64 bits where those of 32 do not suffice", "[array][npz]") {
  const test::temporary_folder folder;
  const std::string path = folder / "a.npz";
  const gpu::detail::named_file name{"gpu::save_npz", gpu::text(path.c_str()), {}};
  gpu::detail::file_sink file(name);
  test::value_of(file.open());
  gpu::detail::zip_writer archive(file, 10);  // as if this were 4 GiB
  for (const std::string& contents : {std::string("some bytes"), std::string("others")}) {
    test::value_of(archive.begin(contents, contents.size()));
    test::value_of(archive.write(contents.data(), contents.size()));
    test::value_of(archive.end(contents));
  }
  test::value_of(archive.finish());
  test::value_of(file.commit());
  gpu::detail::open_file written;
  REQUIRE(written.open(name.path) == 0);
  const std::string bytes = test::read_file(path);
  for (const std::string& contents : {std::string("some bytes"), std::string("others")}) {
    const auto found =
        test::value_of(gpu::detail::zip_reader(written, name).find(contents.c_str()));
    CHECK(bytes.substr(found.begin, found.end - found.begin) == contents);
    CHECK(found.size == contents.size());
  }
  const std::string python = "python3 -c \"import zipfile; z = zipfile.ZipFile('" + path +
                             "'); assert z.testzip() is None and z.read('others.npy') == "
                             "b'others' and z.read('some bytes.npy') == b'some bytes'\"";
  if (std::system("python3 -c 'import zipfile' 2> /dev/null") == 0)
    CHECK(std::system(python.c_str()) == 0);
}

TEST_CASE("a damaged .npz file is an error, whatever is wrong with it", "[array][npz]") {
  const fixture f;
  const auto folder = test::temporary_folder::in_memory();
  const std::string path = folder / "a.npz";
  const auto loads = [&](const std::string& file) {
    test::write_file(path, file);
    return gpu::load_npz<std::int64_t, 2>(f.stream, path, "table");
  };
  for (const std::string& file : {stored, deflated}) {
    for (std::size_t size = 0; size < file.size(); size += size % 7 + 1) {
      const auto loaded = loads(file.substr(0, size));
      CAPTURE(size);
      CHECK((!loaded.has_value() && loaded.error() == gpu::errc::file_error));
    }
    // A byte that is changed is found, or belongs to another array, or says nothing about this one.
    std::size_t found = 0;
    for (std::size_t at = 0; at < file.size(); ++at) {
      std::string flipped = file;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      const auto loaded = loads(flipped);
      if (!loaded.has_value()) {
        ++found;
        continue;
      }
      CAPTURE(at);
      CHECK(f.download(*loaded) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
    }
    CHECK(found > 100);
  }
  std::string encrypted = stored;
  const std::size_t entry = encrypted.find("table.npy", encrypted.find("PK\x01\x02")) - 46;
  encrypted[entry + 8] = 1;
  CHECK(test::says(test::error_of(loads(encrypted)), "cannot be loaded: the array is encrypted"));
  encrypted = stored;
  encrypted[entry + 10] = 12;
  CHECK(test::says(test::error_of(loads(encrypted)), "but not by deflate"));
  encrypted = stored;
  encrypted[encrypted.find('\x93', encrypted.find("table")) + 130] ^= 1;
  CHECK(test::says(test::error_of(loads(encrypted)), "the checksum of the array"));
  CHECK(test::says(test::error_of(loads("not an archive")), "damaged at byte 14",
                   "does not end as a .npz file"));
}

/// Replaces 4 bytes by a number.
void put_little(std::string& file, std::size_t at, std::size_t value) {
  for (std::size_t k = 0; k < 4; ++k) file[at + k] = static_cast<char>(value >> 8 * k);
}
/// Returns where the directory describes a file.
std::size_t entry_of(const std::string& file, const char* name) {
  return file.find(name, file.find("PK\x01\x02")) - 46;
}

TEST_CASE("arrays that overlap in a .npz file are refused", "[array][npz]") {
  const fixture f;
  const auto folder = test::temporary_folder::in_memory();
  const std::string path = folder / "a.npz";
  // The array x reaches to the end of the next one.
  std::string longer = stored;
  const std::size_t x = entry_of(stored, "x.npy"), table = entry_of(stored, "table.npy");
  const std::size_t bytes = stored.find("zeros.npy") - 30 - stored.find("\x93NUMPY");
  put_little(longer, x + 20, bytes);
  put_little(longer, x + 24, bytes);
  test::write_file(path, longer);
  CHECK(test::says(test::error_of(gpu::load_npz<float>(f.stream, path, "x")),
                   "damaged at byte 0: the array x overlaps table in the archive"));
  CHECK(test::says(test::error_of(gpu::load_npz<std::int64_t, 2>(f.stream, path, "table")),
                   "the array table overlaps x in the archive"));
  CHECK(test::value_of(gpu::load_npz<double>(f.stream, path, "zeros")).size() == 100);
  // The directory describes the array x twice.
  std::string twice = stored;
  const std::size_t end = stored.find("PK\x05\x06");
  twice.insert(end, stored.substr(x, table - x));
  put_little(twice, end + table - x + 12, end + table - x - x);
  test::write_file(path, twice);
  CHECK(test::says(test::error_of(gpu::load_npz<float>(f.stream, path, "x")),
                   "the array x overlaps x in the archive"));
  CHECK(test::value_of(gpu::load_npz<double>(f.stream, path, "zeros")).size() == 100);
}

TEST_CASE("what the directory of a .npz file says has to be true", "[array][npz]") {
  const fixture f;
  const auto folder = test::temporary_folder::in_memory();
  const std::string path = folder / "a.npz";
  const auto error = [&](const std::string& file) {
    test::write_file(path, file);
    return test::error_of(gpu::load_npz<double>(f.stream, path, "zeros"));
  };
  const auto with = [](std::string file, std::size_t at, std::size_t value) {
    put_little(file, at, value);
    return file;
  };
  const std::size_t zeros = entry_of(stored, "zeros.npy");
  const std::size_t packed = entry_of(deflated, "zeros.npy");
  CHECK(test::says(error(with(stored, zeros + 20, 1000)), "the two lengths of an array differ"));
  CHECK(test::says(error(with(stored, zeros + 42, 5)), "no array begins here"));
  CHECK(test::says(error(with(stored, zeros + 42, 1u << 30)), "the array is not there"));
  CHECK(test::says(error(with(stored, zeros + 42, 0)), "another name"));
  CHECK(test::says(error(with(deflated, packed + 20, 1u << 20)), "longer than its file"));
  CHECK(test::says(error(with(deflated, packed + 24, 1u << 20)), "can unpack to"));
  CHECK(test::says(error(with(deflated, packed + 24, 929)), "zeros\" is damaged at byte 928"));
  CHECK(test::says(error(with(deflated, packed + 24, 927)), "ends before the last element"));
  std::string strong = stored;
  strong[zeros + 8] = 1 << 6;
  CHECK(test::says(error(strong), "the array is encrypted"));
}

TEST_CASE("a .npz file that was written to a pipe is read as NumPy reads it", "[array][npz]") {
  const fixture f;
  const auto folder = test::temporary_folder::in_memory();
  const std::string path = folder / "a.npz";
  // With a folder, an array behind another one in a file, the same name twice, and a comment.
  test::write_file(path, streamed);
  CHECK(f.download(test::value_of(gpu::load_npz<float>(f.stream, path, "x"))) ==
        std::vector<float>{0, 1, 2});
  CHECK(f.download(test::value_of(gpu::load_npz<std::int64_t, 2>(
            f.stream, path, "folder/table"))) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("what cannot be saved in a .npz file is refused", "[array][npz]") {
  const fixture f;
  const test::temporary_folder folder;
  const std::string path = folder / "a.npz";
  auto x = test::value_of(gpu::arange<float>(f.stream, 10));
  CHECK(test::says(test::error_of(gpu::save_npz(f.stream, path, "x", x, "y", x, "x", x)),
                   "gpu::save_npz", "two arrays have the name x"));
  CHECK(test::says(test::error_of(gpu::save_npz(f.stream, path, "", x)), "a name of 0 characters"));
  CHECK(test::says(test::error_of(gpu::save_npz(f.stream, path, "x", x, "y", x(11))),
                   "index 11 is out of range"));
  CHECK(test::says(test::error_of(gpu::save_npz(f.stream, "/dev/full", "x", x)),
                   "No space left on device"));
  CHECK(test::names_in(folder.path()).empty());
  const gpu::detail::named_file file{"gpu::load_npz", gpu::text("a.npz"), {}};
  CHECK(test::says(test::error_of(gpu::detail::zlib_functions::find(file, "libno-such.so")),
                   "\"a.npz\" is compressed, and zlib", "Install zlib"));
}

TEST_CASE("saving and loading .npz files fail with each call and allocation", "[array][npz][cpu]") {
  const test::temporary_folder folder;
  const std::string path = folder / "a.npz", packed = folder / "b.npz";
  test::write_file(packed, deflated);
  const auto run = [&]() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    // Page-locked memory is freed in the current context.
    const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
    const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto a = GPU_TRY((gpu::zeros<float>(stream, gpu::shape{3, 4})));
    GPU_TRY(gpu::save_npz(stream, path, "a", a, "b", gpu::reverse(a, 0)));
    GPU_TRY((gpu::load_npz<float, 2>(stream, path, "b")));
    GPU_TRY((gpu::load_npz<float>(stream, packed, "x")));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent", "cuCtxGetCurrent"}) == "");
  CHECK(test::sweep_host_memory(run) == "");
}

}}  // namespace npz_test

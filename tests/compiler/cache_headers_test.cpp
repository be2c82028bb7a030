// The contents of files and the places where the compiler looked: what recompiles and what does
// not.

#include "compiler/cache_support.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/program_origin.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace cache_headers_test { namespace {

using test::origin_of;
using test::set_age;
using test::temporary_folder;
using test::write_file;

/// A cache's folder beside two folders for headers, searched in the order `first`, `second`.
struct project {
  temporary_folder root;
  std::string cache = root.make_folder("cache");
  std::string first = root.make_folder("first");
  std::string second = root.make_folder("second");

  std::string origin(const gpu::program& source) const {
    return origin_of(cache, source, {.include_folders = {first, second}});
  }
};

const char* const includes_tile = "#include <tile.h>\n__device__ int x = TILE;";

TEST_CASE("a header's content counts, however deep it is, and its date does not",
          "[compiler][cache]") {
  const project p;
  write_file(p.second + "/tile.h", "#include \"nested.h\"\n");
  write_file(p.second + "/nested.h", "#define TILE 1\n");
  CHECK(p.origin(includes_tile) == "compiled: it was not compiled before");
  CHECK(p.origin(includes_tile) == "from disk");
  set_age(p.second + "/nested.h", -100000);
  set_age(p.second + "/tile.h", 100000);
  CHECK(p.origin(includes_tile) == "from disk");
  write_file(p.second + "/nested.h", "#define TILE 2\n");
  set_age(p.second + "/nested.h", 100000);
  CHECK(p.origin(includes_tile) == "compiled: header " + p.second + "/nested.h changed");
  CHECK(p.origin(includes_tile) == "from disk");
  // The former content is found again: several contents are kept.
  write_file(p.second + "/nested.h", "#define TILE 1\n");
  CHECK(p.origin(includes_tile) == "from disk");
}

TEST_CASE("a header that now comes earlier on the path counts", "[compiler][cache]") {
  const project p;
  write_file(p.second + "/tile.h", "#define TILE 1\n");
  p.origin(includes_tile);
  CHECK(p.origin(includes_tile) == "from disk");
  write_file(p.first + "/tile.h", "#define TILE 2\n");
  CHECK(p.origin(includes_tile) == "compiled: " + p.first + "/tile.h is there now, and was not");
  CHECK(p.origin(includes_tile) == "from disk");
  std::remove((p.first + "/tile.h").c_str());
  CHECK(p.origin(includes_tile) == "from disk");  // as it was at first
}

TEST_CASE("a folder that now comes earlier on the path counts", "[compiler][cache]") {
  const project p;
  ::mkdir((p.second + "/lib").c_str(), 0755);
  write_file(p.second + "/lib/tile.h", "#define TILE 1\n");
  const char* const source = "#include <lib/tile.h>\n__device__ int x = TILE;";
  p.origin(source);
  CHECK(p.origin(source) == "from disk");
  ::mkdir((p.first + "/lib").c_str(), 0755);
  CHECK(p.origin(source).find("compiled") == 0);  // one compilation too many, and no wrong one
  CHECK(p.origin(source) == "from disk");
  write_file(p.first + "/lib/tile.h", "#define TILE 2\n");
  CHECK(p.origin(source).find("compiled") == 0);
}

TEST_CASE("a header beside an including one that now shadows another counts", "[compiler][cache]") {
  const project p;
  write_file(p.first + "/outer.h", "#include \"tile.h\"\n");
  write_file(p.second + "/tile.h", "#define TILE 1\n");
  const char* const source = "#include <outer.h>\n__device__ int x = TILE;";
  p.origin(source);
  CHECK(p.origin(source) == "from disk");
  write_file(p.first + "/tile.h", "#define TILE 2\n");
  CHECK(p.origin(source) == "compiled: " + p.first + "/tile.h is there now, and was not");
}

TEST_CASE("the answer to __has_include counts", "[compiler][cache]") {
  const char* const name = GENERATE("<extra.h>", "\"extra.h\"");
  const project p;
  const std::string source = std::string("#if __has_include(") + name +
                             ")\n__device__ int x = 2;\n#else\n__device__ int x = 1;\n#endif";
  const auto value_of = [&] {
    const gpu::compiled_program made =
        test::compile_fresh(p.cache, source, {.include_folders = {p.first, p.second}});
    return std::string(made.ptx().contains(".u32 x = 2") || made.ptx().contains("x = 2") ? "2"
                                                                                         : "1") +
           (made.origin().kind == gpu::origin_kind::disk ? " from disk" : " compiled");
  };
  CHECK(value_of() == "1 compiled");
  CHECK(value_of() == "1 from disk");
  write_file(p.second + "/extra.h", "");
  CHECK(value_of() == "2 compiled");
  CHECK(value_of() == "2 from disk");
  std::remove((p.second + "/extra.h").c_str());
  CHECK(value_of() == "1 from disk");
}

TEST_CASE("a header included by a macro counts", "[compiler][cache]") {
  const project p;
  // No one waits until the stamp of such a header is surely in the past.
  const auto write_file = [](const std::string& path, const std::string& contents) {
    test::write_file(path, contents);
    ::usleep(20000);
  };
  write_file(p.second + "/tile.h", "#define TILE 1\n");
  const char* const source = "#define NAME <tile.h>\n#include NAME\n__device__ int x = TILE;";
  p.origin(source);
  CHECK(p.origin(source) == "from disk");
  write_file(p.first + "/tile.h", "#define TILE 2\n");
  CHECK(p.origin(source) == "compiled: " + p.first + "/tile.h is there now, and was not");
  CHECK(p.origin(source) == "from disk");
  write_file(p.first + "/tile.h", "#define TILE 3\n");
  CHECK(p.origin(source) == "compiled: header " + p.first + "/tile.h changed");
}

TEST_CASE("a question for a header by a macro keeps a program out of the cache",
          "[compiler][cache]") {
  const project p;
  const gpu::program source("#define NAME <tile.h>\n#if __has_include(NAME)\n#endif", "ask.cu");
  for (int i = 0; i < 2; ++i) {
    CHECK(p.origin(source) ==
          "compiled: it was not compiled before; not stored: ask.cu tests for a header by a "
          "macro");
  }
}

TEST_CASE("the folders and their order count where something is included", "[compiler][cache]") {
  const project p;
  write_file(p.first + "/tile.h", "#define TILE 1\n");
  write_file(p.second + "/tile.h", "#define TILE 2\n");
  p.origin(includes_tile);
  CHECK(origin_of(p.cache, includes_tile, {.include_folders = {p.second, p.first}}) ==
        "compiled: include folder " + p.second + " instead of " + p.first);
  CHECK(p.origin(includes_tile) == "from disk");
  const char* const alone = "__device__ int x = 1;";
  p.origin(alone);
  CHECK(origin_of(p.cache, alone, {.include_folders = {p.second}}) == "from disk");
}

TEST_CASE("headers are checked in memory too", "[compiler][cache]") {
  const project p;
  write_file(p.second + "/tile.h", "#define TILE 1\n");
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = p.cache});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90),
                                     .include_folders = {p.first, p.second},
                                     .cache = &cache};
  const auto kind = [&] { return gpu::compile(includes_tile, options)->origin().kind; };
  CHECK(kind() == gpu::origin_kind::compiled);
  CHECK(kind() == gpu::origin_kind::memory);
  CHECK(kind() == gpu::origin_kind::memory);
  write_file(p.second + "/tile.h", "#define TILE 2\n");  // of the same size
  CHECK(kind() == gpu::origin_kind::compiled);
  CHECK(kind() == gpu::origin_kind::memory);
  set_age(p.second + "/tile.h", 5000);
  CHECK(kind() == gpu::origin_kind::memory);  // the content is the same
  write_file(p.first + "/tile.h", "#define TILE 3\n");
  CHECK(kind() == gpu::origin_kind::compiled);
  CHECK(kind() == gpu::origin_kind::memory);
  std::remove((p.first + "/tile.h").c_str());
  CHECK(kind() == gpu::origin_kind::disk);
  CHECK(kind() == gpu::origin_kind::memory);
}

TEST_CASE("the answer to __has_include is asked for again in memory", "[compiler][cache]") {
  const project p;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = p.cache});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90),
                                     .include_folders = {p.first},
                                     .toolkit_headers = false,
                                     .cache = &cache};
  const auto kind = [&] {
    return gpu::compile("#if __has_include(<extra.h>)\n__device__ int x;\n#endif", options)
        ->origin()
        .kind;
  };
  CHECK(kind() == gpu::origin_kind::compiled);
  CHECK(kind() == gpu::origin_kind::memory);
  write_file(p.first + "/extra.h", "");
  CHECK(kind() == gpu::origin_kind::compiled);
  CHECK(kind() == gpu::origin_kind::memory);
  std::remove((p.first + "/extra.h").c_str());
  CHECK(kind() == gpu::origin_kind::disk);
  CHECK(kind() == gpu::origin_kind::memory);
}

TEST_CASE("a header that is gone counts, and so does the number of folders", "[compiler][cache]") {
  const project p;
  write_file(p.first + "/tile.h", "#define TILE 1\n");
  write_file(p.second + "/tile.h", "#define TILE 2\n");
  p.origin(includes_tile);
  std::remove((p.first + "/tile.h").c_str());
  CHECK(p.origin(includes_tile) == "compiled: header " + p.first + "/tile.h is not there any more");
  const std::string fewer = origin_of(p.cache, includes_tile, {.include_folders = {p.second}});
  CHECK(fewer.find("compiled: ") == 0);
  CHECK(fewer.find(" include folders instead of ") != std::string::npos);
}

TEST_CASE("eight states of the headers are kept, and the least lately used goes",
          "[compiler][cache]") {
  const project p;
  const auto state = [&](int number) {
    write_file(p.second + "/tile.h", "#define TILE " + std::to_string(number) + "\n");
    return p.origin(includes_tile);
  };
  for (int i = 0; i < 8; ++i) {
    CHECK(state(i).find("compiled: ") == 0);
    // Each is a minute older than the next, but for the first, which is used again.
    for (const std::string& name : test::programs_in(p.cache)) {
      if (name.back() == '0' + i) set_age(p.cache + '/' + name, 6000 - 60 * i);
    }
  }
  CHECK(state(0) == "from disk");  // which notes the use
  CHECK(state(8).find("compiled: ") == 0);
  CHECK(test::programs_in(p.cache).size() == 8);
  CHECK(state(0) == "from disk");
  for (int i = 2; i <= 8; ++i) CHECK(state(i) == "from disk");
  CHECK(state(1).find("compiled: ") == 0);
}

TEST_CASE("a change of a header right after its use is seen in memory", "[compiler][cache]") {
  // Faster than the stamps of the file system tell apart.
  const project p;
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  const gpu::compile_options options{.architecture = gpu::architecture::compute(90),
                                     .include_folders = {p.first},
                                     .cache = &cache};
  for (int i = 0; i < 20; ++i) {
    const int value = 100 + i;
    write_file(p.first + "/tile.h", "#define TILE " + std::to_string(value) + "\n");
    const gpu::compiled_program made = gpu::compile(includes_tile, options).value();
    INFO(made.origin().message().c_str());
    CHECK(made.ptx().contains(("x = " + std::to_string(value)).c_str()));
  }
}

TEST_CASE("a header that is written through a mapping is seen in memory", "[compiler][cache]") {
  // A store into a page that was written before leaves the file's stamps as they are.
  const project p;
  write_file(p.first + "/tile.h", "#define TILE 1\n");
  const int file = ::open((p.first + "/tile.h").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  void* const mapped = ::mmap(nullptr, 15, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(mapped != MAP_FAILED);
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  const gpu::compile_options options{.architecture = gpu::architecture::compute(90),
                                     .include_folders = {p.first},
                                     .cache = &cache};
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    const char digit = static_cast<char>('1' + round);
    static_cast<char*>(mapped)[13] = digit;
    ::usleep(20000);  // until the stamp of the first store is surely in the past
    for (int time = 0; time < 2; ++time) {
      const gpu::compiled_program made = gpu::compile(includes_tile, options).value();
      CHECK(made.ptx().contains((std::string("x = ") + digit).c_str()));
    }
  }
  CHECK(cache.counters().from_memory == 3);
  ::munmap(mapped, 15);
  ::close(file);
}

}}  // namespace cache_headers_test

// The files that a compilation depended on, and changes while it went on: a program that could be
// of either state is not kept.

#include "compiler/cache_support.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/nvrtc/dependencies.hpp>
#include <gpu/compiler/nvrtc/header_states.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cache_gather_test { namespace {

using gpu::detail::cache_conditions;
using gpu::detail::dependency_finder;
using gpu::detail::file_clock;
using gpu::detail::header_states;
using test::temporary_folder;
using test::write_file;

using text_list = decltype(cache_conditions::folders);

constexpr std::uint64_t second = 1'000'000'000;
const char* const includes_tile = "#include <tile.h>\n__device__ int x = TILE;";

/// Two folders for headers, searched in this order.
struct project {
  temporary_folder root;
  std::string first = root.make_folder("first");
  std::string second = root.make_folder("second");
  text_list folders{gpu::text(first.c_str()), gpu::text(second.c_str())};

  static text_list opened(const std::string& path) { return {gpu::text(path.c_str())}; }
};

/// Returns the locations of conditions, at none of which there was anything.
std::vector<std::string> absent(const cache_conditions& conditions) {
  std::vector<std::string> paths;
  for (const gpu::detail::location_condition& location : conditions.locations) {
    CHECK(location.kind == gpu::detail::location_kind::nothing);
    paths.push_back(location.path.c_str());
  }
  return paths;
}

TEST_CASE("headers that the library cannot list are found by looking", "[compiler][cache]") {
  const project p;
  write_file(p.second + "/tile.h", "#include \"nested.h\"\n");
  write_file(p.second + "/nested.h", "#define TILE 1\n");
  const gpu::program source(includes_tile);
  const header_states before = dependency_finder::look_before(source, p.folders, 0);
  cache_conditions listed, looked;
  text_list opened = project::opened(p.second + "/tile.h");
  opened.push_back(gpu::text((p.second + "/nested.h").c_str()));
  CHECK(dependency_finder(source, p.folders, before).find(opened, true, listed).empty());
  CHECK(dependency_finder(source, p.folders, before).find({}, false, looked).empty());
  REQUIRE(looked.files.size() == 2);
  CHECK(listed.files.size() == 2);
  CHECK(absent(looked) == std::vector<std::string>{p.first + "/tile.h"});
  CHECK(absent(listed) == std::vector<std::string>{p.first + "/tile.h"});
}

TEST_CASE("a header that was written during the compilation is not believed", "[compiler][cache]") {
  const project p;
  write_file(p.second + "/tile.h", "#define TILE 1\n");
  write_file(p.first + "/beside.h", "");
  // Only stamps tell here: nothing was looked at before.
  header_states before;
  before.started = file_clock::now();
  before.started.stamp -= second;
  before.started.steady -= second;
  cache_conditions conditions;
  const gpu::program source(includes_tile);
  CHECK(dependency_finder(source, p.folders, before)
            .find(project::opened(p.second + "/tile.h"), true, conditions) ==
        ("header " + p.second + "/tile.h was written while the program was compiled").c_str());
  // One that was there and not opened may have come too late.
  const gpu::program asks("#if __has_include(<beside.h>)\n#endif\n");
  CHECK(dependency_finder(asks, p.folders, before).find({}, true, conditions) ==
        (p.first + "/beside.h was written while the program was compiled").c_str());
  // Nor is the stamp of the moment itself believed, for it may have been given later; the one
  // before is.
  const auto written_at = [](const std::string& path) {
    struct stat about{};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    return gpu::detail::nanoseconds(about.st_ctim);
  };
  for (const std::uint64_t later : {0u, 1u}) {
    CAPTURE(later);
    before.started = file_clock::now();
    const std::uint64_t now = before.started.stamp;
    const auto start_at = [&](std::uint64_t stamp) {
      before.started.steady -= before.started.stamp - stamp;
      before.started.stamp = stamp;
    };
    start_at(written_at(p.second + "/tile.h") + later);
    CHECK(dependency_finder(source, p.folders, before)
              .find(project::opened(p.second + "/tile.h"), true, conditions)
              .empty() == (later != 0));
    start_at(written_at(p.first + "/beside.h") + later);
    CHECK(dependency_finder(asks, p.folders, before).find({}, true, conditions).empty() ==
          (later != 0));
    start_at(now);
  }
}

TEST_CASE("a header that went away during the compilation is missed", "[compiler][cache]") {
  const project p;
  header_states before;
  before.started = file_clock::now();
  cache_conditions conditions;
  CHECK(dependency_finder(gpu::program(includes_tile), p.folders, before)
            .find(project::opened(p.second + "/tile.h"), true, conditions) ==
        ("header " + p.second + "/tile.h went away while the program was compiled").c_str());
}

TEST_CASE("child: looks for headers that include each other through other folders", "[.child]") {
  ::alarm(20);  // those that have more and more paths never end
  const project p;
  for (const char* folder : {"one", "two"}) p.root.make_folder(std::string("second/") + folder);
  write_file(p.second + "/one/x.h",
             "#ifndef X\n#define X\n#include \"../two/y.h\"\n#include \"./x.h\"\n#endif\n");
  write_file(p.second + "/two/y.h",
             "#ifndef Y\n#define Y\n#include \"../one/x.h\"\n#define TILE 1\n#endif\n");
  const std::string includes = "#include <one/x.h>\n__device__ int x = TILE;";
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  gpu::compile_options options{.architecture = gpu::architecture::compute(90), .cache = &cache};
  for (const std::string& folder : {p.first, p.second}) {
    options.include_folders.push_back(gpu::text(folder.c_str()));
  }
  CHECK(test::value_of(gpu::compile(includes, options)).ptx().contains("x = 1"));
  CHECK(cache.counters().from_memory == 0);
  CHECK(test::value_of(gpu::compile(includes, options)).ptx().contains("x = 1"));
  CHECK(cache.counters().from_memory == 1);
  // Also where the compiler does not list what it opened.
  const gpu::program source(includes);
  const header_states before = dependency_finder::look_before(source, p.folders, 0);
  cache_conditions looked;
  CHECK(dependency_finder(source, p.folders, before).find({}, false, looked).empty());
  std::vector<std::string> paths;
  for (const gpu::detail::file_condition& file : looked.files) {
    paths.push_back(file.path.c_str());
  }
  for (const char* path : {"/one/x.h", "/one/../two/y.h"}) {
    CHECK(std::ranges::count(paths, p.second + path) == 1);
  }
  write_file(p.second + "/two/y.h", "#define TILE 2\n");
  CHECK(test::value_of(gpu::compile(includes, options)).ptx().contains("x = 2"));
}

TEST_CASE("headers that include each other through other folders are found once",
          "[compiler][cache]") {
  const auto child =
      test::run_child("child: looks for headers that include each other through other folders", {});
  INFO(child.output);
  CHECK(child.succeeded());
}

TEST_CASE("a header with an absolute path is looked for nowhere else", "[compiler][cache]") {
  const project p;
  const std::string path = p.second + "/tile.h", gone = p.second + "/gone.h";
  write_file(path, "#define TILE 1\n");
  const char* const nowhere = "/gpu_cache_gather_test/nowhere/gone.h";  // not even its first folder
  const gpu::program source("#include \"" + path + "\"\n#if __has_include(\"" + gone +
                            "\") || __has_include(\"" + nowhere + "\")\n#endif");
  const header_states before = dependency_finder::look_before(source, p.folders, 0);
  cache_conditions conditions;
  CHECK(dependency_finder(source, p.folders, before)
            .find(project::opened(path), true, conditions)
            .empty());
  REQUIRE(conditions.files.size() == 1);
  CHECK(conditions.files[0].path == path.c_str());
  CHECK(absent(conditions) == std::vector<std::string>{gone, "/gpu_cache_gather_test"});
}

TEST_CASE("a header that a macro names is looked for in all folders", "[compiler][cache]") {
  const project p;
  write_file(p.second + "/tile.h", "#define TILE 1\n");
  const gpu::program source("#define NAME <tile.h>\n#include NAME\n");
  ::usleep(20000);  // no one waits until the stamp of such a header is surely in the past
  const header_states before = dependency_finder::look_before(source, p.folders, 0);
  cache_conditions conditions;
  CHECK(dependency_finder(source, p.folders, before)
            .find(project::opened(p.second + "/tile.h"), true, conditions)
            .empty());
  const std::vector<std::string> places = absent(conditions);
  CHECK(std::find(places.begin(), places.end(), p.first + "/tile.h") != places.end());
}

TEST_CASE("a clock that was set during the compilation is noticed", "[compiler][cache]") {
  const file_clock now = file_clock::now();
  file_clock later = now;
  CHECK_FALSE(now.was_set_until(later));
  later.stamp += second / 2;
  later.steady += second / 2 + 3'000'000;
  CHECK_FALSE(now.was_set_until(later));
  later.stamp += 3600 * second;
  CHECK(now.was_set_until(later));
  later.stamp -= 2 * 3600 * second;
  CHECK(now.was_set_until(later));

  const project p;
  write_file(p.second + "/tile.h", "#define TILE 1\n");
  const gpu::program source(includes_tile);
  header_states before = dependency_finder::look_before(source, p.folders, 0);
  before.started.stamp += 3600 * second;
  cache_conditions conditions;
  CHECK(dependency_finder(source, p.folders, before)
            .find(project::opened(p.second + "/tile.h"), true, conditions) ==
        "the clock was set while the program was compiled");
}

/// What happens to the headers while one program is compiled.
struct meanwhile {
  const char* what;
  const char* source;
  std::function<void(const project&)> happens;
  std::string said;  // without the folder; empty where the program is kept
};

const std::vector<meanwhile>& happenings() {
  static const std::vector<meanwhile> all = {
      {"nothing", includes_tile, [](const project&) {}, ""},
      {"another header is written", includes_tile,
       [](const project& p) { write_file(p.second + "/other.h", "#define TILE 2\n"); }, ""},
      {"it is written in place, as long as it was", includes_tile,
       [](const project& p) { write_file(p.second + "/tile.h", "#define TILE 2\n"); },
       "/second/tile.h was written while the program was compiled"},
      {"it is replaced by one with the same content", includes_tile,
       [](const project& p) {
         write_file(p.second + "/new", "#define TILE 1\n");
         std::rename((p.second + "/new").c_str(), (p.second + "/tile.h").c_str());
       },
       "/second/tile.h was written while the program was compiled"},
      {"one appears in front of it", includes_tile,
       [](const project& p) { write_file(p.first + "/tile.h", "#define TILE 2\n"); },
       "/first/tile.h was written while the program was compiled"},
      {"one that was asked for goes away",
       "#if __has_include(<tile.h>)\n__device__ int x = 1;\n#else\n__device__ int x = 2;\n#endif\n",
       [](const project& p) { std::remove((p.second + "/tile.h").c_str()); },
       "/second/tile.h went away while the program was compiled"},
  };
  return all;
}

TEST_CASE("headers that change during a compilation keep it out, whatever their stamps say",
          "[compiler][cache]") {
  for (const meanwhile& one : happenings()) {
    INFO(one.what);
    const project p;
    write_file(p.second + "/tile.h", "#define TILE 1\n");
    const gpu::program source(one.source);
    header_states before = dependency_finder::look_before(source, p.folders, 0);
    // A file server whose clock is an hour behind: all stamps are from before the compilation.
    before.started.stamp += 3600 * second;
    before.started.steady += 3600 * second;
    one.happens(p);
    const bool includes = one.source == includes_tile;
    cache_conditions conditions;
    const gpu::text why =
        dependency_finder(source, p.folders, before)
            .find(includes ? project::opened(p.second + "/tile.h") : text_list(), true, conditions);
    if (one.said.empty()) CHECK(why.empty());
    if (!one.said.empty()) CHECK(why.contains((p.root.path() + one.said).c_str()));
  }
}

/// NVRTC, during whose compilations something happens.
struct disturbed_nvrtc {
  static std::function<void()>& happens() {
    static std::function<void()> what;
    return what;
  }
  static const gpu::nvrtc::entry_points*& inner() {
    static const gpu::nvrtc::entry_points* table = nullptr;
    return table;
  }
  static gpu::nvrtc::entry_points make() {
    inner() = &gpu::nvrtc::current_entry_points();
    gpu::nvrtc::entry_points table = *inner();
    table.compile_program = [](gpu::nvrtc::nvrtc_program program, int size,
                               const char* const* options) {
      const int code = inner()->compile_program(program, size, options);
      happens()();
      return code;
    };
    return table;
  }
  explicit disturbed_nvrtc(std::function<void()> what) { happens() = std::move(what); }
  gpu::nvrtc::entry_points table = make();
  gpu::nvrtc::scoped_entry_points scope{table};
};

TEST_CASE("no later program is one of headers that changed meanwhile", "[compiler][cache]") {
  for (const meanwhile& one : happenings()) {
    INFO(one.what);
    const project p;
    const std::string cache = p.root.make_folder("cache");
    const gpu::compile_options options{.include_folders = {p.first, p.second}};
    write_file(p.second + "/tile.h", "#define TILE 1\n");
    {
      const disturbed_nvrtc scope([&] { one.happens(p); });
      const gpu::compiled_program made = test::compile_fresh(cache, one.source, options);
      CHECK(made.origin().not_stored.empty() == one.said.empty());
    }
    // The oracle is a compilation without a cache.
    gpu::compile_cache off({.use = gpu::cache_use::off});
    gpu::compile_options bare = options;
    bare.architecture = gpu::architecture::sm(90);
    bare.cache = &off;
    const auto right = gpu::compile(one.source, bare);
    REQUIRE(right.has_value());
    CHECK(test::compile_fresh(cache, one.source, options).ptx() == right->ptx());
  }
}

}}  // namespace cache_gather_test

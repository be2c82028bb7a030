// Listing, emptying, limiting, exporting and importing what is in a cache's folder.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache_contents.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "compiler/cache_support.hpp"
#include "support/results.hpp"

#include <sys/stat.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace cache_contents_test { namespace {

using test::compile_fresh;
using test::error_of;
using test::origin_of;
using test::programs_in;
using test::temporary_folder;
using test::value_of;

std::string kernel(int number) {
  return "extern \"C\" __global__ void f(int* x) { *x = " + std::to_string(number) + "; }";
}

TEST_CASE("the programs in a cache are listed", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(value_of(gpu::list_programs(cache)).empty());
  const std::int64_t before = ::time(nullptr);
  compile_fresh(folder.path(), gpu::program(kernel(1), "one.cu"), {.fast_math = true});
  compile_fresh(folder.path(), gpu::program(kernel(2), "two.cu"));
  test::write_file(folder / (std::string(64, 'a') + ".0"), "damaged");
  const auto programs = value_of(gpu::list_programs(cache));
  REQUIRE(programs.size() == 2);
  const bool one_first = programs[0].name == "one.cu";
  const gpu::cached_program& one = programs[one_first ? 0 : 1];
  CHECK(one.name == "one.cu");
  CHECK(programs[one_first ? 1 : 0].name == "two.cu");
  CHECK(one.architecture == gpu::architecture::sm(90));
  bool fast = false;
  for (const gpu::text& option : one.options) fast = fast || option == "--use_fast_math";
  CHECK(fast);
  CHECK(one.compiler.contains("NVRTC 1"));
  CHECK(one.size > 1000);
  CHECK(one.last_use >= before - 1);
  CHECK(one.last_use <= ::time(nullptr) + 1);
}

TEST_CASE("a cache is emptied", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  value_of(gpu::purge(cache));
  REQUIRE(gpu::compile(kernel(1), options).has_value());
  test::write_file(folder / "mine.txt", "not the cache's");
  value_of(gpu::purge(cache));
  CHECK(programs_in(folder.path()).empty());
  CHECK(test::read_file(folder / "mine.txt") == "not the cache's");
  CHECK(gpu::compile(kernel(1), options)->origin().message() ==
        "compiled: it was not compiled before");
}

TEST_CASE("a cache stays below its limit and keeps what was used last", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), kernel(0));
  struct stat about{};
  REQUIRE(::stat((folder / programs_in(folder.path())[0]).c_str(), &about) == 0);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  const std::uint64_t limit = size * 6;
  gpu::compile_cache cache(
      {.use = gpu::cache_use::disk, .folder = folder.path(), .folder_limit = limit});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  value_of(gpu::purge(cache));
  const auto path_of_newest = [&](const std::vector<std::string>& before) {
    for (const std::string& name : programs_in(folder.path())) {
      if (std::find(before.begin(), before.end(), name) == before.end()) return folder / name;
    }
    return std::string();
  };
  for (int i = 1; i <= 20; ++i) {
    const std::vector<std::string> before = programs_in(folder.path());
    REQUIRE(gpu::compile(kernel(i), options).has_value());
    const std::string made = path_of_newest(before);
    if (!made.empty()) test::set_age(made, 1000 - i);
    std::uint64_t total = 0;
    for (const std::string& name : test::names_in(folder.path())) {
      REQUIRE(::stat((folder / name).c_str(), &about) == 0);
      if (name.size() == 66) total += static_cast<std::uint64_t>(about.st_size);
    }
    INFO("after " << i << " programs of " << size << " bytes");
    CHECK(total <= limit);
  }
  CHECK(cache.counters().evicted > 0);
  CHECK_FALSE(programs_in(folder.path()).empty());
  cache.forget();
  CHECK(gpu::compile(kernel(20), options)->origin().kind == gpu::origin_kind::disk);
  cache.forget();
  const gpu::compiled_program first = gpu::compile(kernel(1), options).value();
  CHECK(first.origin().kind == gpu::origin_kind::compiled);
}

TEST_CASE("beyond its limit a cache makes room until an eighth is free, and no more",
          "[compiler][cache]") {
  const temporary_folder measured;
  compile_fresh(measured.path(), kernel(1));
  // The program and a note of what was asked for; one about NVRTC is left once a process.
  std::size_t size = 0;
  for (const std::string& name : test::names_in(measured.path())) {
    if (name.size() == 66 && name.back() != 't') size += test::read_file(measured / name).size();
  }
  const std::size_t beside = size + 7 - 2 * size % 7, eighth = (size + beside) / 7;
  for (const std::size_t beyond : {0u, 1u}) {
    CAPTURE(beyond);
    const temporary_folder folder;
    const std::string oldest = folder / (std::string(64, 'a') + ".0"),
                      older = folder / (std::string(64, 'b') + ".0");
    test::write_file(oldest, std::string(eighth + beyond, 'x'));
    test::write_file(older, std::string(beside, 'x'));
    test::set_age(oldest, 2000);
    test::set_age(older, 1000);
    gpu::compile_cache cache(
        {.use = gpu::cache_use::disk, .folder = folder.path(), .folder_limit = 8 * eighth});
    value_of(gpu::compile(kernel(1), {.architecture = gpu::architecture::sm(90), .cache = &cache}));
    CHECK(programs_in(folder.path()).size() == 3 - beyond);
    CHECK(test::read_file(oldest).empty() == (beyond != 0));
    CHECK(cache.counters().evicted == beyond);
  }
}

TEST_CASE("a program larger than half the limit is not stored", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache(
      {.use = gpu::cache_use::disk, .folder = folder.path(), .folder_limit = 2000});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  const gpu::compiled_program made = gpu::compile(kernel(1), options).value();
  CHECK(made.origin().not_stored.contains("more than half of the cache's limit of 2000"));
  CHECK(made.origin().not_stored.contains("GPU_CACHE_SIZE"));
}

TEST_CASE("a used program is stamped once an hour", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), kernel(1));
  const std::string path = folder / programs_in(folder.path())[0];
  const auto stamp = [&] {
    struct stat about{};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    return about.st_mtim.tv_sec;
  };
  test::set_age(path, 1000);
  const auto recent = stamp();
  CHECK(origin_of(folder.path(), kernel(1)) == "from disk");
  CHECK(stamp() == recent);
  test::set_age(path, 4000);
  const auto old = stamp();
  CHECK(origin_of(folder.path(), kernel(1)) == "from disk");
  CHECK(stamp() > old + 3000);
}

TEST_CASE("a cache travels in one file", "[compiler][cache]") {
  const temporary_folder from, to, elsewhere;
  gpu::compile_cache source({.use = gpu::cache_use::disk, .folder = from.path()});
  gpu::compile_cache target({.use = gpu::cache_use::disk, .folder = to / "new"});
  const gpu::compiled_program made = compile_fresh(from.path(), kernel(1));
  compile_fresh(from.path(), kernel(2));
  const std::string archive = elsewhere / "kernels.gpu";
  CHECK(value_of(gpu::export_programs(source, archive)) == 2);
  CHECK(value_of(gpu::import_programs(target, archive)) == 2);
  const gpu::compiled_program found = compile_fresh(to / "new", kernel(1));
  CHECK(found.origin().message() == "from disk");
  CHECK(found.cubin() == made.cubin());
  CHECK(value_of(gpu::import_programs(target, archive)) == 2);
  CHECK(programs_in(to / "new").size() == 2);  // they were there already
}

TEST_CASE("a damaged archive is refused as a whole", "[compiler][cache]") {
  const temporary_folder from, to, elsewhere;
  gpu::compile_cache source({.use = gpu::cache_use::disk, .folder = from.path()});
  gpu::compile_cache target({.use = gpu::cache_use::disk, .folder = to.path()});
  compile_fresh(from.path(), kernel(1));
  const std::string archive = elsewhere / "kernels.gpu";
  REQUIRE(gpu::export_programs(source, archive).has_value());
  const std::string whole = test::read_file(archive);
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{20}, whole.size() / 2, whole.size() - 1}) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    test::write_file(archive, flipped);
    const gpu::cuda_error error = error_of(gpu::import_programs(target, archive));
    CHECK(error == gpu::errc::file_error);
    CHECK(test::says(error, "is damaged", "Export it again"));
  }
  test::write_file(archive, whole.substr(0, whole.size() - 5));
  CHECK(error_of(gpu::import_programs(target, archive)) == gpu::errc::file_error);
  // One that is whole and holds something else.
  const gpu::text note = gpu::detail::seal(gpu::detail::entry_kind::summary, {}, gpu::text("note"));
  for (const gpu::text& inside : {note, gpu::text("no envelope")}) {
    gpu::detail::byte_writer contents;
    contents << gpu::sequence<gpu::text>{inside};
    const gpu::text sealed =
        gpu::detail::seal(gpu::detail::entry_kind::archive, {}, contents.finish());
    test::write_file(archive, std::string(sealed.data(), sealed.size()));
    CHECK(test::says(error_of(gpu::import_programs(target, archive)),
                     "holds something that is not a program", "Export it again"));
  }
  CHECK(programs_in(to.path()).empty());
}

TEST_CASE("errors of the cache's folder are told", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache memory({.use = gpu::cache_use::memory});
  CHECK(test::says(error_of(gpu::list_programs(memory)), "has no folder", "GPU_CACHE_DIR"));
  CHECK(test::says(error_of(gpu::purge(memory)), "has no folder"));
  CHECK(test::says(error_of(gpu::export_programs(memory, "x")), "has no folder"));
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(test::says(error_of(gpu::export_programs(cache, "/nowhere/at/all")), "/nowhere/at/all",
                   "could not be written"));
  CHECK(test::says(error_of(gpu::import_programs(cache, "/nowhere/at/all")), "/nowhere/at/all"));
  const temporary_folder open;  // no cache yet, and everybody may have put something into it
  REQUIRE(::chmod(open.path().c_str(), 0777) == 0);
  gpu::compile_cache shared({.use = gpu::cache_use::disk, .folder = open.path()});
  CHECK(test::says(error_of(gpu::list_programs(shared)), "chmod o-w"));
}

TEST_CASE("a machine without a compiler runs what was shipped", "[compiler][cache]") {
  const temporary_folder folder, headers;
  test::write_file(headers / "tile.h", "#define TILE 1\n");
  const char* const with_header = "#include <tile.h>\n__device__ int x = TILE;";
  const gpu::compile_options with_folder{.include_folders = {headers.path()}};
  compile_fresh(folder.path(), kernel(1));
  compile_fresh(folder.path(), with_header, with_folder);
  gpu::nvrtc::entry_points none{};
  none.unavailable = gpu::errc::no_nvrtc;
  none.unavailable_detail = "nowhere";
  const gpu::nvrtc::scoped_entry_points in_force(none);
  CHECK(origin_of(folder.path(), kernel(1)) == "from disk");
  CHECK(origin_of(folder.path(), with_header, with_folder) == "from disk");
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  CHECK(error_of(gpu::compile(kernel(2), options)) == gpu::errc::no_nvrtc);
  // Of headers that this machine lacks nothing can be said; one that differs is another program's.
  REQUIRE(std::remove((headers / "tile.h").c_str()) == 0);
  gpu::compile_options here = with_folder;
  here.architecture = gpu::architecture::sm(90);
  here.cache = &cache;
  for (int i = 0; i < 2; ++i) {
    CHECK(value_of(gpu::compile(with_header, here)).origin().message() == "from disk");
  }
  test::write_file(headers / "tile.h", "#define TILE 2\n");
  CHECK(error_of(gpu::compile(with_header, here)) == gpu::errc::no_nvrtc);
}

}}  // namespace cache_contents_test

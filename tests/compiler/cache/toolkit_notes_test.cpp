// A process starts warm without opening NVRTC, as long as the note that an earlier one left tells
// of the NVRTC that it would open. Each way in which the note may be wrong costs that time and
// nothing else.

#include <gpu/compiler.hpp>
#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "compiler/cache_support.hpp"
#include "support/subprocess.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace toolkit_notes_test { namespace {

using test::temporary_folder;

const char* const source = "extern \"C\" __global__ void f(int* x) { *x = 1; }";

TEST_CASE("child: starts through the cache", "[.child]") {
  const char* folder = std::getenv("CACHE_TEST_FOLDER");
  const char* use = std::getenv("CACHE_TEST_USE");
  const char* open_before = std::getenv("CACHE_TEST_OPEN");
  REQUIRE(folder != nullptr);
  if (open_before != nullptr) REQUIRE(::dlopen(open_before, RTLD_NOW) != nullptr);
  const std::string wanted = use != nullptr ? use : "disk";
  gpu::compile_cache cache({.use = wanted == "off"      ? gpu::cache_use::off
                                   : wanted == "memory" ? gpu::cache_use::memory
                                                        : gpu::cache_use::disk,
                            .folder = folder});
  const auto made =
      gpu::compile(source, {.architecture = gpu::architecture::sm(90), .cache = &cache});
  if (!made.has_value()) FAIL(made.error().message().c_str());
  CHECK(made->cubin().size() > 64);
  std::printf("<%s, %s>", gpu::nvrtc::entry_points_in_force() != nullptr ? "opened" : "not opened",
              made->origin().message().c_str());
}

/// How a new process starts: `opened, from disk`.
std::string start(const std::string& folder, test::environment variables = {}) {
  variables.emplace_back("CACHE_TEST_FOLDER", folder);
  const auto child = test::run_child("child: starts through the cache", variables);
  const std::size_t first = child.output.find('<'), last = child.output.find('>');
  return child.succeeded() && last != std::string::npos
             ? child.output.substr(first + 1, last - first - 1)
             : child.output;
}

const char* const cold = "opened, compiled: it was not compiled before";
const char* const warm = "not opened, from disk";
const char* const opened = "opened, from disk";

std::string only_note(const temporary_folder& folder) {
  const std::vector<std::string> notes = test::names_in(folder.path(), ".t");
  REQUIRE(notes.size() == 1);
  return folder / notes[0];
}

/// The path of the NVRTC of this process.
std::string path_of_nvrtc() {
  Dl_info info{};
  const void* function = reinterpret_cast<const void*>(gpu::nvrtc::current_entry_points().version);
  REQUIRE(::dladdr(function, &info) != 0);
  return info.dli_fname;
}

TEST_CASE("the second process does not open NVRTC", "[compiler][cache][nvrtc]") {
  const temporary_folder folder;
  CHECK(start(folder.path()) == cold);
  CHECK(start(folder.path()) == warm);
  // Another library of that name is open already, which the search would have found as well.
  CHECK(start(folder.path(), {{"CACHE_TEST_OPEN", path_of_nvrtc()}}) == opened);
  CHECK(start(folder.path()) == warm);
}

TEST_CASE("a note about NVRTC that is damaged or lies is not believed",
          "[compiler][cache][nvrtc]") {
  const temporary_folder folder;
  REQUIRE(start(folder.path()) == cold);
  const std::string path = only_note(folder), whole = test::read_file(path);
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  for (const std::string& damaged : {std::string(), whole.substr(0, whole.size() - 1), flipped}) {
    test::write_file(path, damaged);
    CHECK(start(folder.path()) == opened);
    CHECK(test::read_file(path) == whole);  // made again
  }

  // Whole and sealed, but with other contents: a count that lies, another version, another file.
  gpu::detail::entry_kind kind{};
  gpu::detail::digest key;
  gpu::string_ref contents;
  REQUIRE(gpu::detail::read_seal(whole, kind, key, contents));
  gpu::detail::byte_reader in(contents);
  gpu::text identity, library;
  in >> identity >> library;
  REQUIRE(in.ok());
  const auto seal = [&](const char* first, const char* second, std::string rest) {
    gpu::detail::byte_writer out;
    out << gpu::text(first) << gpu::text(second);
    out.raw(rest.data(), rest.size());
    const gpu::text sealed = gpu::detail::seal(kind, key, out.finish());
    test::write_file(path, std::string(sealed.data(), sealed.size()));
  };
  const std::string rest(in.rest().data(), in.rest().size());
  seal(identity.c_str(), library.c_str(), rest);
  CHECK(test::read_file(path) == whole);  // it is made as the library makes it
  seal(identity.c_str(), library.c_str(), rest.substr(0, rest.size() - 8));
  CHECK(start(folder.path()) == opened);
  seal(identity.c_str(), "/nowhere/libnvrtc.so", rest);
  CHECK(start(folder.path()) == opened);
  seal(identity.c_str(), "/proc/self/exe", rest);
  CHECK(start(folder.path()) == opened);
  CHECK(start(folder.path()) == warm);
  // Who can write the folder can say what NVRTC is like; what is asked of another is compiled.
  seal("NVRTC 1.2, build 345", library.c_str(), rest);
  const std::string other = start(folder.path());
  CHECK(other.find("opened, compiled: this is NVRTC 1.2, build 345 instead of NVRTC ") == 0);
}

TEST_CASE("another NVRTC on the way is noticed", "[compiler][cache][nvrtc]") {
  const temporary_folder folder, toolkit;
  const std::string real = path_of_nvrtc(), lib = toolkit.make_folder("lib64");
  const std::string real_folder = real.substr(0, real.rfind('/'));
  const auto shell = [](const std::string& command) { REQUIRE(std::system(command.c_str()) == 0); };
  shell("ln -s " + real_folder + "/libnvrtc-builtins* " + lib + "/");
  shell("ln -s " + real + " " + toolkit.path() + "/libnvrtc.so");
  const test::environment by_path = {{"GPU_NVRTC", toolkit / "libnvrtc.so"}};
  // Its declarations are looked for beside it.
  shell("ln -s " + real_folder + "/libnvrtc-builtins* " + toolkit.path() + "/");
  CHECK(start(folder.path(), by_path) == cold);
  CHECK(start(folder.path(), by_path) == warm);
  // The same bytes in another file may be anything.
  shell("rm " + toolkit.path() + "/libnvrtc.so && cp " + real + " " + toolkit.path() +
        "/libnvrtc.so");
  CHECK(start(folder.path(), by_path) == opened);
  CHECK(start(folder.path(), by_path) == warm);
  test::set_age(toolkit / "libnvrtc.so", 100);
  CHECK(start(folder.path(), by_path) == opened);

  // A toolkit that is named by a variable, and gets a library that would be found first.
  const test::environment by_toolkit = {{"CUDA_PATH", toolkit.path()}, {"GPU_NVRTC", ""}};
  CHECK(start(folder.path(), by_toolkit).find("opened, ") == 0);
  CHECK(start(folder.path(), by_toolkit) == warm);
  shell("mv " + toolkit.path() + "/libnvrtc.so " + lib + "/libnvrtc.so");
  CHECK(start(folder.path(), by_toolkit) == opened);
  CHECK(start(folder.path(), by_toolkit) == warm);
  // Another variable that the search goes by.
  CHECK(start(folder.path(), {{"CUDA_PATH", toolkit.path()},
                              {"GPU_NVRTC", ""},
                              {"LD_LIBRARY_PATH", toolkit.path()}}) == opened);
}

TEST_CASE("a cache that is off or in memory alone neither reads nor leaves a note",
          "[compiler][cache][nvrtc]") {
  const temporary_folder folder;
  const test::environment off = {{"CACHE_TEST_USE", "off"}},
                          memory = {{"CACHE_TEST_USE", "memory"}};
  CHECK(start(folder.path(), off) == "opened, compiled: the cache is off");
  CHECK(start(folder.path(), memory).find("opened, compiled: ") == 0);
  CHECK(test::names_in(folder.path()).empty());
  CHECK(start(folder.path()) == cold);
  CHECK(start(folder.path(), off) == "opened, compiled: the cache is off");
  CHECK(start(folder.path(), memory).find("opened, compiled: ") == 0);
  CHECK(start(folder.path()) == warm);
}

}}  // namespace toolkit_notes_test

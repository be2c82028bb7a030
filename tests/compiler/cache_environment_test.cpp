// What compilers read besides files: a variable of the environment, and the
// working folder. A compilation without a cache is the oracle.

#include "compiler/cache_support.hpp"
#include "support/drivers.hpp"
#include "support/sanitizers.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <stdlib.h>
#include <unistd.h>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace cache_environment_test { namespace {

using test::temporary_folder;

constexpr const char* variable = "NV_NVVM_VERSION";
// NVRTC 13 has two generators of code, of which either is the default for some of these.
const gpu::architecture architectures[] = {gpu::architecture::sm(80), gpu::architecture::sm(100)};
constexpr const char* settings[] = {"nvvm-latest", "nvvm70"};
constexpr const char* source =
    "extern \"C\" __global__ void f(float* x, int n) {"
    "  for (int i = 0; i < n; ++i) x[i * blockDim.x + threadIdx.x] = x[i] * sinf(x[i]) + 1.0f;"
    "}";

/// Sets the variable for a scope.
struct scoped_setting {
  explicit scoped_setting(const char* value) { ::setenv(variable, value, 1); }
  scoped_setting(const scoped_setting&) = delete;
  scoped_setting& operator=(const scoped_setting&) = delete;
  ~scoped_setting() { ::unsetenv(variable); }
};

/// The PTX for each architecture; what the compiler said where it made none.
std::vector<std::string> programs(gpu::compile_cache& cache) {
  std::vector<std::string> made;
  for (const gpu::architecture& one : architectures) {
    const auto outcome = gpu::compile(source, {.architecture = one, .cache = &cache});
    made.push_back(outcome.has_value() ? outcome->ptx().c_str() : "no program");
  }
  return made;
}

TEST_CASE("child: programs of a cache, with a variable of NVRTC's", "[.child]") {
  const std::string folder = std::getenv("GPU_CACHE_ENVIRONMENT_FOLDER");
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
  gpu::compile_cache off({.use = gpu::cache_use::off});
  const auto found = programs(cache), right = programs(off);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == right[i]);
}

TEST_CASE("a variable that NVRTC obeys counts, and when it was read", "[compiler][cache]") {
  const temporary_folder folder;
  const std::string path = folder.make_folder("cache");
  gpu::compile_cache off({.use = gpu::cache_use::off});
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = path});
  const auto plain = programs(cache);
  CHECK(plain == programs(off));
  for (const char* setting : settings) {
    INFO(setting);
    const auto child =
        test::run_child("child: programs of a cache, with a variable of NVRTC's",
                        {{"GPU_CACHE_ENVIRONMENT_FOLDER", path}, {variable, setting}});
    INFO(child.output);
    CHECK(child.succeeded());
    // Here NVRTC is loaded, and a newer one may ask again.
    const scoped_setting set(setting);
    const auto right = programs(off);
    CHECK(programs(cache) == right);
    cache.forget();
    CHECK(programs(cache) == right);
  }
  CHECK(programs(cache) == plain);
  CHECK(programs(off) == plain);
}

TEST_CASE("a variable is a reason", "[compiler][cache]") {
  const temporary_folder folder;
  REQUIRE(gpu::compile("", {.architecture = gpu::architecture::sm(90)}).has_value());
  test::compile_fresh(folder.path(), source);
  const scoped_setting set("nvvm70");
  const gpu::compiled_program made = test::compile_fresh(folder.path(), source);
  CHECK(made.origin().reason.contains("NV_NVVM_VERSION=nvvm70 is new"));
  CHECK(test::origin_of(folder.path(), source) == "from disk");
}

TEST_CASE("a variable that nvJitLink obeys counts", "[compiler][cache][link]") {
  gpu::compile_cache off({.use = gpu::cache_use::off});
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  for (const gpu::architecture& target : architectures) {
    const auto compiled = gpu::compile(
        source, {.architecture = target, .link_time_optimization = true, .cache = &off});
    if (!compiled.has_value()) continue;  // NVRTC is older than the architecture
    const auto linked = [&](gpu::compile_cache& used) -> std::string {
      const auto made =
          gpu::link({{*compiled, "kernel"}}, {.architecture = target, .cache = &used});
      if (!made.has_value()) return made.error().message().c_str();
      return {made->cubin().data(), made->cubin().size()};
    };
    const std::string plain = linked(cache);
    CHECK((plain == linked(off)));
    for (const char* setting : settings) {
      INFO(setting);
      const scoped_setting set(setting);
      CHECK((linked(cache) == linked(off)));
    }
    CHECK((linked(cache) == plain));
  }
}

TEST_CASE("line information names the working folder", "[compiler][cache]") {
  const temporary_folder folder;
  const std::string path = folder.make_folder("cache");
  const std::string places[] = {folder.make_folder("one"), folder.make_folder("two")};
  const test::scoped_working_folder back;
  gpu::compile_cache off({.use = gpu::cache_use::off});
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = path});
  for (const bool debug : {false, true}) {
    gpu::compile_options options{
        .architecture = gpu::architecture::compute(90), .line_info = !debug, .debug = debug};
    const auto compile = [&](gpu::compile_cache& used) {
      options.cache = &used;
      return gpu::compile(source, options).value();
    };
    for (int round = 0; round < 2; ++round) {
      for (const std::string& place : places) {
        REQUIRE(::chdir(place.c_str()) == 0);
        const gpu::compiled_program found = compile(cache);
        CHECK(found.ptx() == compile(off).ptx());
        CHECK(found.ptx().contains(place.c_str()));
        // Each is kept beside the other, and in memory as long as the folder is the same.
        CHECK(found.origin().kind ==
              (round == 0 ? gpu::origin_kind::compiled : gpu::origin_kind::disk));
        CHECK(compile(cache).origin().kind == gpu::origin_kind::memory);
      }
    }
  }
}

TEST_CASE("the lines that the CPU driver's reports name are the same in every folder",
          "[compiler][cache]") {
  const test::own_cpu_driver cpu;
  const temporary_folder folder;
  const std::string places[] = {folder.make_folder("one"), folder.make_folder("two")};
  const test::scoped_working_folder back;
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  gpu::compile_options options{.cache = &cache};
  for (const std::string& place : places) {
    REQUIRE(::chdir(place.c_str()) == 0);
    const gpu::compiled_program found = gpu::compile(source, options).value();
    CHECK(found.origin().kind ==
          (place == places[0] ? gpu::origin_kind::compiled : gpu::origin_kind::memory));
    CHECK(found.ptx().contains("\t.loc\t1 1 "));
    CHECK(found.ptx().contains("\t.file\t1 \"program.cu\"\n"));
    for (const gpu::text& option : found.options())
      CHECK_FALSE(gpu::string_ref(option) == "--generate-line-info");
  }
  // A file of another folder keeps its whole name.
  const gpu::program elsewhere(source, "/elsewhere/kernel.cu");
  CHECK(gpu::compile(elsewhere, options).value().ptx().contains("\"/elsewhere/kernel.cu\""));
  // So do all files if the folder was removed. NVRTC then reads past a buffer of its own.
  if (!test::address_sanitizer) {
    REQUIRE(::chdir(folder.make_folder("removed").c_str()) == 0);
    REQUIRE(::rmdir((folder.path() + "/removed").c_str()) == 0);
    const gpu::program nowhere(source, "/nowhere/kernel.cu");
    CHECK(gpu::compile(nowhere, options).value().ptx().contains("\"/nowhere/kernel.cu\""));
  }
  REQUIRE(::chdir(places[1].c_str()) == 0);
  // What the caller asks for is as on a GPU.
  options.line_info = true;
  CHECK(gpu::compile(source, options).value().ptx().contains((places[1] + "/program.cu").c_str()));
  options.line_info = false;
  options.architecture = gpu::architecture::compute(90);
  const gpu::compiled_program plain = gpu::compile(source, options).value();
  CHECK_FALSE(plain.ptx().contains("\t.loc\t"));
  CHECK(plain.origin().kind == gpu::origin_kind::compiled);
}

}}  // namespace cache_environment_test

// When a program comes from the cache and when it is compiled anew, and what is said about it.

#include "compiler/cache_support.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/request_key.hpp>
#include <gpu/compiler/options/recent_request.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <memory>
#include <string>

namespace cache_key_test { namespace {

using test::compile_fresh;
using test::origin_of;
using test::temporary_folder;

const char* const source = "extern \"C\" __global__ void f(int* x) { *x = 1; }";

TEST_CASE("the second process finds what the first compiled", "[compiler][cache]") {
  const temporary_folder folder;
  const gpu::compiled_program first = compile_fresh(folder.path(), source);
  CHECK(first.origin().kind == gpu::origin_kind::compiled);
  CHECK(first.origin().message() == "compiled: it was not compiled before");
  const gpu::compiled_program second = compile_fresh(folder.path(), source);
  CHECK(second.origin().message() == "from disk");
  CHECK(second.ptx() == first.ptx());
  CHECK(second.cubin() == first.cubin());
  CHECK(second.cubin().size() > 64);
  CHECK(second.architecture() == gpu::architecture::sm(90));
  CHECK(second.options().size() == first.options().size());
  CHECK(second.log() == first.log());
}

TEST_CASE("all that a compilation made comes back", "[compiler][cache]") {
  const temporary_folder folder;
  const gpu::program program =
      gpu::program(
          "#include \"part.h\"\ntemplate <class T> __global__ void f(T* x) { int unused; }",
          "all.cu")
          .header("part.h", "// nothing\n")
          .instance("f<float>")
          .instance("f<int>");
  const gpu::compiled_program made = compile_fresh(folder.path(), program);
  const gpu::compiled_program found = compile_fresh(folder.path(), program);
  REQUIRE(found.origin().kind == gpu::origin_kind::disk);
  CHECK(found.lowered_name("f<float>") == "_Z1fIfEvPT_");  // by the Itanium C++ ABI
  CHECK(found.lowered_name("f<int>") == "_Z1fIiEvPT_");
  CHECK(found.log().contains("unused"));
  CHECK(found.log() == made.log());
  REQUIRE(found.headers().size() == 1);
  CHECK(found.headers()[0] == "part.h");
  CHECK(found.headers_complete() == made.headers_complete());
}

TEST_CASE("in one process a program is compiled once", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  CHECK(gpu::compile(source, options)->origin().kind == gpu::origin_kind::compiled);
  for (int i = 0; i < 3; ++i) {
    const gpu::compiled_program again = gpu::compile(source, options).value();
    CHECK(again.origin().message() == "from memory");
    CHECK(again.cubin().size() > 64);
  }
  CHECK(cache.counters().compiled == 1);
  CHECK(cache.counters().from_memory == 3);
  CHECK(cache.counters().stored == 1);
  cache.forget();
  CHECK(gpu::compile(source, options)->origin().message() == "from disk");
  CHECK(cache.counters().from_disk == 1);
}

/// A program and its options, in which each part can be another.
struct request {
  gpu::program program =
      gpu::program("template <class T> __global__ void f(T* x) { *x = VALUE; }", "kernel.cu")
          .header("a.h", "// one")
          .instance("f<int>");
  gpu::compile_options options{.architecture = gpu::architecture::compute(90),
                               .defines = {{"VALUE", 1}, {"OTHER", 1}},
                               .include_folders = {"/tmp"},
                               .extra = {"-DEXTRA=1"}};
};

TEST_CASE("what is said otherwise is not taken from memory", "[compiler][cache]") {
  struct change {
    const char* what;
    void (*make)(request&);
  };
  const change changes[] = {
      {"source", [](request& r) { r.program = gpu::program("__device__ int x;", "kernel.cu"); }},
      {"name",
       [](request& r) {
         r.program = gpu::program(r.program.source(), "other.cu").header("a.h", "// one");
         r.program.instance("f<int>");
       }},
      {"a header's text",
       [](request& r) {
         r.program = gpu::program(r.program.source(), "kernel.cu").header("a.h", "// two");
         r.program.instance("f<int>");
       }},
      {"a header's name",
       [](request& r) {
         r.program = gpu::program(r.program.source(), "kernel.cu").header("b.h", "// one");
         r.program.instance("f<int>");
       }},
      {"one more header", [](request& r) { r.program.header("b.h", ""); }},
      {"one more instance", [](request& r) { r.program.instance("f<float>"); }},
      {"architecture", [](request& r) { r.options.architecture = gpu::architecture::compute(80); }},
      {"standard", [](request& r) { r.options.standard = gpu::cpp_standard::cpp17; }},
      {"a macro's value", [](request& r) { r.options.defines[0].value = 2; }},
      {"a macro's name", [](request& r) { r.options.defines[1].name = "ANOTHER"; }},
      {"one more macro", [](request& r) { r.options.defines.push_back({"MORE", 1}); }},
      {"folder", [](request& r) { r.options.include_folders = {"/usr"}; }},
      {"toolkit's headers", [](request& r) { r.options.toolkit_headers = false; }},
      {"default device", [](request& r) { r.options.default_device = true; }},
      {"fast math", [](request& r) { r.options.fast_math = true; }},
      {"contraction", [](request& r) { r.options.fused_multiply_add = false; }},
      {"denormals", [](request& r) { r.options.flush_denormals = true; }},
      {"division", [](request& r) { r.options.precise_division = false; }},
      {"root", [](request& r) { r.options.precise_square_root = false; }},
      {"registers", [](request& r) { r.options.max_registers = 32; }},
      {"lines", [](request& r) { r.options.line_info = true; }},
      {"debug", [](request& r) { r.options.debug = true; }},
      {"debug, optimized", [](request& r) { r.options.debug = r.options.debug_optimized = true; }},
      {"relocatable", [](request& r) { r.options.relocatable = true; }},
      {"LTO", [](request& r) { r.options.link_time_optimization = true; }},
      {"further option", [](request& r) { r.options.extra = {"-DEXTRA=2"}; }},
  };
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  const auto kind = [&](request& r) {
    r.options.cache = &cache;
    const auto made = gpu::compile(r.program, r.options);
    REQUIRE(made.has_value());
    return made->origin().kind;
  };
  request base;
  CHECK(kind(base) == gpu::origin_kind::compiled);
  CHECK(kind(base) == gpu::origin_kind::memory);
  const gpu::detail::recent_request words{base.program, base.options};
  const std::unique_ptr<gpu::detail::request_key> copy(words.copy());
  CHECK(copy->hash() == words.hash());
  CHECK(copy->equals(words));
  for (const change& one : changes) {
    INFO(one.what);
    request other;
    other.options.cache = &cache;
    one.make(other);
    // Even if the hashes of the two are the same.
    CHECK_FALSE(copy->equals(gpu::detail::recent_request{other.program, other.options}));
    // Folders that no header came from do not count, once all is settled.
    const std::string what = one.what;
    const bool same_to_nvrtc = what == "folder" || what == "toolkit's headers";
    if (!same_to_nvrtc) CHECK(kind(other) == gpu::origin_kind::compiled);
    if (same_to_nvrtc) kind(other);
    for (int i = 0; i < 2; ++i) {
      CHECK(kind(other) == gpu::origin_kind::memory);
      CHECK(kind(base) == gpu::origin_kind::memory);
    }
  }
}

TEST_CASE("each part of what was asked for counts, and is named", "[compiler][cache]") {
  const temporary_folder folder;
  const auto program = [](const char* text) { return gpu::program(text, "kernel.cu"); };
  const auto origin = [&](const gpu::program& p, const gpu::compile_options& options = {}) {
    return origin_of(folder.path(), p, options);
  };
  const gpu::program base = program(source);
  CHECK(origin(base) == "compiled: it was not compiled before");
  CHECK(origin(program("extern \"C\" __global__ void f(int* x) { *x = 2; }")) ==
        "compiled: the source changed");
  CHECK(origin(gpu::program(source, "other.cu")) ==
        "compiled: it is named other.cu instead of kernel.cu");
  CHECK(origin(base, {.fused_multiply_add = false}) == "compiled: option --fmad=false is new");
  CHECK(origin(base, {.defines = {{"N", 4}}}) == "compiled: option --define-macro=N=4 is new");
  CHECK(origin(gpu::program(base).header("a.h", "int")) == "compiled: header a.h is new");
  CHECK(origin(gpu::program(base).header("a.h", "char")) == "compiled: header a.h changed");
  CHECK(origin(gpu::program(base).instance("f")) == "compiled: instance f is new");
  // All of them are there side by side.
  CHECK(origin(base) == "from disk");
  CHECK(origin(base, {.fused_multiply_add = false}) == "from disk");
  CHECK(origin(gpu::program(base).header("a.h", "int")) == "from disk");
}

TEST_CASE("the architecture counts, and is named", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  CHECK(gpu::compile(source, options).has_value());
  options.architecture = gpu::architecture::compute(80);
  const gpu::compiled_program virtual_code = gpu::compile(source, options).value();
  CHECK(virtual_code.origin().reason.contains("it is for compute_80 instead of sm_90"));
  CHECK(virtual_code.cubin().empty());
}

TEST_CASE("a change of the source by one byte is another program", "[compiler][cache]") {
  const temporary_folder folder;
  const std::string one = "extern \"C\" __global__ void f(int* x) { *x = 1; } // a";
  const std::string other = "extern \"C\" __global__ void f(int* x) { *x = 1; } // b";
  origin_of(folder.path(), one);
  CHECK(compile_fresh(folder.path(), other).origin().kind == gpu::origin_kind::compiled);
  CHECK(compile_fresh(folder.path(), one).origin().kind == gpu::origin_kind::disk);
}

TEST_CASE("a compiler of another build compiles anew", "[compiler][cache]") {
  const temporary_folder folder;
  compile_fresh(folder.path(), source);
  // A table whose nvrtcVersion is not in the library NVRTC, but in this program: another build.
  gpu::nvrtc::entry_points other = gpu::nvrtc::current_entry_points();
  other.version = [](int* major, int* minor) {
    *major = 14;
    *minor = 2;
    return 0;
  };
  const gpu::nvrtc::scoped_entry_points in_force(other);
  const gpu::compiled_program made = compile_fresh(folder.path(), source);
  CHECK(made.origin().kind == gpu::origin_kind::compiled);
  INFO(made.origin().message().c_str());
  CHECK(made.origin().reason.contains("this is NVRTC 14.2"));
  CHECK(made.origin().reason.contains("instead of NVRTC 1"));
  CHECK(compile_fresh(folder.path(), source).origin().kind == gpu::origin_kind::disk);
}

TEST_CASE("what is in memory is not taken from another compiler", "[compiler][cache]") {
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  CHECK(gpu::compile(source, options).has_value());
  CHECK(gpu::compile(source, options)->origin().kind == gpu::origin_kind::memory);
  gpu::nvrtc::entry_points other = gpu::nvrtc::current_entry_points();
  other.version = [](int* major, int* minor) {
    *major = 14;
    *minor = 2;
    return 0;
  };
  const gpu::nvrtc::scoped_entry_points in_force(other);
  CHECK(gpu::compile(source, options)->origin().kind == gpu::origin_kind::compiled);
}

TEST_CASE("a program that does not compile is not kept", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  for (int i = 0; i < 2; ++i) {
    const auto made = gpu::compile("nonsense", options);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error() == gpu::errc::compile_failed);
  }
  CHECK(test::programs_in(folder.path()).empty());
}

TEST_CASE("a program with the time of its compilation is not kept", "[compiler][cache]") {
  const temporary_folder folder;
  const gpu::program program("__device__ const char time[] = __TIME__;", "clock.cu");
  for (int i = 0; i < 2; ++i) {
    const gpu::compiled_program made = compile_fresh(folder.path(), program);
    CHECK(made.origin().kind == gpu::origin_kind::compiled);
    CHECK(made.origin().not_stored == "clock.cu has __DATE__, __TIME__ or __TIMESTAMP__");
  }
}

TEST_CASE("a cache that is off compiles each time", "[compiler][cache]") {
  gpu::compile_cache cache({.use = gpu::cache_use::off});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  for (int i = 0; i < 2; ++i) {
    const gpu::compiled_program made = gpu::compile(source, options).value();
    CHECK(made.origin().message() == "compiled: the cache is off");
  }
  CHECK(cache.counters().compiled == 2);
  CHECK(cache.use() == gpu::cache_use::off);
}

}}  // namespace cache_key_test

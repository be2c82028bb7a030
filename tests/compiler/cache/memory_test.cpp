// Programs in memory: how many there are, which go first, and that what went is not found.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/program_origin.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>

namespace cache_memory_test { namespace {

TEST_CASE("the cache keeps a program small in memory", "[compiler][cache]") {
  gpu::compile_cache cache({.use = gpu::cache_use::memory, .memory_limit = 20000});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  const auto kind = [&](int i) {
    const std::string text =
        "extern \"C\" __global__ void f(int* x) { *x = " + std::to_string(i) + "; }";
    return gpu::compile(text, options)->origin().kind;
  };
  for (int i = 0; i < 8; ++i) CHECK(kind(i) == gpu::origin_kind::compiled);
  CHECK(kind(7) == gpu::origin_kind::memory);
  CHECK(kind(0) == gpu::origin_kind::compiled);  // the least lately used went
}

TEST_CASE("a program that had to go from memory is not found by how it was said",
          "[compiler][cache]") {
  const auto kernels = [](const char* name) {
    std::string text;
    for (int i = 0; i < 200; ++i) {
      text += std::string("extern \"C\" __global__ void ") + name + std::to_string(i) + "() {}\n";
    }
    return text;
  };
  const std::string one = kernels("one"), two = kernels("two"), six = kernels("six");
  gpu::compile_options options{.architecture = gpu::architecture::compute(80)};
  std::size_t all = 0;
  {
    gpu::compile_cache off({.use = gpu::cache_use::off});
    options.cache = &off;
    for (const std::string& text : {one, two, six}) {
      all += gpu::compile(text, options)->ptx().size();
    }
  }
  REQUIRE(all > 30000);  // so that two fit with all that is kept about them
  gpu::compile_cache cache({.use = gpu::cache_use::memory, .memory_limit = all - 1});
  options.cache = &cache;
  const auto kind = [&](const std::string& text) {
    return gpu::compile(text, options)->origin().kind;
  };
  for (const std::string& text : {two, one}) {
    CHECK(kind(text) == gpu::origin_kind::compiled);
    CHECK(kind(text) == gpu::origin_kind::memory);
  }
  CHECK(kind(six) == gpu::origin_kind::compiled);  // for which the second went
  CHECK(kind(one) == gpu::origin_kind::memory);    // by how it was said, which is a use too
  CHECK(kind(two) == gpu::origin_kind::compiled);
  CHECK(kind(one) == gpu::origin_kind::memory);
  CHECK(kind(six) == gpu::origin_kind::compiled);
}

TEST_CASE("of many programs in memory each is found, whichever went", "[compiler][cache]") {
  gpu::compile_cache cache({.use = gpu::cache_use::memory, .memory_limit = 160'000});
  const gpu::compile_options options{.architecture = gpu::architecture::compute(80),
                                     .cache = &cache};
  constexpr int programs = 100;
  const auto compiled = [&](int i) {
    const std::string name = "x" + std::to_string(i);
    const auto made = gpu::compile("__device__ int " + name + ";", options);
    REQUIRE(made.has_value());
    CHECK(made->ptx().contains((".u32 " + name + ";").c_str()));
    return made->origin().kind == gpu::origin_kind::compiled ? 1 : 0;
  };
  int kept = 0;
  for (int i = 0; i < programs; ++i) {
    CHECK(compiled(i) == 1);
    CHECK(compiled(i) == 0);
    CHECK(compiled(i) == 0);  // by how it was said
    if (i == programs / 2) cache.forget();
  }
  for (int i = programs; i-- > 0;) kept += 1 - compiled(i);
  CHECK(kept > 20);
  CHECK(kept < programs);
}

}}  // namespace cache_memory_test

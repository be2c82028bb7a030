// The names that PTX and machine code share: read from what NVRTC makes, from text written by hand,
// and from damaged bytes, which must not be read past their end.

#include <gpu/compiler.hpp>
#include <gpu/compiler/link/symbols.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include "support/results.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>

namespace link_symbols_test { namespace {

using role = gpu::detail::link_symbol::role;

std::map<std::string, gpu::detail::link_symbol> symbols_of(gpu::string_ref ptx) {
  std::map<std::string, gpu::detail::link_symbol> all;
  gpu::detail::for_each_ptx_symbol(ptx, [&](const gpu::detail::link_symbol& s) {
    all[std::string(s.name.data(), s.name.size())] = s;
  });
  return all;
}

TEST_CASE("PTX says which names it shares, and how", "[compiler][link]") {
  const auto found = symbols_of(R"(
// .visible .func comment();
.version 8.0
.target sm_90
.address_size 64
/* .visible .global .u32 comment; */
.file 1 "; .visible .global .u32 quoted; "
.extern .func (.param .b32 r) asked(.param .b64 a, .param .align 8 .b8 s[24]);
.extern .global .align 8 .b8 table[224];
.extern .const .align 4 .b8 open[];
.extern .shared .align 4 .b8 dynamic[];
.visible .global .attribute(.managed) .align 4 .u32 managed = 3;
.visible .const .f64 two[2][3] = {{1, 2, 3}, {4, 5, 6}};
.common .global .u32 common;
.weak .func weak() { .reg .u32 %r<2>; { .visible: mov.u32 %r1, 1; } ret; }
.global .align 1 .b8 $str[9] = {37, 100, 32, 123};
.func own() { ret; }
.visible .func announced();
.visible .entry kernel(.param .u64 p) .maxntid 32 { ret; }
)");
  CHECK(found.size() == 9);
  CHECK(found.at("asked").as == role::declared);
  CHECK(found.at("asked").is_function);
  CHECK(found.at("table").as == role::declared);
  CHECK(found.at("table").shape == 224);
  CHECK(found.at("table").space == 'g');
  CHECK(found.at("open").shape == 0);
  CHECK(found.at("open").space == 'c');
  CHECK(found.at("managed").as == role::defined);
  CHECK(found.at("managed").shape == 4);
  CHECK(found.at("two").shape == 48);
  CHECK(found.at("common").as == role::replaceable);
  CHECK(found.at("weak").as == role::replaceable);
  CHECK(found.at("announced").as == role::declared);
  CHECK(found.at("kernel").as == role::defined);
}

TEST_CASE("functions are told apart by their parameters and results", "[compiler][link]") {
  const auto shape = [](const char* declaration) {
    return symbols_of(std::string(".extern .func ") + declaration + ";").at("f").shape;
  };
  const auto base = shape("(.param .b32 r) f(.param .b64 a, .param .b32 b)");
  CHECK(base == shape("(.param .b32 q)  f ( .param .b64 x ,.param .b32 y )"));
  CHECK(base != shape("(.param .b32 r) f(.param .b64 a)"));
  CHECK(base != shape("(.param .b32 r) f(.param .b32 a, .param .b64 b)"));
  CHECK(base != shape("(.param .b64 r) f(.param .b64 a, .param .b32 b)"));
  CHECK(base != shape("f(.param .b32 r, .param .b64 a, .param .b32 b)"));
  CHECK(shape("f(.param .align 8 .b8 s[24])") != shape("f(.param .align 8 .b8 s[16])"));
  CHECK(shape("f()") == shape("f"));
}

TEST_CASE("PTX and machine code of one source share the same names", "[compiler][link]") {
  const gpu::compiled_program made = test::value_of(
      gpu::compile("__device__ int v = 1; extern __device__ int w; __device__ int f(int); "
                   "__device__ int g(int x) { return f(x) + w; } "
                   "extern \"C\" __global__ void k(int* x) { *x = g(v); }",
                   {.architecture = gpu::architecture::sm(90), .relocatable = true}));
  const auto in_ptx = symbols_of(made.ptx());
  std::map<std::string, gpu::detail::link_symbol> in_cubin;
  gpu::detail::for_each_cubin_symbol(made.cubin(), [&](const gpu::detail::link_symbol& s) {
    in_cubin[std::string(s.name.data(), s.name.size())] = s;
  });
  for (const char* name : {"v", "w", "_Z1fi", "_Z1gi", "k"}) {
    INFO(name);
    REQUIRE(in_ptx.count(name) == 1);
    REQUIRE(in_cubin.count(name) == 1);
    CHECK(in_ptx.at(name).as == in_cubin.at(name).as);
    CHECK(in_ptx.at(name).is_function == in_cubin.at(name).is_function);
  }
}

TEST_CASE("damaged code is not read past its end", "[compiler][link]") {
  const gpu::compiled_program made = test::value_of(
      gpu::compile("__device__ int v = 1; extern \"C\" __global__ void k(int* x) { *x = v; }",
                   {.architecture = gpu::architecture::sm(90), .relocatable = true}));
  std::size_t visited = 0;
  const auto visit = [&](const gpu::detail::link_symbol& s) { visited += s.name.size(); };
  // Each piece in memory of exactly its size, for a sanitizer to see.
  const auto try_bytes = [&](const std::string& bytes) {
    const auto copy = std::make_unique<char[]>(bytes.size());
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    gpu::detail::for_each_cubin_symbol(gpu::bytes_ref(copy.get(), bytes.size()), visit);
    gpu::detail::for_each_ptx_symbol({copy.get(), bytes.size()}, visit);
  };
  for (const gpu::text& whole : {made.cubin(), made.ptx()}) {
    const std::string bytes(whole.data(), whole.size());
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 300) {
      try_bytes(bytes.substr(0, size));
    }
    std::uint64_t random = 1;
    for (int i = 0; i < 2000; ++i) {
      std::string changed = bytes;
      for (int n = 0; n < 3; ++n) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        changed[static_cast<std::size_t>(random >> 33) % changed.size()] =
            static_cast<char>(random >> 25);
      }
      try_bytes(changed);
    }
  }
  CHECK(visited > 0);
}

}}  // namespace link_symbols_test

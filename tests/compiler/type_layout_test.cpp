// The sizes and alignments of types in device code.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/type_layout.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>

#include "support/catch.hpp"
#include "support/results.hpp"

namespace type_layout_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {
struct particle {
  char kind;
  double mass;
  float x, y, z;
};
constexpr const char* definition = "struct particle { char kind; double mass; float x, y, z; };";
}  // namespace

TEST_CASE("type_layout: sizes and alignments are the device compiler's", "[compiler]") {
  // Of the CUDA programming guide's table of vector types.
  CHECK(value_of(gpu::get_type_layout("float3")) == gpu::type_layout{12, 4});
  CHECK(value_of(gpu::get_type_layout("double2")) == gpu::type_layout{16, 16});
  CHECK(value_of(gpu::get_type_layout("char")) == gpu::type_layout{1, 1});
  // Host and device agree on these.
  CHECK(value_of(gpu::get_type_layout("void*")) == gpu::type_layout{sizeof(void*), alignof(void*)});
  CHECK(value_of(gpu::get_type_layout("particle", definition)) ==
        gpu::type_layout{sizeof(particle), alignof(particle)});
  CHECK(value_of(gpu::get_type_layout("n::aligned[3]",
                                      "namespace n { struct alignas(64) aligned { int i; }; }")) ==
        gpu::type_layout{192, 64});
}

TEST_CASE("type_layout: options reach the compiler, and errors come back", "[compiler]") {
  gpu::compile_options options;
  options.architecture = gpu::architecture::sm(80);
  options.defines = {{"N", 5}};
  options.link_time_optimization = true;  // of which there would be no PTX
  CHECK(value_of(gpu::get_type_layout("short[N]", {}, options)) == gpu::type_layout{10, 2});
  const gpu::cuda_error error = error_of(gpu::get_type_layout("partcle", definition));
  CHECK(error == gpu::errc::compile_failed);
  CHECK(says(error, "partcle", "type_layout_test.cpp"));
}

}  // namespace type_layout_test

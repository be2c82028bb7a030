// Options as text: those that name the architecture.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>

#include "support/results.hpp"

#include <stdlib.h>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace chosen_options_test { namespace {

using test::error_of;
using test::says;

gpu::result<gpu::compiled_program> compile_with(std::vector<gpu::option_text> extra) {
  return gpu::compile("", {.extra = std::move(extra)});
}

gpu::architecture target_of(const char* option) {
  return test::value_of(compile_with({option})).architecture();
}

TEST_CASE("an option may name the architecture", "[compiler][options]") {
  CHECK(target_of("-arch=sm_90") == gpu::architecture::sm(90));
  CHECK(target_of("--gpu-architecture=sm_90a") == gpu::architecture::sm(90, 'a'));
  CHECK(target_of("-arch=compute_80") == gpu::architecture::compute(80));
  CHECK(target_of("-arch=compute_90a") == gpu::architecture::compute(90, 'a'));
}

TEST_CASE("an invalid or second architecture is rejected", "[compiler][options]") {
  for (const char* value : {"sm_", "compute_", "sm_a", "sm_90ab", "sm90", "90", "native"}) {
    const gpu::cuda_error error = error_of(compile_with({std::string("-arch=") + value}));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, ("has the value \"" + std::string(value) + "\"").c_str(),
               "of the form sm_90 or compute_90"));
  }
  CHECK(says(error_of(compile_with({"-arch=sm_80", "-arch=sm_90"})),
             "--gpu-architecture=sm_90 (compile_options::extra) was already given by "
             "compile_options::extra"));
}

TEST_CASE("an empty word in the environment's options is rejected", "[compiler][options]") {
  ::setenv("GPU_COMPILE_OPTIONS", "-lineinfo ''", 1);
  const auto made = compile_with({});
  ::unsetenv("GPU_COMPILE_OPTIONS");
  CHECK(says(error_of(made), "no option \"\" (GPU_COMPILE_OPTIONS)"));
}

}}  // namespace chosen_options_test

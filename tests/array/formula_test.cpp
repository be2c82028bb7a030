// Expressions with texts of the user's own, their names and their kernels' texts.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>

#include <cmath>
#include <vector>

namespace formula_test { namespace {

using algorithm_test::fixture;

TEST_CASE("a formula is computed for each element", "[array][formula]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3}));
  const auto n = test::value_of(gpu::array<int>::from(f.stream, {4, 5, 6}));
  const auto found = f.download(test::value_of(
      gpu::evaluate(f.stream, 1 + gpu::formula<double>("a * b + (double)c", x + 1, n, 0.5))));
  CHECK(found == std::vector<double>{9.5, 16.5, 25.5});
  const auto both = gpu::formula<int>("a < 2 ? b : -b", x, n) + gpu::formula<int>("a * 10", n);
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, both))) == std::vector<int>{44, 45, 54});
}

TEST_CASE("a mistake in a formula is an error that shows it", "[array][formula]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3}));
  const gpu::cuda_error error =
      test::error_of(gpu::evaluate(f.stream, gpu::formula<float>("a * unknown_name", x)));
  CHECK(error == gpu::errc::compile_failed);
  CHECK(test::says(error, "unknown_name"));
}

TEST_CASE("a kernel has a name that can be read", "[array][formula]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3}));
  const auto y = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3}));
  const auto source = test::value_of(gpu::source_of(2 * x + gpu::sin(y)));
  CHECK(source.contains(" multiply_sin_add_"));
  CHECK(source.contains("sin("));
  CHECK(test::value_of(gpu::source_of(2 * y + gpu::sin(x))) == source);
  const auto named = test::value_of(gpu::source_of(gpu::named("heat step", x + 1)));
  CHECK(named.contains(" heat_step("));
  CHECK(test::value_of(gpu::source_of(gpu::named("3 x", x + 1))).contains(" kernel_3_x("));
  CHECK(test::value_of(gpu::item(f.stream, gpu::named("heat step", x(0) + y(1)))) == 3);
  // CUDA has functions of these names, and there is no other main.
  for (const char* name : {"norm", "max", "roundf", "main"}) {
    CAPTURE(name);
    CHECK(test::value_of(gpu::item(f.stream, gpu::named(name, x(0) + y(1)))) == 3);
  }
  CHECK(test::says(test::error_of(gpu::source_of(x * 1e300)), "gpu::source_of", "1e+300"));
}

TEST_CASE("a formula fails with each of its allocations", "[array][formula][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    const auto x = GPU_TRY(gpu::array<float>::from(stream, {1, 2, 3}));
    GPU_TRY(gpu::item(stream, gpu::named("third_root", gpu::formula<float>("cbrtf(a)", x(0)))));
    return {};
  };
  algorithm_test::check_first_allocations(run);
}

}}  // namespace formula_test

// Each driver call and each allocation of each function that rearranges arrays may fail.

#include "array/array_fixture.hpp"
#include "support/host_memory.hpp"

#include <gpu/array/array.hpp>
#include <gpu/array/axes.hpp>
#include <gpu/array/compare.hpp>
#include <gpu/array/concatenate.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/cumulative.hpp>
#include <gpu/array/detail/expression_arguments.hpp>
#include <gpu/array/diff.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/matmul.hpp>
#include <gpu/array/nonzero.hpp>
#include <gpu/array/outer.hpp>
#include <gpu/array/pad.hpp>
#include <gpu/array/put.hpp>
#include <gpu/array/quantile.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/array/repeat.hpp>
#include <gpu/array/roll.hpp>
#include <gpu/array/sorted.hpp>
#include <gpu/array/take.hpp>
#include <gpu/array/triangle.hpp>
#include <gpu/array/unique_values.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <string>
#include <utility>

namespace array_failure_test { namespace {

struct workplace {
  const gpu::stream& stream;
  gpu::array<int, 2>& a;           ///< 3 x 4
  gpu::array<long long>& indices;  ///< 0, 1, 2
};

struct operation {
  const char* name;
  gpu::result<> (*run)(const workplace& at);
};

/// Drops a value.
template <class T> gpu::result<> done(gpu::result<T> outcome) {
  static_cast<void>(GPU_TRY(std::move(outcome)));
  return {};
}

const operation operations[] = {
    {"concatenate",
     [](const workplace& at) { return done(gpu::concatenate(at.stream, 1, at.a, at.a)); }},
    {"stack", [](const workplace& at) { return done(gpu::stack(at.stream, 0, at.a, at.a)); }},
    {"repeat", [](const workplace& at) { return done(gpu::repeat(at.stream, at.a, 2, 1)); }},
    {"tile",
     [](const workplace& at) { return done(gpu::tile(at.stream, at.a, gpu::shape{2, 2})); }},
    {"roll",
     [](const workplace& at) { return done(gpu::roll(at.stream, gpu::transpose(at.a), 2)); }},
    {"pad",
     [](const workplace& at) {
       return done(gpu::pad(at.stream, at.a, 5, gpu::pad_mode::reflect));
     }},
    {"pad by a value", [](const workplace& at) { return done(gpu::pad(at.stream, at.a, 1, 7)); }},
    {"take",
     [](const workplace& at) {
       return done(gpu::take(at.stream, at.a, at.indices, 0, {.check = true}));
     }},
    {"take_along_axis",
     [](const workplace& at) {
       return done(gpu::take_along_axis(at.stream, at.a, gpu::expand_dims(at.indices, 1), 0));
     }},
    {"put",
     [](const workplace& at) {
       return gpu::put(at.stream, gpu::transpose(at.a), at.indices, at.a(0, gpu::slice(0, 2)));
     }},
    {"put_along_axis",
     [](const workplace& at) {
       return gpu::put_along_axis(at.stream, at.a(gpu::all(), gpu::slice(0, 1)),
                                  gpu::expand_dims(at.indices, 1), at.a(0, 1), 0);
     }},
    {"nonzero", [](const workplace& at) { return done(gpu::nonzero(at.stream, at.a)); }},
    {"argwhere", [](const workplace& at) { return done(gpu::argwhere(at.stream, at.a)); }},
    {"extract", [](const workplace& at) { return done(gpu::extract(at.stream, at.a, at.a)); }},
    {"compress",
     [](const workplace& at) { return done(gpu::compress(at.stream, at.indices, at.a, 0)); }},
    {"cumulative_sum",
     [](const workplace& at) { return done(gpu::cumulative_sum(at.stream, at.a, 0)); }},
    {"cumulative_sum of an expression",
     [](const workplace& at) { return done(gpu::cumulative_sum(at.stream, at.a * at.a + 1, 0)); }},
    {"take in an expression",
     [](const workplace& at) {
       return done(gpu::evaluate(at.stream, gpu::take(at.a, at.indices, 0) + 1));
     }},
    {"cumulative_max of one line",
     [](const workplace& at) { return done(gpu::cumulative_max(at.stream, at.a(0), 0)); }},
    {"cumulative_sum of many lines",
     [](const workplace& at) -> gpu::result<> {
       const auto many = GPU_TRY(gpu::zeros<int>(at.stream, gpu::shape{2, 8192}));
       return done(gpu::cumulative_sum(at.stream, many, 0));
     }},
    {"array_equal",
     [](const workplace& at) { return done(gpu::array_equal(at.stream, at.a, at.a)); }},
    {"allclose", [](const workplace& at) { return done(gpu::allclose(at.stream, at.a, at.a)); }},
    {"sorted", [](const workplace& at) { return done(gpu::sorted(at.stream, at.a, 0)); }},
    {"argsort", [](const workplace& at) { return done(gpu::argsort(at.stream, at.a)); }},
    {"top_k", [](const workplace& at) { return done(gpu::top_k(at.stream, at.a, 2)); }},
    {"top_k of one line",
     [](const workplace& at) { return done(gpu::top_k(at.stream, at.a(0), 2)); }},
    {"a reduction in an expression",
     [](const workplace& at) {
       return done(gpu::evaluate(at.stream, at.a - gpu::sum(at.a, gpu::axis<0>)));
     }},
    {"a reduction of many elements",
     [](const workplace& at) -> gpu::result<> {
       const auto many = GPU_TRY(gpu::zeros<int>(at.stream, gpu::shape{20000}));
       return done(gpu::item(at.stream, gpu::variance(many, gpu::keep_dims)));
     }},
    {"median", [](const workplace& at) { return done(gpu::median(at.stream, at.a)); }},
    {"quantile",
     [](const workplace& at) { return done(gpu::quantile(at.stream, at.a, {0.25, 0.75}, 0)); }},
    {"matmul",
     [](const workplace& at) { return done(gpu::matmul(at.stream, at.a, gpu::transpose(at.a))); }},
    {"matmul of a vector",
     [](const workplace& at) { return done(gpu::matmul(at.stream, at.a, at.a(0))); }},
    {"diff", [](const workplace& at) { return done(gpu::diff(at.stream, at.a, 1, 2)); }},
    {"tril", [](const workplace& at) { return done(gpu::tril(at.stream, at.a)); }},
    {"outer", [](const workplace& at) { return done(gpu::outer(at.stream, at.a(0), at.a(1))); }},
    {"trace", [](const workplace& at) { return done(gpu::trace(at.stream, at.a)); }},
    {"unique_values",
     [](const workplace& at) { return done(gpu::unique_values(at.stream, at.a)); }},
    {"unique_all", [](const workplace& at) { return done(gpu::unique_all(at.stream, at.a)); }},
};

/// Runs an operation on new memory and waits.
gpu::result<> run_alone(const operation& each) {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto a = GPU_TRY(gpu::ones<int>(stream, gpu::shape{3, 4}));
  auto indices = GPU_TRY(gpu::arange<long long>(stream, 3));
  GPU_TRY(each.run({stream, a, indices}));
  return stream.synchronize();
}

TEST_CASE("each allocation of each function of arrays may fail", "[array][cpu]") {
  for (const operation& each : operations) {
    CAPTURE(each.name);
    for (int k = 0; k < 2; ++k) test::value_of(run_alone(each));
    const std::string wrong = test::sweep_host_memory([&] { return run_alone(each); });
    if (wrong != "the operation allocates nothing") CHECK(wrong == "");
  }
}

TEST_CASE("each call of each function of arrays may fail", "[array][cpu][thorough]") {
  for (const operation& each : operations) {
    CAPTURE(each.name);
    for (int k = 0; k < 3; ++k) test::value_of(run_alone(each));
    CHECK(test::sweep_calls([&] { return run_alone(each); },
                            {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
  }
}

TEST_CASE("operands that were moved from are refused by functions of arrays", "[array]") {
  const array_test::fixture f;
  auto a = test::value_of(gpu::ones<int>(f.stream, gpu::shape{3, 4}));
  auto indices = test::value_of(gpu::arange<long long>(f.stream, 3));
  const auto kept = std::move(a);
  for (const operation& each : operations) {
    const std::string name = each.name;
    if (name.find("one line") != std::string::npos || name.find("many") != std::string::npos ||
        name == "put_along_axis" || name == "outer" || name == "put" || name == "roll")
      continue;  // these take views, which do not know their owner
    CAPTURE(name);
    CHECK(test::error_of(each.run({f.stream, a, indices})) == gpu::errc::empty_handle);
  }
}

TEST_CASE("an evaluation without memory of the host to work in says so", "[array][faults]") {
  if (!test::failing_allocation::possible()) return;
  const array_test::fixture f;
  const auto x = test::value_of(gpu::ones<float>(f.stream, gpu::shape{2, 3}));
  auto y = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{3}));
  const auto refused = [&](auto operation) {
    const gpu::detail::evaluation_work kept;  // by another evaluation
    const test::failing_allocation failing(0);
    return operation();
  };
  const auto check = [](const gpu::result<>& outcome) {
    const gpu::cuda_error error = test::error_of(outcome);
    CHECK(error == gpu::errc::out_of_host_memory);
    CHECK(test::says(error, "bytes left for bookkeeping. Free host memory."));
  };
  const auto add = [&] { return gpu::assign(f.stream, y, 2 * x(0) + y); };
  check(refused(add));
  const auto sum = [&] { return gpu::assign(f.stream, y, gpu::sum(x, gpu::axis<0>)); };
  check(refused(sum));
  test::value_of(add());
  test::value_of(sum());
}

}}  // namespace array_failure_test

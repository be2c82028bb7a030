// Options and checks that all kernels from snippets share: names, parts that are needed, and
// messages about each part that name the user's line.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/algorithm/scan.hpp>
#include <gpu/algorithm/select.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/generated/snippet_options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace snippet_options_test {

using algorithm_test::fixture;
using elementwise = gpu::elementwise<const float*, float*>;
using reduction = gpu::reduction<float, const float*>;
using scan = gpu::scan<float, const float*, float*>;
using selection = gpu::selection<float, const float*>;

gpu::reduction_text<float> sum() {
  return {.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0};
}
gpu::scan_text<float> running_sum() {
  return {.parameters = "x, y",
          .map = "x[i]",
          .combine = "a + b",
          .store = "y[i] = item",
          .neutral = 0};
}
gpu::selection_text positive() {
  return {.parameters = "x", .condition = "x[i] > 0", .value = "x[i]"};
}

TEST_CASE("a kernel without a name is called after what it does", "[algorithm][snippet]") {
  const auto names = [](auto made, const char* name) {
    return test::value_of(std::move(made)).source().contains(name);
  };
  CHECK(names(elementwise::create("x, y", "y[i] = x[i]"), " elementwise_kernel("));
  CHECK(names(reduction::create(sum()), " reduction_kernel("));
  CHECK(names(reduction::create(sum()), " reduction_kernel_of_blocks("));
  CHECK(names(scan::create(running_sum()), " scan_kernel("));
  CHECK(names(selection::create(positive()), " selection_kernel("));
  // Other options do not change that.
  auto text = positive();
  text.options = {.preamble = "int unused();"};
  CHECK(names(selection::create(text), " selection_kernel("));
}

TEST_CASE("two snippets of one type are two kernels", "[algorithm][snippet]") {
  const fixture f;
  const auto twice = test::value_of(elementwise::create("x, y", "y[i] = 2 * x[i]"));
  const auto thrice = test::value_of(elementwise::create("x, y", "y[i] = 3 * x[i]"));
  auto largest_text = sum();
  largest_text.reduce = "max(a, b)";
  const auto total = test::value_of(reduction::create(sum()));
  const auto largest = test::value_of(reduction::create(largest_text));
  const auto x = f.upload(std::vector<float>{1, 5, 2});
  auto y = f.make<float>(3);
  test::value_of(twice(f.stream, x, y));
  CHECK(f.download(y) == std::vector<float>{2, 10, 4});
  test::value_of(thrice(f.stream, x, y));
  CHECK(f.download(y) == std::vector<float>{3, 15, 6});
  CHECK(test::value_of(total(f.stream, x)) == 8);
  CHECK(test::value_of(largest(f.stream, x)) == 5);
}

TEST_CASE("a part of a snippet that is missing is named", "[algorithm][snippet]") {
  for (const char* nothing : {"", "  \n", "// later", "/* later */"}) {
    CAPTURE(nothing);
    CHECK(test::says(test::error_of(elementwise::create("x, y", nothing)), "gpu::elementwise",
                     "the operation is empty"));
    auto r = sum();
    r.map = nothing;
    CHECK(test::says(test::error_of(reduction::create(r)), "gpu::reduction", "the map is empty",
                     "x[i]"));
    r = sum();
    r.reduce = nothing;
    CHECK(test::says(test::error_of(reduction::create(r)), "reduce is empty", "a + b"));
    auto s = running_sum();
    s.map = nothing;
    CHECK(test::says(test::error_of(scan::create(s)), "gpu::scan", "the map is empty"));
    s = running_sum();
    s.combine = nothing;
    CHECK(test::says(test::error_of(scan::create(s)), "combine is empty", "a + b"));
    s = running_sum();
    s.store = nothing;
    CHECK(test::says(test::error_of(scan::create(s)), "the store is empty", "y[i] = item"));
    auto c = positive();
    c.condition = nothing;
    CHECK(test::says(test::error_of(selection::create(c)), "gpu::selection",
                     "the condition is empty"));
    c = positive();
    c.value = nothing;
    CHECK(test::says(test::error_of(selection::create(c)), "the value is empty"));
  }
}

TEST_CASE("a pointer is not a value", "[algorithm][snippet]") {
  // The index was forgotten. As a number, the pointer would be summed up.
  const auto error = test::error_of(gpu::reduction<std::int64_t, const std::int64_t*>::create(
      {.parameters = "x", .map = "x", .reduce = "a + b", .neutral = 0, .options = {.name = "s"}}));
  CHECK(error == gpu::errc::compile_failed);
  CHECK(test::says(error, "invalid type conversion"));
}

TEST_CASE("a mistake is shown in the line of the part that has it", "[algorithm][snippet]") {
  constexpr const char* wrong = "\nmissing();";
  const auto made = [](gpu::snippet_options options) {
    options.name = "k";
    return test::error_of(elementwise::create("x, y", "y[i] = x[i]", options));
  };
  CHECK(test::says(made({.preamble = "int a;\nint b = missing;"}), "k.preamble:2",
                   "int b = missing"));
  CHECK(test::says(made({.before = wrong}), "k.before:2", "missing();"));
  CHECK(test::says(made({.after = wrong}), "k.after:2", "missing();"));
  CHECK(
      test::says(test::error_of(elementwise::create("x, y", "\n\ny[i] = missing;", {.name = "k"})),
                 "k.operation:3"));

  const auto reduced = [](auto change) {
    auto text = sum();
    text.options.name = "r";
    change(text);
    return test::error_of(reduction::create(text));
  };
  CHECK(test::says(reduced([](auto& t) { t.map = "x[i] +\nmissing"; }), "r.map:2"));
  CHECK(test::says(reduced([](auto& t) { t.reduce = "a +\nmissing"; }), "r.reduce:2"));
  CHECK(test::says(reduced([](auto& t) { t.result = "a +\nmissing"; }), "r.result:2"));

  const auto scanned = [](auto change) {
    auto text = running_sum();
    text.options.name = "s";
    change(text);
    return test::error_of(scan::create(text));
  };
  CHECK(test::says(scanned([](auto& t) { t.map = "x[i] +\nmissing"; }), "s.map:2"));
  CHECK(test::says(scanned([](auto& t) { t.combine = "a +\nmissing"; }), "s.combine:2"));
  CHECK(test::says(scanned([](auto& t) { t.store = "y[i] =\nmissing"; }), "s.store:2"));
  CHECK(test::says(scanned([](auto& t) { t.segment_start = "\nmissing"; }), "s.segment_start:2"));

  const auto selected = [](auto change) {
    auto text = positive();
    text.options.name = "c";
    change(text);
    return test::error_of(selection::create(text));
  };
  CHECK(test::says(selected([](auto& t) { t.condition = "x[i] >\nmissing"; }), "c.condition:2"));
  CHECK(test::says(selected([](auto& t) { t.value = "\nmissing"; }), "c.value:2"));
}

TEST_CASE("names that mean something else are refused", "[algorithm][snippet]") {
  const auto refused = [](const char* names, const char* name = "k") {
    return test::error_of(elementwise::create(names, "y[i] = 1", {.name = name}));
  };
  CHECK(test::says(refused("float, y"), "a parameter cannot be called \"float\"", "word of C++"));
  CHECK(test::says(refused("this, y"), "a parameter cannot be called \"this\""));
  CHECK(test::says(refused("__device__, y"), "a parameter cannot be called \"__device__\""));
  CHECK(test::says(refused("x, y", "double"), "\"double\" cannot be the name of a kernel"));
  CHECK(test::says(refused("x, y", "gpu_value"), "\"gpu_value\" cannot be the name of a kernel",
                   "gpu_"));
  CHECK(test::says(refused("x, y", "gpu"), "\"gpu\" cannot be the name of a kernel"));
  CHECK(
      test::says(refused("x, y", "norm"), "\"norm\" cannot be the name of a kernel", "CUDA uses"));
  CHECK(test::says(refused("x, y", "sinf"), "\"sinf\" cannot be the name of a kernel"));
  CHECK(test::says(refused("x, y", "main"), "\"main\" cannot be the name of a kernel"));
  auto text = running_sum();
  text.parameters = "item, y";
  text.map = "item[i]";
  CHECK(test::says(test::error_of(scan::create(text)), "a parameter cannot be called \"item\""));
}

TEST_CASE("variables of the text before are there for every part", "[algorithm][snippet]") {
  const fixture f;
  auto text = sum();
  text.reduce = "a + b + zero";
  text.result = "a * factor";
  text.options.before = "const float zero = 0, factor = 2;";
  const auto doubled = test::value_of(reduction::create(text));
  for (const std::size_t count : {10u, 300'000u}) {  // one kernel, and two
    const auto x = f.upload(std::vector<float>(count, 1.0f));
    CHECK(test::value_of(doubled(f.stream, x)) == 2 * static_cast<float>(count));
  }
}

TEST_CASE("fast asks for approximate functions in every kernel", "[algorithm][snippet]") {
  const fixture f;
  const float a = 1.0f + 0x1p-12f;
  const auto x = f.upload(std::vector<float>{a});
  auto text = sum();
  text.map = "x[i] * x[i] - 1.0f";
  CHECK(test::value_of(test::value_of(reduction::create(text))(f.stream, x)) == 0x1p-11f);
  text.options.fast = true;
  CHECK(test::value_of(test::value_of(reduction::create(text))(f.stream, x)) ==
        0x1p-11f + 0x1p-24f);
}

}  // namespace snippet_options_test

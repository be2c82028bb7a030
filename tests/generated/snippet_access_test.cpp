// Snippets that are hard to understand from their text: the kernel does what the text says.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/algorithm/scan.hpp>
#include <gpu/generated/snippet_options.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace snippet_access_test {

using algorithm_test::fixture;

constexpr std::size_t count = 1500;

int value_of_x(std::size_t i) { return static_cast<int>(i % 101) + 1; }

/// Returns what a snippet writes into `y`, which begins as 1000, if `x[i]` is `i % 101 + 1`.
struct runner {
  fixture f;

  template <class Value>
  void expect(const char* body, Value value, const gpu::snippet_options& options = {}) const {
    CAPTURE(body);
    std::vector<int> host(count);
    for (std::size_t i = 0; i < count; ++i) host[i] = value_of_x(i);
    const auto kernel =
        test::value_of(gpu::elementwise<const int*, int*>::create("x, y", body, options));
    auto x = f.upload(host), y = f.upload(std::vector<int>(count, 1000));
    test::value_of(kernel(f.stream, x, y));
    const auto found = f.download(y);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += found[i] != value(i);
    CHECK(wrong == 0);
  }
};

TEST_CASE("a macro that returns leaves the element as it is", "[algorithm][snippet]") {
  const runner r{};
  const auto expected = [](std::size_t i) { return value_of_x(i) < 50 ? 1000 : value_of_x(i); };
  r.expect("int v = x[i]; SKIP(v); y[i] = v;", expected,
           {.preamble = "#define SKIP(v) if (v < 50) return"});
  gpu::snippet_options defined;
  defined.compile.defines = {{"SKIP(v)", "if (v < 50) return"}};
  r.expect("int v = x[i]; SKIP(v); y[i] = v;", expected, defined);
  r.expect("int v = x[i]; UNLESS_SMALL; y[i] = v; END", expected,
           {.preamble = "#define UNLESS_SMALL if (v >= 50) {\n#define END }"});
  r.expect("int v = x[i]; UNLESS_SMALL; y[i] = v; END", expected,
           {.preamble = "#  define UNLESS_SMALL \\\n  if (v >= 50) {\n#define END }"});
}

TEST_CASE("what cannot be seen to return does not compile, and is taken as it is",
          "[algorithm][snippet]") {
  const runner r{};
  r.expect("int v = x[i]; if (v < 50) JOIN(ret, urn); y[i] = v;",
           [](std::size_t i) { return value_of_x(i) < 50 ? 1000 : value_of_x(i); },
           {.preamble = "#define JOIN(a, b) a##b"});
}

TEST_CASE("an address in parentheses is one", "[algorithm][snippet]") {
  const runner r{};
  const auto next = [](std::size_t i) { return i + 1 < count ? value_of_x(i + 1) : -1; };
  r.expect("const int* p = &(x[i]); y[i] = i + 1 < n ? p[1] : -1;", next);
  r.expect("const int* p = & ((x[i])); y[i] = i + 1 < n ? p[1] : -1;", next);
  r.expect("y[i] = 7 & x[i];", [](std::size_t i) { return 7 & value_of_x(i); });
  r.expect("y[i] = 7 & (x[i]);", [](std::size_t i) { return 7 & value_of_x(i); });
  r.expect("y[i] = i > 5 && x[i] > 3;", [](std::size_t i) { return i > 5 && value_of_x(i) > 3; });
}

TEST_CASE("an i of the snippet's own is not the index", "[algorithm][snippet]") {
  const runner r{};
  const auto second = [](std::size_t) { return value_of_x(1); };
  r.expect("auto at = [&](const long long& i) { return x[i]; }; y[i] = at(1);", second);
  r.expect("auto at = [&](const long long&& i) { return x[i]; }; y[i] = at(1);", second);
  r.expect("const long long s = i; { const auto&& [k, i] = two{0, 1}; y[s] = x[i]; }", second,
           {.preamble = "struct two { int a, b; };"});
  r.expect("const long long s = i; { wrapped<int> i{1}; y[s] = x[i]; }", second,
           {.preamble = "template <class T> struct wrapped { T v; operator int() const { return v; "
                        "} };"});
  r.expect("const long long s = i; { enum { k, i }; y[s] = x[i]; }", second);
  r.expect("y[i] = [](int i) { return i; }(3) + x[i];",
           [](std::size_t i) { return 3 + value_of_x(i); });
}

TEST_CASE("a comment that a backslash continues hides the next line", "[algorithm][snippet]") {
  const runner r{};
  const auto unchanged = [](std::size_t) { return 1000; };
  r.expect("// nothing \\\ny[i] = 3;\n", unchanged);
  const auto kernel = test::value_of(
      gpu::elementwise<const int*, int*>::create("x, y", "// nothing \\\ny[i] = 3;\n"));
  CHECK(std::string(kernel.source()).find("gpu_y") == std::string::npos);
}

TEST_CASE("digits with separators are one number", "[algorithm][snippet]") {
  const runner r{};
  r.expect("y[i] = 1'000 + x[i] - 'a' + 1'000'0;",
           [](std::size_t i) { return 11'000 + value_of_x(i) - 'a'; });
}

TEST_CASE("parameters may have any name that the page does not reserve",
          "[algorithm][snippet][thorough]") {
  fixture f;
  const auto x = f.upload(std::vector<float>(1000, 3.0f));
  for (const char* name : {"one", "Width", "group", "k", "from", "min", "max", "gpu", "memcpy",
                           "width", "items", "a", "b", "c", "groups", "at", "blockDim_"}) {
    CAPTURE(name);
    const std::string element = name + std::string("[i]");
    auto y = f.make<float>(1000);
    const auto kernel = test::value_of(gpu::elementwise<const float*, float*>::create(
        std::string(name) + ", y", "y[i] = 2 * " + element));
    CHECK(kernel.source().contains(("2 * gpu_" + std::string(name)).c_str()));
    test::value_of(kernel(f.stream, x, y));
    CHECK(f.download(y)[999] == 6);
    const auto sum = test::value_of(gpu::reduction<float, const float*>::create(
        {.parameters = name, .map = element, .reduce = "a + b", .neutral = 0}));
    CHECK(test::value_of(sum(f.stream, x)) == 3000);
    const auto scan = test::value_of(
        gpu::scan<float, const float*, float*>::create({.parameters = std::string(name) + ", y",
                                                        .map = element,
                                                        .combine = "a + b",
                                                        .store = "y[i] = item",
                                                        .neutral = 0}));
    test::value_of(scan(f.stream, x, y));
    CHECK(f.download(y)[999] == 3000);
  }
}

}  // namespace snippet_access_test

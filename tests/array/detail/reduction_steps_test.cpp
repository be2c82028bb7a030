// Reductions as parts of larger expressions, and where their results go.

#include "array/array_fixture.hpp"

#include <gpu/algorithm/mean_variance.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/assign_all.hpp>
#include <gpu/array/axes.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/formula.hpp>
#include <gpu/array/functions.hpp>
#include <gpu/array/leaf.hpp>
#include <gpu/array/nan_reductions.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <string_view>
#include <vector>

namespace reduction_steps_test { namespace {

using namespace array_test;

std::vector<float> random_numbers(std::size_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> between(-2, 2);
  std::vector<float> made(count);
  for (float& each : made) each = between(random);
  return made;
}

/// Returns how often a word is in a text.
std::size_t occurrences(const gpu::text& where, std::string_view what) {
  const std::string_view all(where.data(), where.size());
  std::size_t count = 0;
  for (std::size_t at = 0; (at = all.find(what, at)) != all.npos; ++at) ++count;
  return count;
}

TEST_CASE("a reduction is a part of an expression", "[array][reductions]") {
  const fixture f;
  auto x = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2, 3}, {5, 7, 9}}));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(x * x))) == 169);
  same(gpu::evaluate(f.stream, x - gpu::mean(x, gpu::axis<0>)), gpu::shape{2, 3},
       {-2, -2.5, -3, 2, 2.5, 3});
  // The operand of a reduction has one in it, and is of another type.
  same(gpu::evaluate(f.stream,
                     gpu::sum(gpu::cast<int>(x > gpu::mean(x, gpu::axis<-1>, gpu::keep_dims)) * 2,
                              gpu::axis<0, 1>, gpu::keep_dims) +
                         gpu::count(x > 2, gpu::axis<0>)),
       gpu::shape{1, 3}, {5, 5, 6});
  // In place: the reduction is complete before anything is written.
  test::value_of(gpu::assign(f.stream, x, x - gpu::min(x)));
  same_view(f, x.view(), gpu::shape{2, 3}, {0, 1, 2, 4, 6, 8});
  test::value_of(gpu::assign(f.stream, x(0), gpu::sum(x, gpu::axis<0>)));
  same_view(f, x.view(), gpu::shape{2, 3}, {4, 7, 10, 4, 6, 8});
}

TEST_CASE("results go where they are assigned", "[array][reductions][thorough]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {5, 7, 9}}));
  auto out = test::value_of(gpu::zeros<long long>(f.stream, gpu::shape{2, 3}));
  test::value_of(gpu::assign(f.stream, out(gpu::all(), 1), gpu::sum(x, gpu::axis<1>)));
  same_view(f, out.view(), gpu::shape{2, 3}, {0, 6, 0, 0, 21, 0});
  test::value_of(gpu::assign(f.stream, gpu::reverse(out, 1), gpu::sum(x, gpu::axis<0>)));
  same_view(f, out.view(), gpu::shape{2, 3}, {12, 9, 6, 12, 9, 6});
  auto narrow = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 1}));
  test::value_of(gpu::assign(f.stream, narrow, gpu::max(x, gpu::axis<1>, gpu::keep_dims)));
  same_view(f, narrow.view(), gpu::shape{2, 1}, {3, 9});
  auto least = test::value_of(gpu::empty<int>(f.stream, gpu::shape{3}));
  auto at = test::value_of(gpu::empty<long long>(f.stream, gpu::shape{3}));
  test::value_of(gpu::assign_all(f.stream, gpu::into(least, gpu::min(x, gpu::axis<0>) + 1),
                                 gpu::into(at, gpu::argmax(x, gpu::axis<0>))));
  same_view(f, least.view(), gpu::shape{3}, {2, 3, 4});
  same_view(f, at.view(), gpu::shape{3}, {1, 1, 1});
}

TEST_CASE("equal reductions run once", "[array][reductions]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2, 3}, {5, 7, 9}}));
  const auto largest = gpu::max(x, gpu::axis<1>, gpu::keep_dims);
  const auto powers = gpu::exp(x - largest);
  const auto code =
      test::value_of(gpu::source_of(powers / gpu::sum(powers, gpu::axis<1>, gpu::keep_dims)));
  CHECK(occurrences(code, "extern \"C\" __global__") == 5);  // two of each reduction
  CHECK(occurrences(code, "#line 1 \"max_") == 4);
  const auto called = test::value_of(gpu::source_of(gpu::named("energy", gpu::sum(x * x))));
  CHECK(occurrences(called, " energy(") == 1);
  CHECK(occurrences(called, "extern \"C\" __global__") == 2);
}

TEST_CASE("sums of many elements have the bits of those that are views",
          "[array][reductions][thorough]") {
  const fixture f;
  const auto x =
      test::value_of(gpu::array<float, 2>::from(f.stream, random_numbers(150 * 301), {150, 301}));
  const auto squares = test::value_of(gpu::evaluate(f.stream, x * x));
  const float whole = test::value_of(gpu::item(f.stream, gpu::sum(x * x)));
  CHECK(whole == test::value_of(gpu::sum(f.stream, squares)));
  auto sums = test::value_of(gpu::empty<float>(f.stream, gpu::shape{301}));
  test::value_of(gpu::sum(f.stream, gpu::transpose(squares), sums));
  same(gpu::evaluate(f.stream, gpu::sum(x * x, gpu::axis<0>)), gpu::shape{301}, f.download(sums));
  // Another layout of the same elements.
  const auto turned = test::value_of(gpu::evaluate(f.stream, gpu::transpose(x)));
  same(gpu::evaluate(f.stream, gpu::sum(gpu::square(gpu::transpose(turned)), gpu::axis<0>)),
       gpu::shape{301}, f.download(sums));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(gpu::square(gpu::transpose(turned))))) ==
        whole);
  double expected = 0;
  for (const float each : f.download(x)) expected += double{each} * double{each};
  CHECK(std::fabs(whole - expected) < 1e-5 * expected);
  CHECK(std::fabs(test::value_of(gpu::item(f.stream, gpu::sum<double>(x * x))) - expected) <
        1e-7 * expected);
}

TEST_CASE("any layout of one expression is reduced alike", "[array][reductions][thorough]") {
  const fixture f;
  std::vector<int> host(4 * 5 * 6);
  for (std::size_t k = 0; k < host.size(); ++k) host[k] = static_cast<int>(k * k % 101);
  const auto a = test::value_of(gpu::array<int, 3>::from(f.stream, host, {4, 5, 6}));
  // After 8 kernels there is one that takes every layout.
  for (int bits = 1; bits < 7; ++bits) {
    for (int flips = 0; flips < 8; flips += 3) {
      gpu::array_view<const int, 3> view = a;
      for (int axis = 0; axis < 3; ++axis)
        if ((flips >> axis & 1) != 0) view = gpu::reverse(view, axis);
      const auto copy = test::value_of(gpu::evaluate(f.stream, view));
      const auto data = f.download(copy);
      const std::size_t rows = (bits & 1) != 0 ? 1 : 4, columns = (bits & 2) != 0 ? 1 : 5;
      const std::size_t depth = (bits & 4) != 0 ? 1 : 6;
      std::vector<long long> expected(rows * columns * depth);
      for (std::size_t k = 0; k < data.size(); ++k) {
        const std::size_t at = k / 30 % rows * columns + k / 6 % 5 % columns;
        expected[at * depth + k % 6 % depth] += data[k] + 1;
      }
      std::vector<int> axes;
      for (int axis = 0; axis < 3; ++axis)
        if ((bits >> axis & 1) != 0) axes.push_back(axis);
      const auto found =
          axes.size() == 1
              ? f.download(test::value_of(gpu::evaluate(
                    f.stream, gpu::sum(view + 1, gpu::axes{axes[0]}, gpu::keep_dims))))
              : f.download(test::value_of(gpu::evaluate(
                    f.stream, gpu::sum(view + 1, gpu::axes{axes[0], axes[1]}, gpu::keep_dims))));
      CAPTURE(bits, flips);
      REQUIRE(std::vector<long long>(found.begin(), found.end()) == expected);
    }
  }
}

struct ramp_state {
  double start, step;
};
constexpr gpu::leaf_description ramp_leaf{.name = "ramp",
                                          .state_type = "ramp_state",
                                          .preamble = "struct ramp_state { double start, step; };",
                                          .text = "$s.start + $i * $s.step"};
template <int Rank> auto ramp(double start, double step, const gpu::shape<Rank>& extents) {
  return gpu::make_leaf<double>(ramp_leaf, extents, ramp_state{start, step});
}

TEST_CASE("what is computed from the index is reduced", "[array][reductions][thorough]") {
  const fixture f;
  const auto leaf = ramp(1, 2, gpu::shape{2, 3});
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(leaf))) == 36);
  same(gpu::evaluate(f.stream, gpu::sum(leaf, gpu::axis<0>)), gpu::shape{3}, {8, 12, 16});
  same(gpu::evaluate(f.stream, gpu::argmax(leaf * ramp(1, -1, gpu::shape{3}), gpu::axis<1>)),
       gpu::shape{2}, {0, 0});
  const auto x = test::value_of(gpu::array<double, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  same(gpu::evaluate(f.stream, gpu::sum(x * leaf * ramp(1, 1, gpu::shape{2, 1}), gpu::axis<0>)),
       gpu::shape{3}, {57, 96, 147});
}

TEST_CASE("complex numbers and integers are reduced as NumPy does",
          "[array][reductions][thorough]") {
  const fixture f;
  using complex = std::complex<double>;
  const auto z = test::value_of(gpu::array<complex>::from(
      f.stream, {complex(1, 2), complex(-3, 1), complex(0, -2), complex(2, 3)}));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(z * z))) == complex(-4, 10));
  CHECK(test::value_of(gpu::item(f.stream, gpu::mean(z))) == complex(0, 1));
  CHECK(test::value_of(gpu::item(f.stream, gpu::variance(z))) == 7);
  CHECK(test::value_of(gpu::item(f.stream, gpu::norm(z + 0))) == std::sqrt(32.0));
  CHECK(test::value_of(gpu::item(f.stream, gpu::dot(z, z))) == complex(-4, 10));
  CHECK(test::value_of(gpu::item(f.stream, gpu::vdot(z, z))) == complex(32, 0));
  CHECK(test::value_of(gpu::item(f.stream, gpu::nan_mean(z))) == complex(0, 1));
  const auto n = test::value_of(gpu::array<int>::from(f.stream, {2147483647, 2147483647, 2}));
  CHECK(test::value_of(gpu::item(f.stream, gpu::dot(n, n))) == 9223372028264841222);
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum<float>(n))) == 4294967296.0f);
  CHECK(test::value_of(
            gpu::item(f.stream, gpu::variance(n > 2, gpu::variance_options{.correction = 1}))) ==
        Approx(1.0 / 3));
}

TEST_CASE("reductions that cannot be are refused", "[array][reductions]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  const auto none = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{0, 3}));
  const auto error = [&](const auto& e) { return test::error_of(gpu::evaluate(f.stream, e)); };
  CHECK(test::says(error(gpu::sum(x, gpu::axes{2})), "gpu::sum", "axis 2 is out of range"));
  CHECK(test::says(error(x + gpu::mean(x, gpu::axes{-3})), "gpu::mean", "from -2 to 1"));
  CHECK(test::says(error(gpu::max(x, gpu::axes{1, -1})), "gpu::max", "axis -1 is named twice"));
  CHECK(test::says(error(gpu::min(none, gpu::axis<0>)), "gpu::min",
                   "the operand of the shape (0, 3)", "0 elements"));
  CHECK(test::says(test::error_of(gpu::item(f.stream, gpu::argmax(none))), "the largest element"));
  same(gpu::evaluate(f.stream, gpu::min(none, gpu::axis<1>)), gpu::shape{0}, {});
  CHECK(test::says(error(x * gpu::sum(x, gpu::axis<1>)), "cannot broadcast (2, 3) with (2,)"));
  CHECK(test::says(error(gpu::sum(x * none)), "cannot broadcast (2, 3) with (0, 3)"));
  CHECK(test::says(error(gpu::sum(x(gpu::all(), 7))), "index 7 is out of range"));
  CHECK(test::says(test::error_of(gpu::item(f.stream, gpu::sum(x, gpu::axis<0>))), "3 elements"));
  auto out = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2}));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, out, gpu::sum(x, gpu::axis<0>))),
                   "cannot broadcast (3,) to (2,)"));
}

TEST_CASE("reductions can be captured once they are prepared", "[array][reductions]") {
  const fixture f;
  auto x = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  auto out = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 3}));
  const auto centred = [&] { return x * 3 - gpu::sum(x, gpu::axis<0>); };
  {
    auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
    const auto error = test::error_of(gpu::assign(f.stream, out, centred()));
    CHECK(error == gpu::errc::capture_prohibited);
    CHECK(test::says(error, "Call gpu::prepare"));
    static_cast<void>(capture.end());
  }
  test::value_of(gpu::prepare(f.stream, out, centred()));
  CHECK(f.download(out) == std::vector<float>(6, 0));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::assign(f.stream, out, centred()));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int k = 0; k < 2; ++k) {
    test::value_of(gpu::assign(f.stream, x, x + 1));
    test::value_of(gpu::launch(f.stream, executable));
    test::value_of(f.stream.synchronize());
    const float first = static_cast<float>(3 * (2 + k) - (7 + 2 * k));
    CHECK(f.download(out)[0] == first);
  }
}

TEST_CASE("a reduction fails with each of its allocations", "[array][reductions][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    const auto x = GPU_TRY(gpu::array<float>::from(stream, {1, 2, 3}));
    const auto made = GPU_TRY(gpu::evaluate(stream, x * 7 - gpu::product(x + 7)));
    return stream.synchronize();
  };
  algorithm_test::check_first_allocations(run);
}

}}  // namespace reduction_steps_test

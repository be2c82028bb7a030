// Random numbers in arrays and views: the same for every layout, checked, captured.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/view_shape.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/random.hpp>
#include <gpu/random/detail/random_element.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace random_numbers_test { namespace {

using algorithm_test::fixture;

/// Checks that numbers are the same in a part of a matrix and from an address that is not aligned;
/// if `every`, also in other layouts. `take(shape)` starts anew.
template <class T, class Take>
void same_in_each_layout(const fixture& f, Take take, bool every = false) {
  const gpu::shape<2> square{52, 68};
  const auto expected = f.download(test::value_of(gpu::evaluate(f.stream, take(square))));
  auto storage = test::value_of(gpu::zeros<T>(f.stream, gpu::shape{std::size_t{120 * 140}}));
  const auto read = [&](const auto& view) {
    return f.download(test::value_of(gpu::evaluate(f.stream, view)));
  };
  const auto whole = gpu::reshape(storage, gpu::shape{120, 140});
  const auto part = whole(gpu::slice(3, 107, 2), gpu::slice(1, 137, 2));
  test::value_of(gpu::assign(f.stream, part, take(square)));
  CHECK(read(part) == expected);
  const auto shifted = storage(gpu::slice(1, 1 + 52 * 68));
  test::value_of(gpu::assign(f.stream, shifted, take(gpu::shape{52 * 68})));
  CHECK(read(shifted) == expected);
  // The first ones do not depend on how many follow.
  const auto fewer = f.download(test::value_of(gpu::evaluate(f.stream, take(gpu::shape{1001}))));
  CHECK(std::equal(fewer.begin(), fewer.end(), expected.begin()));
  if (!every) return;
  const auto turned = gpu::transpose(whole)(gpu::slice(5, 57), gpu::slice(50, 118));
  test::value_of(gpu::assign(f.stream, turned, take(square)));
  CHECK(read(turned) == expected);
  const auto back = gpu::reverse(storage(gpu::slice(0, 52 * 68)));
  test::value_of(gpu::assign(f.stream, back, take(gpu::shape{52 * 68})));
  CHECK(read(back) == expected);
}

TEST_CASE("random numbers do not depend on the layout", "[random]") {
  const fixture f;
  for (const std::uint64_t offset : {0u, 6u}) {
    CAPTURE(offset);
    const auto take = [&](const auto& extents) {
      gpu::philox engine(3, 1, offset);
      return gpu::uniform<float>(engine, extents);
    };
    same_in_each_layout<float>(f, take, offset == 0);
  }
  same_in_each_layout<float>(f, [](const auto& extents) {
    gpu::philox engine(3, 1, 7);
    return gpu::normal<float>(engine, extents, 1, 2);
  });
  same_in_each_layout<double>(f, [](const auto& extents) {
    gpu::philox engine(3);
    return gpu::normal<double>(engine, extents);
  });
  same_in_each_layout<short>(f, [](const auto& extents) {
    gpu::xorwow engine(3, 0, 100);
    return gpu::random_bits<short>(engine, extents);
  });
}

TEST_CASE("random numbers are a value", "[random]") {
  const fixture f;
  gpu::philox engine(4);
  const auto numbers = gpu::normal<float>(engine, gpu::shape{101});
  CHECK(engine.offset() == 102);  // they come in pairs
  const auto first = f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, numbers))) == first);
  const auto next = gpu::normal<float>(engine, gpu::shape{101});
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, next))) != first);
  CHECK(test::value_of(gpu::evaluate(f.stream, gpu::normal<float>(engine, gpu::shape{0, 3})))
            .size() == 0);
  gpu::xorwow other(4);
  CHECK(test::value_of(gpu::evaluate(f.stream, gpu::uniform<float>(other, gpu::shape{0}))).size() ==
        0);
  const auto single =
      test::value_of(gpu::evaluate(f.stream, gpu::uniform<float>(engine, gpu::shape<0>())));
  CHECK(test::value_of(gpu::item(f.stream, single)) > 0);
}

TEST_CASE("numbers of an engine never come twice", "[random]") {
  // Fills of all kinds in a row, whose words are compared where they show: as bits.
  const fixture f;
  gpu::philox engine(5);
  std::vector<std::uint64_t> all;
  const auto add_bits = [&] {
    for (const std::uint64_t each : f.download(test::value_of(
             gpu::evaluate(f.stream, gpu::random_bits<std::uint64_t>(engine, gpu::shape{500})))))
      all.push_back(each);
  };
  add_bits();
  const auto doubles = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::uniform<double>(engine, gpu::shape{500}))));
  CHECK(engine.offset() == std::uint64_t{2} << 19);
  add_bits();
  gpu::philox beginning(5);
  const auto same = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::uniform<double>(beginning, gpu::shape{500}))));
  CHECK(doubles != same);
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("16-bit numbers are random, too", "[random]") {
  const fixture f;
  gpu::philox engine(6);
  double sum = 0;
  for (const __half each : f.download(test::value_of(
           gpu::evaluate(f.stream, gpu::uniform<__half>(engine, gpu::shape{4096}))))) {
    REQUIRE(__half2float(each) > 0);
    REQUIRE(__half2float(each) <= 1);
    sum += double{__half2float(each)};
  }
  CHECK(std::abs(sum / 4096 - 0.5) < 6 / std::sqrt(12 * 4096.0));
  for (const __half each : f.download(test::value_of(
           gpu::evaluate(f.stream, gpu::uniform_from<__half>(engine, gpu::shape{4096})))))
    REQUIRE(__half2float(each) < 1);
}

TEST_CASE("16-bit numbers do not reach the end of a range that is excluded", "[random]") {
  const fixture f;
  gpu::philox engine(6);
  const gpu::shape many{4096};
  for (const __nv_bfloat16 each : f.download(test::value_of(
           gpu::evaluate(f.stream, gpu::uniform_from<__nv_bfloat16>(engine, many, 3, 4)))))
    REQUIRE((__bfloat162float(each) >= 3 && __bfloat162float(each) < 4));
  for (const __nv_bfloat16 each : f.download(test::value_of(
           gpu::evaluate(f.stream, gpu::uniform<__nv_bfloat16>(engine, many, 3, 4)))))
    REQUIRE((__bfloat162float(each) > 3 && __bfloat162float(each) <= 4));
  // Between these two half has one number, and each of them has a neighbor on either side.
  for (const __half each : f.download(test::value_of(
           gpu::evaluate(f.stream, gpu::uniform_from<__half>(engine, many, 1000, 1001)))))
    REQUIRE((__half2float(each) == 1000 || __half2float(each) == 1000.5f));
  for (const __half each : f.download(test::value_of(
           gpu::evaluate(f.stream, gpu::uniform<__half>(engine, many, -1001, -1000)))))
    REQUIRE((__half2float(each) == -1000.5f || __half2float(each) == -1000));
}

TEST_CASE("the ends of a range fit the elements", "[random]") {
  const gpu::detail::random_element half = gpu::detail::random_element_of<__half>();
  CHECK(half.nearest(0.1) == double{__half2float(__float2half(0.1f))});
  CHECK(half.nearest(65519) == 65504);
  CHECK(half.nearest(65521) == std::numeric_limits<double>::infinity());
  CHECK(half.next_to(1024, 0) == 1023.5);
  CHECK(half.next_to(1024, 2000) == 1025);
  CHECK(half.next_to(-1024, 0) == -1023.5);
  CHECK(half.next_to(0, -1) == -std::ldexp(1.0, -24));
  CHECK(half.next_to(std::ldexp(1.0, -24), 0) == 0);
  const gpu::detail::random_element bfloat = gpu::detail::random_element_of<__nv_bfloat16>();
  CHECK(bfloat.next_to(4, 3) == 3.984375);
  CHECK(bfloat.next_to(3, 4) == 3.015625);
  CHECK(bfloat.nearest(1e39) == std::numeric_limits<double>::infinity());
}

TEST_CASE("shapes and types of random numbers are checked", "[random]") {
  const fixture f;
  gpu::philox engine(7);
  auto out = f.make<float>(6);
  const auto error =
      test::error_of(gpu::assign(f.stream, out, gpu::uniform<float>(engine, gpu::shape{7})));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(test::says(error, "gpu::uniform", "(6,)", "(7,)", "shape of out"));
  const auto faulty = gpu::reshape(out, gpu::shape{4, 2});
  CHECK(test::says(
      test::error_of(gpu::assign(f.stream, faulty, gpu::uniform<float>(engine, gpu::shape{4, 2}))),
      "gpu::reshape"));
  const auto repeated = gpu::array_view<float>::from_native(out.native(), {5}, {0});
  CHECK(test::says(
      test::error_of(gpu::assign(f.stream, repeated, gpu::uniform<float>(engine, gpu::shape{5}))),
      "at one address"));
  const auto moved = std::move(out);
  CHECK(test::error_of(gpu::assign(f.stream, out, gpu::uniform<float>(engine, gpu::shape{0}))) ==
        gpu::errc::empty_handle);
}

template <class Numbers>
bool refuses(const fixture& f, const Numbers& numbers, const char* value, const char* limit) {
  const auto error = test::error_of(gpu::evaluate(f.stream, numbers));
  CHECK(error == gpu::errc::invalid_argument);
  return test::says(error, value, limit);
}

TEST_CASE("parameters of distributions are checked", "[random]") {
  const fixture f;
  gpu::philox e(8);
  const gpu::shape<1> s{4};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refuses(f, gpu::uniform<float>(e, s, 2, 1), "low is 2 and high is 1", "less than high"));
  CHECK(refuses(f, gpu::uniform_from<float>(e, s, 0, 1 / 0.0), "high is inf", "finite"));
  CHECK(refuses(f, gpu::uniform<float>(e, s, 0, 1e39), "high is 1e+39",
                "up to 3.4028234663852886e+38"));
  CHECK(refuses(f, gpu::uniform_from<float>(e, s, -3e38, 3e38), "low is -3e+38", "distance"));
  CHECK(refuses(f, gpu::uniform<__half>(e, s, 0, 1e6), "high is 1e+06", "up to 65504"));
  CHECK(refuses(f, gpu::uniform<float>(e, s, 1 << 24, (1 << 24) + 0.5), "hold 16777216 for both",
                "farther apart"));
  CHECK(refuses(f, gpu::uniform_integers<int>(e, s, 3, 2), "low is 3 and high is 2", "Exchange"));
  CHECK(refuses(f, gpu::normal<float>(e, s, 0, -1), "standard deviation -1", "at least 0"));
  CHECK(refuses(f, gpu::normal<double>(e, s, nan), "the mean is nan", "finite"));
  CHECK(refuses(f, gpu::log_normal<float>(e, s, 0, nan), "deviation nan", "at least 0"));
  CHECK(refuses(f, gpu::exponential<float>(e, s, 0), "the scale is 0", "greater than 0"));
  CHECK(refuses(f, gpu::gamma<float>(e, s, -1), "the shape is -1", "greater than 0"));
  CHECK(refuses(f, gpu::beta<float>(e, s, 1, 0), "are 1 and 0", "greater than 0"));
  CHECK(refuses(f, gpu::bernoulli<int>(e, s, 1.5), "the probability is 1.5", "from 0 to 1"));
  CHECK(refuses(f, gpu::binomial<int>(e, s, 10, -0.5), "probability -0.5", "from 0 to 1"));
  CHECK(refuses(f, gpu::binomial<signed char>(e, s, 200, 0.5), "from 0 to 200", "127"));
  CHECK(refuses(f, gpu::poisson<int>(e, s, nan), "the mean is nan", "from 0 to 1e15"));
  CHECK(refuses(f, gpu::poisson<int>(e, s, -2), "the mean is -2", "from 0 to 1e15"));
  CHECK(refuses(f, gpu::poisson<unsigned char>(e, s, 200), "the elements hold", "more bits"));
}

TEST_CASE("a graph draws the same numbers at each launch", "[random]") {
  const fixture f;
  gpu::philox engine(9);
  auto x = test::value_of(gpu::empty<float>(f.stream, gpu::shape{100}));
  const auto numbers = gpu::uniform<float>(engine, gpu::shape{100});
  test::value_of(gpu::assign(f.stream, x, numbers));
  const auto expected = f.download(x);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::assign(f.stream, x, numbers));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int k = 0; k < 2; ++k) {
    test::value_of(gpu::fill(f.stream, x, 0.0f));
    test::value_of(gpu::launch(f.stream, executable));
    test::value_of(f.stream.synchronize());
    CHECK(f.download(x) == expected);
  }
}

TEST_CASE("each call that makes random numbers may fail", "[random][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    gpu::philox engine(1);
    gpu::xorwow other(1);
    auto x = GPU_TRY(gpu::evaluate(stream, gpu::uniform<float>(engine, gpu::shape{40})));
    GPU_TRY(gpu::assign(stream, x, gpu::normal<float>(other, gpu::shape{40})));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
  algorithm_test::check_first_allocations([]() -> gpu::result<> {
    const gpu::stream stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
    gpu::philox engine(1);
    GPU_TRY(gpu::evaluate(stream, gpu::exponential<double>(engine, gpu::shape{5})));
    return stream.synchronize();
  });
}

}}  // namespace random_numbers_test

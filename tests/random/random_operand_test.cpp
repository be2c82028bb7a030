// Random numbers as operands of expressions: the numbers that assign writes.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace random_operand_test { namespace {

using algorithm_test::fixture;

/// Checks numbers alone against the same ones in an expression. `take` reserves them of an engine.
template <class Take> void same_as_operand(const fixture& f, std::uint64_t offset, Take take) {
  CAPTURE(offset);
  gpu::philox engine(42, 3, offset);
  const auto numbers = take(engine);
  const auto alone = f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
  auto doubled = f.download(test::value_of(gpu::evaluate(f.stream, numbers + numbers)));
  for (auto& each : doubled) each /= 2;
  CHECK(doubled == alone);
}

TEST_CASE("random numbers in an expression are those that assign writes", "[random]") {
  const fixture f;
  const gpu::shape<2> extents{13, 39};
  for (const std::uint64_t offset : {0u, 4u, 6u}) {
    same_as_operand(f, offset, [&](auto& e) { return gpu::uniform<float>(e, extents, -1, 3); });
    same_as_operand(f, offset, [&](auto& e) { return gpu::normal<float>(e, extents, 1, 2); });
  }
  same_as_operand(f, 0, [&](auto& e) { return gpu::uniform_from<float>(e, extents); });
  same_as_operand(f, 0, [&](auto& e) { return gpu::exponential<float>(e, extents, 3); });
  same_as_operand(f, 0, [&](auto& e) { return gpu::log_normal<float>(e, extents); });
  same_as_operand(f, 0, [&](auto& e) { return gpu::uniform<double>(e, extents); });
  same_as_operand(f, 1, [&](auto& e) { return gpu::normal<double>(e, extents); });
}

/// Checks that numbers are the same in an expression and alone.
template <class Make> void same_in_expression(const fixture& f, Make make) {
  const auto alone = f.download(test::value_of(gpu::evaluate(f.stream, make())));
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, 1 * make()))) == alone);
}

TEST_CASE("numbers of all distributions may be operands", "[random][thorough]") {
  const fixture f;
  const gpu::shape<2> s{7, 30};
  const double host[] = {1, 0, 3, 2};
  const auto weights = test::value_of(gpu::discrete_weights::create(f.stream, host));
  for (const std::uint64_t offset : {0u, 3u}) {
    CAPTURE(offset);
    const auto check = [&](auto take) {
      same_in_expression(f, [&] {
        gpu::philox engine(42, 3, offset);
        return take(engine);
      });
    };
    check([&](auto& e) { return gpu::uniform_integers<int>(e, s, -5, 6); });
    check([&](auto& e) { return gpu::poisson<int>(e, s, 20); });
    if (offset != 0) continue;  // the others are as these
    check([&](auto& e) { return gpu::uniform_integers<std::int64_t>(e, s, 0, 1ll << 60); });
    check([&](auto& e) { return gpu::gamma<double>(e, s, 0.7, 2); });
    check([&](auto& e) { return gpu::beta<float>(e, s, 2, 3); });
    check([&](auto& e) { return gpu::binomial<float>(e, s, 100, 0.3); });
    check([&](auto& e) { return gpu::bernoulli<int>(e, s, 0.4); });
    check([&](auto& e) { return gpu::discrete<int>(e, s, weights); });
    check([&](auto& e) { return gpu::on_sphere<float>(e, gpu::shape{20, 3}); });
    check([&](auto& e) { return gpu::random_bits<std::int16_t>(e, s); });
  }
}

TEST_CASE("Sobol's numbers may be operands", "[random][sobol][thorough]") {
  const fixture f;
  const gpu::shape<2> s{5, 33};
  const gpu::sobol_options options{.offset = 7, .scrambled = true};
  auto narrow = test::value_of(gpu::sobol32::create(f.stream, 5, options));
  auto wide = test::value_of(gpu::sobol64::create(f.stream, 5, options));
  const auto check = [&](auto& engine, auto take) {
    const auto numbers = take(engine);
    same_in_expression(f, [&] { return numbers; });
  };
  check(narrow, [&](auto& e) { return gpu::uniform<float>(e, s, -1, 3); });
  CHECK(narrow.offset() == 7 + 33);
  check(narrow, [&](auto& e) { return gpu::normal<float>(e, s, 1, 2); });
  check(wide, [&](auto& e) { return gpu::normal<double>(e, s); });
  check(wide, [&](auto& e) { return gpu::poisson<int>(e, s, 4); });
  check(wide, [&](auto& e) { return gpu::uniform<double>(e, s); });
  // A function of the points.
  auto engine = test::value_of(gpu::sobol32::create(f.stream, 2));
  const auto x = gpu::uniform<float>(engine, gpu::shape{2, 1024});
  double sum = 0;
  for (const float each : f.download(test::value_of(gpu::evaluate(f.stream, x * x)))) {
    sum += double{each};
  }
  CHECK(std::abs(sum / 2048 - 1. / 3) < 2e-3);
  const auto odd =
      test::error_of(gpu::evaluate(f.stream, 1 + gpu::uniform<float>(engine, gpu::shape<1>{7})));
  CHECK(test::says(odd, "gpu::uniform", "7 elements", "in 2 dimensions"));
  const auto moved = std::move(engine);
  CHECK(test::error_of(gpu::evaluate(f.stream, 1 + gpu::uniform<float>(engine, s))) ==
        gpu::errc::empty_handle);
  CHECK(moved.dimensions() == 2);
}

TEST_CASE("noise is added in one kernel", "[random]") {
  const fixture f;
  const auto points = f.upload(std::vector<float>(1000, 5));
  const auto view = gpu::reshape(points, gpu::shape{10, 100});
  gpu::philox engine(42), again(42);
  const auto noisy = f.download(test::value_of(
      gpu::evaluate(f.stream, view + 0.25f * gpu::normal<float>(engine, view.shape()))));
  const auto noise = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::normal<float>(again, gpu::shape{1000}))));
  for (std::size_t k = 0; k < noise.size(); ++k) REQUIRE(noisy[k] == 5 + 0.25f * noise[k]);
  CHECK(engine.offset() == 1000);
  // A row that is repeated.
  gpu::philox other(43), same(43);
  const auto rows = f.download(
      test::value_of(gpu::evaluate(f.stream, view + gpu::uniform<float>(other, gpu::shape{100}))));
  const auto row = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::uniform<float>(same, gpu::shape{100}))));
  for (std::size_t k = 0; k < rows.size(); ++k) REQUIRE(rows[k] == 5 + row[k % 100]);
}

TEST_CASE("two operands take two engines", "[random]") {
  const fixture f;
  gpu::philox first = gpu::philox(7).split(0), second = gpu::philox(7).split(1);
  const gpu::shape<1> extents{50};
  const auto x = f.download(test::value_of(gpu::evaluate(
      f.stream, gpu::uniform<float>(first, extents) - gpu::uniform<float>(second, extents))));
  first = gpu::philox(7).split(0);
  second = gpu::philox(7).split(1);
  const auto a =
      f.download(test::value_of(gpu::evaluate(f.stream, gpu::uniform<float>(first, extents))));
  const auto b =
      f.download(test::value_of(gpu::evaluate(f.stream, gpu::uniform<float>(second, extents))));
  for (std::size_t k = 0; k < x.size(); ++k) CHECK(x[k] == a[k] - b[k]);
}

TEST_CASE("operands with impossible parameters are refused", "[random]") {
  const fixture f;
  gpu::philox engine(1), last(1, 0, ~0ull), beyond(1, gpu::philox::sequences);
  const gpu::shape<1> s{4};
  const auto error = [&](const auto& numbers) {
    const auto found = test::error_of(gpu::evaluate(f.stream, 1.0f + numbers));
    CHECK(found == gpu::errc::invalid_argument);
    return found;
  };
  CHECK(test::says(error(gpu::uniform<float>(engine, s, 2, 1)), "gpu::uniform", "low is 2",
                   "less than high"));
  CHECK(test::says(error(gpu::normal<float>(engine, s, 0, -1)), "gpu::normal",
                   "standard deviation -1", "at least 0"));
  CHECK(test::says(error(gpu::exponential<float>(engine, s, -1)), "the scale is -1"));
  const gpu::shape<1> four{4};
  CHECK(test::says(error(gpu::uniform_integers<int>(engine, four, 3, 2)), "low is 3", "Exchange"));
  CHECK(test::says(error(gpu::uniform<float>(last, s)), "would pass 2^64"));
  CHECK(test::says(error(gpu::uniform<float>(beyond, s)), "the sequence 70368744177664"));
}

}}  // namespace random_operand_test

// Numbers of 16 bits: all of them, against digests of NumPy's results, and conversions at the
// numbers midway between two of them and beside, where rounding twice would show.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/memory/shape.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace short_numbers_test { namespace {

using algorithm_test::fixture;

struct digest {
  std::string name;
  std::uint64_t value;
};
const digest digests[] = {
#include "array/short_numbers_reference.inc"
};

std::uint16_t bits_of(__half value) { return std::bit_cast<std::uint16_t>(value); }
std::uint16_t bits_of(__nv_bfloat16 value) { return std::bit_cast<std::uint16_t>(value); }

/// FNV-1a over numbers of 16 bits, with one NaN for all.
std::uint64_t digest_of(std::span<const __half> values) {
  std::uint64_t found = 0xcbf29ce484222325;
  for (const __half each : values) {
    const std::uint16_t own = bits_of(each);
    found = (found ^ ((own & 0x7fff) > 0x7c00 ? 0x7e00u : own)) * 0x100000001b3;
  }
  return found;
}

TEST_CASE("all numbers of 16 bits compute as NumPy's", "[array][functions]") {
  const fixture f;
  std::vector<__half> all(65536), others(65536);
  std::vector<int> whole(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    all[i] = std::bit_cast<__half>(static_cast<std::uint16_t>(i));
    others[i] = std::bit_cast<__half>(static_cast<std::uint16_t>(i * 40503));
    whole[i] = static_cast<int>(i * 7);
  }
  const auto x = test::value_of(gpu::array<__half>::from(f.stream, all));
  const auto y = test::value_of(gpu::array<__half>::from(f.stream, others));
  const auto n = test::value_of(gpu::array<int>::from(f.stream, whole));
  auto made = test::value_of(gpu::empty<__half>(f.stream, gpu::shape{18, 65536}));
  test::value_of(gpu::assign_all(
      f.stream, gpu::into(made(0), gpu::sqrt(x)), gpu::into(made(1), gpu::square(x)),
      gpu::into(made(2), gpu::reciprocal(x)), gpu::into(made(3), gpu::abs(x)),
      gpu::into(made(4), -x), gpu::into(made(5), gpu::floor(x)), gpu::into(made(6), gpu::ceil(x)),
      gpu::into(made(7), gpu::trunc(x)), gpu::into(made(8), gpu::rint(x))));
  test::value_of(gpu::assign_all(
      f.stream, gpu::into(made(9), x + y), gpu::into(made(10), x - y), gpu::into(made(11), x * y),
      gpu::into(made(12), x / y), gpu::into(made(13), x * y + x / 3),
      gpu::into(made(14), gpu::fmod(x, y)), gpu::into(made(15), gpu::remainder(x, y)),
      gpu::into(made(16), gpu::floor_divide(x, y)), gpu::into(made(17), gpu::cast<__half>(n))));
  const auto found = f.download(made);
  for (std::size_t k = 0; k < std::size(digests); ++k) {
    INFO(digests[k].name);
    CHECK(digest_of(std::span(found).subspan(k * 65536, 65536)) == digests[k].value);
  }
}

/// The last finite number, and the distance of 1 from the next number as a power of two.
template <class T> constexpr std::uint16_t last = std::same_as<T, __half> ? 0x7bff : 0x7f7f;
template <class T> constexpr int digits = std::same_as<T, __half> ? 10 : 7;

/// Returns the number that bits stand for; for those of infinity, where the next number would be.
template <class T> double value_of(std::uint32_t bits) {
  constexpr int bias = std::same_as<T, __half> ? 15 : 127;
  const auto exponent = static_cast<int>(bits >> digits<T>);
  const double fraction = bits & ((1u << digits<T>)-1);
  const double unit = std::ldexp(1.0, (exponent == 0 ? 1 : exponent) - bias - digits<T>);
  return (exponent == 0 ? fraction : fraction + (1 << digits<T>)) * unit;
}

TEMPLATE_TEST_CASE("conversions to numbers of 16 bits round once", "[array][functions]", __half,
                   __nv_bfloat16) {
  const fixture f;
  std::vector<double> host;
  std::vector<std::uint16_t> expected;
  for (std::uint32_t bits = 0; bits <= last<TestType>; ++bits) {
    const double low = value_of<TestType>(bits), high = value_of<TestType>(bits + 1);
    const double middle = low + (high - low) / 2;
    host.insert(host.end(),
                {middle, std::nextafter(middle, 0.0), std::nextafter(middle, HUGE_VAL)});
    expected.insert(expected.end(),
                    {static_cast<std::uint16_t>(bits + (bits & 1)),
                     static_cast<std::uint16_t>(bits), static_cast<std::uint16_t>(bits + 1)});
  }
  host.insert(host.end(), {1e300, 0x1p-1070, HUGE_VAL});
  const auto infinity = static_cast<std::uint16_t>(last<TestType> + 1);
  expected.insert(expected.end(), {infinity, 0, infinity});
  const auto x = test::value_of(gpu::array<double>::from(f.stream, host));
  auto stored = test::value_of(gpu::empty<TestType>(f.stream, x.shape()));
  auto own = test::value_of(gpu::empty<TestType>(f.stream, x.shape()));
  // By the store, by a cast, and in a text of the user's.
  test::value_of(gpu::assign_all(f.stream, gpu::into(stored, x),
                                 gpu::into(own, gpu::formula<TestType>("-a", x))));
  auto back = test::value_of(gpu::empty<float>(f.stream, x.shape()));
  test::value_of(gpu::assign(f.stream, back, gpu::cast<float>(gpu::cast<TestType>(x))));
  const auto found = f.download(stored), negative = f.download(own);
  const auto widened = f.download(back);
  std::size_t wrong = 0, numbers = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const bool right = bits_of(found[i]) == expected[i] &&
                       bits_of(negative[i]) == (expected[i] | 0x8000) &&
                       bits_of(TestType(widened[i])) == expected[i];
    wrong += right ? 0u : 1u;
    // Numbers of the host, which are rounded there.
    if (i % 97 != 0 || expected[i] == infinity) continue;
    std::uint16_t bits = 0;
    CHECK(gpu::detail::store_number(gpu::detail::describe_number(host[i]),
                                    gpu::detail::kind_of<TestType>(), &bits));
    CHECK(bits == expected[i]);
    ++numbers;
  }
  CHECK(wrong == 0);
  CHECK(numbers > 100);
}

TEST_CASE("integers become numbers of 16 bits by one rounding", "[array][functions]") {
  const fixture f;
  std::vector<std::int64_t> host;
  std::vector<std::uint16_t> expected;
  for (std::int64_t k = 128; k < 256; ++k) {
    for (int shift = 1; shift <= 54; ++shift) {
      const std::int64_t middle = (2 * k + 1) << shift;
      for (const std::int64_t beside : {-1, 0, 1}) {
        const std::int64_t rounded = beside < 0 || (beside == 0 && k % 2 == 0) ? k : k + 1;
        host.push_back(middle + beside);
        expected.push_back(
            bits_of(__nv_bfloat16(static_cast<float>(rounded) * std::ldexp(1.0f, shift + 1))));
      }
    }
  }
  const auto n = test::value_of(gpu::array<std::int64_t>::from(f.stream, host));
  const auto found =
      f.download(test::value_of(gpu::evaluate(f.stream, gpu::cast<__nv_bfloat16>(n))));
  auto narrow = test::value_of(gpu::empty<int>(f.stream, n.shape()));
  test::value_of(gpu::assign(f.stream, narrow, n));
  const auto of_ints =
      f.download(test::value_of(gpu::evaluate(f.stream, gpu::cast<__nv_bfloat16>(narrow))));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    std::uint16_t bits = 0;
    gpu::detail::store_number(gpu::detail::describe_number(host[i]),
                              gpu::detail::element_kind::bfloat16, &bits);
    const bool right = bits_of(found[i]) == expected[i] && bits == expected[i] &&
                       (host[i] > INT32_MAX || bits_of(of_ints[i]) == expected[i]);
    wrong += right ? 0u : 1u;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("fma of numbers of 16 bits rounds once", "[array][functions]", __half,
                   __nv_bfloat16) {
  const fixture f;
  // The product is midway between two numbers, and the sum is a little beside it.
  const float one = 1 + std::ldexp(1.0f, -digits<TestType>);  // the next number
  const float tiny = std::same_as<TestType, __half> ? 0x1p-24f : 0x1p-133f;
  const std::vector<float> a{1.5f, 1.5f, 1.5f, 1.5f}, c{0, tiny, -tiny, -1.5f};
  std::vector<TestType> x, z;
  for (const float each : a) x.push_back(TestType(each));
  for (const float each : c) z.push_back(TestType(each));
  const auto p = test::value_of(gpu::array<TestType>::from(f.stream, x));
  const auto q = test::value_of(gpu::array<TestType>::from(f.stream, {TestType(one)}));
  const auto r = test::value_of(gpu::array<TestType>::from(f.stream, z));
  const auto found = f.download(test::value_of(gpu::evaluate(f.stream, gpu::fma(p, q, r))));
  const float unit = one - 1;
  const std::vector<float> expected{1.5f + 2 * unit, 1.5f + 2 * unit, 1.5f + unit, 1.5f * unit};
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(static_cast<float>(found[i]) == expected[i]);
  }
}

}}  // namespace short_numbers_test

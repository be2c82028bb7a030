// Prints what the host and the CPU driver do with NaN, infinities, negative zeros and subnormal
// numbers. Compiled twice for a program: with -ffast-math as the function `fast_math`, and without
// as `main`, which calls both.

#include <gpu/algorithm.hpp>
#include <gpu/array.hpp>
#include <gpu/gpu.hpp>
#include <gpu/measure.hpp>
#include <gpu/random.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

void fast_math(const gpu::stream& stream);

namespace {

/// A number of which the compiler knows nothing.
template <class F, class Bits> F from_bits(Bits bits) {
  const volatile Bits written = bits;
  const Bits read = written;
  F number;
  std::memcpy(&number, &read, sizeof number);
  return number;
}
double wide(std::uint64_t bits) { return from_bits<double>(bits); }
float narrow(std::uint32_t bits) { return from_bits<float>(bits); }

template <class Result> void print_outcome(const char* what, const Result& result) {
  std::printf("%s: %s\n", what, result.has_value() ? "accepted" : "refused");
}

template <class T> std::vector<T> elements(const gpu::stream& stream, const gpu::array<T>& a) {
  std::vector<T> copied(a.size());
  if (!stream.synchronize().has_value()) std::printf("a fault\n");
  const auto span = gpu::device_span<const T>::from_native(a.native(), a.size());
  if (!gpu::copy(span, copied).has_value()) std::printf("no copy\n");
  return copied;
}
template <class Bits, class T>
void print_bits(const char* what, const gpu::stream& stream, const gpu::array<T>& a) {
  std::printf("%s:", what);
  for (const T& each : elements(stream, a)) {
    Bits bits;
    std::memcpy(&bits, &each, sizeof bits);
    std::printf(" %llx", static_cast<unsigned long long>(bits));
  }
  std::printf("\n");
}

template <class T, class Bits>
gpu::array<T> upload(const gpu::stream& stream, const std::vector<Bits>& bits) {
  auto made = gpu::empty<T>(stream, gpu::shape{bits.size() * sizeof(Bits) / sizeof(T)});
  (void)stream.synchronize();
  const auto words = gpu::device_span<Bits>::from_native(made->native(), bits.size());
  if (!gpu::copy(bits, words).has_value()) std::printf("no copy\n");
  return std::move(*made);
}

void print_arrays(const gpu::stream& stream) {
  const auto x = upload<float, std::uint32_t>(
      stream, {0x7fc00000, 0x7f800000, 0xff800000, 0x80000000, 1, 0x3fc00000});
  const auto y = upload<double, std::uint64_t>(
      stream, {0x7ff8000000000000, 0x8000000000000001, 0x8000000000000000, 0x3ff0000000000000});
  const auto z = upload<std::complex<float>, std::uint32_t>(
      stream, {0x80000000, 0x7fc00000, 0x3f800000, 0xff800000});
  const auto near = upload<float, std::uint32_t>(stream, {0x3f800000, 0x447a0000});
  for (const auto& words : {gpu::to_text(stream, x), gpu::to_text(stream, y),
                            gpu::to_text(stream, z), gpu::to_text(stream, near)})
    std::printf("%s\n", words->c_str());
  for (std::size_t i = 0; i < 6; ++i) {
    const auto word = gpu::to_text(stream, x(i));
    std::printf("%s ", word->c_str());
  }
  std::printf("\n");
}

void print_numbers(const gpu::stream& stream) {
  const auto ones = gpu::full<float>(stream, gpu::shape{2}, 1.0f);
  const auto full = [&](std::uint32_t bits) {
    return gpu::full<float>(stream, gpu::shape{1}, narrow(bits));
  };
  print_bits<std::uint32_t>("full", stream, *full(0x7fc00000));
  print_bits<std::uint32_t>("full", stream, *full(0x80000000));
  print_bits<std::uint32_t>("full", stream, *full(1));
  print_bits<std::uint64_t>("arange", stream,
                            *gpu::arange<double>(stream, wide(0x3fb999999999999a), 1,
                                                 wide(0x3fd3333333333333)));  // 0.1, 0.3
  // A double in place of a float: rounded on the host.
  const auto times = [&](std::uint64_t bits) { return gpu::evaluate(stream, *ones * wide(bits)); };
  print_bits<std::uint32_t>("times", stream, *times(0x36a0000000000000));  // 2^-149
  print_bits<std::uint32_t>("times", stream, *times(0x8000000000000000));
  print_bits<std::uint32_t>("times", stream, *times(0xfff0000000000000));
  print_bits<std::uint32_t>("times", stream, *times(0x7ff8000000000000));
  print_outcome("times", times(0x7fe0000000000000));
  // Subnormal results of a kernel.
  const auto small = upload<float, std::uint32_t>(stream, {0x00800000, 0x0d800000, 3});
  print_bits<std::uint32_t>("half", stream, *gpu::evaluate(stream, small * 0.5f));
  const auto nothing = upload<float, std::uint32_t>(stream, {0, 1, 0x7f800000});
  print_bits<std::uint32_t>("isnan", stream,
                            *gpu::evaluate(stream, gpu::cast<int>(gpu::isnan(nothing / nothing))));
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800000u, 0x80000001u, 0x80000000u, 0x3dcccccdu})
    std::printf("%s ", gpu::macro_value(narrow(bits)).c_str());
  std::printf("\n");
}

void print_parameters(const gpu::stream& stream) {
  const double nan = wide(0x7ff8000000000000), infinity = wide(0x7ff0000000000000);
  const double tiny = wide(1), huge = wide(0x7fe1ccf385ebc8a0);  // 1e308
  const gpu::shape<1> few{4};
  gpu::philox engine(7);
  const auto made = [&](const char* what, const auto& numbers) {
    print_outcome(what, gpu::evaluate(stream, numbers));
  };
  made("bernoulli", gpu::bernoulli(engine, few, nan));
  made("normal", gpu::normal<float>(engine, few, nan));
  made("normal", gpu::normal<float>(engine, few, 0, infinity));
  made("exponential", gpu::exponential<double>(engine, few, nan));
  made("exponential", gpu::exponential<double>(engine, few, tiny));
  made("uniform", gpu::uniform<double>(engine, few, nan, 1));
  made("uniform", gpu::uniform<double>(engine, few, -huge, huge));
  made("uniform", gpu::uniform<float>(engine, few, 0, 1e39));
  made("poisson", gpu::poisson<int>(engine, few, nan));
  made("gamma", gpu::gamma<float>(engine, few, 1, nan));
  made("beta", gpu::beta<float>(engine, few, infinity, 1));
  made("binomial", gpu::binomial<int>(engine, few, 10, nan));
  print_outcome("weights", gpu::discrete_weights::create(stream, std::vector<double>{1, nan}));
  print_outcome("weights", gpu::discrete_weights::create(stream, std::vector<double>{huge, huge}));
  const gpu::shape<1> many{1000};
  unsigned long long digest = 0;
  for (const double mean : {0.3, 5.7, 41.25}) {
    const auto numbers = gpu::evaluate(stream, gpu::poisson<int>(engine, many, mean));
    for (const int each : elements(stream, *numbers))
      digest = digest * 31 + static_cast<unsigned long long>(each);
  }
  std::printf("poisson: %llx\n", digest);

  const auto x = gpu::arange<float>(stream, 4);
  print_outcome("quantile", gpu::quantile(stream, *x, nan));
  print_outcome("arange", gpu::arange<double>(stream, 0, nan));
  print_outcome("arange", gpu::arange<double>(stream, 0, 1, -0.0 * tiny));
  auto counts = gpu::device_buffer<unsigned>::create(stream, 4);
  print_outcome("histogram", gpu::histogram(stream, *x, nan, 1, *counts));
  print_outcome("histogram", gpu::histogram(stream, *x, 1e16, wide(0x4341c37937e08002), *counts));
  print_outcome("measure", gpu::measure(stream, {.relative_confidence = nan},
                                        gpu::candidate("none", [] { return gpu::result<>(); })));
  const gpu::access_policy_window window{.hit_ratio = narrow(0x7fc00000)};
  print_outcome("window",
                gpu::set_attribute<gpu::stream_attribute::access_policy_window>(stream, window));
  print_outcome("picture", gpu::save_ppm(stream, gpu::reshape(*x, gpu::shape{2, 2}), "/dev/null",
                                         {.low = infinity}));
}

void print_all(const gpu::stream& stream) {
  print_arrays(stream);
  print_numbers(stream);
  print_parameters(stream);
}

}  // namespace

#if defined(GPU_TEST_FAST_MATH)
void fast_math(const gpu::stream& stream) { print_all(stream); }
#else
int main() {
  gpu::testing::use_cpu_driver();
  const auto device = gpu::device::get(0);
  const auto stream = gpu::stream::create(*device);
  print_all(*stream);
  std::printf("fast\n");
  fast_math(*stream);
}
#endif

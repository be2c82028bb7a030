// Random numbers beside cuRAND's host interface, on one GPU, and how far normal numbers are from
// the exact transform of their bits. Where both have the same order, bits and uniform numbers have
// to be equal.
//   nvcc -std=c++20 -O3 -arch=native -I include -I benchmarks
//     benchmarks/random/random_numbers.cu -lcuda -lcurand
// With the argument `poisson`, only Poisson numbers.

#include "algorithm/beside.cuh"

#include <gpu/random.hpp>

#include <curand.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace beside {

inline void need(curandStatus_t code) {
  if (code == CURAND_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuRAND: status %d\n", static_cast<int>(code));
  std::exit(2);
}

}  // namespace beside

using beside::need;
using beside::row;

namespace {

constexpr std::size_t n = std::size_t{1} << 28;

struct bench {
  gpu::stream owner;
  gpu::stream_ref stream = owner;
  cudaStream_t raw = stream.native();
  gpu::device_buffer<float> theirs = need(gpu::device_buffer<float>::create(stream, n));
  gpu::device_buffer<float> ours = need(gpu::device_buffer<float>::create(stream, n));
  bool all_equal = true;

  curandGenerator_t generator(curandRngType_t type) {
    curandGenerator_t made = nullptr;
    need(curandCreateGenerator(&made, type));
    need(curandSetStream(made, raw));
    if (type < CURAND_RNG_QUASI_DEFAULT) {
      // That of MT19937 is called the default one.
      need(curandSetGeneratorOrdering(made, type == CURAND_RNG_PSEUDO_MT19937
                                                ? CURAND_ORDERING_PSEUDO_DEFAULT
                                                : CURAND_ORDERING_PSEUDO_LEGACY));
      need(curandSetPseudoRandomGeneratorSeed(made, 42));
    }
    return made;
  }

  void compare(const char* name) {
    std::vector<float> a(n), b(n);
    need(gpu::copy(theirs, a));
    need(gpu::copy(ours, b));
    if (std::memcmp(a.data(), b.data(), n * sizeof(float)) == 0) return;
    all_equal = false;
    std::size_t first = 0;
    while (std::memcmp(&a[first], &b[first], sizeof(float)) == 0) ++first;
    std::printf("  DIFFERENT: %s, from number %zu on\n", name, first);
  }

  /// Times fills of an engine with the seed 42.
  template <class Engine> void pseudo(const char* name, curandRngType_t type, Engine engine) {
    char title[64];
    const gpu::shape<1> all{n};
    curandGenerator_t cu = generator(type);
    if (type == CURAND_RNG_PSEUDO_MT19937) {  // of which cuRAND rounds floats otherwise on a device
      need(curandGenerate(cu, reinterpret_cast<unsigned*>(theirs.data()), n));
      auto bits = gpu::device_span<unsigned>::from_native(ours.native(), n);
      need(gpu::assign(stream, bits, gpu::random_bits<unsigned>(engine, all)));
    } else {
      need(curandGenerateUniform(cu, theirs.data(), n));
      need(gpu::assign(stream, ours, gpu::uniform<float>(engine, all)));
    }
    compare(name);
    std::snprintf(title, sizeof title, "%s, uniform, 2^28 floats", name);
    row(
        title, raw, 4.0 * n, [&] { need(curandGenerateUniform(cu, theirs.data(), n)); },
        [&] { need(gpu::assign(stream, ours, gpu::uniform<float>(engine, all))); });
    std::snprintf(title, sizeof title, "%s, normal, 2^28 floats", name);
    row(
        title, raw, 4.0 * n, [&] { need(curandGenerateNormal(cu, theirs.data(), n, 0, 1)); },
        [&] { need(gpu::assign(stream, ours, gpu::normal<float>(engine, all))); });
    auto* const doubles = reinterpret_cast<double*>(theirs.data());
    auto our_doubles = gpu::device_span<double>::from_native(ours.native(), n / 2);
    std::snprintf(title, sizeof title, "%s, uniform, 2^27 doubles", name);
    row(
        title, raw, 4.0 * n, [&] { need(curandGenerateUniformDouble(cu, doubles, n / 2)); },
        [&] {
          need(
              gpu::assign(stream, our_doubles, gpu::uniform<double>(engine, gpu::shape<1>{n / 2})));
        });
    poisson(name, cu, engine, {5.0, 50.0, 5000.0});
    need(curandDestroyGenerator(cu));
  }

  template <class Engine>
  void poisson(const char* name, curandGenerator_t cu, Engine& engine,
               std::initializer_list<double> means) {
    char title[64];
    auto* const counts = reinterpret_cast<unsigned*>(theirs.data());
    auto our_counts = gpu::device_span<unsigned>::from_native(ours.native(), n);
    for (const double mean : means) {
      std::snprintf(title, sizeof title, "%s, Poisson of mean %g, 2^28", name, mean);
      row(
          title, raw, 4.0 * n, [&] { need(curandGeneratePoisson(cu, counts, n, mean)); },
          [&] {
            need(gpu::assign(stream, our_counts,
                             gpu::poisson<unsigned>(engine, gpu::shape<1>{n}, mean)));
          });
    }
  }

  /// Times Poisson numbers for means of all sizes; cuRAND has those up to 400,000.
  /// `random_numbers poisson` does only this.
  void poisson_means() {
    curandGenerator_t cu = generator(CURAND_RNG_PSEUDO_PHILOX4_32_10);
    gpu::philox engine(42);
    poisson("Philox", cu, engine, {0.1, 1, 4, 10, 30, 60, 100, 1000, 1e4, 1e5});
    need(curandDestroyGenerator(cu));
  }

  void quasi(std::size_t dimensions) {
    char title[64];
    curandGenerator_t cu = generator(CURAND_RNG_QUASI_SOBOL32);
    need(curandSetQuasiRandomGeneratorDimensions(cu, static_cast<unsigned>(dimensions)));
    need(curandGenerateUniform(cu, theirs.data(), n));
    auto engine = need(gpu::sobol32::create(stream, dimensions));
    const auto points = gpu::uniform<float>(engine, gpu::shape<1>{n});  // the same ones each time
    need(gpu::assign(stream, ours, points));
    compare("Sobol");
    std::snprintf(title, sizeof title, "Sobol, %zu dimensions, uniform, 2^28 floats", dimensions);
    row(
        title, raw, 4.0 * n,
        [&] {
          need(curandSetGeneratorOffset(cu, 0));
          need(curandGenerateUniform(cu, theirs.data(), n));
        },
        [&] { need(gpu::assign(stream, ours, points)); });
    need(curandDestroyGenerator(cu));
  }

  /// The distance of normal numbers from the exact transform of the same bits, for cuRAND and here.
  void errors() {
    constexpr std::size_t count = std::size_t{1} << 24;
    const gpu::shape<1> some{count};
    gpu::philox engine(42), again(42);
    auto part = ours.span().first(count);
    auto bits = gpu::device_span<unsigned>::from_native(theirs.native(), count);
    need(gpu::assign(stream, part, gpu::normal<float>(engine, some)));
    need(gpu::assign(stream, bits, gpu::random_bits<unsigned>(again, some)));
    std::vector<unsigned> words(count);
    std::vector<float> found(count), curand(count);
    need(gpu::copy(bits, words));
    need(gpu::copy(part, found));
    curandGenerator_t cu = generator(CURAND_RNG_PSEUDO_PHILOX4_32_10);
    need(curandGenerateNormal(cu, theirs.data(), count, 0, 1));
    need(gpu::copy(theirs.span().first(count), curand));
    need(curandDestroyGenerator(cu));
    double own = 0, other = 0, apart = 0;
    for (std::size_t k = 0; k < count; k += 2) {
      const double turn = 6.283185307179586477 / 4294967296.0;
      // The library takes the angle of y, cuRAND that of y + 1/2.
      const double radius = std::sqrt(-2 * std::log((words[k] + 0.5) / 4294967296.0));
      const double angle = words[k + 1] * turn, middle = (words[k + 1] + 0.5) * turn;
      own = std::max({own, std::abs(found[k] - radius * std::sin(angle)),
                      std::abs(found[k + 1] - radius * std::cos(angle))});
      other = std::max({other, std::abs(curand[k] - radius * std::sin(middle)),
                        std::abs(curand[k + 1] - radius * std::cos(middle))});
      apart = std::max({apart, std::abs(double{curand[k]} - found[k]),
                        std::abs(double{curand[k + 1]} - found[k + 1])});
    }
    std::printf("normal numbers, largest error of 2^24: cuRAND %.2e, gpu %.2e; apart %.2e\n", other,
                own, apart);
    all_equal = all_equal && own <= 2.5e-6;
  }
};

/// Sets up states of cuRAND, as programs do in a kernel of their own.
__global__ void set_up(curandStateXORWOW_t* states, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(42, i, 0, &states[i]);
  out[i] = curand(&states[i]);
}

void time_set_up(bench& b) {
  constexpr unsigned count = 1 << 20;
  auto states = need(gpu::device_buffer<curandStateXORWOW_t>::create(b.stream, count));
  auto out = need(gpu::device_buffer<unsigned>::create(b.stream, count));
  const auto code = need(gpu::module::load(need(gpu::compile(gpu::program(R"(
    #include <gpu/random.hpp>
    extern "C" __global__ void set_up(gpu::xorwow* states, unsigned* out) {
      const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
      gpu::xorwow own(42, i);
      out[i] = own.next();
      states[i] = own;
    })")))));
  const auto kernel = need(code.kernel<void*, unsigned*>("set_up"));
  row(
      "set-up of 2^20 sequences of XORWOW", b.raw, sizeof(curandStateXORWOW_t) * double{count},
      [&] { set_up<<<count / 256, 256, 0, b.raw>>>(states.data(), out.data()); },
      [&] { need(gpu::launch(b.stream, {count / 256, 256}, kernel, states, out)); });
}

}  // namespace

int main(int count, char** arguments) {
  const gpu::device device = need(gpu::device::get(0));
  std::printf("%s\n%-44s %25s   %25s\n", need(device.name()).c_str(), "", "cuRAND", "gpu");
  bench b{need(gpu::stream::create(device))};
  b.poisson_means();
  if (count > 1 && std::strcmp(arguments[1], "poisson") == 0) return 0;
  b.pseudo("Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, gpu::philox(42));
  b.pseudo("XORWOW", CURAND_RNG_PSEUDO_XORWOW, gpu::xorwow(42));
  b.pseudo("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A, gpu::mrg32k3a(42));
  b.pseudo("MT19937", CURAND_RNG_PSEUDO_MT19937, need(gpu::mt19937::create(b.stream, 42)));
  b.quasi(1);
  b.quasi(1024);
  b.errors();
  time_set_up(b);
  std::printf(b.all_equal ? "all results are equal\n" : "RESULTS DIFFER\n");
  return b.all_equal ? 0 : 1;
}

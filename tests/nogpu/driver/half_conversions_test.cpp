// Every conversion between integers and 16-bit numbers that cuda_bf16.h and cuda_fp16.h have,
// compiled for this device: integers and numbers as long double has them.

#include <gpu/compiler.hpp>

#include "driver_fixture.hpp"
#include "support/results.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace half_conversions_test { namespace {

constexpr const char* suffixes[] = {"rn", "rz", "rd", "ru"};  // as long double has them: `integral`

long double integral(long double v, int mode) {
  switch (mode) {
    case 1: return std::trunc(v);
    case 2: return std::floor(v);
    case 3: return std::ceil(v);
    default: return std::nearbyint(v);  // ties to even, as the processor starts
  }
}

/// A format with 16 bits: how long its exponent and its fraction are.
struct format {
  const char* name;
  const char* type;
  int exponent, fraction;
};
constexpr format formats[] = {{"bfloat16", "__nv_bfloat16", 8, 7}, {"half", "__half", 5, 10}};

long double value_of(const format& f, std::uint16_t bits) {
  const int e = bits >> f.fraction & ((1 << f.exponent) - 1), m = bits & ((1 << f.fraction) - 1);
  const int bias = (1 << (f.exponent - 1)) - 1;
  long double v = std::ldexp(static_cast<long double>(e == 0 ? m : m + (1 << f.fraction)),
                             (e == 0 ? 1 : e) - bias - f.fraction);
  if (e == (1 << f.exponent) - 1)
    v = m == 0 ? std::numeric_limits<long double>::infinity()
               : std::numeric_limits<long double>::quiet_NaN();
  return (bits & 0x8000) != 0 ? -v : v;
}

/// The integer `v` as a number of the format.
long double rounded_to(const format& f, long double v, int mode) {
  if (v == 0) return 0;
  const long double unit = std::ldexp(1.0L, std::ilogb(v) - f.fraction);
  const long double result = integral(v / unit, mode) * unit;
  const long double beyond = std::ldexp(1.0L, 1 << (f.exponent - 1));
  if (std::fabs(result) < beyond) return result;
  const bool infinite = mode == 0 || mode == (v < 0 ? 2 : 3);
  const long double magnitude = infinite ? std::numeric_limits<long double>::infinity()
                                         : beyond - std::ldexp(beyond, -f.fraction - 1);
  return v < 0 ? -magnitude : magnitude;
}

/// An integer type of the headers.
struct integer {
  const char* name;
  const char* type;
  int bits;
  bool is_signed;
  bool all;  // it has every rounding, and conversions to 16-bit numbers
};
constexpr integer integers[] = {
    {"char", "signed char", 8, true, false}, {"uchar", "unsigned char", 8, false, false},
    {"short", "short", 16, true, true},      {"ushort", "unsigned short", 16, false, true},
    {"int", "int", 32, true, true},          {"uint", "unsigned", 32, false, true},
    {"ll", "long long", 64, true, true},     {"ull", "unsigned long long", 64, false, true},
};

struct conversion {
  integer of;
  int mode;
};
std::vector<conversion> conversions(bool to_integer) {
  std::vector<conversion> list;
  for (const integer& i : integers) {
    if (!i.all && to_integer) list.push_back({i, 1});
    for (int mode = 0; i.all && mode < 4; ++mode) list.push_back({i, mode});
  }
  return list;
}

long double as_number(std::uint64_t bits, const integer& i) {
  const int unused = 64 - i.bits;
  if (!i.is_signed) return static_cast<long double>(bits << unused >> unused);
  return static_cast<long double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

long double expected_integer(long double v, const conversion& c) {
  if (std::isnan(v)) {  // zero, but of 64 bits the top one
    if (c.of.bits < 64) return 0;
    return c.of.is_signed ? -0x1p63L : 0x1p63L;
  }
  const long double low = c.of.is_signed ? -std::ldexp(1.0L, c.of.bits - 1) : 0;
  const long double high = std::ldexp(1.0L, c.of.bits - (c.of.is_signed ? 1 : 0)) - 1;
  return std::fmin(std::fmax(integral(v, c.mode), low), high);
}

std::string source() {
  std::string text = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n";
  for (const format& f : formats) {
    const std::string number = f.name;
    text += "extern \"C\" __global__ void from_" + number + "(const " + f.type +
            "* in, long long* out, int n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;"
            "\n  if (i >= n) return;\n";
    std::size_t at = 0;
    for (const conversion& c : conversions(true))
      text += "  out[" + std::to_string(at++) + " * n + i] = __" + number + "2" + c.of.name + "_" +
              suffixes[c.mode] + "(in[i]);\n";
    text += "}\nextern \"C\" __global__ void to_" + number + "(const long long* in, " + f.type +
            "* out, int n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "  if (i >= n) return;\n";
    at = 0;
    for (const conversion& c : conversions(false))
      text += "  out[" + std::to_string(at++) + " * n + i] = __" + std::string(c.of.name) + "2" +
              number + "_" + suffixes[c.mode] + "(static_cast<" + c.of.type + ">(in[i]));\n";
    text += "}\n";
  }
  return text;
}

/// Runs a kernel on numbers; returns its results.
template <class To, class From>
std::vector<To> run(test::driver_fixture& f, CUmodule module, const std::string& kernel,
                    const std::vector<From>& numbers, std::size_t results) {
  CUfunction function = nullptr;
  REQUIRE(f.cu.module_get_function(&function, module, kernel.c_str()) == CUDA_SUCCESS);
  std::vector<To> found(numbers.size() * results);
  CUdeviceptr in = 0, out = 0;
  REQUIRE(f.cu.mem_alloc(&in, numbers.size() * sizeof(From)) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&out, found.size() * sizeof(To)) == CUDA_SUCCESS);
  REQUIRE(f.cu.memcpy_htod(in, numbers.data(), numbers.size() * sizeof(From)) == CUDA_SUCCESS);
  int n = static_cast<int>(numbers.size());
  void* arguments[] = {&in, &out, &n};
  REQUIRE(f.cu.launch_kernel(function, static_cast<unsigned>(n + 255) / 256, 1, 1, 256, 1, 1, 0,
                             nullptr, arguments, nullptr) == CUDA_SUCCESS);
  REQUIRE(f.cu.memcpy_dtoh(found.data(), out, found.size() * sizeof(To)) == CUDA_SUCCESS);
  return found;
}

/// Integers of every length, and next to ties of both formats.
std::vector<std::uint64_t> some_integers() {
  std::vector<std::uint64_t> list{0, 65504, 65519, 65520, 65521, 65535};
  for (int length = 0; length < 64; ++length) {
    const std::uint64_t top = std::uint64_t{1} << length;
    for (const int digits : {8, 11})
      for (std::uint64_t last = 0; last < 3; ++last) {
        const std::uint64_t unit = length >= digits ? top >> digits : 0;
        for (std::uint64_t near = 0; near < 3; ++near)
          list.push_back(top + unit * (2 * last + 1) + near - 1);
      }
  }
  for (std::size_t i = 0, count = list.size(); i < count; ++i) list.push_back(0 - list[i]);
  return list;
}

TEST_CASE("conversions of the headers for 16-bit numbers are right", "[cpu]") {
  const auto program =
      test::value_of(gpu::compile(source(), {.architecture = gpu::architecture::compute(90)}));
  CHECK(std::string(program.ptx().c_str()).find("cvt.rzi.s8.bf16") != std::string::npos);
  test::driver_fixture f;
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, program.ptx().c_str()) == CUDA_SUCCESS);
  std::vector<std::uint16_t> all(0x10000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const std::vector<std::uint64_t> whole = some_integers();
  for (const format& number : formats) {
    const auto from = conversions(true), to = conversions(false);
    const std::string name = number.name;
    const auto found = run<std::uint64_t>(f, module, "from_" + name, all, from.size());
    for (std::size_t c = 0; c < from.size(); ++c) {
      INFO(name << " to " << from[c].of.name << "_" << suffixes[from[c].mode]);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < all.size(); ++i)
        wrong += as_number(found[c * all.size() + i], from[c].of) !=
                 expected_integer(value_of(number, all[i]), from[c]);
      CHECK(wrong == 0);
    }
    const auto halves = run<std::uint16_t>(f, module, "to_" + name, whole, to.size());
    for (std::size_t c = 0; c < to.size(); ++c) {
      INFO(to[c].of.name << " to " << name << "_" << suffixes[to[c].mode]);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < whole.size(); ++i)
        wrong += value_of(number, halves[c * whole.size() + i]) !=
                 rounded_to(number, as_number(whole[i], to[c].of), to[c].mode);
      CHECK(wrong == 0);
    }
  }
}

/// bf16 from an integer of 8 bits, which no header emits.
TEST_CASE("integers of 8 bits become bf16 and come back", "[cpu]") {
  test::driver_fixture f;
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .b16 %h<2>; .reg .b8 %c<3>;
  mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1;
  ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [out];
  add.s64 %rd2, %rd2, %rd1; add.s64 %rd3, %rd3, %rd1;
  ld.global.b8 %c1, [%rd2]; cvt.rn.bf16.s8 %h1, %c1; cvt.rni.s8.bf16 %c2, %h1;
  st.global.b8 [%rd3], %c2;
  ret;
})") == CUDA_SUCCESS);
  std::vector<std::int8_t> all(256);
  for (int i = 0; i < 256; ++i) all[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i);
  CHECK(run<std::int8_t>(f, module, "k", all, 1) == all);  // 8 digits hold each of them
}

}}  // namespace half_conversions_test

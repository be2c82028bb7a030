// Options: the effect of each, and the errors that are found before NVRTC is called.

#include <gpu/compiler.hpp>

#include "support/results.hpp"

#include <gpu/compiler/options/known_options.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <stdlib.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace options_test { namespace {

constexpr const char* arithmetic = R"(
extern "C" __global__ void f(float* x) {
  x[0] = x[1] * x[2] + x[3];
  x[4] = x[5] / x[6];
  x[7] = sqrtf(x[8]);
})";

gpu::compile_options for_90() { return {.architecture = gpu::architecture::compute(90)}; }

std::string ptx_with(const gpu::compile_options& options, const char* source = arithmetic) {
  const auto made = gpu::compile(source, options);
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  REQUIRE(made.has_value());
  return std::string(made->ptx());
}

bool has(const std::string& whole, const char* part) {
  return whole.find(part) != std::string::npos;
}

/// The sentence with which options are refused.
std::string refusal_of(const gpu::compile_options& options) {
  const auto made = gpu::compile("", options);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::invalid_argument);
  CHECK(std::string(made.error().call()) == "gpu::compile");
  CHECK(made.error().where().line() != 0);
  return std::string(made.error().details());
}

std::string refusal_of_extra(std::vector<gpu::option_text> extra) {
  gpu::compile_options options = for_90();
  options.extra = std::move(extra);
  return refusal_of(options);
}

/// Holds a value of GPU_COMPILE_OPTIONS for a scope.
class environment_options {
 public:
  explicit environment_options(const char* value) { ::setenv("GPU_COMPILE_OPTIONS", value, 1); }
  ~environment_options() { ::unsetenv("GPU_COMPILE_OPTIONS"); }
};

TEST_CASE("the arithmetic is as the options say", "[compiler][options]") {
  const std::string plain = ptx_with(for_90());
  CHECK(has(plain, "fma.rn.f32"));
  CHECK(has(plain, "div.rn.f32"));
  CHECK(has(plain, "sqrt.rn.f32"));
  gpu::compile_options options = for_90();
  options.fused_multiply_add = false;
  CHECK_FALSE(has(ptx_with(options), "fma.rn.f32"));
  options = for_90();
  options.flush_denormals = true;
  CHECK(has(ptx_with(options), "fma.rn.ftz.f32"));
  options = for_90();
  options.precise_division = false;
  CHECK(has(ptx_with(options), "div.full.f32"));
  CHECK(has(ptx_with(options), "sqrt.rn.f32"));
  options = for_90();
  options.precise_square_root = false;
  CHECK(has(ptx_with(options), "sqrt.approx.f32"));
  options = for_90();
  options.fast_math = true;
  CHECK(has(ptx_with(options), "sqrt.approx.ftz.f32"));
  CHECK(has(ptx_with(options), "fma.rn.ftz.f32"));
  options.fused_multiply_add = false;
  CHECK(has(ptx_with(options), "sqrt.approx.ftz.f32"));
  CHECK_FALSE(has(ptx_with(options), "fma.rn"));
}

TEST_CASE("a register limit is kept", "[compiler][options]") {
  gpu::compile_options options{.architecture = gpu::architecture::sm(90)};
  const char* many = R"(
extern "C" __global__ void f(double* x, int n) {
  double a[40];
  for (int i = 0; i < 40; ++i) a[i] = x[i * n];
  for (int k = 0; k < n; ++k) for (int i = 0; i < 40; ++i) a[i] = a[i] * a[(i * 7 + 1) % 40] + x[k];
  for (int i = 0; i < 40; ++i) x[i] = a[i];
})";
  const auto free = gpu::compile(many, options).value().resources("f").value();
  CHECK(free.registers > 80);
  options.max_registers = 32;
  const auto capped = gpu::compile(many, options).value().resources("f").value();
  CHECK(capped.registers <= 32);
  CHECK(capped.spill_stores > 0);
  options.max_registers = 256;
  CHECK(has(refusal_of(options), "max_registers is 256"));
  options.max_registers = -1;
  CHECK(has(refusal_of(options), "max_registers is -1"));
}

TEST_CASE("debugging, device code by default, and standards reach NVRTC", "[compiler][options]") {
  gpu::compile_options options = for_90();
  options.debug = true;
  const std::string slow = ptx_with(options);
  options.debug_optimized = true;
  const std::string optimized = ptx_with(options);
  CHECK(has(slow, ".debug_"));
  CHECK(optimized.size() < slow.size());
  options.debug = false;
  CHECK(has(refusal_of(options), "compile_options::debug"));

  options = for_90();
  CHECK_FALSE(gpu::compile("int global;", options).has_value());
  options.default_device = true;
  CHECK(gpu::compile("int global;", options).has_value());

  struct {
    gpu::cpp_standard standard;
    const char* value;
  } const standards[] = {
      {gpu::cpp_standard::unspecified, "202002L"}, {gpu::cpp_standard::cpp11, "201103L"},
      {gpu::cpp_standard::cpp14, "201402L"},       {gpu::cpp_standard::cpp17, "201703L"},
      {gpu::cpp_standard::cpp20, "202002L"},       {gpu::cpp_standard::cpp03, "199711L"}};
  for (const auto& [standard, value] : standards) {
    options = for_90();
    options.standard = standard;
    const std::string check = std::string("#if __cplusplus != ") + value + "\n#error\n#endif\n";
    INFO(value);
    CHECK(gpu::compile(check, options).has_value());
  }
}

TEST_CASE("code to be linked is relocatable, or LTO-IR alone", "[compiler][options]") {
  const char* caller =
      "extern __device__ int elsewhere(int); __global__ void f(int* x) { *x = elsewhere(*x); }";
  gpu::compile_options options{.architecture = gpu::architecture::sm(90)};
  CHECK_FALSE(gpu::compile(caller, options).has_value());
  options.relocatable = true;
  const auto made = gpu::compile(caller, options);
  REQUIRE(made.has_value());
  CHECK(made->ptx().contains(".extern .func"));
  CHECK_FALSE(made->cubin().empty());
  CHECK(made->lto_ir().empty());
  options.relocatable = false;
  options.link_time_optimization = true;
  const auto lto = gpu::compile(caller, options);
  REQUIRE(lto.has_value());
  CHECK(lto->lto_ir().size() > 100);
  CHECK(lto->ptx().empty());
  CHECK(lto->cubin().empty());
}

TEST_CASE("the options in use are listed in one order", "[compiler][options]") {
  gpu::compile_options options = for_90();
  options.extra = {"-w", "-DB=2", "-lineinfo", "-I", "/nowhere", "--diag-suppress=177"};
  options.defines = {{"A", 1}};
  options.toolkit_headers = false;
  const auto made = gpu::compile("", options);
  REQUIRE(made.has_value());
  std::vector<std::string> list;
  for (const gpu::text& option : made->options()) list.emplace_back(option);
  CHECK(list == std::vector<std::string>{"--gpu-architecture=compute_90", "--std=c++20",
                                         "--generate-line-info", "--define-macro=A=1",
                                         "--define-macro=B=2", "--disable-warnings",
                                         "--diag-suppress=177", "--include-path=/nowhere"});
  options.extra = {"-I/nowhere", "--disable-warnings", "--generate-line-info", "-D",
                   "B=2",        "-diag-suppress=177"};
  const auto again = gpu::compile("", options);
  REQUIRE(again.has_value());
  CHECK(again->options().size() == list.size());
  for (std::size_t i = 0; i < list.size(); ++i) CHECK(again->options()[i] == list[i].c_str());
}

TEST_CASE("macros and options with values are parsed as NVRTC parses them", "[compiler][options]") {
  gpu::compile_options options = for_90();
  options.extra = {"-D A=1", "-D=B=2", "-DC"};
  CHECK(gpu::compile("static_assert(A == 1 && B == 2 && C == 1, \"\");", options).has_value());
  // NVRTC would take the option behind a bare --dopt for its value.
  options.debug = true;
  for (const std::vector<gpu::option_text>& spelled :
       {std::vector<gpu::option_text>{"--dopt=on"}, {"-dopt=on"}, {"--dopt", "on"}}) {
    options.extra = spelled;
    const auto made = gpu::compile("", options);
    REQUIRE(made.has_value());
    bool handed_on = false;
    for (const gpu::text& option : made->options()) handed_on = handed_on || option == "--dopt=on";
    CHECK(handed_on);
  }
  CHECK(has(refusal_of_extra({"-G", "--dopt"}), "--dopt (compile_options::extra) needs a value"));
}

TEST_CASE("an unknown option is rejected with the nearest known one", "[compiler][options]") {
  std::string sentence = refusal_of_extra({"--use_fastmath"});
  CHECK(has(sentence, "\"--use_fastmath\""));
  CHECK(has(sentence, "compile_options::extra"));
  CHECK(has(sentence, "--use_fast_math"));
  CHECK(has(refusal_of_extra({"-lineinf"}), "-lineinfo"));
  CHECK(has(refusal_of_extra({"--fmadd=false"}), "--fmad"));
  CHECK(has(refusal_of_extra({""}), "\"\""));
  CHECK(has(refusal_of_extra({"--optix-ir"}), "OptiX"));
}

TEST_CASE("an option of nvcc is answered with what to do instead", "[compiler][options]") {
  const struct {
    const char* option;
    const char* instead;
  } options[] = {
      {"-O3", "NVRTC optimizes unless compile_options::debug is set"},
      {"-O0", "compile_options::debug"},
      {"-g", "compile_options::line_info"},
      {"-lcudadevrt", "pass libraries to gpu::link"},
      {"-m64", "64-bit addresses of the host"},
      {"-gencode=arch=compute_80,code=sm_80", "compile_options::architecture"},
      {"-gencode arch=compute_80,code=sm_80", "compile_options::architecture"},
      {"-Xcompiler=-fPIC", "no host compiler"},
      {"-Xptxas -v", "\"-Xptxas=-v\""},
      {"--expt-relaxed-constexpr", "compile_options::default_device"},
      {"--extended-lambda", "need no option"},
      {"-ptx", "compiled_program::ptx"},
      {"-v", "compiled_program::resources"},
  };
  for (const auto& each : options) {
    CAPTURE(each.option);
    const std::string sentence = refusal_of_extra({each.option});
    CHECK(has(sentence, ("\"" + std::string(each.option) +
                         "\" (compile_options::extra) is an option of nvcc, which NVRTC does not "
                         "have. ")
                            .c_str()));
    CHECK(has(sentence, each.instead));
    CHECK_FALSE(has(sentence, "The nearest is"));
  }
}

TEST_CASE("an invalid value of an option is rejected", "[compiler][options]") {
  CHECK(has(refusal_of_extra({"--fmad=maybe"}), "true or false"));
  CHECK(has(refusal_of_extra({"--fmad"}), "true or false"));
  CHECK(has(refusal_of_extra({"-lineinfo=yes"}), "takes no value"));
  CHECK(has(refusal_of_extra({"--split-compile"}), "needs a value"));
  CHECK(has(refusal_of_extra({"-D"}), "needs a value"));
  CHECK(has(refusal_of_extra({"--gpu-architecture=sm_80"}), "compile_options::architecture"));
  gpu::compile_options options;
  options.extra = {"-arch=native"};
  CHECK(has(refusal_of(options), "sm_90 or compute_90"));
}

TEST_CASE("an invalid standard is rejected before NVRTC is called", "[compiler][options]") {
  using gpu::cpp_standard;
  gpu::compile_options options = for_90();
  options.standard = static_cast<cpp_standard>(99);
  const gpu::cuda_error error = test::error_of(gpu::compile(arithmetic, options));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(error.asked() == 99);
  CHECK(test::says(error, "gpu::compile", "99 is not a valid gpu::cpp_standard;",
                   "pass one of its enumerators.", "options_test.cpp"));
  for (const cpp_standard known :
       {cpp_standard::unspecified, cpp_standard::cpp03, cpp_standard::cpp11, cpp_standard::cpp14,
        cpp_standard::cpp17, cpp_standard::cpp20}) {
    const int year = static_cast<int>(known);
    const std::string digits = (year < 10 ? "0" : "") + std::to_string(year);
    CHECK(gpu::name_of(known) == (year == 0 ? "unspecified" : "cpp" + digits));
  }
}

TEST_CASE("repeated and contradictory options are rejected", "[compiler][options]") {
  gpu::compile_options options = for_90();
  options.fast_math = true;
  options.extra = {"-use_fast_math"};
  std::string sentence = refusal_of(options);
  CHECK(has(sentence, "compile_options::fast_math"));
  CHECK(has(sentence, "compile_options::extra"));
  options.extra = {"--ftz=false"};
  sentence = refusal_of(options);
  CHECK(has(sentence, "contradict"));
  CHECK(has(sentence, "--ftz=false (compile_options::extra)"));
  CHECK(has(refusal_of_extra({"--fmad=true", "-fmad=false"}), "--fmad=true"));
  CHECK(has(refusal_of_extra({"--pch", "--use-pch=a"}), "contradict"));
  options = for_90();
  options.standard = gpu::cpp_standard::cpp17;
  options.extra = {"-std=c++14"};
  CHECK(has(refusal_of(options), "--std=c++17"));
  options = for_90();
  options.link_time_optimization = true;
  options.extra = {"-rdc=false"};
  CHECK(has(refusal_of(options), "contradict"));
}

TEST_CASE("macros that C++ or NVRTC would not accept are rejected", "[compiler][options]") {
  gpu::compile_options options = for_90();
  options.defines = {{"3X", 1}};
  CHECK(has(refusal_of(options), "\"3X\""));
  options.defines = {{"A B", 1}};
  CHECK(has(refusal_of(options), "\"A B\""));
  options.defines = {{"", 1}};
  CHECK(has(refusal_of(options), "\"\" (compile_options::defines) is not a valid macro name"));
  // The neighbors of letters and digits in ASCII.
  for (const char* name : {"A@", "A[", "A`", "A{", "A/", "A:"}) {
    options.defines = {{name, 1}};
    CHECK(has(refusal_of(options), "is not a valid macro name"));
  }
  options.defines = {{"azAZ_09", 7}};
  CHECK(gpu::compile("static_assert(azAZ_09 == 7, \"\");", options).has_value());
  options.defines = {{"A", 1}, {"A", 2}};
  CHECK(has(refusal_of(options), "--define-macro=A=1"));
  options.defines = {{"A", 1}, {"A", 1}};
  CHECK(gpu::compile("static_assert(A == 1, \"\");", options).has_value());
  options.defines = {{"A", "1\n2"}};
  CHECK(has(refusal_of(options), "a newline at position 3 of 5"));
  options.defines = {{"A", std::string("1\0"
                                       "2",
                                       3)}};
  CHECK(has(refusal_of(options), "a zero byte at position 3 of 5"));
}

TEST_CASE("an option that only a newer NVRTC may know is left to it", "[compiler][options]") {
  static gpu::nvrtc::entry_points newer = gpu::nvrtc::current_entry_points();
  newer.version = [](int* major, int* minor) {
    *major = 99;
    *minor = 0;
    return 0;
  };
  const gpu::nvrtc::scoped_entry_points in_force(newer);
  gpu::compile_options options = for_90();
  options.extra = {"--an-option-of-the-future"};
  const auto made = gpu::compile("", options);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::not_supported);
  CHECK(made.error().details().contains("--an-option-of-the-future"));
}

TEST_CASE("GPU_COMPILE_OPTIONS provides defaults", "[compiler][options]") {
  gpu::compile_options plain{.architecture = gpu::architecture::compute(80)};
  {
    const environment_options set("-fmad=false  --std=c++17 -DA=1 '-DB=\"x y\"' -arch=sm_75");
    const auto made = gpu::compile(
        "static_assert(__cplusplus == 201703L && A == 1, \"\");\n"
        "static_assert(sizeof(B) == 4, \"\");",
        plain);
    INFO((made.has_value() ? "" : made.error().message().c_str()));
    REQUIRE(made.has_value());
    CHECK(made->architecture() == gpu::architecture::compute(80));
    CHECK_FALSE(has(ptx_with(plain), "fma.rn"));
    gpu::compile_options more = plain;
    more.standard = gpu::cpp_standard::cpp20;
    more.defines = {{"A", 2}};
    more.extra = {"--fmad=true"};
    CHECK(gpu::compile("static_assert(__cplusplus == 202002L && A == 2);", more).has_value());
    CHECK(has(ptx_with(more), "fma.rn"));
    // What the program says of other options settles none of these.
    more = plain;
    more.flush_denormals = true;
    more.extra = {"-lineinfo", "-DC=3"};
    const std::string other =
        ptx_with(more, (std::string("static_assert(A + C == 4);") + arithmetic).c_str());
    CHECK(has(other, ".ftz.f32"));
    CHECK_FALSE(has(other, "fma.rn"));
    const auto elsewhere = gpu::compile("");
    REQUIRE(elsewhere.has_value());
    CHECK(elsewhere->architecture() == gpu::architecture::sm(75));
  }
  {
    const environment_options set("--bogus");
    CHECK(has(refusal_of(plain), "GPU_COMPILE_OPTIONS"));
  }
  {
    const environment_options set("--fmad=true --fmad=false");
    CHECK(has(refusal_of(plain), "GPU_COMPILE_OPTIONS"));
  }
  CHECK(has(ptx_with(plain), "fma.rn"));
}

TEST_CASE("the query of the device's architecture may fail", "[compiler][options]") {
  const auto sweep_of = [](auto operation) {
    gpu::testing::fault_injection faults(gpu::driver::current_entry_points());
    const gpu::driver::scoped_entry_points in_force(faults.entry_points());
    // The cache asks first, for its key; if it gets no answer, the compilation asks again.
    gpu::testing::fault_sweep_options options;
    options.may_survive = {"cuCtxGetCurrent"};
    return gpu::testing::sweep_faults(faults, operation, options);
  };
  const gpu::device device = gpu::device::get(0).value();
  CHECK(sweep_of([&] { return gpu::compile("", {.architecture = device}); }).text() == "");
  CHECK(sweep_of([] { return gpu::compile(""); }).text() == "");
  CHECK(sweep_of([] { return gpu::compile_async("").get(); }).text() == "");
  CHECK(sweep_of([] {
          auto all = gpu::compile_all(std::vector<const char*>{""});
          return std::move(all[0]);
        }).text() == "");
}

TEST_CASE("with an architecture the driver is not called", "[compiler][options]") {
  gpu::testing::fault_injection faults(gpu::driver::current_entry_points());
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  CHECK(gpu::compile("", for_90()).has_value());
  CHECK(faults.calls() == 0);
}

TEST_CASE("NVRTC accepts every option in the list", "[compiler][options][nvrtc-13]") {
  if (gpu::nvrtc_version().value() < gpu::version{13, 0}) return;
  for (const gpu::detail::known_option& option : gpu::detail::known_options) {
    const std::string name = option.name;
    for (const char* spelled : {option.name, option.alias}) {
      if (spelled == nullptr) continue;
      std::string written = spelled;
      if (option.value == gpu::detail::option_value::boolean) written += "=true";
      if (option.value == gpu::detail::option_value::text) {
        const bool number = name == "--maxrregcount" || name == "--jump-table-density" ||
                            name == "--split-compile" || name.rfind("--diag", 0) == 0;
        written += name == "--gpu-architecture" ? "=compute_100"
                   : name == "--std"            ? "=c++17"
                   : name == "--Ofast-compile"  ? "=min"
                   : name == "--dopt"           ? "=on"
                   : name == "--ptxas-options"  ? "=-v"
                   : name == "-Xcudafe"         ? "=--diag_suppress=177"
                   : number                     ? "=32"
                   : name == "--include-path"   ? "=/tmp"
                   : name.find("pch") != std::string::npos || name.find("time") != std::string::npos
                       ? "=/tmp/gpu_options_test"
                       : "=inline";
      }
      const auto& nvrtc = gpu::nvrtc::current_entry_points();
      gpu::nvrtc::nvrtc_program program = nullptr;
      REQUIRE(nvrtc.create_program(&program, "", "x.cu", 0, nullptr, nullptr) == 0);
      const char* const options[] = {"-arch=compute_100", written.c_str()};
      const int first = name == "--gpu-architecture" ? 1 : 0;
      const int code = nvrtc.compile_program(program, 2 - first, options + first);
      INFO(written);
      CHECK(code != 5);  // NVRTC_ERROR_INVALID_OPTION
      nvrtc.destroy_program(&program);
    }
  }
  std::remove("/tmp/gpu_options_test");
}

}}  // namespace options_test

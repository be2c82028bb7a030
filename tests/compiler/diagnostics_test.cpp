// Logs taken apart: messages of the real NVRTC, and kept logs in every form that there is.

#include <gpu/compiler.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/version.hpp>

#include "support/catch.hpp"
#include "support/results.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace diagnostics_test { namespace {

const gpu::compile_options for_90{.architecture = gpu::architecture::sm(90)};

/// Logs of NVRTC 12.0 show neither source lines nor columns.
bool shows_places() { return gpu::nvrtc_version().value() > gpu::version{12, 0}; }

auto errors_of(const char* source, const char* name = "my.cu") {
  const auto made = gpu::compile(gpu::program(source, name), for_90);
  REQUIRE_FALSE(made.has_value());
  INFO(made.error().details().c_str());
  return gpu::diagnostics(made.error());
}

TEST_CASE("an error has its file, line and source line", "[compiler][diagnostics]") {
  const char* line = "\t__device__ int /* caf\xc3\xa9 */ x = unknown;";
  const std::string source = std::string("\n") + line + "\n";
  const auto found = errors_of(source.c_str());
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == gpu::severity::error);
  CHECK(found[0].file == "my.cu");
  CHECK(found[0].line == 2);
  if (shows_places()) {
    CHECK(found[0].column == static_cast<std::size_t>(std::strstr(line, "unknown") - line) + 1);
    CHECK(found[0].source_line == line);
  }
  CHECK(found[0].message == "identifier \"unknown\" is undefined");
  CHECK(found[0].notes.empty());
}

TEST_CASE("the caret is under its character", "[compiler][diagnostics]") {
  if (!shows_places()) return;
  const auto made = gpu::compile("__device__ int /* caf\xc3\xa9 */ x = unknown;", for_90);
  REQUIRE_FALSE(made.has_value());
  CHECK(
      made.error().details().contains("  1 | __device__ int /* caf\xc3\xa9 */ x = unknown;\n"
                                      "    |                               ^\n"));
}

TEST_CASE("instantiations and candidates are notes", "[compiler][diagnostics]") {
  const auto found = errors_of(
      "template<class T> __device__ void g(T t) { t.foo(); }\n"
      "template<class T> __device__ void h(T t) { g(t); }\n"
      "__device__ void one(float, float, float);\n__device__ void one(int, int);\n"
      "__global__ void f() { h(3); one(1); }\n");
  REQUIRE(found.size() >= 2);
  const gpu::diagnostic* member = nullptr;
  const gpu::diagnostic* overload = nullptr;
  for (const gpu::diagnostic& one : found) {
    if (one.line == 1) member = &one;
    if (one.line == 5) overload = &one;
  }
  REQUIRE(member != nullptr);
  CHECK(member->notes.contains("[with T=int]"));
  if (shows_places()) CHECK(member->notes.contains("at line 5"));
  if (shows_places()) CHECK(member->source_line.contains("t.foo()"));
  REQUIRE(overload != nullptr);
  CHECK(overload->notes == "argument types are: (int)");
  if (shows_places()) CHECK(overload->column == 29);
}

TEST_CASE("warnings have their numbers, which suppress them", "[compiler][diagnostics]") {
  const char* source = "__global__ void f() {\n  int unused_here = 3;\n}\n";
  const auto made = gpu::compile(source, for_90);
  REQUIRE(made.has_value());
  const auto found = made->diagnostics();
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == gpu::severity::warning);
  CHECK(found[0].line == 2);
  if (shows_places()) CHECK(found[0].column == 7);
  REQUIRE(found[0].number > 0);
  gpu::compile_options quiet = for_90;
  quiet.extra = {"--diag-suppress=" + std::to_string(found[0].number)};
  const auto silent = gpu::compile(source, quiet);
  REQUIRE(silent.has_value());
  CHECK(silent->log().empty());
  CHECK(silent->diagnostics().empty());
}

TEST_CASE("messages of the assembler are diagnostics too", "[compiler][diagnostics]") {
  const auto found = errors_of("__global__ void f() { asm(\"foo.bar;\"); }");
  REQUIRE(found.size() >= 2);
  CHECK(found[0].severity == gpu::severity::error);
  CHECK(found.back().severity == gpu::severity::fatal);
  // This one it does not say when it is asked for figures too.
  if (gpu::nvrtc_version().value() >= gpu::version{13, 0}) {
    const auto shared = errors_of(
        "__global__ void f(char* x, int i) { __shared__ char b[100000]; b[i] = *x; "
        "__syncthreads(); *x = b[i + 1]; }");
    REQUIRE_FALSE(shared.empty());
    CHECK(shared[0].message.contains("shared data"));
  }
  gpu::compile_options bad = for_90;
  bad.extra = {"--ptxas-options=--no-such-option"};
  const auto made = gpu::compile("__global__ void f() {}", bad);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().details().contains("no-such-option"));
}

TEST_CASE("text before the log is not a message", "[compiler][diagnostics]") {
  // The options are on a line that begins with them.
  gpu::compile_options options = for_90;
  options.defines = {{"TEXT", "x.cu(1): error: none"}};
  const auto made = gpu::compile(gpu::program("__device__ int x = unknown;", "my.cu"), options);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().details().contains("x.cu(1): error: none"));
  const auto found = gpu::diagnostics(made.error());
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "my.cu");
}

TEST_CASE("other errors have no compiler messages", "[compiler][diagnostics]") {
  CHECK(gpu::diagnostics(gpu::compile("", {.architecture = gpu::architecture::sm(1)}).error())
            .empty());
}

TEST_CASE("every form of message is read", "[compiler][diagnostics]") {
  const char* log = R"(a(1): b.cu(12): error #20: identifier "x" is undefined
  int y = x;
          ^

At end of source: error: expected a "}"
a.cu(1): note #3196-D: to match this "{"
  void f(){
          ^

/dir with space/h.h(7): catastrophic error: could not open source file "q.h" (no directories in search list)
  #include <q.h>
                ^

h.h(9): remark #1-D: said
a.cu(4): internal error: assertion failed
nvrtc: error: unrecognized option --x found
Command-line error: cannot open source file "vv.h"
ptxas warning : Registers are spilled
ptxas application ptx input, line 21; error   : Unknown modifier '.bar'
ptxas fatal   : Ptx assembly aborted due to errors
3 errors detected in the compilation of "a.cu".
Compilation terminated.
)";
  const auto found = gpu::detail::read_diagnostics(log);
  struct expected {
    gpu::severity severity;
    const char* file;
    std::size_t line;
    std::size_t column;
    int number;
    const char* message;
  };
  const expected wanted[] = {
      {gpu::severity::error, "a(1): b.cu", 12, 9, 20, "identifier \"x\" is undefined"},
      {gpu::severity::error, "", 0, 0, 0, "expected a \"}\""},
      {gpu::severity::note, "a.cu", 1, 9, 3196, "to match this \"{\""},
      {gpu::severity::fatal, "/dir with space/h.h", 7, 15, 0,
       "could not open source file \"q.h\" (no directories in search list)"},
      {gpu::severity::remark, "h.h", 9, 0, 1, "said"},
      {gpu::severity::fatal, "a.cu", 4, 0, 0, "assertion failed"},
      {gpu::severity::error, "", 0, 0, 0, "unrecognized option --x found"},
      {gpu::severity::fatal, "", 0, 0, 0, "cannot open source file \"vv.h\""},
      {gpu::severity::warning, "", 0, 0, 0, "Registers are spilled"},
      {gpu::severity::error, "", 0, 0, 0, "Unknown modifier '.bar'"},
      {gpu::severity::fatal, "", 0, 0, 0, "Ptx assembly aborted due to errors"},
  };
  REQUIRE(found.size() == std::size(wanted));
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO(i);
    CHECK(found[i].severity == wanted[i].severity);
    CHECK(found[i].file == wanted[i].file);
    CHECK(found[i].line == wanted[i].line);
    CHECK(found[i].column == wanted[i].column);
    CHECK(found[i].number == wanted[i].number);
    CHECK(found[i].message == wanted[i].message);
  }
}

TEST_CASE("malformed logs can be read", "[compiler][diagnostics]") {
  const std::string whole =
      "a.cu(3): error #20-D: text\n          note\n  int x;\n  ^\n          detected during:\n"
      "ptxas info    : Compiling entry function 'f' for 'sm_90'\n"
      "ptxas info    : Used 8 registers, 400 bytes smem, 16 bytes cmem[0]\n";
  for (std::size_t begin = 0; begin < whole.size(); ++begin) {
    for (std::size_t size = 0; begin + size <= whole.size(); size += 3) {
      const std::string piece = whole.substr(begin, size);  // on the heap, for a sanitizer
      for (const gpu::diagnostic& one : gpu::detail::read_diagnostics(piece)) {
        CHECK(one.message.size() <= size);
      }
      (void)gpu::detail::read_resources(piece);
    }
  }
  const auto numbers = gpu::detail::read_diagnostics(
      "a.cu(99999999999999999999): error #999999999999: x\n:: error: y\n(3): error: z\n");
  CHECK(numbers.size() == 1);
}

TEST_CASE("the resources of kernels are numbers", "[compiler][resources]") {
  const auto made = gpu::compile(gpu::program(R"(
extern "C" __global__ void plain(int* x) { *x = 1; }
template <class T> __global__ void tile(T* x, int n) {
  __shared__ T s[100];
  s[threadIdx.x] = x[n];
  __syncthreads();
  *x = s[n];
}
extern "C" __global__ void __launch_bounds__(1024, 2) spill(double* x, int n) {
  double a[64];
  for (int i = 0; i < 64; ++i) a[i] = x[i * n];
  for (int k = 0; k < n; ++k) for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i * 7 + 1) % 64] + x[k];
  for (int i = 0; i < 64; ++i) x[i] = a[i];
}
extern "C" __global__ void local(int* x, int n) {
  int a[30];
  for (int i = 0; i < n; ++i) a[i % 30] += x[i];
  *x = a[n % 30];
})")
                                     .instance("tile<float>")
                                     .instance("tile<double>"),
                                 for_90);
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  REQUIRE(made.has_value());
  CHECK(made->log().empty());
  CHECK(made->resources().size() == 5);
  CHECK(made->resources("tile<float>").value().shared == 100 * sizeof(float));
  CHECK(made->resources("tile<double>").value().shared == 100 * sizeof(double));
  CHECK(made->resources(made->lowered_name("tile<float>")).value().barriers <= 1);
  const gpu::kernel_resources plain = made->resources("plain").value();
  CHECK(plain.registers > 0);
  CHECK(plain.registers < 33);
  CHECK(plain.shared == 0);
  CHECK(plain.spill_stores == 0);
  CHECK(plain.local == 0);
  const gpu::kernel_resources spill = made->resources("spill").value();
  CHECK(spill.registers <= 32);  // 65536 registers for 2048 threads
  CHECK(spill.spill_stores > 0);
  CHECK(spill.spill_loads > 0);
  CHECK(spill.local >= 32 * sizeof(double));
  CHECK(made->resources("local").value().local == 30 * sizeof(int));

  // NVRTC stores its output in the driver's cache, without the figures.
  const gpu::program same("extern \"C\" __global__ void again() {}");
  for (int i = 0; i < 2; ++i) CHECK(gpu::compile(same, for_90).value().resources().size() == 1);

  const auto unknown = made->resources("none");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error() == gpu::errc::unknown_name);
  const std::string names(unknown.error().details());
  CHECK(names.find("plain") != std::string::npos);
  CHECK(names.find("Available kernels: ") == names.rfind("Available kernels: "));
  const auto virtual_one = gpu::compile("extern \"C\" __global__ void f() {}",
                                        {.architecture = gpu::architecture::compute(90)});
  CHECK(virtual_one.value().resources().empty());
  CHECK(virtual_one.value().resources("f").error() == gpu::errc::unknown_name);
}

TEST_CASE("a name that several kernels with resources have is refused with these",
          "[compiler][resources]") {
  const auto made = gpu::compile(gpu::program(R"(
__global__ void sub(int* x) { *x = 1; }
__global__ void sub(float* x) { *x = 1; }
namespace n { __global__ void other(int* x) { __shared__ int s[50]; s[*x] = *x; __syncthreads(); *x = s[0]; } }
namespace m { __global__ void other(int* x) { *x = 3; } __global__ void last(int* x) { *x = 4; } })"),
                                 for_90);
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  REQUIRE(made.has_value());
  CHECK(made->resources("n::other").value().shared == 50 * sizeof(int));
  CHECK(made->resources("last").value().kernel == "_ZN1m4lastEPi");
  CHECK(made->resources("sub(int*)").value().kernel == "_Z3subPi");
  const auto either = made->resources("sub");
  REQUIRE_FALSE(either.has_value());
  CHECK(either.error() == gpu::errc::unknown_name);
  CHECK(test::says(either.error(), "the program has 2 kernels that \"sub\" may mean",
                   "\"sub(int*)\"", "\"sub(float*)\""));
  CHECK(std::string(either.error().details()).find("other") == std::string::npos);
  CHECK(test::says(made->resources("other").error(), "\"n::other(int*)\"", "\"m::other(int*)\""));
}

TEST_CASE("the figures of older assemblers are read", "[compiler][resources]") {
  const auto found = gpu::detail::read_resources(
      "ptxas info    : 0 bytes gmem, 80 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for k\n"
      "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 1024 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]\n"
      "ptxas info    : Function properties for helper\n"
      "    99 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].kernel == "k");
  CHECK(found[0].registers == 255);
  CHECK(found[0].shared == 1024);
  CHECK(found[0].constant == 368);
  CHECK(found[0].local == 16);
  CHECK(found[0].spill_stores == 12);
  CHECK(found[0].spill_loads == 8);
}

}}  // namespace diagnostics_test

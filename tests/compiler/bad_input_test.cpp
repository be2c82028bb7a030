// Programs that cannot be right: each is an error with a sentence, and none is a crash.

#include <gpu/compiler.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>

namespace bad_input_test { namespace {

const gpu::compile_options for_90{.architecture = gpu::architecture::compute(90)};

std::string failure_of(const gpu::program& program) {
  const auto made = gpu::compile(program, for_90);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::compile_failed);
  return std::string(made.error().details());
}

bool has(const std::string& whole, const char* part) {
  return whole.find(part) != std::string::npos;
}

TEST_CASE("a zero byte is rejected in the source and in headers", "[compiler][bad-input]") {
  const std::string zero("int a;\0int b;", 13);
  const auto made = gpu::compile(gpu::program(zero, "zero.cu"), for_90);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::invalid_argument);
  CHECK(made.error().asked() == 6);
  CHECK(made.error().limit() == 13);
  CHECK(made.error().details().contains("\"zero.cu\""));
  const auto header = gpu::compile(gpu::program("#include <z.h>").header("z.h", zero), for_90);
  REQUIRE_FALSE(header.has_value());
  CHECK(header.error() == gpu::errc::invalid_argument);
  CHECK(header.error().details().contains("\"z.h\""));
}

TEST_CASE("a byte at which NVRTC would stop reading is rejected", "[compiler][bad-input]") {
  const std::string source =
      "// a comment in another encoding: \xff\nextern \"C\" __global__ void lost() {}\n";
  // What NVRTC does with it: no error, and no kernel.
  const auto& nvrtc = gpu::nvrtc::current_entry_points();
  gpu::nvrtc::nvrtc_program raw = nullptr;
  REQUIRE(nvrtc.create_program(&raw, source.c_str(), "x.cu", 0, nullptr, nullptr) == 0);
  CHECK(nvrtc.compile_program(raw, 0, nullptr) == 0);
  std::size_t size = 0;
  REQUIRE(nvrtc.get_ptx_size(raw, &size) == 0);
  std::string ptx(size, ' ');
  REQUIRE(nvrtc.get_ptx(raw, ptx.data()) == 0);
  nvrtc.destroy_program(&raw);
  CHECK_FALSE(has(ptx, "lost"));

  const auto made = gpu::compile(source, for_90);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::invalid_argument);
  CHECK(made.error().asked() == 34);
  CHECK(made.error().details().contains("0xff"));
}

TEST_CASE("bytes that are not UTF-8 are accepted if the language allows them",
          "[compiler][bad-input]") {
  const auto comment =
      gpu::compile("// \xfe \xc3( \xed\xa0\x80\nextern \"C\" __global__ void kept() {}\n", for_90);
  REQUIRE(comment.has_value());
  CHECK(comment->ptx().contains("kept"));
  const auto literal = gpu::compile(
      "__device__ const char s[] = \"\xc3(\xfe\";\n"
      "static_assert(sizeof(s) == 4, \"\");",
      for_90);
  CHECK(literal.has_value());
  const std::string why = failure_of("__device__ int \xc3(\xfe = 1;\n");
  CHECK(has(why, "program.cu:1: "));
}

TEST_CASE("two kernels of one name are an error", "[compiler][bad-input]") {
  const std::string twice = failure_of("__global__ void f(int) {}\n\n__global__ void f(int) {}\n");
  CHECK(has(twice, "program.cu:3: "));
  CHECK(has(twice, "already been defined"));
  CHECK(has(failure_of("extern \"C\" __global__ void f(int) {}\n"
                       "extern \"C\" __global__ void f(float) {}\n"),
            "program.cu:2: "));
}

TEST_CASE("a template that does not compile for a type names the type", "[compiler][bad-input]") {
  const char* source =
      "struct plain {};\n"
      "template <class T> __global__ void twice(T* x) { *x = *x + *x; }\n";
  CHECK(gpu::compile(gpu::program(source).instance("twice<float>"), for_90).has_value());
  const std::string why = failure_of(gpu::program(source).instance("twice<plain>"));
  INFO(why);
  CHECK(has(why, "program.cu:2: "));
  CHECK(has(why, "[with T=plain]"));
  const auto none = gpu::compile(gpu::program(source).instance("twice<missing>"), for_90);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().details().contains("missing"));
}

TEST_CASE("an instance without a name or without arguments is rejected", "[compiler][bad-input]") {
  const gpu::program program("template <class T> __global__ void f(T) {}", "kernels.cu");
  for (const char* name : {"", "  "}) {
    const auto made = gpu::compile(gpu::program(program).instance("f<int>").instance(name), for_90);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error() == gpu::errc::invalid_argument);
    CHECK(made.error().asked() == 1);
    CHECK(made.error().details().contains("instance 1 of \"kernels.cu\" is an empty name"));
  }
  const std::string none = failure_of(gpu::program(program).instance("f<>"));
  CHECK(has(none, "cannot determine which instance of function template \"f\" is intended"));
  CHECK(has(none, "f<>"));
}

TEST_CASE("an empty program is a program", "[compiler][bad-input]") {
  const auto made = gpu::compile("", for_90);
  REQUIRE(made.has_value());
  CHECK(made->ptx().contains(".target sm_90"));
  CHECK(gpu::compile(std::string(), for_90).has_value());
}

TEST_CASE("a source of 100 MB is compiled", "[compiler][bad-input]") {
  std::string source = "extern \"C\" __global__ void f(int* x) { *x = 1; }\n";
  const std::string line = "// " + std::string(1020, 'x') + "\n";
  source.reserve(100'000'000 + line.size());
  while (source.size() < 100'000'000) source += line;
  source += "__device__ int last = unknown_at_the_end;\n";
  const std::string why = failure_of(source);
  CHECK(has(why, "unknown_at_the_end"));
  CHECK(why.size() < 10000);
}

TEST_CASE("of a long line the relevant part is shown", "[compiler][bad-input]") {
  if (gpu::nvrtc_version().value() == gpu::version{12, 0}) return;  // its log has no columns
  const std::string filler(30'000, 'x');
  const auto shown = [&](const std::string& line) {
    const std::string why = failure_of(line);
    CHECK(has(why, "identifier \"nothing\" is undefined"));
    return why.substr(0, why.find("The options were"));
  };
  const std::string at_end = shown("/* " + filler + " */ __device__ int a = nothing;");
  CHECK(has(at_end, "x */ __device__ int a = nothing;\n"));
  const std::size_t line = at_end.find("  1 | ...xxx"), caret = at_end.find(" | ", line + 6);
  REQUIRE(line != std::string::npos);
  CHECK(at_end.find('^') - caret == at_end.find("nothing;", line) - (line + 3));
  CHECK(at_end.size() < 600);
  const std::string in_front = shown("__device__ int a = nothing; /* " + filler + " */");
  CHECK(has(in_front, "  1 | __device__ int a = nothing; /* xxx"));
  CHECK(has(in_front, "x...\n    |                    ^\n"));
  CHECK(in_front.size() < 600);
}

TEST_CASE("includes that include themselves end", "[compiler][bad-input]") {
  const std::string why =
      failure_of(gpu::program("#include <self.h>\n").header("self.h", "#include <self.h>\n"));
  CHECK(has(why, "self.h"));
}

}}  // namespace bad_input_test

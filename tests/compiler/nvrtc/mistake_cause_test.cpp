// What a failed compilation says first, and how much of the log it has.

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>

#include "support/results.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace mistake_cause_test { namespace {

using test::error_of;
using test::says;
using test::value_of;

const gpu::compile_options for_90{.architecture = gpu::architecture::sm(90)};

std::string details_of(const gpu::program& program) {
  return error_of(gpu::compile(program, for_90)).details().c_str();
}
bool begins_with(const std::string& words, const std::string& beginning) {
  INFO(words);
  return words.compare(0, beginning.size(), beginning) == 0;
}
std::string kernel(const std::string& body) {
  return "extern \"C\" __global__ void f(float* x) { " + body + " }\n";
}

TEST_CASE("a compile error begins with the header that an unknown name needs", "[compiler]") {
  for (const auto& [expression, header] : {std::pair{"INFINITY", "math.h"},
                                           {"NAN", "math.h"},
                                           {"M_PI", "math.h"},
                                           {"M_SQRT1_2", "math.h"},
                                           {"FLT_MAX", "float.h"},
                                           {"DBL_EPSILON", "float.h"},
                                           {"INT_MAX", "limits.h"},
                                           {"ULLONG_MAX", "limits.h"},
                                           {"CHAR_BIT", "limits.h"},
                                           {"UINT32_MAX", "stdint.h"},
                                           {"SIZE_MAX", "stdint.h"},
                                           {"uint32_t(1)", "stdint.h"},
                                           {"uintptr_t(1)", "stdint.h"}}) {
    const std::string name = std::string(expression).substr(0, std::string(expression).find('('));
    const std::string source = kernel("x[0] = (float)" + std::string(expression) + ";");
    CHECK(begins_with(details_of(source),
                      name + " needs <" + header + ">: write #include <" + header + ">.\n"));
    // And that is right.
    value_of(gpu::compile("#include <" + std::string(header) + ">\n" + source, for_90));
  }
  CHECK(begins_with(details_of(kernel("x[0] = std::numeric_limits<float>::max();")),
                    "std::numeric_limits needs <limits>"));
  CHECK(begins_with(details_of(kernel("__half h = x[0];")), "__half needs <cuda_fp16.h>"));
  // Of other names nothing is known.
  CHECK(begins_with(details_of(kernel("x[0] = INFINITE;")), "program.cu:1: identifier"));
  CHECK(begins_with(details_of(kernel("M_x = 1;")).substr(0, 4), "M_x "));
}

TEST_CASE("a compile error begins with a header that is for the host", "[compiler]") {
  for (const char* header : {"cuda.h", "cublas_v2.h", "thrust/sort.h"}) {
    const std::string words =
        details_of("#include <" + std::string(header) + ">\n" + kernel("x[0] = 1;"));
    CHECK(begins_with(
        words, "<" + std::string(header) + "> is for host code: remove it from device code.\n"));
    CHECK(words.size() < 30000);
  }
  const std::string cub = details_of("#include <cub/cub.cuh>\n" + kernel("x[0] = 1;"));
  CHECK(begins_with(cub,
                    "<cub/cub.cuh> is for host code: include <cub/block/...> or "
                    "<cub/warp/...> instead of <cub/cub.cuh>"));
  CHECK(begins_with(details_of(gpu::program("#include \"mine.h\"\n" + kernel("x[0] = 1;"))
                                   .header("mine.h", "#include <cuda.h>\n")),
                    "<cuda.h> is for host code"));
  // A mistake of the program's own is not the header's.
  CHECK(begins_with(details_of(kernel("x[0] = y;") + "// #include <cuda.h>\n"),
                    "program.cu:1: identifier"));
}

TEST_CASE("the log in a compile error ends after twenty errors", "[compiler]") {
  const auto mistakes = [](int count) {
    std::string source = "extern \"C\" __global__ void f(float* x) {\n";
    for (int i = 0; i < count; ++i) source += "x[0] = unknown_" + std::to_string(i) + ";\n";
    return source + "}\n";
  };
  for (const int count : {1, 20, 21, 60}) {
    const gpu::cuda_error error = error_of(gpu::compile(mistakes(count), for_90));
    const std::string words = error.details().c_str();
    INFO(words);
    const std::size_t listed = count < 20 ? std::size_t(count) : 20;
    CHECK(gpu::diagnostics(error).size() == listed);
    const std::string last = "unknown_" + std::to_string(listed - 1) + "\" is undefined";
    CHECK(words.find(last) < words.size());
    const std::string more = "... and " + std::to_string(count - 20) + " more messages\n";
    CHECK((words.find(more) < words.size()) == (count > 20));
    const std::string sum = std::to_string(count) + (count == 1 ? " error" : " errors");
    CHECK(words.find(sum + " detected") < words.size());
  }
}

TEST_CASE("a byte order mark before a source, a part or a header is skipped", "[compiler]") {
  const std::string mark = "\xef\xbb\xbf", source = kernel("x[0] = TWO;");
  value_of(gpu::compile(gpu::program(mark + "#include \"two.h\"\n" + source)
                            .header("two.h", mark + "#define TWO 2\n"),
                        for_90));
  value_of(gpu::compile(
      gpu::program(gpu::source().part("a", mark + "#define TWO 2\n").part("b", mark + source)),
      for_90));
}

TEST_CASE("control characters in the name of a program and in its source are escaped",
          "[compiler]") {
  const std::string words = details_of(gpu::program("#error \x1b[31mred\n", "my\x1b[2J.cu"));
  INFO(words);
  CHECK(words.find('\x1b') == std::string::npos);
  CHECK(words.find("\\x1b[31mred") != std::string::npos);
}

}}  // namespace mistake_cause_test

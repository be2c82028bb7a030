// Sources from parts: messages name the part and its line.

#include <gpu/compiler.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "support/catch.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <cstdio>
#include <cstring>
#include <string>

namespace source_test { namespace {

const gpu::compile_options for_90{.architecture = gpu::architecture::compute(90)};

gpu::diagnostic first_error(const gpu::source& source) {
  const auto made = gpu::compile(source, for_90);
  REQUIRE_FALSE(made.has_value());
  const auto all = gpu::diagnostics(made.error());
  REQUIRE_FALSE(all.empty());
  return all[0];
}

TEST_CASE("an error names its part", "[compiler][source]") {
  const char* good = "__device__ int one;\n__device__ int two;";  // without a line's end
  const char* bad = "__device__ int three;\n\n__device__ int four = nowhere;\n";
  for (int place = 0; place < 3; ++place) {
    gpu::source source;
    for (int i = 0; i < 3; ++i) {
      const std::string name = "part" + std::to_string(i) + ".cuh";
      const std::string space = "namespace n" + std::to_string(i) + " {\n";
      source.part(name, i == place ? space + bad + "}\n" : space + good + "\n}");
    }
    const auto made = gpu::compile(source, for_90);
    REQUIRE_FALSE(made.has_value());
    INFO(made.error().details().c_str());
    const std::string part = "part" + std::to_string(place) + ".cuh";
    CHECK(made.error().details().contains((part + ":4: ").c_str()));
    CHECK(made.error().details().contains("  4 | __device__ int four = nowhere;\n"));
    CHECK(made.error().asked() == 4);
  }
}

TEST_CASE("parts follow each other and are one program", "[compiler][source]") {
  const auto made = gpu::compile(gpu::source()
                                     .part("a", "#define A 3")
                                     .part("b", "")
                                     .part("c", "static_assert(A == 3 && __LINE__ == 1, \"\");\n"),
                                 for_90);
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  CHECK(made.has_value());
  CHECK(gpu::compile(gpu::source(), for_90).has_value());
}

TEST_CASE("a part may begin at any line of any file", "[compiler][source]") {
  const std::size_t line = __LINE__ + 1;
  const gpu::diagnostic error = first_error(gpu::source().part(__FILE__, line, R"(
__device__ int x = missing;
)"));
  CHECK(error.file == __FILE__);
  CHECK(error.line == line + 1);
  CHECK(error.message.contains("missing"));
}

TEST_CASE("a part may have any name", "[compiler][source]") {
  for (const char* name : {"with space.cu", "quote\".cu", "back\\slash\\n.cu", "caf\xc3\xa9.cu",
                           "paren(3).cu", "percent%s.cu"}) {
    const gpu::diagnostic error = first_error(gpu::source().part(name, "__device__ int x = y;"));
    CHECK(error.file == name);
    CHECK(error.line == 1);
    if (gpu::nvrtc_version().value() > gpu::version{12, 0}) {
      CHECK(error.source_line == "__device__ int x = y;");
    }
  }
}

/// An NVRTC whose log has file and line of an error but not its source line, like 12.0.
struct terse_nvrtc {
  static inline std::string log;

  static gpu::nvrtc::entry_points make(const std::string& place) {
    log = place + ": error: expected an identifier\n\n1 error detected.\n";
    gpu::nvrtc::entry_points table = gpu::nvrtc::current_entry_points();
    table.compile_program = [](gpu::nvrtc::nvrtc_program, int, const char* const*) { return 6; };
    table.get_program_log_size = [](gpu::nvrtc::nvrtc_program, std::size_t* size) {
      *size = log.size() + 1;
      return 0;
    };
    table.get_program_log = [](gpu::nvrtc::nvrtc_program, char* to) {
      std::memcpy(to, log.c_str(), log.size() + 1);
      return 0;
    };
    return table;
  }

  explicit terse_nvrtc(const std::string& place) : table{make(place)} {}
  gpu::nvrtc::entry_points table;
  gpu::nvrtc::scoped_entry_points scope{table};
};

TEST_CASE("the source line of an error is shown even if the log does not show it",
          "[compiler][source]") {
  const auto shown = [](const gpu::program& program, const std::string& place) {
    const terse_nvrtc scope(place);
    const auto made = gpu::compile(program, for_90);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error() == gpu::errc::compile_failed);
    const std::string details(made.error().details());
    const std::size_t bar = details.find(" | ");
    return bar == std::string::npos ? std::string()
                                    : details.substr(bar + 3, details.find('\n', bar) - bar - 3);
  };
  const gpu::program text("first\nsecond\n\nfourth", "k.cu");
  CHECK(shown(text, "k.cu(1)") == "first");
  CHECK(shown(text, "k.cu(2)") == "second");
  CHECK(shown(text, "k.cu(4)") == "fourth");
  for (const char* place : {"k.cu(3)", "k.cu(5)", "other.cu(1)"}) CHECK(shown(text, place).empty());
  gpu::program with_headers("first", "k.cu");
  with_headers.header("a.h", "one\ntwo").header("b.h", "three\nfour");
  CHECK(shown(with_headers, "a.h(2)") == "two");
  CHECK(shown(with_headers, "b.h(2)") == "four");
  CHECK(shown(with_headers, "c.h(2)").empty());
  // Parts of one file, of which the first ends before the second begins.
  const gpu::program parts(
      gpu::source().part("k.cu", 10, "ten\neleven\n").part("k.cu", 20, "twenty\n"));
  CHECK(shown(parts, "k.cu(10)") == "ten");
  CHECK(shown(parts, "k.cu(11)") == "eleven");
  CHECK(shown(parts, "k.cu(20)") == "twenty");
  for (const char* place : {"k.cu(9)", "k.cu(12)", "k.cu(21)"}) CHECK(shown(parts, place).empty());
}

TEST_CASE("a file may be a part", "[compiler][source]") {
  char path[] = "/tmp/gpu_source_test_XXXXXX";
  std::FILE* file = ::fdopen(::mkstemp(path), "w");
  std::fputs("__device__ int a;\n__device__ int b = wrong;\n", file);
  std::fclose(file);
  gpu::source source;
  REQUIRE(source.add_file(path).has_value());
  CHECK(source.parts().size() == 1);
  const gpu::diagnostic error = first_error(source);
  CHECK(error.file == path);
  CHECK(error.line == 2);
  std::remove(path);
  CHECK(source.add_file(path).error() == gpu::errc::file_error);
  CHECK(source.parts().size() == 1);
}

TEST_CASE("parts do not change the list of opened headers", "[compiler][source]") {
  const auto made = gpu::compile(
      gpu::program(gpu::source().part("a", "#include \"h.h\"").part("b", "static_assert(H, \"\");"))
          .header("h.h", "#define H 1\n"),
      for_90);
  REQUIRE(made.has_value());
  REQUIRE(made->headers().size() == 1);
  CHECK(made->headers()[0] == "h.h");
  CHECK(made->headers_complete());
}

}}  // namespace source_test

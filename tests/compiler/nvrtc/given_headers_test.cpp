// The headers that a program has without naming a folder: those of the standard library, by
// libcu++. What they say on the device is compared with what the host's say.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/nvrtc/given_headers.hpp>
#include <gpu/compiler/nvrtc/standard_headers.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/toolkit/header_search.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>

#include "compiler/cache_support.hpp"
#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace library_headers_test { namespace {

gpu::compile_options for_90() {
  gpu::compile_options options;
  options.architecture = gpu::architecture::compute(90);
  return options;
}

bool is_file(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

/// A folder with files, removed at the end.
class folder_of_files {
 public:
  folder_of_files() {
    if (::mkdtemp(path_) == nullptr) FAIL("no temporary folder");
  }
  ~folder_of_files() {
    for (const std::string& file : files_) std::remove(file.c_str());
    ::rmdir(path_);
  }
  folder_of_files(const folder_of_files&) = delete;
  folder_of_files& operator=(const folder_of_files&) = delete;

  void write(const char* name, const char* text) {
    files_.push_back(std::string(path_) + '/' + name);
    std::FILE* file = std::fopen(files_.back().c_str(), "w");
    std::fputs(text, file);
    std::fclose(file);
  }
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/gpu_headers_XXXXXX";
  std::vector<std::string> files_;
};

TEST_CASE("all standard headers of libcu++ can be included at once", "[compiler][headers]") {
  std::string source;
  int left_out = 0;
  gpu::detail::header_search search;
  search.run(nullptr);
  for (const char* name : gpu::detail::libcuxx_headers) {
    bool there = false;
    for (const gpu::text& folder : search.folders) {
      std::string counterpart = name;
      if (counterpart.size() > 2 && counterpart.substr(counterpart.size() - 2) == ".h") {
        counterpart = 'c' + counterpart.substr(0, counterpart.size() - 2);
      }
      const std::string in = std::string(folder.c_str()) + "/cuda/std/";
      there = there || is_file(in + counterpart) || is_file(in + "__" + counterpart + '_');
    }
    left_out += there ? 0 : 1;
    if (there) source += std::string("#include <") + name + ">\n";
  }
  CHECK(left_out <= 3);
  for (const gpu::detail::plain_header& header : gpu::detail::plain_headers) {
    source += std::string("#include <") + header.name + ">\n";
  }
  source += "__global__ void f(std::int32_t* x) { printf(\"%d\", *x); }\n";
  const auto made = gpu::compile(source, for_90());
  if (!made.has_value()) FAIL(made.error().message().c_str());
  INFO(made->log().c_str());
  CHECK(made->log().empty());
}

TEST_CASE("the small headers need no libcu++", "[compiler][headers]") {
  gpu::compile_options options = for_90();
  options.toolkit_headers = false;
  for (const gpu::detail::plain_header& header : gpu::detail::plain_headers) {
    INFO(header.name);
    CHECK(gpu::compile(std::string("#include <") + header.name + ">\n", options).has_value());
  }
}

TEST_CASE("standard types and limits are those of the host", "[compiler][headers]") {
  const gpu::module code = test::load_source(R"(
    #include <array>
    #include <cfloat>
    #include <climits>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <limits>
    #include <tuple>
    #include <type_traits>
    #include <utility>
    struct record { char a; double b; short c; };
    static_assert(std::is_same_v<std::remove_const_t<const int>, int>, "");
    static_assert(offsetof(record, b) == 8, "");
    extern "C" __global__ void integers(std::int64_t* out) {
      *out++ = sizeof(std::int8_t) + 10 * sizeof(int16_t) + 100 * sizeof(std::uint32_t);
      *out++ = sizeof(std::intptr_t) + 10 * sizeof(std::size_t) + 100 * sizeof(std::ptrdiff_t);
      *out++ = INT_MAX;
      *out++ = INT_MIN;
      *out++ = LONG_MIN;
      *out++ = SCHAR_MIN;
      *out++ = UINT16_MAX;
      *out++ = std::numeric_limits<std::uint32_t>::max();
      *out++ = std::numeric_limits<long long>::lowest();
      *out++ = FLT_MANT_DIG + 100 * DBL_MAX_EXP;
      *out++ = offsetof(record, c);
      std::array<int, 3> three{1, 2, 3};
      auto pair = std::make_tuple(three[2], three.size());
      *out++ = std::get<0>(pair) * 10 + std::get<1>(pair);
      int a = 4, b = 5;
      std::swap(a, b);
      *out++ = a * 10 + std::move(b);
    }
    extern "C" __global__ void numbers(double* out) {
      *out++ = FLT_MAX;
      *out++ = FLT_EPSILON;
      *out++ = FLT_TRUE_MIN;
      *out++ = DBL_MIN;
      *out++ = DBL_EPSILON;
      *out++ = std::numeric_limits<double>::max();
      *out++ = std::numeric_limits<float>::denorm_min();
      *out++ = std::sqrt(2.0);
      *out++ = std::abs(-3.5f);
      *out++ = INFINITY;
      *out++ = M_PI;
      *out++ = M_SQRT1_2;
    })");
  struct record {
    char a;
    double b;
    short c;
  };
  const gpu::stream stream = test::new_stream();
  std::vector<std::int64_t> integers(13);
  const auto first = test::value_of(code.kernel<std::int64_t*>("integers"));
  test::value_of(gpu::launch(stream, {1, 1}, first, gpu::out(integers)));
  CHECK(integers == std::vector<std::int64_t>{
                        421, 888, INT_MAX, INT_MIN, LONG_MIN, SCHAR_MIN, UINT16_MAX, UINT32_MAX,
                        LLONG_MIN, FLT_MANT_DIG + 100 * DBL_MAX_EXP, offsetof(record, c), 33, 54});
  std::vector<double> numbers(12);
  const auto second = test::value_of(code.kernel<double*>("numbers"));
  test::value_of(gpu::launch(stream, {1, 1}, second, gpu::out(numbers)));
  const std::vector<double> expected{static_cast<double>(FLT_MAX),
                                     static_cast<double>(FLT_EPSILON),
                                     static_cast<double>(FLT_TRUE_MIN),
                                     DBL_MIN,
                                     DBL_EPSILON,
                                     DBL_MAX,
                                     static_cast<double>(std::numeric_limits<float>::denorm_min()),
                                     std::sqrt(2.0),
                                     3.5,
                                     std::numeric_limits<double>::infinity(),
                                     M_PI,
                                     M_SQRT1_2};
  CHECK(numbers == expected);
}

TEST_CASE("without libcu++ the error says what is missing", "[compiler][headers]") {
  gpu::compile_options options = for_90();
  options.toolkit_headers = false;
  const auto made = gpu::compile("#include <type_traits>\n", options);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::compile_failed);
  INFO(made.error().details().c_str());
  CHECK(made.error().details().contains("<type_traits> is taken from libcu++"));
  CHECK(made.error().details().contains("Install the headers of CCCL"));
}

TEST_CASE("a header that is in a folder of the user is not covered", "[compiler][headers]") {
  folder_of_files folder;
  folder.write("array", "#define MINE 1\n");
  gpu::compile_options options = for_90();
  options.include_folders = {folder.path()};
  const auto made = gpu::compile("#include <array>\n#if !MINE\n#error not mine\n#endif\n", options);
  if (!made.has_value()) FAIL(made.error().message().c_str());
  CHECK(made->headers().size() == 1);

  // Nor one that stands beside the file that names it.
  folder.write("limits.h", "#define BESIDE 1\n");
  folder.write("part.h", "#include \"limits.h\"\n#if !BESIDE\n#error not mine\n#endif\n");
  const auto beside = gpu::compile("#include \"part.h\"\n#include <climits>\n", options);
  if (!beside.has_value()) FAIL(beside.error().message().c_str());
}

TEST_CASE("a header given as text comes before the library's", "[compiler][headers]") {
  gpu::compile_options options = for_90();
  options.toolkit_headers = false;
  const auto made = gpu::compile(gpu::program("#include <cstdint>\nstatic_assert(mine == 3, \"\");")
                                     .header("cstdint", "constexpr int mine = 3;"),
                                 options);
  CHECK(made.has_value());
}

TEST_CASE("headers that only other headers name are found", "[compiler][headers]") {
  folder_of_files folder;
  folder.write("outer.h", "#include \"inner.h\"\n#include <stdint.h>\n");
  folder.write("inner.h", "#include <gpu/device.hpp>\n#include <cfloat>\n#include <cstdint>\n");
  gpu::compile_options options = for_90();
  options.include_folders = {folder.path()};
  const auto made = gpu::compile(
      "#include <outer.h>\n__global__ void f(gpu::device_span<std::uint8_t> x) "
      "{ x[0] = FLT_DIG; }\n",
      options);
  if (!made.has_value()) FAIL(made.error().message().c_str());
  CHECK(made->headers_complete());
  std::string opened;
  for (const gpu::text& header : made->headers()) opened += std::string(header.c_str()) + '\n';
  CHECK(opened.find("gpu/device.hpp\n") != std::string::npos);
  CHECK(opened.find("cfloat\n") != std::string::npos);
  CHECK(opened.find("inner.h\n") != std::string::npos);
  // A header that nobody has is an error still.
  folder.write("lost.h", "#include <cstdint>\n#include <nowhere>\n");
  const auto lost = gpu::compile("#include <lost.h>\n", options);
  REQUIRE_FALSE(lost.has_value());
  CHECK(lost.error().details().contains("nowhere"));
}

TEST_CASE("the cache keeps programs with the library's headers", "[compiler][headers][cache]") {
  const test::temporary_folder root;
  const std::string cache = root.make_folder("cache"), folder = root.make_folder("folder");
  gpu::compile_options options = for_90();
  options.include_folders = {folder};
  const gpu::program program(
      "#include <cstdint>\n#include <part.h>\n"
      "__global__ void f(gpu::device_span<std::uint8_t> x) { x[0] = FLT_DIG; }\n");
  test::write_file(folder + "/part.h", "#include <gpu/device.hpp>\n#include <cfloat>\n");
  const auto origin = [&] { return test::origin_of(cache, program, options); };
  CHECK(origin() == "compiled: it was not compiled before");
  CHECK(origin() == "from disk");
  // A file of the user's that would now be found first.
  test::write_file(folder + "/cstdint",
                   "#include <cuda/std/cstdint>\n"
                   "namespace std { using cuda::std::uint8_t; }\n");
  CHECK(origin() == "compiled: " + folder + "/cstdint is there now, and was not");
  CHECK(origin() == "from disk");
  std::remove((folder + "/cstdint").c_str());
  CHECK(origin() == "from disk");
  CHECK(gpu::detail::mark_of_library_headers() != 0);
}

TEST_CASE("a log tells which header was missing", "[compiler][headers]") {
  const gpu::sequence<gpu::text> none;
  const gpu::program empty("");
  gpu::detail::given_headers headers(empty, none);
  CHECK(headers.count() == 0);
  CHECK(
      headers.add_missing("a.cu(1): catastrophic error: could not open source file \"cstdint\" "
                          "(no directories in search list)"));
  CHECK(headers.count() == 1);
  CHECK(std::string(headers.names()[0]) == "cstdint");
  CHECK_FALSE(headers.add_missing("could not open source file \"cstdint\""));  // it is there
  CHECK(headers.add_missing("a.cu(1): catastrophic error: cannot open source file \"cmath\""));
  CHECK(headers.count() == 3);  // with the math.h that it includes
  CHECK_FALSE(headers.add_missing("cannot open source file \"own.h\""));
  CHECK_FALSE(headers.add_missing("cannot open source file \"cst"));
  CHECK_FALSE(headers.add_missing("identifier \"x\" is undefined"));
  CHECK_FALSE(headers.add_missing(""));
}

}}  // namespace library_headers_test

// Compiling with the real NVRTC: options, headers, instances, errors, and each call failing.

#include "support/catch.hpp"
#include "support/drivers.hpp"

#include <gpu/compiler.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <string>

namespace compile_test { namespace {

const gpu::compile_options for_90{.architecture = gpu::architecture::sm(90)};

bool contains(const gpu::text& text, const char* part) { return text.contains(part); }

TEST_CASE("a real architecture gives machine code and PTX", "[compiler]") {
  const auto made = gpu::compile("extern \"C\" __global__ void f(int* x) { *x = 1; }", for_90);
  REQUIRE(made.has_value());
  CHECK(contains(made->ptx(), ".target sm_90"));
  CHECK(contains(made->ptx(), ".entry f("));
  CHECK(made->ptx().end()[-1] != '\0');
  REQUIRE(made->cubin().size() > 64);
  CHECK(std::string(made->cubin().data(), 4) == "\177ELF");
  CHECK(made->architecture() == gpu::architecture::sm(90));
  CHECK(made->log().empty());
}

TEST_CASE("a virtual architecture gives PTX alone", "[compiler]") {
  const auto made = gpu::compile("extern \"C\" __global__ void f() {}",
                                 {.architecture = gpu::architecture::compute(80)});
  REQUIRE(made.has_value());
  CHECK(contains(made->ptx(), ".target sm_80"));
  CHECK(made->cubin().empty());
  const auto variant = gpu::compile("extern \"C\" __global__ void f() {}",
                                    {.architecture = gpu::architecture::sm(90, 'a')});
  REQUIRE(variant.has_value());
  CHECK(contains(variant->ptx(), ".target sm_90a"));
}

TEST_CASE("the architecture is that of the device where none is named", "[compiler]") {
  const gpu::device device = gpu::device::get(0).value();
  const int sm = device.compute_capability().value().sm();
  for (const gpu::compile_options& options :
       {gpu::compile_options{}, gpu::compile_options{.architecture = device}}) {
    const auto made = gpu::compile("extern \"C\" __global__ void f() {}", options);
    REQUIRE(made.has_value());
    CHECK(made->architecture().number() <= sm);
    CHECK(made->architecture().kind() != gpu::architecture::kind_type::of_device);
    // Drivers other than NVIDIA's run PTX alone.
    if (made->architecture().number() == sm)
      CHECK(made->cubin().empty() != gpu::driver::uses_libcuda());
  }
}

TEST_CASE("the architecture is that of the current context's device", "[compiler]") {
  test::own_cpu_driver cpu({.devices = 2});
  static const gpu::driver::entry_points* inner;
  inner = &cpu.table();
  gpu::driver::entry_points table = *inner;
  // Device 1 is an older one.
  table.device_get_attribute = [](int* value, CUdevice_attribute attribute, CUdevice device) {
    if (device == 1 && attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) {
      return *value = 8, CUDA_SUCCESS;
    }
    if (device == 1 && attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) {
      return *value = 6, CUDA_SUCCESS;
    }
    return inner->device_get_attribute(value, attribute, device);
  };
  const gpu::driver::scoped_entry_points in_force(table);
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  const auto architecture = [&] {
    return gpu::compile("__device__ int x;", {.cache = &cache}).value().architecture();
  };
  const gpu::architecture first = architecture();
  CHECK(first != gpu::architecture::compute(86));
  const gpu::device device = gpu::device::get(1).value();
  const gpu::context_ref context = gpu::context::primary(device).value();
  REQUIRE(inner->ctx_set_current(context.native()) == CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) CHECK(architecture() == gpu::architecture::compute(86));
  REQUIRE(inner->ctx_set_current(nullptr) == CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) CHECK(architecture() == first);
}

TEST_CASE("for a device newer than NVRTC there is the newest PTX that it can run", "[compiler]") {
  const int sm = gpu::device::get(0).value().compute_capability().value().sm();
  static int known[3];
  known[0] = 75;
  known[1] = 80;
  known[2] = sm + 1;  // PTX for this one would not run
  gpu::nvrtc::entry_points older = gpu::nvrtc::current_entry_points();
  older.get_num_supported_archs = [](int* count) {
    *count = 3;
    return 0;
  };
  older.get_supported_archs = [](int* to) {
    for (const int number : known) *to++ = number;
    return 0;
  };
  {
    const gpu::nvrtc::scoped_entry_points in_force(older);
    const auto made = gpu::compile("extern \"C\" __global__ void f() {}");
    REQUIRE(made.has_value());
    CHECK(made->architecture() == gpu::architecture::compute(80));
    CHECK(made->cubin().empty());
    CHECK(contains(made->ptx(), ".target sm_80"));
    CHECK(gpu::module::load(*made).has_value());
  }
  known[0] = known[1] = sm + 1;  // and one that knows newer devices alone
  const gpu::nvrtc::scoped_entry_points in_force(older);
  const auto none = gpu::compile("extern \"C\" __global__ void f() {}");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error() == gpu::errc::not_supported);
  CHECK(none.error().asked() == static_cast<std::uint64_t>(sm));
  CHECK(contains(none.error().details(), "Install an older CUDA toolkit"));
}

TEST_CASE("an architecture that NVRTC does not know is refused with those it knows", "[compiler]") {
  for (const int number : {10, 91, 999}) {
    const auto made = gpu::compile("", {.architecture = gpu::architecture::sm(number)});
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error() == gpu::errc::not_supported);
    CHECK(made.error().asked() == static_cast<std::uint64_t>(number));
    CHECK(contains(made.error().details(), " 90"));
  }
}

TEST_CASE("defines, standard, headers, folders and further options reach NVRTC", "[compiler]") {
  char folder[] = "/tmp/gpu_compile_test_XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/from_folder.h";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs("#define FROM_FOLDER 4\n", file);
  std::fclose(file);
  const gpu::program program = gpu::program(R"(
#include "given.h"
#include <sub/nested.h>
#include <from_folder.h>
static_assert(GIVEN == 1 && NESTED == 2 && FROM_FOLDER == 4, "");
static_assert(NUMBER == 3 && FLAG == 1 && sizeof(NAME) == 6, "");
static_assert(__cplusplus == 201703L, "");
static_assert(EXTRA == 5, "");
)")
                                   .header("given.h", "#define GIVEN 1\n")
                                   .header("sub/nested.h", "#define NESTED 2\n");
  gpu::compile_options options = for_90;
  options.standard = gpu::cpp_standard::cpp17;
  options.defines = {{"NUMBER", 3}, {"FLAG"}, {"NAME", "\"hello\""}};
  options.include_folders = {folder};
  options.extra = {"-DEXTRA=5"};
  const auto made = gpu::compile(program, options);
  std::remove(path.c_str());
  ::rmdir(folder);
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  CHECK(made.has_value());
}

TEST_CASE("switches change the code", "[compiler]") {
  const char* source = "extern \"C\" __global__ void f(float* x) { *x = __sinf(*x) / sqrtf(*x); }";
  gpu::compile_options fast = for_90, lines = for_90, debug = for_90;
  fast.fast_math = true;
  lines.line_info = true;
  debug.debug = true;
  const std::string plain = gpu::compile(source, for_90).value().ptx().c_str();
  CHECK(plain.find(".loc") == std::string::npos);
  CHECK(contains(gpu::compile(source, fast).value().ptx(), "sqrt.approx.ftz"));
  CHECK(plain.find("sqrt.rn") != std::string::npos);
  CHECK(contains(gpu::compile(source, lines).value().ptx(), ".loc"));
  CHECK(contains(gpu::compile(source, debug).value().ptx(), ".debug_info"));
}

TEST_CASE("instances of templates have lowered names", "[compiler]") {
  const auto made = gpu::compile(gpu::program("namespace n { template <class T, int N> __global__ "
                                              "void axpy(T* x) { *x += N; } }")
                                     .instance("n::axpy<float, 4>")
                                     .instance("n::axpy<unsigned int, 2>"),
                                 for_90);
  REQUIRE(made.has_value());
  // By the Itanium C++ ABI.
  CHECK(made->lowered_name("n::axpy<float, 4>") == "_ZN1n4axpyIfLi4EEEvPT_");
  CHECK(made->lowered_name("n::axpy<unsigned int, 2>") == "_ZN1n4axpyIjLi2EEEvPT_");
  CHECK(made->lowered_name("n::axpy<double, 2>").empty());
  CHECK(contains(made->ptx(), "_ZN1n4axpyIfLi4EEEvPT_"));
  std::size_t names = 0;
  made->for_each_name([&](gpu::string_ref, gpu::string_ref) { ++names; });
  CHECK(names == 2);

  const auto wrong =
      gpu::compile(gpu::program("__device__ int x;").instance("missing<float>"), for_90);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(contains(wrong.error().details(), "missing"));
}

TEST_CASE("a mistake is shown with file, line, source line and the log", "[compiler]") {
  const auto made = gpu::compile(
      gpu::program("\n\n  __device__ int good;\n\t__device__ int y = undeclared + 1;\n}\n",
                   "my.cu"),
      for_90);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::compile_failed);
  CHECK(made.error().kind() == gpu::error_kind::compile);
  CHECK(made.error().asked() == 4);
  const gpu::text details = made.error().details();
  INFO(details.c_str());
  CHECK(contains(details, "my.cu:4: "));
  CHECK(contains(details, "undeclared"));
  CHECK(contains(details, "  4 | \t__device__ int y = undeclared + 1;\n"));
  if (gpu::nvrtc_version().value() > gpu::version{12, 0}) CHECK(contains(details, "^"));
  CHECK(contains(details, "my.cu(4): error"));
  CHECK(contains(details, "2 errors detected"));
  CHECK(contains(details, "The options were --gpu-architecture=sm_90 --std="));
  CHECK(made.error().where().line() != 0);
}

TEST_CASE("a mistake in a header that is given as text shows the header's line", "[compiler]") {
  const auto made =
      gpu::compile(gpu::program("#include \"part.h\"\n")
                       .header("part.h", "__device__ int a;\n__device__ int b = nowhere;\n"),
                   for_90);
  REQUIRE_FALSE(made.has_value());
  INFO(made.error().details().c_str());
  CHECK(contains(made.error().details(), "part.h:2: "));
  CHECK(contains(made.error().details(), "  2 | __device__ int b = nowhere;\n"));
}

TEST_CASE("a missing header is a mistake with a line", "[compiler]") {
  const auto made = gpu::compile("__device__ int a;\n#include <not_there.h>\n", for_90);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::compile_failed);
  CHECK(made.error().asked() == 2);
  CHECK(contains(made.error().details(), "not_there.h"));
}

TEST_CASE("warnings are there on success", "[compiler]") {
  const auto made = gpu::compile("__global__ void f() { int unused_here = 3; }", for_90);
  REQUIRE(made.has_value());
  CHECK(contains(made->log(), "unused_here"));
}

TEST_CASE("a zero byte in the source is refused", "[compiler]") {
  const auto made = gpu::compile(std::string("int a;\0int b;", 13), for_90);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::invalid_argument);
  CHECK(made.error().asked() == 6);
  CHECK(made.error().limit() == 13);
}

TEST_CASE("a program is read from a file", "[compiler]") {
  char path[] = "/tmp/gpu_program_test_XXXXXX";
  const int descriptor = ::mkstemp(path);
  std::FILE* file = ::fdopen(descriptor, "w");
  std::fputs("extern \"C\" __global__ void from_file() {}\n", file);
  std::fclose(file);
  const auto program = gpu::program::from_file(path);
  std::remove(path);
  REQUIRE(program.has_value());
  CHECK(program->name() == path);
  CHECK(contains(gpu::compile(*program, for_90).value().ptx(), "from_file"));
  CHECK(gpu::program::from_file(path).error() == gpu::errc::file_error);
}

// Tables in which one function of NVRTC fails, or is missing.
const gpu::nvrtc::entry_points* real_nvrtc;
int calls_until_failure;

template <auto Member, class Function> struct failing;
template <auto Member, class... Arguments> struct failing<Member, int (*)(Arguments...)> {
  static int call(Arguments... arguments) {
    if (calls_until_failure-- == 0) return 11;
    return (real_nvrtc->*Member)(arguments...);
  }
};

TEST_CASE("each call of NVRTC may fail", "[compiler]") {
  using table = gpu::nvrtc::entry_points;
  static table all = gpu::nvrtc::current_entry_points();
  static const table real = all;
  real_nvrtc = &real;
#define FAILING(member) all.member = failing<&table::member, decltype(table::member)>::call
  FAILING(get_num_supported_archs);
  FAILING(get_supported_archs);
  FAILING(create_program);
  FAILING(add_name_expression);
  FAILING(compile_program);
  FAILING(get_lowered_name);
  FAILING(get_ptx_size);
  FAILING(get_ptx);
  FAILING(get_cubin_size);
  FAILING(get_cubin);
  FAILING(get_lto_ir_size);
  FAILING(get_lto_ir);
  FAILING(get_program_log_size);
  FAILING(get_program_log);
#undef FAILING
  const gpu::nvrtc::scoped_entry_points in_force(all);
  const gpu::program program =
      gpu::program("template <class T> __global__ void f(T) { int unused; }").instance("f<int>");
  // Every call in turn, until one run makes them all.
  const auto sweep = [&](const gpu::compile_options& options) {
    for (int failures = 0;; ++failures) {
      calls_until_failure = failures;
      const auto made = gpu::compile(program, options);
      if (calls_until_failure >= 0) {
        CHECK(made.has_value());
        return failures;
      }
      REQUIRE_FALSE(made.has_value());
      CHECK(made.error().domain() == gpu::error_domain::nvrtc);
      CHECK(made.error().code() == 11);
      CHECK(std::string(made.error().call()).rfind("nvrtc", 0) == 0);
    }
  };
  CHECK(sweep(for_90) == 12);
  gpu::compile_options lto = for_90;
  lto.link_time_optimization = true;
  CHECK(sweep(lto) == 10);
}

}}  // namespace compile_test

// Finding NVRTC, and the errors if it is missing.

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace nvrtc_library_test { namespace {

using test::says;

bool compiles() {
  return gpu::compile("extern \"C\" __global__ void f() {}",
                      {.architecture = gpu::architecture::compute(90)})
      .has_value();
}

/// The path of the NVRTC that this process found.
std::string path_of_nvrtc() {
  Dl_info info{};
  const void* function = reinterpret_cast<const void*>(gpu::nvrtc::current_entry_points().version);
  if (function == nullptr || ::dladdr(function, &info) == 0) return {};
  return info.dli_fname;
}

TEST_CASE("NVRTC is loaded once", "[compiler][nvrtc]") {
  const auto& first = gpu::nvrtc::current_entry_points();
  CHECK(first.unavailable == gpu::errc{});
  CHECK(&first == &gpu::nvrtc::current_entry_points());
  CHECK(compiles());
}

TEST_CASE("child: compiles with the NVRTC of the environment", "[.child]") { CHECK(compiles()); }

TEST_CASE("child: there is no NVRTC", "[.child]") {
  const auto made = gpu::compile("", {.architecture = gpu::architecture::compute(90)});
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::no_nvrtc);
  CHECK(made.error().kind() == gpu::error_kind::runtime);
  CHECK(made.error().details().contains("/nowhere/libnvrtc.so"));
  CHECK(made.error().details().contains("GPU_NVRTC"));
  CHECK(made.error().details().contains("pip install"));
  CHECK(gpu::nvrtc_version().error() == gpu::errc::no_nvrtc);
}

TEST_CASE("child: the library is not NVRTC", "[.child]") {
  const auto made = gpu::compile("", {.architecture = gpu::architecture::compute(90)});
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::nvrtc_too_old);
  CHECK(made.error().details().contains("12.0"));
}

TEST_CASE("GPU_NVRTC names the library, and nothing else is tried", "[compiler][nvrtc]") {
  const std::string path = path_of_nvrtc();
  REQUIRE_FALSE(path.empty());
  const auto found =
      test::run_child("child: compiles with the NVRTC of the environment", {{"GPU_NVRTC", path}});
  INFO(found.output);
  CHECK(found.succeeded());
  const auto missing =
      test::run_child("child: there is no NVRTC", {{"GPU_NVRTC", "/nowhere/libnvrtc.so"}});
  INFO(missing.output);
  CHECK(missing.succeeded());
  const auto other =
      test::run_child("child: the library is not NVRTC", {{"GPU_NVRTC", "libm.so.6"}});
  INFO(other.output);
  CHECK(other.succeeded());
}

TEST_CASE("CUDA_PATH names the toolkit", "[compiler][nvrtc]") {
  std::string folder = path_of_nvrtc();
  folder.erase(folder.rfind('/'));  // lib or lib64
  folder.erase(folder.rfind('/'));
  const auto found =
      test::run_child("child: compiles with the NVRTC of the environment",
                      {{"CUDA_PATH", folder}, {"CUDA_HOME", "/nowhere"}, {"GPU_NVRTC", ""}});
  INFO(found.output);
  CHECK(found.succeeded());
  const auto elsewhere = test::run_child("child: compiles with the NVRTC of the environment",
                                         {{"CUDA_PATH", "/nowhere"}, {"CUDAToolkit_ROOT", folder}});
  CHECK(elsewhere.succeeded());
}

TEST_CASE("tables can be replaced", "[compiler][nvrtc]") {
  static const gpu::nvrtc::entry_points none{};
  {
    const gpu::nvrtc::scoped_entry_points in_force(none);
    const auto made = gpu::compile("", {.architecture = gpu::architecture::compute(90)});
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().domain() == gpu::error_domain::gpu);
  }
  CHECK(compiles());
}

/// The real NVRTC, which says that it is another version and knows no option that has `unknown` in
/// it.
struct old_nvrtc {
  static const gpu::nvrtc::entry_points*& inner() {
    static const gpu::nvrtc::entry_points* table = nullptr;
    return table;
  }
  static const char*& unknown() {
    static const char* option = "";
    return option;
  }
  static std::string& log() {
    static std::string contents;
    return contents;
  }
  static int version(int* major, int* minor) {
    *major = 12;
    *minor = 0;
    return 0;
  }
  static int compile(gpu::nvrtc::nvrtc_program program, int count, const char* const* options) {
    log().clear();
    for (int i = 0; i < count; ++i) {
      const std::string option = options[i];
      if (option.find(unknown()) == std::string::npos) continue;
      log() =
          "nvrtc: error: unrecognized option " + option.substr(0, option.find('=')) + " found\n";
      return 5;
    }
    return inner()->compile_program(program, count, options);
  }
  static int log_size(gpu::nvrtc::nvrtc_program program, std::size_t* size) {
    if (log().empty()) return inner()->get_program_log_size(program, size);
    *size = log().size() + 1;
    return 0;
  }
  static int read_log(gpu::nvrtc::nvrtc_program program, char* to) {
    if (log().empty()) return inner()->get_program_log(program, to);
    std::memcpy(to, log().c_str(), log().size() + 1);
    return 0;
  }

  static gpu::nvrtc::entry_points without(const char* option) {
    inner() = &gpu::nvrtc::current_entry_points();
    unknown() = option;
    gpu::nvrtc::entry_points made = *inner();
    made.version = &version;
    made.compile_program = &compile;
    made.get_program_log_size = &log_size;
    made.get_program_log = &read_log;
    return made;
  }

  explicit old_nvrtc(const char* unknown_option) : table{without(unknown_option)} {}
  gpu::nvrtc::entry_points table;
  gpu::nvrtc::scoped_entry_points scope{table};
};

TEST_CASE("an error names the option that NVRTC is too old for", "[compiler][bad-input]") {
  const auto target = gpu::architecture::compute(90);
  const auto refusal = [&](const char* unknown, const gpu::compile_options& options) {
    const old_nvrtc scope(unknown);
    const gpu::cuda_error error = test::error_of(gpu::compile("__device__ int x;", options));
    CHECK(error == gpu::errc::not_supported);
    CHECK(error.kind() == gpu::error_kind::runtime);
    CHECK(says(error, "NVRTC 12.0 has no option", "install a newer CUDA toolkit"));
    return error;
  };
  CHECK(says(refusal("--dlink-time-opt", {.architecture = target, .link_time_optimization = true}),
             "no option --dlink-time-opt."));
  CHECK(says(refusal("--pch", {.architecture = target, .extra = {"--pch"}}), "no option --pch."));
  // Of two that begin alike, the one that the log has; with the value that the log leaves out.
  CHECK(says(refusal("--pch-dir", {.architecture = target, .extra = {"--pch", "--pch-dir=/tmp"}}),
             "no option --pch-dir=/tmp."));
  CHECK(says(refusal("--split-compile", {.architecture = target, .extra = {"--split-compile=0"}}),
             "no option --split-compile=0."));
  // None is given one that it does not know by itself.
  {
    const gpu::compile_options for_90{.architecture = gpu::architecture::sm(90)};
    const old_nvrtc scope("--no-cache");
    // New every time: code that the real one finds in the driver's cache has no figures.
    const std::string name = "f" + std::to_string(::time(nullptr)) + std::to_string(::getpid());
    const std::string kernel = "__global__ void " + name + "() {}";
    const auto made = test::value_of(gpu::compile(kernel.c_str(), for_90));
    CHECK(made.resources().size() == 1);
  }
  // What it knows it does.
  const old_nvrtc scope("--pch");
  CHECK(gpu::compile("__device__ int x;", {.architecture = target}).has_value());
}

TEST_CASE("code from the driver's cache, without figures, is compiled once more",
          "[compiler][resources]") {
  static const gpu::nvrtc::entry_points* real;
  static int compiled;
  real = &gpu::nvrtc::current_entry_points();
  compiled = 0;
  gpu::nvrtc::entry_points table = *real;
  table.version = [](int* major, int* minor) {
    *major = 12;
    *minor = 9;
    return 0;
  };
  table.compile_program = [](gpu::nvrtc::nvrtc_program program, int count,
                             const char* const* options) {
    ++compiled;
    std::vector<const char*> passed(options, options + count);
    const auto said = [&](const char* option) {
      return std::find_if(passed.begin(), passed.end(),
                          [&](const char* each) { return std::strcmp(each, option) == 0; });
    };
    // Others than the real one may not know this, but they have figures each time.
    if (const auto fresh = said("--no-cache"); fresh != passed.end()) {
      passed.erase(fresh);
    } else if (const auto figures = said("--ptxas-options=--verbose"); figures != passed.end()) {
      passed.erase(figures);
    }
    return real->compile_program(program, static_cast<int>(passed.size()), passed.data());
  };
  const gpu::nvrtc::scoped_entry_points in_force(table);
  const auto made = test::value_of(
      gpu::compile(gpu::program("template <class T> __global__ void f(T*) {}").instance("f<int>"),
                   {.architecture = gpu::architecture::sm(90)}));
  CHECK(compiled == 2);
  CHECK(made.resources().size() == 1);
  CHECK(made.resources("f<int>").has_value());
}

TEST_CASE("an NVRTC that lacks a function does everything else", "[compiler][bad-input]") {
  gpu::nvrtc::entry_points table = gpu::nvrtc::current_entry_points();
  table.get_lto_ir_size = nullptr;
  const gpu::nvrtc::scoped_entry_points in_force(table);
  const auto target = gpu::architecture::compute(90);
  CHECK(gpu::compile("__device__ int x;", {.architecture = target}).has_value());
  const gpu::cuda_error error = test::error_of(
      gpu::compile("__device__ int x;", {.architecture = target, .link_time_optimization = true}));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "this NVRTC has no nvrtcGetLTOIRSize", "Install a newer CUDA toolkit"));
}

}}  // namespace nvrtc_library_test

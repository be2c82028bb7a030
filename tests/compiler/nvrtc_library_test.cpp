// Finding NVRTC, and the errors if it is missing.

#include <gpu/compiler.hpp>

#include "support/catch.hpp"
#include "support/subprocess.hpp"

#include <dlfcn.h>

#include <string>

namespace nvrtc_library_test { namespace {

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

}}  // namespace nvrtc_library_test

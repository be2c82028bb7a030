// Finding nvJitLink, and the errors if it is missing.

#include <gpu/compiler.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/toolkit_version.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>

#include "support/catch.hpp"
#include "support/subprocess.hpp"

#include <dlfcn.h>

#include <string>

namespace nvjitlink_library_test { namespace {

bool links() {
  return gpu::link(
             {".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n"},
             {.architecture = gpu::architecture::sm(90)})
      .has_value();
}

/// The path of the nvJitLink that this process found.
std::string path_of_nvjitlink() {
  Dl_info info{};
  const void* function =
      reinterpret_cast<const void*>(gpu::nvjitlink::current_entry_points().create);
  if (function == nullptr || ::dladdr(function, &info) == 0) return {};
  return info.dli_fname;
}

TEST_CASE("nvJitLink is loaded once and has a version", "[compiler][nvjitlink]") {
  const auto& first = gpu::nvjitlink::current_entry_points();
  CHECK(first.unavailable == gpu::errc{});
  CHECK(&first == &gpu::nvjitlink::current_entry_points());
  const auto version = gpu::nvjitlink_version();
  REQUIRE(version.has_value());
  CHECK(*version >= gpu::version{12, 0});
  CHECK(links());

  gpu::nvjitlink::entry_points old = first;
  old.version = nullptr;
  const gpu::nvjitlink::scoped_entry_points in_force(old);
  CHECK(gpu::nvjitlink_version().value() == gpu::version{12, 0});
}

TEST_CASE("child: links with the nvJitLink of the environment", "[.child]") {
  CHECK(gpu::nvjitlink::is_available());
  CHECK(links());
}

TEST_CASE("child: there is no nvJitLink", "[.child]") {
  const auto version = gpu::nvjitlink_version();
  REQUIRE_FALSE(version.has_value());
  CHECK(version.error() == gpu::errc::no_nvjitlink);
  CHECK(version.error().kind() == gpu::error_kind::runtime);
  CHECK(version.error().details().contains("/nowhere/libnvJitLink.so"));
  CHECK(version.error().details().contains("GPU_NVJITLINK"));
  CHECK(version.error().details().contains("pip install"));
}

TEST_CASE("child: the library is not nvJitLink", "[.child]") {
  const auto version = gpu::nvjitlink_version();
  REQUIRE_FALSE(version.has_value());
  CHECK(version.error() == gpu::errc::nvjitlink_too_old);
  CHECK(version.error().details().contains("12.0"));
}

TEST_CASE("GPU_NVJITLINK names the library, and nothing else is tried", "[compiler][nvjitlink]") {
  const std::string path = path_of_nvjitlink();
  REQUIRE_FALSE(path.empty());
  const auto found = test::run_child("child: links with the nvJitLink of the environment",
                                     {{"GPU_NVJITLINK", path}});
  INFO(found.output);
  CHECK(found.succeeded());
  const auto missing = test::run_child("child: there is no nvJitLink",
                                       {{"GPU_NVJITLINK", "/nowhere/libnvJitLink.so"}});
  INFO(missing.output);
  CHECK(missing.succeeded());
  const auto other =
      test::run_child("child: the library is not nvJitLink", {{"GPU_NVJITLINK", "libm.so.6"}});
  INFO(other.output);
  CHECK(other.succeeded());
}

TEST_CASE("CUDA_PATH names the toolkit of nvJitLink too", "[compiler][nvjitlink]") {
  std::string folder = path_of_nvjitlink();
  folder.erase(folder.rfind('/'));  // lib or lib64
  folder.erase(folder.rfind('/'));
  const auto found =
      test::run_child("child: links with the nvJitLink of the environment",
                      {{"CUDA_PATH", folder}, {"CUDA_HOME", "/nowhere"}, {"GPU_NVJITLINK", ""}});
  INFO(found.output);
  CHECK(found.succeeded());
}

}}  // namespace nvjitlink_library_test

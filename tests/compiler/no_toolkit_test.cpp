// Machines without a toolkit in the usual folders: what is found nevertheless, and the errors if
// nothing is. Child processes see the machine this way, because the folders are covered for them.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/toolkit/header_search.hpp>
#include <gpu/compiler/toolkit_version.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "compiler/cache_support.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <dlfcn.h>
#include <sched.h>  // IWYU pragma: keep
#include <stdlib.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace no_toolkit_test { namespace {

using test::error_of;
using test::says;
using test::temporary_folder;
using test::write_file;

const gpu::compile_options for_90{.architecture = gpu::architecture::compute(90)};

/// Covers a folder with an empty one, for this process. False, with a word for the parent, where
/// the system refuses that.
bool cover(const std::string& folder) {
  static const bool apart = ::unshare(CLONE_NEWNS) == 0 &&
                            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (apart && ::mount("none", folder.c_str(), "tmpfs", 0, "size=4k") == 0) return true;
  std::printf("[refused: %s]", std::strerror(errno));
  return false;
}

/// The file of the NVRTC that this process uses.
std::string path_of_nvrtc() {
  Dl_info info{};
  const auto* function = reinterpret_cast<const void*>(gpu::nvrtc::current_entry_points().version);
  if (function == nullptr || ::dladdr(function, &info) == 0) return {};
  char real[4096];
  return ::realpath(info.dli_fname, real) != nullptr ? real : "";
}

/// Covers all folders with headers that would be found, those beside the NVRTC in use among them.
bool cover_headers() {
  const std::string nvrtc = path_of_nvrtc();
  for (int i = 0; i < 16; ++i) {
    gpu::detail::header_search search;
    search.run(nvrtc.empty() ? nullptr : nvrtc.c_str());
    if (search.folders.empty()) return true;
    if (!cover(search.folders[0].c_str())) return false;  // perhaps with others in it
  }
  return false;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Runs a test case in a process whose environment names no toolkit.
void expect(const char* name, test::environment more) {
  test::environment all = {{"CUDA_PATH", ""},        {"CUDA_HOME", ""},   {"CUDAToolkit_ROOT", ""},
                           {"CONDA_PREFIX", ""},     {"VIRTUAL_ENV", ""}, {"GPU_CACHE", "off"},
                           {"PATH", "/usr/bin:/bin"}};
  for (const auto& one : more) {
    for (auto& before : all) {
      if (before.first == one.first) before.second = one.second;
    }
    all.push_back(one);
  }
  const auto child = test::run_child(name, all);
  INFO(child.output);
  if (child.output.find("[refused: ") != std::string::npos) {
    WARN("skipped: no right to cover folders: " << child.output);
    return;
  }
  CHECK(child.succeeded());
  CHECK(child.output.find("[done]") != std::string::npos);
}

TEST_CASE("child: there are no headers of a toolkit", "[.child]") {
  REQUIRE_FALSE(path_of_nvrtc().empty());  // NVRTC is open before its folder is covered
  if (!cover_headers()) return;
  const gpu::cuda_error toolkit = error_of(gpu::compile("#include <cuda_fp16.h>", for_90));
  CHECK(toolkit == gpu::errc::compile_failed);
  CHECK(says(toolkit, "\"cuda_fp16.h\" was searched for",
             "The headers of the CUDA toolkit were not found; looked in", "/usr/local/cuda/include",
             "/opt/cuda/include", "pip install nvidia-cuda-runtime", "CUDA_PATH"));
  const gpu::cuda_error libcuxx = error_of(gpu::compile("#include <cuda/std/array>", for_90));
  CHECK(says(libcuxx, "The headers of libcu++ were not found; looked in",
             "pip install nvidia-cuda-cccl"));
  CHECK(gpu::compile("#include <gpu/device.hpp>\n__global__ void f() {}", for_90).has_value());
  std::printf("[done]");
}

TEST_CASE("child: the headers are another toolkit's", "[.child]") {
  REQUIRE_FALSE(path_of_nvrtc().empty());
  const std::string root = variable("TOOLKIT_OF_TEST");
  ::unsetenv("CUDA_PATH");
  if (!cover_headers()) return;
  ::setenv("CUDA_PATH", root.c_str(), 1);
  const gpu::cuda_error error = error_of(gpu::compile("#include <cuda_fp16.h>", for_90));
  CHECK(error == gpu::errc::compile_failed);
  const gpu::version nvrtc = test::value_of(gpu::nvrtc_version());
  const std::string is =
      "this is NVRTC " + std::to_string(nvrtc.major) + '.' + std::to_string(nvrtc.minor);
  CHECK(says(error, ("The headers in " + root + "/include are those of CUDA 11.8").c_str(),
             is.c_str(), "Install the headers of that version"));
  // An error elsewhere does not mention them.
  const gpu::cuda_error own = error_of(gpu::compile("__device__ int x = y;", for_90));
  CHECK_FALSE(own.message().contains("those of CUDA"));
  std::printf("[done]");
}

TEST_CASE("child: a Python environment has the headers", "[.child]") {
  const std::string where = variable("TOOLKIT_OF_TEST"), conda = variable("CONDA_PREFIX"),
                    python = variable("VIRTUAL_ENV");
  ::unsetenv("CONDA_PREFIX");
  ::unsetenv("VIRTUAL_ENV");
  if (!cover_headers()) return;
  ::setenv("CONDA_PREFIX", conda.c_str(), 1);
  ::setenv("VIRTUAL_ENV", python.c_str(), 1);
  gpu::detail::header_search search;
  search.run(nullptr);
  CHECK(search.has_toolkit());
  CHECK(search.has_libcuxx());
  REQUIRE(search.folders.size() == 1);
  CHECK(search.folders[0] == where.c_str());
  std::printf("[done]");
}

TEST_CASE("child: a Python environment has NVRTC", "[.child]") {
  const std::string from = variable("NVRTC_OF_TEST"), to = variable("TOOLKIT_OF_TEST");
  if (!cover(to)) return;
  if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) != 0 || !cover(from)) return;
  CHECK(gpu::compile("__global__ void f() {}", for_90).has_value());
  CHECK(path_of_nvrtc().rfind(to, 0) == 0);
  std::printf("[done]");
}

TEST_CASE("without a toolkit's headers the error lists the folders that were searched",
          "[compiler][headers]") {
  expect("child: there are no headers of a toolkit", {{"GPU_NVRTC", path_of_nvrtc()}});
}

TEST_CASE("headers of another toolkit are named if they do not compile", "[compiler][headers]") {
  const temporary_folder root;
  root.make_folder("include");
  write_file(root / "include/cuda_fp16.h", "#error \"for another compiler\"\n");
  write_file(root / "include/cuda_runtime_api.h", "#define CUDART_VERSION  11080\n");
  expect("child: the headers are another toolkit's",
         {{"TOOLKIT_OF_TEST", root.path()}, {"GPU_NVRTC", path_of_nvrtc()}});
}

TEST_CASE("Conda and Python environments lead to headers and to NVRTC", "[compiler][headers]") {
  const temporary_folder root;
  const auto folders = [&](const std::string& path) {
    for (std::size_t at = 0; at != std::string::npos;) {
      at = path.find('/', at + 1);
      root.make_folder(path.substr(0, at));
    }
    return root / path;
  };
  const auto toolkit = [&](const std::string& include) {
    folders(include + "/cuda/std");
    write_file(root / (include + "/cuda_fp16.h"), "");
    write_file(root / (include + "/cuda/std/type_traits"), "");
    return root / include;
  };
  const char* headers = "child: a Python environment has the headers";
  expect(headers,
         {{"TOOLKIT_OF_TEST", toolkit("conda/include")}, {"CONDA_PREFIX", root / "conda"}});
  const std::string packages = "venv/lib/python3.12/site-packages/nvidia/";
  expect(headers,
         {{"TOOLKIT_OF_TEST", toolkit(packages + "cu13/include")}, {"VIRTUAL_ENV", root / "venv"}});
  const std::string nvrtc = path_of_nvrtc();
  for (const char* folder : {"cu13/lib", "cuda_nvrtc/lib"}) {
    expect("child: a Python environment has NVRTC",
           {{"TOOLKIT_OF_TEST", folders(packages + folder)},
            {"NVRTC_OF_TEST", nvrtc.substr(0, nvrtc.rfind('/'))},
            {"VIRTUAL_ENV", root / "venv"}});
  }
}

}}  // namespace no_toolkit_test

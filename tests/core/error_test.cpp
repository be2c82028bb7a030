#include "support/catch.hpp"

#include <gpu/core/error.hpp>

#include <cuda.h>

#include <nvrtc.h>
#include <cstring>
#include <string>

namespace error_test {

using gpu::cuda_error;
using gpu::errc;
using gpu::error_domain;
using gpu::error_kind;
using gpu::source_location;

namespace {

cuda_error driver_error(int code) {
  return cuda_error(error_domain::driver, code, "cuSomething", source_location::current());
}
cuda_error own_error(errc code) {
  return gpu::detail::refusal(code, "gpu::something", gpu::text("a sentence."),
                              source_location::current(), 7, 5);
}

}  // namespace

TEST_CASE("error: knows what it was made of", "[core][error]") {
  const source_location here = source_location::current();
  const cuda_error error = cuda_error(error_domain::driver, 2, "cuMemAlloc", here)
                               .with_details(gpu::text("asked for 10 bytes"))
                               .with_values(10, 3);
  CHECK(error.domain() == error_domain::driver);
  CHECK(error.code() == 2);
  CHECK(std::string(error.name()) == "CUDA_ERROR_OUT_OF_MEMORY");
  CHECK(std::string(error.call()) == "cuMemAlloc");
  CHECK(error.where().line() == here.line());
  CHECK(error.asked() == 10);
  CHECK(error.limit() == 3);
  CHECK(error.details() == "asked for 10 bytes");
}

TEST_CASE("error: the message tells the whole story", "[core][error]") {
  const cuda_error error =
      cuda_error(error_domain::driver, 2, "cuMemAlloc", source_location::current("file.cpp", 42))
          .with_details(gpu::text("asked for 10 bytes"));
  CHECK(std::string(error.message().c_str()) ==
        "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): asked for 10 bytes. Free buffers that are no "
        "longer needed, trim pools, or process the data in parts. [file.cpp:42]");
  const cuda_error bare(error_domain::driver, 987654, "cuX", source_location());
  CHECK(std::string(bare.message().c_str()) == "cuX: unknown (987654)");
  CHECK(own_error(errc::size_mismatch).message().contains("gpu::something"));
  CHECK(own_error(errc::size_mismatch).message().contains("a sentence."));
}

TEST_CASE("error: names are those of cuda.h and nvrtc.h", "[core][error]") {
  const auto name = [](error_domain domain, int code) {
    return std::string(cuda_error(domain, code, "x", {}).name());
  };
  CHECK(name(error_domain::driver, CUDA_ERROR_INVALID_VALUE) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(name(error_domain::driver, CUDA_ERROR_ILLEGAL_ADDRESS) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(name(error_domain::driver, CUDA_ERROR_NOT_READY) == "CUDA_ERROR_NOT_READY");
  CHECK(name(error_domain::driver, CUDA_ERROR_UNKNOWN) == "CUDA_ERROR_UNKNOWN");
  CHECK(name(error_domain::nvrtc, NVRTC_ERROR_COMPILATION) == "NVRTC_ERROR_COMPILATION");
  CHECK(name(error_domain::nvjitlink, 13) == "NVJITLINK_ERROR_ARCH_MISMATCH");
  CHECK(name(error_domain::nvjitlink, 18) == "NVJITLINK_ERROR_LTO_NOT_ENABLED");
  CHECK(name(error_domain::cublas, 15) == "CUBLAS_STATUS_NOT_SUPPORTED");
  CHECK(name(error_domain::nccl, 6) == "ncclRemoteError");
  CHECK(name(error_domain::cufft, 16) == "CUFFT_NOT_SUPPORTED");
  CHECK(name(error_domain::cusolver, 9) == "CUSOLVER_STATUS_NOT_SUPPORTED");
  CHECK(name(error_domain::cusparse, 10) == "CUSPARSE_STATUS_NOT_SUPPORTED");
  CHECK(name(error_domain::curand, 1) == "unknown");
  CHECK(name(error_domain::gpu, static_cast<int>(errc::no_driver)) == "no_driver");
  CHECK(name(error_domain::gpu, static_cast<int>(errc::capture_prohibited)) ==
        "capture_prohibited");
}

TEST_CASE("error: kinds are those that a caller handles alike", "[core][error]") {
  CHECK(driver_error(CUDA_ERROR_OUT_OF_MEMORY).kind() == error_kind::memory);
  CHECK(driver_error(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES).kind() == error_kind::launch);
  CHECK(driver_error(CUDA_ERROR_ILLEGAL_ADDRESS).kind() == error_kind::launch);
  CHECK(driver_error(CUDA_ERROR_LAUNCH_FAILED).kind() == error_kind::launch);
  CHECK(driver_error(CUDA_ERROR_INVALID_VALUE).kind() == error_kind::logic);
  CHECK(driver_error(CUDA_ERROR_INVALID_HANDLE).kind() == error_kind::logic);
  CHECK(driver_error(CUDA_ERROR_INVALID_PTX).kind() == error_kind::compile);
  CHECK(driver_error(CUDA_ERROR_NO_DEVICE).kind() == error_kind::runtime);
  CHECK(cuda_error(error_domain::nvrtc, NVRTC_ERROR_COMPILATION, "x", {}).kind() ==
        error_kind::compile);
  CHECK(cuda_error(error_domain::nvrtc, NVRTC_ERROR_OUT_OF_MEMORY, "x", {}).kind() ==
        error_kind::memory);
  CHECK(cuda_error(error_domain::nvjitlink, 13, "x", {}).kind() == error_kind::compile);
  CHECK(cuda_error(error_domain::curand, 102, "x", {}).kind() == error_kind::runtime);
  CHECK(cuda_error(error_domain::cublas, 3, "x", {}).kind() == error_kind::memory);
  CHECK(cuda_error(error_domain::cublas, 7, "x", {}).kind() == error_kind::runtime);
  CHECK(cuda_error(error_domain::nccl, 5, "x", {}).kind() == error_kind::runtime);
  CHECK(cuda_error(error_domain::cufft, 2, "x", {}).kind() == error_kind::memory);
  CHECK(cuda_error(error_domain::cusolver, 2, "x", {}).kind() == error_kind::memory);
  CHECK(cuda_error(error_domain::cusparse, 2, "x", {}).kind() == error_kind::memory);
  CHECK(driver_error(CUDA_ERROR_ECC_UNCORRECTABLE).kind() == error_kind::runtime);
  CHECK(driver_error(CUDA_ERROR_CONTEXT_IS_DESTROYED).kind() == error_kind::logic);
  CHECK(own_error(errc::out_of_host_memory).kind() == error_kind::memory);
  CHECK(own_error(errc::invalid_launch).kind() == error_kind::launch);
  CHECK(own_error(errc::compile_failed).kind() == error_kind::compile);
  CHECK(own_error(errc::no_driver).kind() == error_kind::runtime);
  CHECK(own_error(errc::size_mismatch).kind() == error_kind::logic);
}

TEST_CASE("error: sticky are those that lose the context", "[core][error]") {
  // Those of which cuda.h says that the process has to be launched anew, or the context is gone.
  for (const int code :
       {CUDA_ERROR_CONTAINED, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC, CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_TENSOR_MEMORY_LEAK, CUDA_ERROR_MPS_CLIENT_TERMINATED}) {
    INFO(code);
    CHECK(driver_error(code).is_sticky());
  }
  for (const int code : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_READY,
                         CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES}) {
    CHECK(!driver_error(code).is_sticky());
  }
  CHECK(!own_error(errc::no_driver).is_sticky());
  CHECK(!cuda_error(error_domain::nvrtc, 700, "x", {}).is_sticky());
}

TEST_CASE("error: equal by domain and code", "[core][error]") {
  CHECK(driver_error(2) == driver_error(2));
  CHECK(!(driver_error(2) == driver_error(1)));
  CHECK(own_error(errc::no_driver) == errc::no_driver);
  CHECK(!(own_error(errc::no_driver) == errc::driver_too_old));
  CHECK(!(driver_error(1) == errc::no_driver));
  CHECK(!(driver_error(1) == cuda_error(error_domain::nvrtc, 1, "x", {})));
}

TEST_CASE("error: every code that has advice has a name", "[core][error]") {
  for (int code = 1; code < 1000; ++code) {
    for (const error_domain domain :
         {error_domain::driver, error_domain::nvrtc, error_domain::nvjitlink, error_domain::cublas,
          error_domain::nccl, error_domain::cufft, error_domain::cusolver,
          error_domain::cusparse}) {
      if (gpu::detail::error_advice(domain, code) != nullptr) {
        CHECK(gpu::detail::error_code_name(domain, code) != nullptr);
      }
    }
  }
}

TEST_CASE("error: the advice is about the code", "[core][error]") {
  const auto advice = [](error_domain domain, int code) {
    return std::string(cuda_error(domain, code, "x", {}).message().c_str());
  };
  const auto has = [](const std::string& message, const char* words) {
    INFO(message);
    CHECK(message.find(words) != std::string::npos);
  };
  has(advice(error_domain::nvjitlink, 3), "INVALID_INPUT (3). Pass a complete");
  has(advice(error_domain::nvjitlink, 6), "INTERNAL (6). nvJitLink had an internal error");
  has(advice(error_domain::nvjitlink, 8), "UNRECOGNIZED_INPUT (8). Pass a complete");
  has(advice(error_domain::nvjitlink, 13), "ARCH_MISMATCH (13). Compile the inputs for the arch");
  has(advice(error_domain::nvjitlink, 14), "OUTDATED_LIBRARY (14). The LTO-IR comes from a newer");
  has(advice(error_domain::nvjitlink, 17),
      "UNSUPPORTED_ARCH (17). This nvJitLink does not support");
  has(advice(error_domain::nvjitlink, 18), "LTO_NOT_ENABLED (18). Set link_time_optimization");
  has(advice(error_domain::nvrtc, 7), "BUILTIN_OPERATION_FAILURE (7). libnvrtc-builtins");
  has(advice(error_domain::driver, CUDA_ERROR_UNSUPPORTED_PTX_VERSION), "update the driver");
  has(advice(error_domain::cublas, 3), "ALLOC_FAILED (3). Free device buffers");
  has(advice(error_domain::cufft, 8), "INVALID_SIZE (8). cuFFT does not transform");
  has(advice(error_domain::cusolver, 4), "ARCH_MISMATCH (4). Install a version of the library");
  has(advice(error_domain::cusparse, 11), "INSUFFICIENT_RESOURCES (11). The device has too");
  has(advice(error_domain::nccl, 6), "ncclRemoteError (6). Another rank has failed");
  CHECK(advice(error_domain::curand, 102) == "x: unknown (102)");
}

TEST_CASE("error: the library's own codes have the names of their enumerators", "[core][error]") {
#define CHECK_NAME(code) CHECK(own_error(errc::code).name() == std::string(#code))
  CHECK_NAME(no_driver);
  CHECK_NAME(driver_too_old);
  CHECK_NAME(not_supported);
  CHECK_NAME(no_nvrtc);
  CHECK_NAME(nvrtc_too_old);
  CHECK_NAME(process_forked);
  CHECK_NAME(process_exiting);
  CHECK_NAME(invalid_argument);
  CHECK_NAME(index_out_of_range);
  CHECK_NAME(size_mismatch);
  CHECK_NAME(size_overflow);
  CHECK_NAME(empty_handle);
  CHECK_NAME(wrong_context);
  CHECK_NAME(out_of_host_memory);
  CHECK_NAME(invalid_launch);
  CHECK_NAME(argument_mismatch);
  CHECK_NAME(unknown_name);
  CHECK_NAME(invalid_image);
  CHECK_NAME(compile_failed);
  CHECK_NAME(file_error);
  CHECK_NAME(capture_prohibited);
  CHECK_NAME(no_nvjitlink);
  CHECK_NAME(nvjitlink_too_old);
  CHECK_NAME(link_failed);
  CHECK_NAME(callback_threw);
  CHECK_NAME(not_converged);
  CHECK_NAME(no_library);
  CHECK_NAME(library_too_old);
#undef CHECK_NAME
  CHECK(own_error(static_cast<errc>(29)).name() == std::string("unknown"));
  CHECK(own_error(static_cast<errc>(0)).name() == std::string("unknown"));
  CHECK(own_error(static_cast<errc>(-1)).name() == std::string("unknown"));
}

}  // namespace error_test

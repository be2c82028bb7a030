#include "support/catch.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/libraries/library_errors.hpp>  // IWYU pragma: keep

#include <nvrtc.h>
#include <string>

namespace library_errors_test {

using gpu::cuda_error;
using gpu::error_domain;
using gpu::error_kind;

TEST_CASE("library errors: names are those of the libraries' headers", "[libraries][error]") {
  const auto name = [](error_domain domain, int code) {
    return std::string(cuda_error(domain, code, "x", {}).name());
  };
  CHECK(name(error_domain::nvrtc, NVRTC_ERROR_COMPILATION) == "NVRTC_ERROR_COMPILATION");
  CHECK(name(error_domain::nvjitlink, 13) == "NVJITLINK_ERROR_ARCH_MISMATCH");
  CHECK(name(error_domain::nvjitlink, 18) == "NVJITLINK_ERROR_LTO_NOT_ENABLED");
  CHECK(name(error_domain::cublas, 15) == "CUBLAS_STATUS_NOT_SUPPORTED");
  CHECK(name(error_domain::nccl, 6) == "ncclRemoteError");
  CHECK(name(error_domain::cufft, 16) == "CUFFT_NOT_SUPPORTED");
  CHECK(name(error_domain::cusolver, 9) == "CUSOLVER_STATUS_NOT_SUPPORTED");
  CHECK(name(error_domain::cusparse, 10) == "CUSPARSE_STATUS_NOT_SUPPORTED");
  CHECK(name(error_domain::curand, 1) == "unknown");
}

TEST_CASE("library errors: kinds are those that a caller handles alike", "[libraries][error]") {
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
}

TEST_CASE("library errors: every code that has advice has a name", "[libraries][error]") {
  for (int code = 1; code < 1000; ++code) {
    for (const error_domain domain :
         {error_domain::nvrtc, error_domain::nvjitlink, error_domain::cublas, error_domain::nccl,
          error_domain::cufft, error_domain::cusolver, error_domain::cusparse}) {
      if (domain.advice_for(code) != nullptr) CHECK(domain.name_of(code) != nullptr);
    }
  }
}

TEST_CASE("library errors: the advice is about the code", "[libraries][error]") {
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
  has(advice(error_domain::cublas, 3), "ALLOC_FAILED (3). Free device buffers");
  has(advice(error_domain::cufft, 8), "INVALID_SIZE (8). cuFFT does not transform");
  has(advice(error_domain::cusolver, 4), "ARCH_MISMATCH (4). Install a version of the library");
  has(advice(error_domain::cusparse, 11), "INSUFFICIENT_RESOURCES (11). The device has too");
  has(advice(error_domain::nccl, 6), "ncclRemoteError (6). Another rank has failed");
}

}  // namespace library_errors_test

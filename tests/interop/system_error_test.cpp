#include "support/catch.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/interop/system_error.hpp>

#include <string>
#include <system_error>

#include <cuda.h>

namespace system_error_test {

using gpu::cuda_error;
using gpu::error_domain;

TEST_CASE("system_error: a driver error becomes a code", "[interop][system_error]") {
  const cuda_error error(error_domain::driver, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc", {});
  const std::error_code code = make_error_code(error);
  CHECK(code.value() == 2);
  CHECK(std::string(code.category().name()) == "cuda");
  CHECK(code.message().find("CUDA_ERROR_OUT_OF_MEMORY") == 0);
  CHECK(code == std::errc::not_enough_memory);
  CHECK(code == make_error_code(error));
}

TEST_CASE("system_error: domains do not mix", "[interop][system_error]") {
  const std::error_code driver = make_error_code(cuda_error(error_domain::driver, 1, "a", {}));
  const std::error_code nvrtc = make_error_code(cuda_error(error_domain::nvrtc, 1, "a", {}));
  const std::error_code own = gpu::errc::no_driver;
  CHECK(driver != nvrtc);
  CHECK(driver != own);
  CHECK(driver == std::errc::invalid_argument);
  CHECK(nvrtc == std::errc::not_enough_memory);
  CHECK(std::string(own.category().name()) == "gpu");
  CHECK(std::string(nvrtc.category().name()) == "nvrtc");
  CHECK(std::string(driver.category().name()) == "cuda");
  CHECK(std::string(gpu::error_category(error_domain::curand).name()) == "curand");
  CHECK(std::string(gpu::error_category(error_domain::nvjitlink).name()) == "nvjitlink");
  CHECK(std::string(gpu::error_category(error_domain::cublas).name()) == "cublas");
  CHECK(std::string(gpu::error_category(error_domain::nccl).name()) == "nccl");
  CHECK(std::string(gpu::error_category(error_domain::cufft).name()) == "cufft");
  CHECK(std::string(gpu::error_category(error_domain::cusolver).name()) == "cusolver");
  CHECK(std::string(gpu::error_category(error_domain::cusparse).name()) == "cusparse");
  for (const error_domain each :
       {error_domain::gpu, error_domain::driver, error_domain::nvrtc, error_domain::curand,
        error_domain::nvjitlink, error_domain::cublas, error_domain::nccl, error_domain::cufft,
        error_domain::cusolver, error_domain::cusparse})
    CHECK(make_error_code(cuda_error(each, 1, "a", {})).category() == gpu::error_category(each));
}

TEST_CASE("system_error: codes have their POSIX counterparts", "[interop][system_error]") {
  const auto driver = [](int code) {
    return make_error_code(cuda_error(error_domain::driver, code, "a", {}));
  };
  CHECK(driver(CUDA_ERROR_NO_DEVICE) == std::errc::no_such_device);
  CHECK(driver(CUDA_ERROR_NOT_READY) == std::errc::resource_unavailable_try_again);
  CHECK(driver(CUDA_ERROR_NOT_SUPPORTED) == std::errc::not_supported);
  CHECK(driver(CUDA_ERROR_INVALID_DEVICE) == std::errc::no_such_device);
  CHECK(driver(CUDA_ERROR_FILE_NOT_FOUND) == std::errc::no_such_file_or_directory);
  CHECK(driver(CUDA_ERROR_NOT_PERMITTED) == std::errc::operation_not_permitted);
  CHECK(std::error_code(gpu::errc::invalid_argument) == std::errc::invalid_argument);
  CHECK(std::error_code(gpu::errc::size_mismatch) == std::errc::invalid_argument);
  CHECK(std::error_code(gpu::errc::not_supported) == std::errc::not_supported);
  // Codes without a counterpart are equal to themselves alone.
  const std::error_code fault = driver(CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(fault.default_error_condition() == std::error_condition(700, fault.category()));
  const std::error_code own = gpu::errc::empty_handle;
  CHECK(own.default_error_condition() == std::error_condition(own.value(), own.category()));
  const std::error_code compile =
      make_error_code(cuda_error(error_domain::nvrtc, 6, "nvrtcCompileProgram", {}));
  CHECK(compile.default_error_condition() == std::error_condition(6, compile.category()));
  CHECK(std::error_code(gpu::errc::index_out_of_range) == std::errc::result_out_of_range);
  CHECK(std::error_code(gpu::errc::size_overflow) == std::errc::value_too_large);
  CHECK(std::error_code(gpu::errc::out_of_host_memory) == std::errc::not_enough_memory);
  CHECK(driver(CUDA_ERROR_ILLEGAL_ADDRESS).message().find("700") == std::string::npos);
  CHECK(driver(123456).message().find("123456") != std::string::npos);
}

}  // namespace system_error_test

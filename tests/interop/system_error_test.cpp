#include "support/catch.hpp"

#include <gpu/interop/system_error.hpp>

#include <cuda.h>

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
  CHECK(std::string(gpu::error_category(error_domain::curand).name()) == "curand");
}

TEST_CASE("system_error: codes have their POSIX counterparts", "[interop][system_error]") {
  const auto driver = [](int code) {
    return make_error_code(cuda_error(error_domain::driver, code, "a", {}));
  };
  CHECK(driver(CUDA_ERROR_NO_DEVICE) == std::errc::no_such_device);
  CHECK(driver(CUDA_ERROR_NOT_READY) == std::errc::resource_unavailable_try_again);
  CHECK(driver(CUDA_ERROR_NOT_SUPPORTED) == std::errc::not_supported);
  CHECK(std::error_code(gpu::errc::index_out_of_range) == std::errc::result_out_of_range);
  CHECK(std::error_code(gpu::errc::size_overflow) == std::errc::value_too_large);
  CHECK(std::error_code(gpu::errc::out_of_host_memory) == std::errc::not_enough_memory);
  CHECK(driver(CUDA_ERROR_ILLEGAL_ADDRESS).message().find("700") == std::string::npos);
  CHECK(driver(123456).message().find("123456") != std::string::npos);
}

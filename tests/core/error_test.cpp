#include "support/catch.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/driver_errors.hpp>

#include <cuda.h>
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

/// A domain of this test's own.
constexpr gpu::detail::error_codes imagined_codes{
    .number = 99, .name = "imagined", .names = "1 IMAGINED_FIRST\0", .kind = [](int) noexcept {
      return error_kind::compile;
    }};
constexpr error_domain imagined(imagined_codes);

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

TEST_CASE("error: names are those of cuda.h", "[core][error]") {
  const auto name = [](error_domain domain, int code) {
    return std::string(cuda_error(domain, code, "x", {}).name());
  };
  CHECK(name(error_domain::driver, CUDA_ERROR_INVALID_VALUE) == "CUDA_ERROR_INVALID_VALUE");
  CHECK(name(error_domain::driver, CUDA_ERROR_ILLEGAL_ADDRESS) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(name(error_domain::driver, CUDA_ERROR_NOT_READY) == "CUDA_ERROR_NOT_READY");
  CHECK(name(error_domain::driver, CUDA_ERROR_UNKNOWN) == "CUDA_ERROR_UNKNOWN");
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
  CHECK(!cuda_error(imagined, 700, "x", {}).is_sticky());
}

TEST_CASE("error: equal by domain and code", "[core][error]") {
  CHECK(driver_error(2) == driver_error(2));
  CHECK(!(driver_error(2) == driver_error(1)));
  CHECK(own_error(errc::no_driver) == errc::no_driver);
  CHECK(!(own_error(errc::no_driver) == errc::driver_too_old));
  CHECK(!(driver_error(1) == errc::no_driver));
  CHECK(!(driver_error(1) == cuda_error(imagined, 1, "x", {})));
}

TEST_CASE("error: every code that has advice has a name", "[core][error]") {
  for (int code = 1; code < 1000; ++code) {
    if (error_domain::driver.advice_for(code) != nullptr) {
      CHECK(error_domain::driver.name_of(code) != nullptr);
    }
  }
}

TEST_CASE("error: the advice is about the code", "[core][error]") {
  const std::string message = driver_error(CUDA_ERROR_UNSUPPORTED_PTX_VERSION).message().c_str();
  INFO(message);
  CHECK(message.find("update the driver") != std::string::npos);
}

TEST_CASE("error: a domain describes its codes", "[core][error]") {
  const cuda_error first(imagined, 1, "x", {}), other(imagined, 2, "x", {});
  CHECK(std::string(first.name()) == "IMAGINED_FIRST");
  CHECK(std::string(first.message().c_str()) == "x: IMAGINED_FIRST (1)");
  CHECK(std::string(other.message().c_str()) == "x: unknown (2)");
  CHECK(other.kind() == error_kind::compile);
  CHECK(!other.is_sticky());
}

// Each shared library may have its own description of a domain.
TEST_CASE("error: domains are compared by number", "[core][error]") {
  static constexpr gpu::detail::error_codes copy = gpu::detail::driver_errors;
  CHECK(error_domain(copy) == error_domain::driver);
  CHECK(cuda_error(error_domain(copy), 2, "x", {}) == driver_error(2));
  CHECK(error_domain::gpu != error_domain::driver);
}

TEST_CASE("error: a domain can be the case of a switch", "[core][error]") {
  const auto is_driver = [](const cuda_error& error) {
    switch (error.domain()) {
      case error_domain::driver: return true;
      case error_domain::gpu:
      default: return false;
    }
  };
  CHECK(is_driver(driver_error(1)));
  CHECK(!is_driver(own_error(errc::no_driver)));
}

TEST_CASE("error: can be a constant", "[core][error]") {
  static constexpr gpu::error_domain domain = error_domain::driver;
  static_assert(domain == error_domain::driver && error_domain::gpu != error_domain::driver);
  CHECK(std::string(domain.name()) == "cuda");
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

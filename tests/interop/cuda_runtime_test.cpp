// Handles of the CUDA runtime as gpu's. The runtime here is one of the test's own, with the
// functions that the header calls, over whatever driver the tests run on: its `__global__`
// functions are host functions that stand for kernels of a loaded module.
// tests/structure/nvcc_program.cu does the same with the real one.

#include <gpu/interop/cuda_runtime.hpp>

#include <gpu/compiler.hpp>
#include <gpu/gpu.hpp>
#include <gpu/graph.hpp>

#include "support/results.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda_runtime_api.h>
#include <driver_types.h>

namespace cuda_runtime_test {
namespace {

/// The state of the test's runtime.
struct runtime_state {
  std::map<const void*, CUkernel> functions;
  cudaError_t answer = cudaSuccess;
  int device = 0;
};
runtime_state& runtime() {
  static runtime_state state;
  return state;
}

}  // namespace

extern "C" {
cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  const auto known = runtime().functions.find(function);
  if (known == runtime().functions.end()) return cudaErrorInvalidDeviceFunction;
  *kernel = known->second;
  return runtime().answer;
}
cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  *device = runtime().device;
  return runtime().answer;
}
const char* CUDARTAPI cudaGetErrorName(cudaError_t code) {
  return code == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration" : "cudaErrorOther";
}
const char* CUDARTAPI cudaGetErrorString(cudaError_t) { return "as the runtime puts it"; }
}

namespace {

constexpr const char* source = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
})";

// As nvcc leaves them to the host: functions whose address and type matter.
void saxpy(float, const float*, float*, int) {}
void not_a_kernel(int) {}

/// Loads the kernels and lets the runtime know them.
gpu::result<gpu::module> register_functions() {
  gpu::module code = GPU_TRY(gpu::module::load(
      GPU_TRY(gpu::compile(source, {.architecture = gpu::architecture::compute(90)}))));
  runtime() = {};
  runtime().functions[reinterpret_cast<const void*>(&saxpy)] =
      GPU_TRY(code.kernel("saxpy")).native();
  return code;
}

TEST_CASE("a __global__ function is a kernel of its own types", "[interop]") {
  const gpu::device device = test::first_device();
  const gpu::module code = test::value_of(register_functions());
  const auto kernel = test::value_of(gpu::from_runtime(saxpy));
  static_assert(
      std::is_same_v<decltype(kernel), const gpu::kernel<float, const float*, float*, int>>);
  CHECK(kernel.native() == runtime().functions.begin()->second);
  CHECK(std::string(kernel.name()) == "saxpy");
  CHECK(test::value_of(gpu::from_runtime(&saxpy)) == kernel);

  const gpu::stream stream = test::value_of(gpu::stream::create(device));
  auto x = test::value_of(gpu::device_buffer<float>::create(device, 100));
  auto y = test::value_of(gpu::device_buffer<float>::create(device, 100));
  std::vector<float> host(100), result(100);
  for (int i = 0; i < 100; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
  test::value_of(gpu::copy(host, x));
  test::value_of(gpu::copy(host, y));
  test::value_of(gpu::launch(stream, {gpu::grid_for(100, 32), 32}, kernel, 2.0f, x, y, 100));
  auto capture = test::value_of(gpu::stream_capture::begin(stream));
  CHECK(test::value_of(gpu::from_runtime(saxpy)) == kernel);
  test::value_of(gpu::launch(stream, {gpu::grid_for(100, 32), 32}, kernel, 1.0f, x, y, 100));
  const gpu::graph graph = test::value_of(capture.end());
  auto exec = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(stream, exec));
  test::value_of(gpu::copy(y, result));
  for (int i = 0; i < 100; ++i) {
    REQUIRE(result[static_cast<std::size_t>(i)] == static_cast<float>(4 * i));
  }
}

TEST_CASE("a function that the runtime does not know is no kernel", "[interop]") {
  const gpu::module code = test::value_of(register_functions());
  const gpu::cuda_error unknown = test::error_of(gpu::from_runtime(not_a_kernel));
  CHECK(unknown == gpu::errc::unknown_name);
  CHECK(unknown.asked() == cudaErrorInvalidDeviceFunction);
  CHECK(std::string(unknown.call()) == "cudaGetKernel");
  CHECK(std::string(unknown.where().file_name()).find("cuda_runtime_test") != std::string::npos);
  runtime().answer = cudaErrorNoKernelImageForDevice;
  CHECK(gpu::from_runtime(saxpy).error().code() == CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE("a kernel of another module behind the same function is another kernel", "[interop]") {
  gpu::module first = test::value_of(register_functions());
  const auto before = test::value_of(gpu::from_runtime(saxpy));
  const gpu::module second = test::value_of(register_functions());
  const auto after = test::value_of(gpu::from_runtime(saxpy));
  CHECK_FALSE(before == after);
  CHECK(after.native() != before.native());
}

TEST_CASE("streams and events of the runtime keep their handles and their contexts", "[interop]") {
  runtime() = {};
  const gpu::device device = test::first_device();
  const gpu::context_ref primary = test::value_of(gpu::context::primary(device));
  const gpu::context other = test::value_of(gpu::context::create(device));
  const gpu::stream streams[] = {test::value_of(gpu::stream::create(device)),
                                 test::value_of(gpu::stream::create(other))};
  for (const gpu::stream& stream : streams) {
    const cudaStream_t native = stream.native();
    const gpu::stream_ref ref = test::value_of(gpu::from_runtime(native));
    CHECK(ref == stream);
    CHECK(ref.context() == stream.context());
    CHECK(ref.device() == device);
    auto capture = test::value_of(gpu::stream_capture::begin(stream));
    CHECK(test::value_of(gpu::from_runtime(native)) == stream);
    CHECK(capture.end().has_value());
  }
  const gpu::event event = test::value_of(gpu::event::create(device, {.timing = false}));
  const cudaEvent_t mark = event.native();
  const gpu::event_ref ref = test::value_of(gpu::from_runtime(mark, {.timing = false}));
  CHECK(ref == event);
  CHECK(ref.context() == primary);
  CHECK_FALSE(ref.has_timing());
  CHECK(test::value_of(gpu::from_runtime(mark)).has_timing());
  test::value_of(gpu::record(test::value_of(gpu::from_runtime(streams[0].native())), ref));
  auto capture = test::value_of(gpu::stream_capture::begin(streams[0]));
  CHECK(test::value_of(gpu::from_runtime(mark)) == event);
  CHECK(capture.end().has_value());
}

TEST_CASE("stream 0 belongs to the context that the runtime works in", "[interop]") {
  runtime() = {};
  const gpu::device device = test::first_device();
  const auto zero = [] { return test::value_of(gpu::from_runtime(cudaStream_t{})); };
  CHECK(zero().native() == cudaStreamLegacy);
  CHECK(zero().context() == test::value_of(gpu::context::primary(device)));
  CHECK(test::value_of(gpu::from_runtime(cudaStreamPerThread)).native() == cudaStreamPerThread);
  CHECK(test::value_of(gpu::from_runtime(cudaStreamLegacy)).native() == cudaStreamLegacy);
  // As in a source compiled with --default-stream=per-thread.
  const auto per_thread = gpu::from_runtime<gpu::detail::zero_is_per_thread>(cudaStream_t{});
  CHECK(test::value_of(per_thread).native() == cudaStreamPerThread);
  if (test::value_of(gpu::device::count()) > 1) {
    runtime().device = 1;
    CHECK(zero().device() == gpu::device::from_native(1));
  }
  runtime().answer = cudaErrorNoDevice;
  CHECK(gpu::from_runtime(cudaStream_t{}).error().code() == CUDA_ERROR_NO_DEVICE);
  CHECK(gpu::from_runtime(cudaEvent_t{}).error().code() == CUDA_ERROR_NO_DEVICE);
  // A context that is current comes before the device that was chosen.
  const gpu::context own = test::value_of(gpu::context::create(device));
  const gpu::context_scope scope = test::value_of(gpu::context_scope::enter(own));
  CHECK(zero().context() == own);
}

TEST_CASE("codes of the runtime are the driver's, or are told by name", "[interop]") {
  CHECK(gpu::from_runtime(cudaSuccess).has_value());
  const gpu::cuda_error memory =
      test::error_of(gpu::from_runtime(cudaErrorMemoryAllocation, "cudaMalloc"));
  CHECK(memory.domain() == gpu::error_domain::driver);
  CHECK(memory.kind() == gpu::error_kind::memory);
  CHECK(test::says(memory, "cudaMalloc", "CUDA_ERROR_OUT_OF_MEMORY", "cuda_runtime_test.cpp"));
  const gpu::cuda_error shape =
      test::error_of(gpu::from_runtime(cudaErrorInvalidConfiguration, "cudaLaunchKernel"));
  CHECK(shape == gpu::errc::invalid_launch);
  CHECK(shape.asked() == 9);
  CHECK(test::says(shape, "cudaLaunchKernel", "cudaErrorInvalidConfiguration",
                   "as the runtime puts it"));
  struct expected_code {
    cudaError_t code;
    gpu::errc becomes;
  };
  for (const expected_code each :
       {expected_code{cudaErrorInvalidPitchValue, gpu::errc::invalid_argument},
        {cudaErrorInvalidSymbol, gpu::errc::unknown_name},
        {cudaErrorMissingConfiguration, gpu::errc::invalid_launch},
        {cudaErrorNotYetImplemented, gpu::errc::not_supported},
        {cudaErrorInsufficientDriver, gpu::errc::driver_too_old}}) {
    CHECK(gpu::from_runtime(each.code).error() == each.becomes);
  }
}

TEST_CASE("each driver call behind what comes from the runtime may fail", "[interop]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::module code = GPU_TRY(register_functions());
          GPU_TRY(gpu::from_runtime(saxpy));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(gpu::device::from_native(0)));
          GPU_TRY(gpu::from_runtime(stream.native()));
          GPU_TRY(gpu::from_runtime(cudaStream_t{}));
          GPU_TRY(gpu::from_runtime(cudaEvent_t{}));
          return {};
        }) == "");
}

}  // namespace
}  // namespace cuda_runtime_test

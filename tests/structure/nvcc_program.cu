// A program that nvcc compiles and that uses the CUDA runtime beside gpu. Codes are compared on any
// machine; the rest wants a GPU. Exit code 0: all is right; 1: something is not; 77: no GPU here.

#include <gpu/gpu.hpp>
#include <gpu/interop/cuda_runtime.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

struct pair {
  double first;
  int second;
};

__global__ void saxpy(float a, const float* x, float* y, std::size_t n) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

template <class T> __global__ void scale(T* x, T by, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= by;
}

__global__ void put(char c, pair value, double* out) { out[0] = value.first + value.second + c; }

__global__ void spin(long long cycles, int* done) {
  for (const long long start = clock64(); clock64() - start < cycles;) {
  }
  *done = 1;
}

void not_a_kernel(int) {}

/// Each code of the runtime is the same code of the driver's, or is told by its name.
void compare_codes() {
  expect(gpu::from_runtime(cudaSuccess, "f").has_value(), "success");
  int known = 0, own = 0;
  for (int code = 1; code < 10000; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    const char* name = cudaGetErrorName(error);
    if (std::strcmp(name, "unrecognized error code") == 0) continue;
    ++known;
    const gpu::cuda_error as_error = gpu::from_runtime(error, "cudaMalloc").error();
    expect(std::strcmp(as_error.call(), "cudaMalloc") == 0, "the call is named");
    if (as_error.domain() == gpu::error_domain::driver) {
      expect(as_error.code() == code, "a code of the driver's stays what it is");
      expect(as_error.message().contains("CUDA_ERROR_"), "a code of the driver's has its name");
    } else {
      ++own;
      expect(as_error.asked() == static_cast<unsigned>(code), "the runtime's code is in asked()");
      expect(as_error.message().contains(name), "the runtime's code is told by name");
    }
  }
  expect(known > 100 && own > 20 && own < known, "the runtime knows its codes");
  const auto kind = [](cudaError_t code) { return gpu::from_runtime(code).error().kind(); };
  expect(kind(cudaErrorMemoryAllocation) == gpu::error_kind::memory, "memory");
  expect(kind(cudaErrorInvalidConfiguration) == gpu::error_kind::launch, "launch");
  expect(kind(cudaErrorIllegalAddress) == gpu::error_kind::launch, "fault");
  expect(kind(cudaErrorInsufficientDriver) == gpu::error_kind::runtime, "machine");
  expect(gpu::from_runtime(cudaErrorIllegalAddress).error().is_sticky(), "sticky");
}

/// Counts what is alive of it.
struct counted {
  static inline int alive = 0;
  int value;
  explicit counted(int v) : value{v} { ++alive; }
  counted(counted&& other) noexcept : value{other.value} { ++alive; }
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }
};

gpu::result<counted> make(int value) {
  if (value < 0) GPU_TRY(gpu::from_runtime(cudaErrorInvalidValue, "make"));
  return counted(value);
}
gpu::result<counted> add_one(const counted& c) { return make(c.value < 0 ? -1 : c.value + 1); }
gpu::result<int> look(const counted& c) { return c.value; }
gpu::result<> check(const counted& c) {
  return gpu::from_runtime(c.value == 7 ? cudaErrorInvalidValue : cudaSuccess, "check");
}

/// One GPU_TRY inside another, where what is handed on has a destructor.
gpu::result<int> nested(int value) {
  const counted made = GPU_TRY(add_one(GPU_TRY(add_one(GPU_TRY(make(value))))));
  const int seen = GPU_TRY(look(GPU_TRY(add_one(made))));
  GPU_TRY(check(GPU_TRY(add_one(made))));
  const gpu::result<int> named = seen;
  return GPU_TRY(look(GPU_TRY(make(GPU_TRY(named)))));
}

void nest_attempts() {
  const gpu::result<int> five = nested(2), refused = nested(-1), late = nested(4);
  expect(five.has_value() && *five == 5, "values come through one GPU_TRY in another");
  expect(!refused.has_value() && !late.has_value(), "errors come through one GPU_TRY in another");
  expect(counted::alive == 0, "each value of a GPU_TRY is destroyed once");
}

gpu::result<> launch_functions(gpu::device device) {
  constexpr std::size_t n = 1000;
  std::vector<float> x(n), y(n), result(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 1.0f;
  }
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto dx = GPU_TRY(gpu::device_buffer<float>::create(stream, n));
  auto dy = GPU_TRY(gpu::device_buffer<float>::create(stream, n));
  GPU_TRY(gpu::copy(x, dx));
  GPU_TRY(gpu::copy(y, dy));
  const auto axpy = GPU_TRY(gpu::from_runtime(saxpy));
  const auto twice = GPU_TRY(gpu::from_runtime(scale<float>));
  const gpu::launch_config shape{gpu::grid_for(n, 128), 128};
  GPU_TRY(gpu::launch(stream, shape, axpy, 2.0f, dx, dy, n));
  GPU_TRY(gpu::launch(stream, shape, twice, dy, 3.0f, static_cast<int>(n)));
  // The runtime's own launch, on a stream of gpu's.
  scale<float><<<8, 128, 0, stream.native()>>>(dy.span().data(), 2.0f, 1000);
  GPU_TRY(gpu::from_runtime(cudaGetLastError(), "a launch"));
  GPU_TRY(gpu::copy(dy, result));
  bool right = true;
  for (std::size_t i = 0; i < n; ++i) {
    right = right && result[i] == (2.0f * static_cast<float>(i) + 1.0f) * 6.0f;
  }
  expect(right, "values of launched functions");

  expect(GPU_TRY(gpu::from_runtime(saxpy)) == axpy, "one function, one kernel");
  expect(std::strstr(axpy.name(), "saxpy") != nullptr, "a kernel has the function's name");
  cudaFuncAttributes raw{};
  GPU_TRY(gpu::from_runtime(cudaFuncGetAttributes(&raw, saxpy), "cudaFuncGetAttributes"));
  const gpu::kernel_properties has = GPU_TRY(axpy.properties(device));
  expect(static_cast<int>(has.registers) == raw.numRegs, "registers");
  expect(static_cast<int>(has.max_threads_per_block) == raw.maxThreadsPerBlock, "threads");

  auto out = GPU_TRY(gpu::device_buffer<double>::create(stream, 1));
  const auto put_kernel = GPU_TRY(gpu::from_runtime(put));
  GPU_TRY(gpu::launch(stream, {1, 1}, put_kernel, 'a', pair{0.5, 7}, out));
  std::vector<double> one(1);
  GPU_TRY(gpu::copy(out, one));
  expect(one[0] == 0.5 + 7 + 'a', "parameters with padding between them");

  // In a graph, which is launched twice: y = (y + x) + x.
  GPU_TRY(gpu::copy(y, dy));
  auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
  GPU_TRY(gpu::launch(stream, shape, axpy, 1.0f, dx, dy, n));
  expect(GPU_TRY(gpu::from_runtime(saxpy)) == axpy, "a function in a capture, which is known");
  expect(GPU_TRY(gpu::from_runtime(stream.native())) == stream, "a stream in a capture");
  const gpu::graph graph = GPU_TRY(capture.end());
  gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(graph));
  GPU_TRY(gpu::launch(stream, exec));
  GPU_TRY(gpu::launch(stream, exec));
  GPU_TRY(gpu::copy(dy, result));
  expect(result[999] == 1.0f + 2 * 999.0f, "a captured function");

  const auto none = gpu::from_runtime(not_a_kernel);
  expect(!none.has_value() && none.error() == gpu::errc::unknown_name, "no __global__ function");
  (void)cudaGetLastError();  // the runtime remembers the refusal
  return {};
}

gpu::result<> exchange_streams(gpu::device device) {
  GPU_TRY(gpu::from_runtime(cudaSetDevice(device.native()), "cudaSetDevice"));
  cudaStream_t made = nullptr;
  cudaEvent_t mark = nullptr;
  GPU_TRY(gpu::from_runtime(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking)));
  GPU_TRY(gpu::from_runtime(cudaEventCreate(&mark)));
  const gpu::stream_ref stream = GPU_TRY(gpu::from_runtime(made));
  const gpu::event_ref event = GPU_TRY(gpu::from_runtime(mark));
  expect(stream.native() == made && event.native() == mark, "handles are the same");
  expect(stream.device() == device, "a stream's device");
  expect(stream.context() == GPU_TRY(gpu::context::primary(device)), "a stream's context");

  const auto wait = GPU_TRY(gpu::from_runtime(spin));
  auto done = GPU_TRY(gpu::device_buffer<int>::create(device, 1));  // it outlives the stream
  GPU_TRY(gpu::fill(stream, done, 0));
  GPU_TRY(gpu::launch(stream, {1, 1}, wait, 20'000'000, done));
  GPU_TRY(gpu::record(stream, event));
  expect(cudaEventQuery(mark) == cudaErrorNotReady, "the runtime sees work that is under way");
  GPU_TRY(gpu::from_runtime(cudaEventSynchronize(mark)));
  expect(GPU_TRY(event.is_done()) && GPU_TRY(stream.is_done()), "and its end");
  int value = 0;
  GPU_TRY(gpu::from_runtime(
      cudaMemcpy(&value, done.span().data(), sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy"));
  expect(value == 1, "memory is the same");

  // Stream 0 is what the runtime takes it for in this source.
  const gpu::stream_ref zero = GPU_TRY(gpu::from_runtime(cudaStream_t{}));
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
  expect(zero.native() == cudaStreamPerThread, "stream 0 is per thread");
#else
  expect(zero.native() == cudaStreamLegacy, "stream 0 is the legacy one");
#endif
  expect(zero.device() == device, "stream 0 is of the current device");
  expect(GPU_TRY(gpu::from_runtime(cudaStreamPerThread)).native() == cudaStreamPerThread,
         "per thread");
  expect(GPU_TRY(gpu::from_runtime(cudaStreamLegacy)).native() == cudaStreamLegacy, "legacy");
  GPU_TRY(gpu::launch(zero, {1, 1}, wait, 1000, done));
  GPU_TRY(gpu::from_runtime(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"));
  GPU_TRY(gpu::from_runtime(cudaEventDestroy(mark)));
  return gpu::from_runtime(cudaStreamDestroy(made));
}

gpu::result<> on_all_devices() {
  const int count = GPU_TRY(gpu::device::count());
  for (int i = 0; i < count; ++i) {
    const gpu::device device = GPU_TRY(gpu::device::get(i));
    GPU_TRY(launch_functions(device));
    GPU_TRY(exchange_streams(device));
  }
  std::printf("%d device%s\n", count, count == 1 ? "" : "s");
  return {};
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // whatever comes, what was said is seen
  compare_codes();
  nest_attempts();
  if (!gpu::device::count().has_value()) return failures == 0 ? 77 : 1;
  const gpu::result<> done = on_all_devices();
  if (!done.has_value()) std::printf("%s\n", done.error().message().c_str());
  return done.has_value() && failures == 0 ? 0 : 1;
}

// Host time of gpu's wrapper of a driver call beyond the call: events, streams, allocations,
// copies, fills, launches with attributes, graph launches. Each wrapper beside the raw call that it
// makes, in turns; medians. Exit code 1 where a wrapper costs more than 1 % and more than 20 ns, on
// a GPU.

#include <gpu/gpu.hpp>
#include <gpu/graph.hpp>

#include "interleaved.hpp"

#include <cstddef>
#include <cstdio>

namespace {

using benchmark::need;

constexpr const char* source = R"(
extern "C" __global__ void axpby(float a, const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = a * x[i] + y[i];
})";

constexpr int samples = 4000;
constexpr int calls = 16;

/// Everything that the calls are about; the default that a program has anyway.
struct operands {
  gpu::stream stream, other;
  gpu::event event, start, stop;
  gpu::device_buffer<float> x, y, z;
  gpu::pinned_vector<float> pinned;
  gpu::module code;
  gpu::kernel<float, const float*, const float*, float*, int> kernel;
  gpu::graph_exec exec;

  static constexpr int n = 256;
  static constexpr gpu::launch_config shape{1, n};

  explicit operands(gpu::device device)
      : stream(need(gpu::stream::create(device))),
        other(need(gpu::stream::create(device))),
        event(need(gpu::event::create(device, {.timing = false}))),
        start(need(gpu::event::create(device))),
        stop(need(gpu::event::create(device))),
        x(need(gpu::device_buffer<float>::create(device, n))),
        y(need(gpu::device_buffer<float>::create(device, n))),
        z(need(gpu::device_buffer<float>::create(device, n))),
        pinned(need(gpu::pinned_vector<float>::create(device, n))),
        code(need(gpu::module::load(need(gpu::compile(source))))),
        kernel(need(code.kernel<float, const float*, const float*, float*, int>("axpby"))),
        exec(captured()) {
    need(gpu::record(stream, event));
    need(gpu::record(stream, start));
    need(gpu::record(stream, stop));
    need(stream.synchronize());
  }

  gpu::graph_exec captured() {
    auto capture = need(gpu::stream_capture::begin(stream));
    need(gpu::launch(stream, shape, kernel, 1.0f, x, y, z, n));
    const gpu::graph graph = need(capture.end());
    return need(gpu::graph_exec::instantiate(graph));
  }
};

class comparison {
 public:
  comparison(const benchmark::machine& machine, const operands& about)
      : counts_{machine.has_gpu}, about_{about} {}

  // Hot, as calls of a program's are: compilers keep what main() does once short, not fast.
  template <class Raw, class Ours>
  [[gnu::hot, gnu::noinline]] void operator()(const char* what, Raw raw, Ours ours) {
    bool good = true;
    const auto times = benchmark::interleaved(
        samples, calls, [&] { good = (raw() == CUDA_SUCCESS) & good; },
        [&] { good = ours().has_value() & good; },
        [&] {
          need(about_.stream.synchronize());
          need(about_.other.synchronize());
        });
    const bool within = benchmark::within_limit(what, times);
    if (!good) std::printf("%s: a call failed\n", what);
    failed_ = failed_ || !good || (counts_ && !within);
  }

  bool failed() const { return failed_; }

 private:
  bool counts_;
  const operands& about_;
  bool failed_ = false;
};

}  // namespace

int main() {
  const benchmark::machine machine;
  operands o(machine.device);
  comparison compare(machine, o);
  // The functions and handles that a raw program has.
  const gpu::driver::entry_points cu = gpu::driver::current_entry_points();
  const CUstream stream = o.stream.native(), other = o.other.native();
  const CUevent event = o.event.native(), start = o.start.native(), stop = o.stop.native();
  const CUdeviceptr x = o.x.native(), y = o.y.native(), z = o.z.native();
  constexpr std::size_t bytes = operands::n * sizeof(float);

  compare(
      "event record", [&] { return cu.event_record(event, stream); },
      [&] { return gpu::record(o.stream, o.event); });
  compare("event query", [&] { return cu.event_query(event); }, [&] { return o.event.is_done(); });
  compare(
      "event wait", [&] { return cu.stream_wait_event(other, event, CU_EVENT_WAIT_DEFAULT); },
      [&] { return gpu::wait(o.other, o.event); });
  compare(
      "event synchronize, done", [&] { return cu.event_synchronize(event); },
      [&] { return o.event.synchronize(); });
  float milliseconds = 0;
  compare(
      "event elapsed", [&] { return cu.event_elapsed_time(&milliseconds, start, stop); },
      [&] { return gpu::elapsed(o.start, o.stop); });
  compare(
      "stream query", [&] { return cu.stream_query(stream); }, [&] { return o.stream.is_done(); });
  compare(
      "stream synchronize, idle", [&] { return cu.stream_synchronize(stream); },
      [&] { return o.stream.synchronize(); });
  // From the pool that buffers come from, unless another one is current.
  const CUdevice device = machine.device.native();
  const CUmemoryPool pool = benchmark::need(gpu::library_pool_of(machine.device)).native();
  compare(
      "allocation and free on a stream",
      [&] {
        CUdeviceptr address = 0;
        CUmemoryPool current = nullptr;
        const CUresult asked = cu.device_get_mem_pool(&current, device);
        if (asked != CUDA_SUCCESS) return asked;
        const CUresult made = cu.mem_alloc_from_pool_async(&address, 1 << 16, pool, stream);
        return made != CUDA_SUCCESS ? made : cu.mem_free_async(address, stream);
      },
      [&] { return gpu::device_buffer<char>::create(o.stream, 1 << 16); });
  compare(
      "copy on a stream, device to device",
      [&] { return cu.memcpy_dtod_async(z, x, bytes, stream); },
      [&] { return gpu::copy(o.stream, o.x, o.z); });
  compare(
      "copy on a stream, to the device",
      [&] { return cu.memcpy_htod_async(x, o.pinned.data(), bytes, stream); },
      [&] { return gpu::copy(o.stream, o.pinned, o.x); });
  compare(
      "copy on a stream, to the host",
      [&] { return cu.memcpy_dtoh_async(o.pinned.data(), x, bytes, stream); },
      [&] { return gpu::copy(o.stream, o.x, o.pinned); });
  compare(
      "fill on a stream", [&] { return cu.memset_d32_async(y, 0, operands::n, stream); },
      [&] { return gpu::fill(o.stream, o.y, 0.0f); });

  const auto function = reinterpret_cast<CUfunction>(o.kernel.native());
  compare(
      "launch",
      [&] {
        float a = 1.0f;
        CUdeviceptr ax = x, ay = y, az = z;
        int n = operands::n;
        void* arguments[] = {&a, &ax, &ay, &az, &n};
        return cu.launch_kernel(function, 1, 1, 1, operands::n, 1, 1, 0, stream, arguments,
                                nullptr);
      },
      [&] {
        return gpu::launch(o.stream, operands::shape, o.kernel, 1.0f, o.x, o.y, o.z, operands::n);
      });
  compare(
      "launch with an attribute",
      [&] {
        float a = 1.0f;
        CUdeviceptr ax = x, ay = y, az = z;
        int n = operands::n;
        void* arguments[] = {&a, &ax, &ay, &az, &n};
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        attribute.value.priority = 0;
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = operands::n;
        config.blockDimY = config.blockDimZ = 1;
        config.hStream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        return cu.launch_kernel_ex(&config, function, arguments, nullptr);
      },
      [&] {
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        attribute.value.priority = 0;
        gpu::launch_config config = operands::shape;
        config.attributes = gpu::launch_attributes_ref::from_native(&attribute, 1);
        return gpu::launch(o.stream, config, o.kernel, 1.0f, o.x, o.y, o.z, operands::n);
      });
  const CUgraphExec exec = o.exec.native();
  compare(
      "graph launch", [&] { return cu.graph_launch(exec, stream); },
      [&] { return gpu::launch(o.stream, o.exec); });
  return compare.failed() ? 1 : 0;
}

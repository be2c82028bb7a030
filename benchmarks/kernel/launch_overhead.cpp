// Host time of gpu::launch beyond cuLaunchKernel, for five arguments.
//
// First in instructions, over a driver table that does nothing: a child process launches, and this
// one steps through it and counts. Then, if there is a GPU, in time: launches in turns, raw and
// through gpu, each with a stream that is kept short. Exits with 1 if a launch takes more than 100
// instructions above the raw call's, or more than 1 % above the time of a raw launch of the same
// CUkernel. With `instructions`, does only the first.

#include <gpu/gpu.hpp>

#include "../stepped_process.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ratio>
#include <vector>

namespace {

constexpr const char* source = R"(
extern "C" __global__ void axpby(float a, const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = a * x[i] + y[i];
})";

/// Keeps the compiler from knowing the value.
template <class T> T hidden(T value) {
  asm volatile("" : "+g"(value));
  return value;
}

using axpby_kernel = gpu::kernel<float, const float*, const float*, float*, int>;

struct operands {
  gpu::device_span<const float> x, y;
  gpu::device_span<float> z;
  int n;
};

/// Buffers know their context, and the launch compares it with the stream's.
struct owned_operands {
  gpu::device_buffer<float> x, y, z;
  int n;
};

/// A launch looks whether views are faulty.
using row_view = gpu::array_view<float, 1>;
using view_kernel = gpu::kernel<float, row_view, row_view, row_view, int>;
struct view_operands {
  row_view x, y, z;
  int n;
};

/// Returns the parameter for a span or a buffer, and for a view.
template <class Memory> CUdeviceptr parameter_of(const Memory& memory) { return memory.native(); }
row_view parameter_of(const row_view& view) { return view; }

struct raw_call {
  decltype(&::cuLaunchKernel) launch;
  CUfunction function;
  CUstream stream;
};

template <class Operands>
[[gnu::noinline]] bool launch_raw(const raw_call& raw, float a, Operands& o, unsigned grid) {
  auto x = parameter_of(o.x), y = parameter_of(o.y), z = parameter_of(o.z);
  int n = o.n;
  void* arguments[] = {&a, &x, &y, &z, &n};
  return raw.launch(raw.function, grid, 1, 1, 256, 1, 1, 0, raw.stream, arguments, nullptr) ==
         CUDA_SUCCESS;
}

/// The same for a shape that is known at run time only.
template <class Operands>
[[gnu::noinline]] bool launch_raw_any_shape(const raw_call& raw, float a, Operands& o,
                                            const gpu::launch_config& c) {
  auto x = parameter_of(o.x), y = parameter_of(o.y), z = parameter_of(o.z);
  int n = o.n;
  void* arguments[] = {&a, &x, &y, &z, &n};
  return raw.launch(raw.function, c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z,
                    c.shared_bytes, raw.stream, arguments, nullptr) == CUDA_SUCCESS;
}

template <class Kernel, class Operands>
[[gnu::noinline]] bool launch_gpu(const gpu::stream_ref& stream, const Kernel& kernel, float a,
                                  Operands& o, unsigned grid) {
  return gpu::launch(stream, {grid, 256}, kernel, a, o.x, o.y, o.z, o.n).has_value();
}

template <class Kernel, class Operands>
[[gnu::noinline]] bool launch_gpu_any_shape(const gpu::stream_ref& stream, const Kernel& kernel,
                                            float a, Operands& o,
                                            const gpu::launch_config& config) {
  return gpu::launch(stream, config, kernel, a, o.x, o.y, o.z, o.n).has_value();
}

/// A driver of one kernel, one device and no effects.
namespace nothing {

int handle;

CUresult load(CUlibrary* library, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*,
              void**, unsigned) {
  *library = reinterpret_cast<CUlibrary>(&handle);
  return CUDA_SUCCESS;
}
CUresult get_kernel(CUkernel* kernel, CUlibrary, const char*) {
  *kernel = reinterpret_cast<CUkernel>(&handle);
  return CUDA_SUCCESS;
}
CUresult unload(CUlibrary) { return CUDA_SUCCESS; }
CUresult get_module(CUmodule* module, CUlibrary) {
  *module = reinterpret_cast<CUmodule>(&handle);
  return CUDA_SUCCESS;
}
CUresult current(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(std::uintptr_t{0x2000});
  return CUDA_SUCCESS;
}
CUresult count(int* devices) {
  *devices = 1;
  return CUDA_SUCCESS;
}
CUresult kernel_attribute(int* value, CUfunction_attribute which, CUkernel, CUdevice) {
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult device_attribute(int* value, CUdevice_attribute which, CUdevice) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 0xffff; break;
    default: *value = 1024;
  }
  return CUDA_SUCCESS;
}
CUresult launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                CUstream, void**, void**) {
  return CUDA_SUCCESS;
}

gpu::driver::entry_points table() {
  gpu::driver::entry_points all{};
  all.library_load_data = load;
  all.library_get_kernel = get_kernel;
  all.library_unload = unload;
  all.library_get_module = get_module;
  all.ctx_get_current = current;
  all.device_get_count = count;
  all.kernel_get_attribute = kernel_attribute;
  all.device_get_attribute = device_attribute;
  all.launch_kernel = launch;
  return all;
}

}  // namespace nothing

constexpr int launches = 16;

/// All the ways to launch with such operands, each with a signal behind it.
template <class Kernel, class Operands>
bool launch_all_ways(const gpu::stream_ref& stream, const Kernel& kernel, const raw_call& raw,
                     Operands& o, const gpu::launch_config& config) {
  bool good = true;
  const auto repeat = [&](auto launch) __attribute__((always_inline)) {
    for (int i = 0; i < launches; ++i) good &= launch();
    std::raise(SIGUSR1);
  };
  repeat([&] { return launch_raw(*hidden(&raw), hidden(1.0f), o, hidden(1u)); });
  repeat([&] { return launch_gpu(stream, kernel, hidden(1.0f), o, hidden(1u)); });
  repeat([&] { return launch_raw_any_shape(*hidden(&raw), hidden(1.0f), o, *hidden(&config)); });
  repeat([&] { return launch_gpu_any_shape(stream, kernel, hidden(1.0f), o, *hidden(&config)); });
  return good;
}

/// The child: sections of work with a signal between them.
bool be_counted() {
  static const gpu::driver::entry_points table = nothing::table();
  gpu::driver::use_entry_points(&table);
  const gpu::result<gpu::module> module = gpu::module::load(".version 8.0");
  const auto kernel = module->kernel<float, const float*, const float*, float*, int>("axpby");
  const view_kernel of_views = *module->kernel<float, row_view, row_view, row_view, int>("axpby");
  const auto context =
      gpu::context_ref::from_native(reinterpret_cast<CUcontext>(hidden(std::uintptr_t{0x2000})),
                                    gpu::device::from_native(hidden(0)));
  const auto stream = gpu::stream_ref::from_native(
      reinterpret_cast<CUstream>(hidden(std::uintptr_t{0x1000})), context);
  const raw_call raw{nothing::launch, reinterpret_cast<CUfunction>(kernel->native()),
                     stream.native()};
  const auto floats = [](CUdeviceptr at) { return gpu::device_span<float>::from_native(at, 256); };
  const operands spans{floats(0x1000), floats(0x2000), floats(0x3000), 256};
  const auto owned = [&](CUdeviceptr at) {
    return gpu::device_buffer<float>::adopt(context, floats(at));
  };
  owned_operands buffers{owned(0x1000), owned(0x2000), owned(0x3000), 256};
  const view_operands views{floats(0x1000), floats(0x2000), floats(0x3000), 256};
  const gpu::launch_config config{{3, 2, 2}, {8, 8, 4}, 64};
  std::signal(SIGUSR1, SIG_IGN);
  bool good = launch_all_ways(stream, *kernel, raw, spans, config) &&
              launch_all_ways(stream, *kernel, raw, buffers, config) &&
              launch_all_ways(stream, of_views, raw, views, config);
  benchmark::begin_counting();
  for (int i = 0; i < launches; ++i) good = hidden(good);
  std::raise(SIGUSR1);
  good = launch_all_ways(stream, *kernel, raw, spans, config) && good;
  good = launch_all_ways(stream, *kernel, raw, buffers, config) && good;
  good = launch_all_ways(stream, of_views, raw, views, config) && good;
  return good;
}

constexpr long limit = 100;  // instructions above the raw call
constexpr const char* rows[] = {"three spans, {n, 256}",   "three spans, any shape",
                                "three buffers, {n, 256}", "three buffers, any shape",
                                "three views, {n, 256}",   "three views, any shape"};

int report_instructions() {
  const std::vector<long> sections =
      benchmark::count_instructions(2 * std::size(rows) + 1, be_counted);
  if (sections.empty()) {
    std::printf("instructions: not counted, this system does not let a process step another\n");
    return 0;
  }
  std::printf("instructions per launch if the driver does nothing\n");
  bool within = true;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto per_launch = [&](std::size_t section) {
      // Rounded: the loop around the launches begins and ends.
      return (sections[section] - sections[0] + launches / 2) / launches;
    };
    const long raw = per_launch(1 + 2 * i), ours = per_launch(2 + 2 * i);
    std::printf("  %-24s raw %ld   gpu::launch %ld   %+ld of %+ld\n", rows[i], raw, ours,
                ours - raw, limit);
    within = within && ours - raw <= limit;
  }
  std::printf("  within the limits: %s\n", within ? "yes" : "NO");
  return within ? 0 : 1;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Returns 1 if a launch takes too long, else 0.
gpu::result<int> report_times() {
  using clock = std::chrono::steady_clock;
  constexpr int n = 256, pairs = 20000;
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  const gpu::module module = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(source))));
  const auto kernel =
      GPU_TRY(module.kernel<float, const float*, const float*, float*, int>("axpby"));
  auto x = GPU_TRY(gpu::device_buffer<float>::create(device, n));
  auto y = GPU_TRY(gpu::device_buffer<float>::create(device, n));
  auto z = GPU_TRY(gpu::device_buffer<float>::create(device, n));
  const operands o{x.span(), y.span(), z.span(), n};

  // Raw twice: as a CUkernel, which gpu uses and which serves all devices, and as the CUfunction of
  // the current context, which is what a program without gpu would have.
  const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(stream.context()));
  const auto& table = gpu::driver::current_entry_points();
  CUfunction function = nullptr;
  table.kernel_get_function(&function, kernel.native());
  const raw_call as_kernel{table.launch_kernel, reinterpret_cast<CUfunction>(kernel.native()),
                           stream.native()};
  const raw_call as_function{table.launch_kernel, function, stream.native()};

  std::vector<double> times[3];
  for (int i = 0; i < pairs; ++i) {
    if (i % 64 == 0) GPU_TRY(stream.synchronize());
    // Another order in each round, so that no one always comes first.
    for (int turn = 0; turn < 3; ++turn) {
      const int which = (i + turn) % 3;
      const auto start = clock::now();
      const bool good = which == 0   ? launch_raw(as_function, 1.0f, o, 1)
                        : which == 1 ? launch_raw(as_kernel, 1.0f, o, 1)
                                     : launch_gpu(stream, kernel, 1.0f, o, 1);
      const auto end = clock::now();
      if (!good) std::printf("a launch failed\n");
      if (i >= pairs / 10) {
        times[which].push_back(std::chrono::duration<double, std::nano>(end - start).count());
      }
    }
  }
  GPU_TRY(stream.synchronize());
  const double raw = median(times[0]), raw_kernel = median(times[1]), ours = median(times[2]);
  std::printf("time per launch, median of %zu\n", times[0].size());
  std::printf("  cuLaunchKernel, CUfunction   %7.0f ns\n", raw);
  std::printf("  cuLaunchKernel, CUkernel     %7.0f ns  %.4f\n", raw_kernel, raw_kernel / raw);
  std::printf("  gpu::launch                  %7.0f ns  %.4f\n", ours, ours / raw);
  const bool within = ours <= 1.01 * raw_kernel;
  std::printf("  at most 1 %% above cuLaunchKernel of the CUkernel: %.4f, %s\n", ours / raw_kernel,
              within ? "yes" : "NO");
  return within ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int verdict = report_instructions();
  if (argc > 1 && std::strcmp(argv[1], "instructions") == 0) return verdict;
  const gpu::result<int> timed = report_times();
  if (!timed.has_value()) {
    std::printf("time per launch: not measured: %s\n", timed.error().message().c_str());
    return verdict;
  }
  return verdict | *timed;
}

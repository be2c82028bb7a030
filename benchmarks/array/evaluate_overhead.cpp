// The cost of gpu::assign of an expression on the host, and of a call of gpu::elementwise, in
// instructions, over a driver table that does nothing: a child process assigns, and this one steps
// through it and counts. The kernels are compiled by NVRTC. Exits with 1 if an assignment takes
// more than its limit. At 3 instructions per cycle of a 3.5 GHz processor, 250 ns are 2,600.

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/array.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>

#include "../stepped_process.hpp"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace {

constexpr int calls = 2;

/// A driver of one device that has no effects.
namespace nothing {

int handle;

template <class Handle> CUresult give_handle(Handle* made) {
  *made = reinterpret_cast<Handle>(&handle);
  return CUDA_SUCCESS;
}
CUresult load(CUlibrary* library, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*,
              void**, unsigned) {
  return give_handle(library);
}
CUresult get_kernel(CUkernel* kernel, CUlibrary, const char*) { return give_handle(kernel); }
CUresult get_module(CUmodule* module, CUlibrary) { return give_handle(module); }
CUresult unload(CUlibrary) { return CUDA_SUCCESS; }
CUresult release(CUdeviceptr) { return CUDA_SUCCESS; }
CUresult current(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(std::uintptr_t{0x2000});
  return CUDA_SUCCESS;
}
CUresult current_device(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult set_current(CUcontext) { return CUDA_SUCCESS; }
CUresult is_capturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
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
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
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
  all.library_get_module = get_module;
  all.library_unload = unload;
  all.mem_free = release;
  all.ctx_get_current = current;
  all.ctx_set_current = set_current;
  all.ctx_get_device = current_device;
  all.stream_is_capturing = is_capturing;
  all.device_get_count = count;
  all.kernel_get_attribute = kernel_attribute;
  all.device_get_attribute = device_attribute;
  all.launch_kernel = launch;
  return all;
}

}  // namespace nothing

struct row {
  const char* name;
  long limit;
};
constexpr row rows[] = {{"y = x", 550},
                        {"y = 2 * x + y", 900},
                        {"y = 2 * x + sin(x) * x - x / (x + 1)", 1450},
                        {"matrix = matrix + row", 700},
                        {"2 * x + y, elsewhere each time", 2700},
                        {"elementwise: y[i] += a * x[i]", 900},
                        {"elementwise: z[i] = a * x[i] + y[i]", 980}};

/// Does each piece of work several times, with a signal behind it.
gpu::result<> work(const gpu::stream_ref& stream, gpu::array<float>& x, gpu::array<float>& y,
                   gpu::array<float, 2>& matrix) {
  const auto repeat = [&](auto assign) -> gpu::result<> {
    for (int i = 0; i < calls; ++i) GPU_TRY(assign());
    std::raise(SIGUSR1);
    return {};
  };
  GPU_TRY(repeat([&] { return gpu::result<>(); }));
  GPU_TRY(repeat([&] { return gpu::assign(stream, y, x); }));
  GPU_TRY(repeat([&] { return gpu::assign(stream, y, 2 * x + y); }));
  GPU_TRY(repeat([&] { return gpu::assign(stream, y, 2 * x + gpu::sin(x) * x - x / (x + 1)); }));
  GPU_TRY(repeat([&] { return gpu::assign(stream, matrix, matrix + x); }));
  static CUdeviceptr elsewhere = 0x100000;
  GPU_TRY(repeat([&] {
    elsewhere += 0x100;
    const auto part = gpu::array_view<float>(gpu::device_span<float>::from_native(elsewhere, 4));
    return gpu::assign(stream, part, 2 * x + y);
  }));
  static const auto saxpy = GPU_TRY(
      (gpu::elementwise<float, const float*, float*>::create("a, x, y", "y[i] += a * x[i]")));
  GPU_TRY(repeat([&] { return saxpy(stream, 2.0f, x, y); }));
  static const auto sum =
      GPU_TRY((gpu::elementwise<float, const float*, const float*, float*>::create(
          "a, x, y, z", "z[i] = a * x[i] + y[i]")));
  const auto z = gpu::device_span<float>::from_native(0x40000, 4);
  return repeat([&] { return sum(stream, 2.0f, x.span(), y.span(), z); });
}

gpu::result<> be_counted() {
  static const gpu::driver::entry_points table = nothing::table();
  gpu::driver::use_entry_points(&table);
  const auto context = gpu::context_ref::from_native(
      reinterpret_cast<CUcontext>(std::uintptr_t{0x2000}), gpu::device::from_native(0));
  const auto stream =
      gpu::stream_ref::from_native(reinterpret_cast<CUstream>(std::uintptr_t{0x1000}), context);
  const auto memory = [&](CUdeviceptr at, std::size_t count) {
    return gpu::device_buffer<float>::adopt(context,
                                            gpu::device_span<float>::from_native(at, count));
  };
  auto x = GPU_TRY(gpu::array<float>::adopt(memory(0x10000, 4), {4}));
  auto y = GPU_TRY(gpu::array<float>::adopt(memory(0x20000, 4), {4}));
  auto matrix = GPU_TRY((gpu::array<float, 2>::adopt(memory(0x30000, 8), {2, 4})));
  std::signal(SIGUSR1, SIG_IGN);
  GPU_TRY(work(stream, x, y, matrix));
  benchmark::begin_counting();
  return work(stream, x, y, matrix);
}

}  // namespace

int main() {
  const std::vector<long> sections = benchmark::count_instructions(1 + std::size(rows), [] {
    const gpu::result<> counted = be_counted();
    if (!counted.has_value()) std::fprintf(stderr, "%s\n", counted.error().message().c_str());
    return counted.has_value();
  });
  if (sections.empty()) {
    std::printf("instructions: not counted, this system does not let a process step another\n");
    return 0;
  }
  std::printf("instructions of an assignment if the driver does nothing\n");
  bool within = true;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const long count = (sections[1 + i] - sections[0] + calls / 2) / calls;
    std::printf("  %-38s %ld of %ld\n", rows[i].name, count, rows[i].limit);
    within = within && count <= rows[i].limit;
  }
  std::printf("  within the limits: %s\n", within ? "yes" : "NO");
  return within ? 0 : 1;
}

#pragma once
/// \file
/// A driver table with one kernel that only writes down how it was launched: for what no result of
/// a kernel can show, such as the bytes of each argument and what is not called at all.

#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace test {

struct recorded_launch {
  CUfunction function = nullptr;
  std::vector<unsigned> grid, block;
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  std::vector<std::string> arguments;  ///< the bytes of each
  std::vector<CUlaunchAttribute> attributes;
  bool extended = false;  ///< cuLaunchKernelEx
};

/// The kernel of the table, and the launches of it.
struct recording_state {
  std::vector<std::size_t> sizes;  ///< of its parameters
  std::vector<std::size_t> offsets;
  std::vector<recorded_launch> launches;
  std::vector<std::string> calls;  ///< besides launches
  int max_threads = 1024;
  int static_shared = 0;
  int dynamic_shared = 48 << 10;
  bool has_clusters = true;
  bool nonportable_clusters = false;
  CUresult answer = CUDA_SUCCESS;  ///< to launches
  CUresult domain_answer =
      CUDA_SUCCESS;  ///< to the question how many memory sync domains there are
};

inline recording_state& recording() {
  static recording_state state;
  return state;
}

namespace recorded {

inline int object;

inline CUresult load(CUlibrary* library, const void*, CUjit_option*, void**, unsigned,
                     CUlibraryOption*, void**, unsigned) {
  *library = reinterpret_cast<CUlibrary>(&object);
  return CUDA_SUCCESS;
}
inline CUresult get_module(CUmodule* module, CUlibrary) {
  *module = reinterpret_cast<CUmodule>(&object);
  return CUDA_SUCCESS;
}
/// The context of `recording_driver::stream()`.
inline CUresult current(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(std::uintptr_t{0x2000});
  return CUDA_SUCCESS;
}
inline CUresult unload(CUlibrary) {
  recording().calls.emplace_back("unload");
  return CUDA_SUCCESS;
}
inline CUresult get_kernel(CUkernel* kernel, CUlibrary, const char* name) {
  if (std::strcmp(name, "recorded") != 0) return CUDA_ERROR_NOT_FOUND;
  *kernel = reinterpret_cast<CUkernel>(&object);
  return CUDA_SUCCESS;
}
inline CUresult parameter(CUkernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  const recording_state& state = recording();
  if (index >= state.sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = state.offsets[index];
  *size = state.sizes[index];
  return CUDA_SUCCESS;
}
inline CUresult kernel_attribute(int* value, CUfunction_attribute which, CUkernel, CUdevice) {
  const recording_state& state = recording();
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK           ? state.max_threads
           : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES             ? state.static_shared
           : which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? state.dynamic_shared
           : which == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
               ? int{state.nonportable_clusters}
               : 0;
  return CUDA_SUCCESS;
}
inline CUresult set_kernel_attribute(CUfunction_attribute which, int value, CUkernel, CUdevice) {
  recording().calls.push_back("set " + std::to_string(which) + " to " + std::to_string(value));
  return CUDA_SUCCESS;
}
inline CUresult device_attribute(int* value, CUdevice_attribute which, CUdevice) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: *value = recording().has_clusters; break;
    case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: *value = 4; return recording().domain_answer;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 0xffff; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 << 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 227 << 10; break;
    default: *value = 1024;
  }
  return CUDA_SUCCESS;
}
/// A multiprocessor holds three blocks, and the device four clusters, of 16 blocks at most.
inline CUresult active_blocks(int* blocks, CUfunction, int, std::size_t, unsigned) {
  *blocks = 3;
  return CUDA_SUCCESS;
}
inline CUresult active_clusters(int* clusters, CUfunction, const CUlaunchConfig*) {
  *clusters = 4;
  return CUDA_SUCCESS;
}
inline CUresult largest_cluster(int* blocks, CUfunction, const CUlaunchConfig*) {
  *blocks = 16;
  return CUDA_SUCCESS;
}
inline void note_arguments(recorded_launch& launch, void** arguments) {
  for (std::size_t i = 0; i < recording().sizes.size(); ++i) {
    launch.arguments.emplace_back(static_cast<const char*>(arguments[i]), recording().sizes[i]);
  }
}
inline CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream, void** arguments,
                       void**) {
  if (recording().answer != CUDA_SUCCESS) return recording().answer;
  recorded_launch made{f, {gx, gy, gz}, {bx, by, bz}, shared, stream, {}, {}, false};
  note_arguments(made, arguments);
  recording().launches.push_back(made);
  return CUDA_SUCCESS;
}
inline CUresult launch_ex(const CUlaunchConfig* c, CUfunction f, void** arguments, void**) {
  if (recording().answer != CUDA_SUCCESS) return recording().answer;
  recorded_launch made{f,
                       {c->gridDimX, c->gridDimY, c->gridDimZ},
                       {c->blockDimX, c->blockDimY, c->blockDimZ},
                       c->sharedMemBytes,
                       c->hStream,
                       {},
                       {c->attrs, c->attrs + c->numAttrs},
                       true};
  note_arguments(made, arguments);
  recording().launches.push_back(made);
  return CUDA_SUCCESS;
}

inline const gpu::driver::entry_points& table() {
  static const gpu::driver::entry_points all = [] {
    gpu::driver::entry_points t{};
    t.library_load_data = load;
    t.library_unload = unload;
    t.library_get_module = get_module;
    t.ctx_get_current = current;
    t.library_get_kernel = get_kernel;
    t.kernel_get_param_info = parameter;
    t.kernel_get_attribute = kernel_attribute;
    t.kernel_set_attribute = set_kernel_attribute;
    t.device_get_attribute = device_attribute;
    t.occupancy_max_active_blocks_per_multiprocessor_with_flags = active_blocks;
    t.occupancy_max_active_clusters = active_clusters;
    t.occupancy_max_potential_cluster_size = largest_cluster;
    t.launch_kernel = launch;
    t.launch_kernel_ex = launch_ex;
    return t;
  }();
  return all;
}

}  // namespace recorded

/// Puts the recording table in force, with a kernel whose parameters have these sizes.
class recording_driver {
 public:
  explicit recording_driver(std::vector<std::size_t> sizes, std::vector<std::size_t> offsets)
      : scope_{recorded::table()} {
    recording() = {};
    recording().sizes = std::move(sizes);
    recording().offsets = std::move(offsets);
  }
  recording_driver() : recording_driver({}, {}) {}

  /// A stream of device 0 that no driver made.
  static gpu::stream_ref stream() {
    return gpu::stream_ref::from_native(
        reinterpret_cast<CUstream>(std::uintptr_t{0x1000}),
        gpu::context_ref::from_native(reinterpret_cast<CUcontext>(std::uintptr_t{0x2000}),
                                      gpu::device::from_native(0)));
  }

 private:
  gpu::driver::scoped_entry_points scope_;
};

}  // namespace test

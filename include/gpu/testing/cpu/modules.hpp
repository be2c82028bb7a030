#pragma once
#include <gpu/testing/cpu/driver_state.hpp>
namespace gpu::testing::cpu::entry {
inline CUresult module_load(call&, CUmodule*, const char*) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult module_load_data(call&, CUmodule*, const void*) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult module_load_data_ex(call&, CUmodule*, const void*, unsigned int, CUjit_option*,
                                    void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult module_load_fat_binary(call&, CUmodule*, const void*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult module_unload(call&, CUmodule) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult module_get_function(call&, CUfunction*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult module_get_function_count(call&, unsigned int*, CUmodule) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult module_enumerate_functions(call&, CUfunction*, unsigned int, CUmodule) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult module_get_global(call&, CUdeviceptr*, size_t*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult module_get_loading_mode(call&, CUmoduleLoadingMode*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult library_load_data(call&, CUlibrary*, const void*, CUjit_option*, void**,
                                  unsigned int, CUlibraryOption*, void**, unsigned int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult library_load_from_file(call&, CUlibrary*, const char*, CUjit_option*, void**,
                                       unsigned int, CUlibraryOption*, void**, unsigned int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult library_unload(call&, CUlibrary) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult library_get_kernel(call&, CUkernel*, CUlibrary, const char*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult library_get_kernel_count(call&, unsigned int*, CUlibrary) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult library_enumerate_kernels(call&, CUkernel*, unsigned int, CUlibrary) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult library_get_module(call&, CUmodule*, CUlibrary) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult library_get_global(call&, CUdeviceptr*, size_t*, CUlibrary, const char*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult kernel_get_function(call&, CUfunction*, CUkernel) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult kernel_get_library(call&, CUlibrary*, CUkernel) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult kernel_get_name(call&, const char**, CUkernel) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult kernel_get_param_info(call&, CUkernel, size_t, size_t*, size_t*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult kernel_get_attribute(call&, int*, CUfunction_attribute, CUkernel, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult kernel_set_attribute(call&, CUfunction_attribute, int, CUkernel, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult func_get_attribute(call&, int*, CUfunction_attribute, CUfunction) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult func_set_attribute(call&, CUfunction, CUfunction_attribute, int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult func_get_module(call&, CUmodule*, CUfunction) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult func_get_name(call&, const char**, CUfunction) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult func_get_param_info(call&, CUfunction, size_t, size_t*, size_t*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult func_set_cache_config(call&, CUfunction, CUfunc_cache) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult func_is_loaded(call&, CUfunctionLoadingState*, CUfunction) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult func_load(call&, CUfunction) { return CUDA_ERROR_NOT_SUPPORTED; }
inline CUresult launch_kernel(call&, CUfunction, unsigned int, unsigned int, unsigned int,
                              unsigned int, unsigned int, unsigned int, unsigned int, CUstream,
                              void**, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult launch_kernel_ex(call&, const CUlaunchConfig*, CUfunction, void**, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult launch_cooperative_kernel(call&, CUfunction, unsigned int, unsigned int,
                                          unsigned int, unsigned int, unsigned int, unsigned int,
                                          unsigned int, CUstream, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult occupancy_max_active_blocks_per_multiprocessor(call&, int*, CUfunction, int,
                                                               size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult occupancy_max_active_blocks_per_multiprocessor_with_flags(call&, int*, CUfunction,
                                                                          int, size_t,
                                                                          unsigned int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult occupancy_max_potential_block_size(call&, int*, int*, CUfunction,
                                                   CUoccupancyB2DSize, size_t, int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult occupancy_max_potential_block_size_with_flags(call&, int*, int*, CUfunction,
                                                              CUoccupancyB2DSize, size_t, int,
                                                              unsigned int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
inline CUresult occupancy_available_dynamic_smem_per_block(call&, size_t*, CUfunction, int, int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
}  // namespace gpu::testing::cpu::entry

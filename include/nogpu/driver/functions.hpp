#pragma once
/// \file
/// Entry points: the properties of a kernel, as a function or as a library's kernel, and its
/// settings.

#include <nogpu/driver/code_loading.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/enumeration.hpp>
#include <nogpu/driver/libraries.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>

namespace nogpu { inline namespace v1 { namespace driver {

/// The most dynamic shared memory that a launch of a kernel may ask for now.
inline int dynamic_shared_limit(const machine::executable& kernel,
                                const kernel_settings& settings) {
  if (settings.max_dynamic_shared_set) return settings.max_dynamic_shared;
  return std::max(0, shared_per_block - static_cast<int>(kernel.static_shared_bytes));
}

/// Registers of a thread: the machine's estimate, within what the instruction set has.
inline int registers_of(const machine::executable& kernel) {
  return std::clamp(static_cast<int>(kernel.registers), 8, 255);
}

inline CUresult give_attribute(const machine::executable& kernel, const kernel_settings& settings,
                               CUfunction_attribute attribute, int& value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      value = static_cast<int>(kernel.max_threads_per_block);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      value = static_cast<int>(kernel.static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      value = static_cast<int>(kernel.constant_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      value = static_cast<int>(kernel.local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: value = registers_of(kernel); return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      value = static_cast<int>(kernel.module->target);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      value = static_cast<int>(target_architecture);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: value = 0; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      value = dynamic_shared_limit(kernel, settings);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      value = settings.carveout;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      value = kernel.entry->explicit_cluster && kernel.entry->required_cluster.x == 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      value = static_cast<int>(kernel.entry->required_cluster.x);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      value = static_cast<int>(kernel.entry->required_cluster.y);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      value = static_cast<int>(kernel.entry->required_cluster.z);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      value = settings.nonportable_cluster;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      value = settings.cluster_policy;
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

inline CUresult take_attribute(const machine::executable& kernel, kernel_settings& settings,
                               CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 ||
          value > shared_per_block_optin - static_cast<int>(kernel.static_shared_bytes))
        return CUDA_ERROR_INVALID_VALUE;
      settings.max_dynamic_shared = value;
      settings.max_dynamic_shared_set = true;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      settings.carveout = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      settings.nonportable_cluster = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT ||
          value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
        return CUDA_ERROR_INVALID_VALUE;
      settings.cluster_policy = value;
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;  // the others are read-only
  }
}

inline CUresult give_parameter(const machine::executable& kernel, std::size_t index,
                               std::size_t* offset, std::size_t* size) {
  if (offset == nullptr || index >= kernel.entry->parameters.size())
    return CUDA_ERROR_INVALID_VALUE;
  const ptx::parameter& parameter = kernel.entry->parameters[index];
  *offset = parameter.offset;
  if (size != nullptr) *size = parameter.size;
  return CUDA_SUCCESS;
}

/// The code of a library's kernel, as it was when the library was loaded.
inline CUresult find_code(call& c, CUkernel handle, kernel_ptr& kernel,
                          const machine::executable*& code) {
  library_ptr library;
  if (const CUresult bad = find_kernel(c, handle, kernel, library)) return bad;
  code = library->first->loaded.find_kernel(kernel->name);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult kernel_get_param_info(call& c, CUkernel handle, std::size_t index,
                                      std::size_t* offset, std::size_t* size) {
  kernel_ptr kernel;
  context_ptr context;
  const machine::executable* code = nullptr;
  if (const CUresult bad = find_code(c, handle, kernel, code)) return bad;
  if (const CUresult bad = c.current(context)) return bad;
  return give_parameter(*code, index, offset, size);
}

inline CUresult kernel_get_attribute(call& c, int* value, CUfunction_attribute attribute,
                                     CUkernel handle, CUdevice ordinal) {
  kernel_ptr kernel;
  device_state* device = nullptr;
  const machine::executable* code = nullptr;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_code(c, handle, kernel, code)) return bad;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  return give_attribute(*code, *kernel->settings_of(ordinal), attribute, *value);
}

inline CUresult kernel_set_attribute(call& c, CUfunction_attribute attribute, int value,
                                     CUkernel handle, CUdevice ordinal) {
  kernel_ptr kernel;
  device_state* device = nullptr;
  const machine::executable* code = nullptr;
  if (const CUresult bad = find_code(c, handle, kernel, code)) return bad;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  return take_attribute(*code, *kernel->settings_of(ordinal), attribute, value);
}

inline CUresult kernel_set_cache_config(call& c, CUkernel handle, CUfunc_cache config,
                                        CUdevice ordinal) {
  kernel_ptr kernel;
  device_state* device = nullptr;
  const machine::executable* code = nullptr;
  if (const CUresult bad = find_code(c, handle, kernel, code)) return bad;
  if (number_of(config) > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(ordinal, device)) return bad;
  kernel->settings_of(ordinal)->cache_config = config;
  return CUDA_SUCCESS;
}

inline CUresult func_get_attribute(call& c, int* value, CUfunction_attribute attribute,
                                   CUfunction handle) {
  function_ptr function;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  return give_attribute(*function->kernel, *function->settings, attribute, *value);
}

inline CUresult func_set_attribute(call& c, CUfunction handle, CUfunction_attribute attribute,
                                   int value) {
  function_ptr function;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  return take_attribute(*function->kernel, *function->settings, attribute, value);
}

inline CUresult func_get_module(call& c, CUmodule* module, CUfunction handle) {
  function_ptr function;
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  const module_ptr found = function->module.lock();
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  *module = found->handle;
  return CUDA_SUCCESS;
}

inline CUresult func_get_name(call& c, const char** name, CUfunction handle) {
  function_ptr function;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  *name = function->kernel->entry->name.c_str();
  return CUDA_SUCCESS;
}

inline CUresult func_get_param_info(call& c, CUfunction handle, std::size_t index,
                                    std::size_t* offset, std::size_t* size) {
  function_ptr function;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  return give_parameter(*function->kernel, index, offset, size);
}

inline CUresult func_set_cache_config(call& c, CUfunction handle, CUfunc_cache config) {
  function_ptr function;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  if (number_of(config) > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  function->settings->cache_config = config;
  return CUDA_SUCCESS;
}

inline CUresult func_is_loaded(call& c, CUfunctionLoadingState* state, CUfunction handle) {
  function_ptr function;
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_function(c, handle, function)) return bad;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

inline CUresult func_load(call& c, CUfunction handle) {
  function_ptr function;
  return find_function(c, handle, function);
}

}}}  // namespace nogpu::v1::driver::entry

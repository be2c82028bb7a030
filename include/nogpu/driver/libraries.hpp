#pragma once
/// \file
/// Entry points: libraries, the code of all contexts, and their kernels.

#include <nogpu/driver/code_loading.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/modules.hpp>

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult load_library(call& c, CUlibrary* handle, const void* image,
                             const jit_options& options, const CUlibraryOption* library_options,
                             unsigned option_count) {
  if (handle == nullptr || image == nullptr || !options.valid() ||
      (option_count != 0 && library_options == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < option_count; ++i)
    if (static_cast<unsigned>(library_options[i]) >= CU_LIBRARY_NUM_OPTIONS)
      return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<library_state>();
  made->place = c.driver.place();
  const std::uint64_t owner = c.driver.next_owner();
  c.lock.unlock();
  const CUresult bad = read_image(c.driver, image, options, made->ptx);
  // Errors in the PTX go to the log at once, but only the call that first needs the code fails.
  if (!bad) made->refused = make_code(c.driver, made->ptx, options, owner, made->first);
  c.lock.lock();
  if (bad) return bad;
  if (made->refused) {
    *handle = c.driver.libraries.add(made);
    return CUDA_SUCCESS;
  }
  for (const machine::executable* each : made->first->loaded.kernels()) {
    auto kernel = std::make_shared<kernel_state>();
    kernel->library = made;
    kernel->name = each->entry->name;
    (void)c.driver.kernels.add(kernel);
    made->kernels.emplace(kernel->name, kernel);
    made->in_order.push_back(std::move(kernel));
  }
  *handle = c.driver.libraries.add(made);
  return CUDA_SUCCESS;
}

inline CUresult find_library(call& c, CUlibrary handle, library_ptr& library) {
  library = c.driver.libraries.find(handle);
  return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// A library whose kernels are needed.
inline CUresult find_read_library(call& c, CUlibrary handle, library_ptr& library) {
  if (const CUresult bad = find_library(c, handle, library)) return bad;
  return library->refused;
}

inline CUresult find_kernel(call& c, CUkernel handle, kernel_ptr& kernel, library_ptr& library) {
  kernel = c.driver.kernels.find(handle);
  library = kernel ? kernel->library.lock() : nullptr;
  return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// A library's module in the current context.
inline CUresult module_here(call& c, const library_ptr& library, module_ptr& module) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  return module_of(c, library, context, module);
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult library_load_data(call& c, CUlibrary* library, const void* image,
                                  CUjit_option* names, void** values, unsigned count,
                                  CUlibraryOption* library_options, void**,
                                  unsigned library_option_count) {
  return load_library(c, library, image, {count, names, values}, library_options,
                      library_option_count);
}

inline CUresult library_load_from_file(call& c, CUlibrary* library, const char* file,
                                       CUjit_option* names, void** values, unsigned count,
                                       CUlibraryOption* library_options, void**,
                                       unsigned library_option_count) {
  std::vector<char> contents;
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = read_file(file, contents)) return bad;
  return load_library(c, library, contents.data(), {count, names, values}, library_options,
                      library_option_count);
}

inline CUresult library_unload(call& c, CUlibrary handle) {
  library_ptr library;
  if (const CUresult bad = find_library(c, handle, library)) return bad;
  for (const auto& [context, module] : library->modules) drop_module(c.driver, module);
  for (const kernel_ptr& each : library->in_order) (void)c.driver.kernels.take(each->handle);
  (void)c.driver.libraries.take(handle);
  return CUDA_SUCCESS;
}

inline CUresult library_get_kernel(call& c, CUkernel* kernel, CUlibrary handle, const char* name) {
  library_ptr library;
  if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_read_library(c, handle, library)) return bad;
  const auto found = library->kernels.find(name);
  if (found == library->kernels.end()) return CUDA_ERROR_NOT_FOUND;
  *kernel = found->second->handle;
  return CUDA_SUCCESS;
}

inline CUresult library_get_kernel_count(call& c, unsigned* count, CUlibrary handle) {
  library_ptr library;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_read_library(c, handle, library)) return bad;
  *count = static_cast<unsigned>(library->in_order.size());
  return CUDA_SUCCESS;
}

inline CUresult library_enumerate_kernels(call& c, CUkernel* kernels, unsigned count,
                                          CUlibrary handle) {
  library_ptr library;
  if (kernels == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_read_library(c, handle, library)) return bad;
  for (const kernel_ptr& each : library->in_order) {
    if (count-- == 0) break;
    *kernels++ = each->handle;
  }
  return CUDA_SUCCESS;
}

inline CUresult library_get_module(call& c, CUmodule* module, CUlibrary handle) {
  library_ptr library;
  module_ptr found;
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_library(c, handle, library)) return bad;
  if (const CUresult bad = module_here(c, library, found)) return bad;
  *module = found->handle;
  return CUDA_SUCCESS;
}

inline CUresult library_get_global(call& c, CUdeviceptr* pointer, std::size_t* bytes,
                                   CUlibrary handle, const char* name) {
  library_ptr library;
  module_ptr module;
  if (const CUresult bad = find_library(c, handle, library)) return bad;
  if (const CUresult bad = module_here(c, library, module)) return bad;
  return give_variable(*module, name, pointer, bytes);
}

/// The address and size of a managed variable, which is the same in all contexts.
inline CUresult library_get_managed(call& c, CUdeviceptr* pointer, std::size_t* bytes,
                                    CUlibrary handle, const char* name) {
  library_ptr library;
  module_ptr module;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_library(c, handle, library)) return bad;
  if (const CUresult bad = module_here(c, library, module)) return bad;
  const auto found = module->code->loaded.find_variable(name);
  if (!found || !found->managed) return CUDA_ERROR_NOT_FOUND;
  return give_variable(*module, name, pointer, bytes);
}

inline CUresult kernel_get_function(call& c, CUfunction* function, CUkernel handle) {
  function_ptr found;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (kind_of_handle(handle) != static_cast<unsigned>(handle_kind::kernel))
    return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult bad = find_function(c, reinterpret_cast<CUfunction>(handle), found))
    return bad;
  *function = found->handle;
  return CUDA_SUCCESS;
}

inline CUresult kernel_get_library(call& c, CUlibrary* out, CUkernel handle) {
  kernel_ptr kernel;
  library_ptr library;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_kernel(c, handle, kernel, library)) return bad;
  *out = library->handle;
  return CUDA_SUCCESS;
}

inline CUresult kernel_get_name(call& c, const char** name, CUkernel handle) {
  kernel_ptr kernel;
  library_ptr library;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_kernel(c, handle, kernel, library)) return bad;
  *name = kernel->name.c_str();
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry

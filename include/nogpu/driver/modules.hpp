#pragma once
/// \file
/// Entry points: modules, the code of one context.

#include <nogpu/driver/code_loading.hpp>
#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult load_module(call& c, CUmodule* handle, const void* image,
                            const jit_options& options) {
  context_ptr context;
  if (handle == nullptr || image == nullptr || !options.valid()) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  const std::string place = c.driver.place();
  const std::uint64_t owner = c.driver.next_owner();
  std::string text;
  code_ptr code;
  c.lock.unlock();
  CUresult bad = read_image(c.driver, image, options, text);
  if (!bad) bad = make_code(c.driver, text, options, owner, code);
  c.lock.lock();
  if (bad) return bad;
  if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  c.driver.memory.allow(context->owner, owner);
  auto made = std::make_shared<module_state>();
  made->context = context;
  made->code = std::move(code);
  made->place = place;
  *handle = c.driver.modules.add(made);
  return CUDA_SUCCESS;
}

inline CUresult find_module(call& c, CUmodule handle, module_ptr& found) {
  found = c.driver.modules.find(handle);
  return found ? CUDA_SUCCESS : c.driver.modules.why_unknown(handle);
}

/// The address and size of a variable; either pointer may be null.
inline CUresult give_variable(const module_state& module, const char* name, CUdeviceptr* pointer,
                              std::size_t* bytes) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = module.code->loaded.find_variable(name);
  if (!found) return CUDA_ERROR_NOT_FOUND;
  if (pointer != nullptr) *pointer = found->base;
  if (bytes != nullptr) *bytes = static_cast<std::size_t>(found->size);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult module_load_data_ex(call& c, CUmodule* module, const void* image, unsigned count,
                                    CUjit_option* names, void** values) {
  return load_module(c, module, image, {count, names, values});
}
inline CUresult module_load_data(call& c, CUmodule* module, const void* image) {
  return load_module(c, module, image, {});
}
inline CUresult module_load_fat_binary(call& c, CUmodule* module, const void* image) {
  return load_module(c, module, image, {});
}
inline CUresult module_load(call& c, CUmodule* module, const char* file) {
  std::vector<char> contents;
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = read_file(file, contents)) return bad;
  return load_module(c, module, contents.data(), {});
}

inline CUresult module_unload(call& c, CUmodule handle) {
  module_ptr module;
  if (const CUresult bad = find_module(c, handle, module)) return bad;
  if (module->of_library) return CUDA_ERROR_INVALID_HANDLE;  // goes with its library
  drop_module(c.driver, module);
  return call::usable(*module->context);
}

inline CUresult module_get_function(call& c, CUfunction* function, CUmodule handle,
                                    const char* name) {
  module_ptr module;
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_module(c, handle, module)) return bad;
  const function_ptr found = function_of(c, module, name);
  if (!found) return CUDA_ERROR_NOT_FOUND;
  *function = found->handle;
  return CUDA_SUCCESS;
}

inline CUresult module_get_function_count(call& c, unsigned* count, CUmodule handle) {
  module_ptr module;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_module(c, handle, module)) return bad;
  *count = static_cast<unsigned>(module->code->loaded.kernels().size());
  return CUDA_SUCCESS;
}

inline CUresult module_enumerate_functions(call& c, CUfunction* functions, unsigned count,
                                           CUmodule handle) {
  module_ptr module;
  if (functions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_module(c, handle, module)) return bad;
  for (const machine::executable* kernel : module->code->loaded.kernels()) {
    if (count-- == 0) break;
    *functions++ = function_of(c, module, kernel->entry->name)->handle;
  }
  return CUDA_SUCCESS;
}

inline CUresult module_get_global(call& c, CUdeviceptr* pointer, std::size_t* bytes,
                                  CUmodule handle, const char* name) {
  module_ptr module;
  if (const CUresult bad = find_module(c, handle, module)) return bad;
  return give_variable(*module, name, pointer, bytes);
}

inline CUresult module_get_loading_mode(call&, CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry

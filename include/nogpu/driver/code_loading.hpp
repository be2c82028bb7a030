#pragma once
/// \file
/// From an image in memory or in a file to code that a context can run.

#include <gpu/system/read_file.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/jit_options.hpp>
#include <nogpu/driver/linked_image.hpp>
#include <nogpu/driver/parsed_modules.hpp>
#include <nogpu/machine/loader.hpp>
#include <nogpu/ptx/fatbin.hpp>

#include <cuda.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// Returns the error code for each reason to reject an image.
inline CUresult code_of(ptx::refusal reason) {
  switch (reason) {
    case ptx::refusal::malformed:
    case ptx::refusal::unsupported_target:
    case ptx::refusal::unsupported_instruction:
    case ptx::refusal::too_large: return CUDA_ERROR_INVALID_PTX;
    case ptx::refusal::unsupported_version: return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case ptx::refusal::invalid_image: return CUDA_ERROR_INVALID_IMAGE;
    case ptx::refusal::compressed:
    case ptx::refusal::no_ptx: return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return CUDA_ERROR_INVALID_PTX;
}

/// Writes to the caller's log why an image was rejected. If a GPU would accept the image, reports
/// it too: programs often request no log, and the error code alone would be misleading.
inline CUresult refuse_code(driver_state& driver, const jit_options& options,
                            const ptx::diagnostic& why) {
  const bool in_text = why.reason != ptx::refusal::invalid_image &&
                       why.reason != ptx::refusal::compressed && why.reason != ptx::refusal::no_ptx;
  std::string text;
  if (in_text)
    text = "PTX line " + std::to_string(why.line) + ", column " + std::to_string(why.column) + ": ";
  text += why.text;
  options.write_log(true, text);
  if (why.reason == ptx::refusal::unsupported_instruction || why.reason == ptx::refusal::compressed)
    driver.report("cannot load a module: " + text);
  return code_of(why.reason);
}

/// Finds the PTX of an image, or the whole of an image that this driver linked. Without the lock.
inline CUresult read_image(driver_state& driver, const void* image, const jit_options& options,
                           std::string& text) {
  const bool linked = ptx::identify(image) == ptx::image_kind::elf && is_linked_image(image);
  if (linked && target_of_linked_image(image) == target_architecture) {
    text.assign(static_cast<const char*>(image), size_of_linked_image(image));
    return CUDA_SUCCESS;
  }
  ptx::image_text found = ptx::text_of_image(image, target_architecture);
  if (!found) return refuse_code(driver, options, *found.error);
  text = std::move(found.text);
  return CUDA_SUCCESS;
}

/// Makes code of PTX, with variables of its own that belong to `owner`; managed ones are those of
/// `managed_of`, if it is not null. Without the lock.
inline CUresult make_code(driver_state& driver, const std::string& text, const jit_options& options,
                          std::uint64_t owner, code_ptr& code,
                          const machine::loaded_module* managed_of = nullptr) {
  if (options.target(target_architecture) != target_architecture) return CUDA_ERROR_INVALID_SOURCE;
  const auto begin = std::chrono::steady_clock::now();
  parsed_code parsed = parsed_modules::of_process().find_or_parse(text, options.unoptimized());
  if (parsed.error) return refuse_code(driver, options, *parsed.error);
  const bool linked = text.size() >= detail::elf_header_size && is_linked_image(text.data());
  const std::uint32_t max_registers = managed_of != nullptr ? managed_of->max_registers()
                                      : linked ? max_registers_of_linked_image(text.data())
                                               : options.max_registers();
  machine::load_result loaded = machine::load(
      std::move(parsed.module), driver.memory,
      {.owner = owner, .name = "module", .managed_of = managed_of, .max_registers = max_registers});
  if (!loaded) {
    const CUresult refused = refuse_code(driver, options, loaded.diagnostic);
    return loaded.why == machine::load_result::failure::out_of_memory ? CUDA_ERROR_OUT_OF_MEMORY
                                                                      : refused;
  }
  code = std::make_shared<loaded_code>(std::move(*loaded.module));
  code->owner = owner;
  options.write_log(false, "");
  options.write_log(true, "");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  options.write_wall_time(took.count());
  return CUDA_SUCCESS;
}

/// Returns the contents of a file, followed by zeros, so that a search for their end stops.
inline CUresult read_file(const char* name, std::vector<char>& contents) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  gpu::detail::open_file file;
  gpu::text whole;
  int failure = file.open(name);
  if (failure != 0 && failure != EISDIR && failure != ESPIPE) return CUDA_ERROR_FILE_NOT_FOUND;
  if (failure == 0) failure = file.read_all(gpu::detail::most_file_bytes, whole);
  if (failure == ENOMEM) return CUDA_ERROR_OUT_OF_MEMORY;
  if (failure != 0) return CUDA_ERROR_OPERATING_SYSTEM;
  contents.assign(whole.begin(), whole.end());
  contents.insert(contents.end(), 64, '\0');
  return CUDA_SUCCESS;
}

/// Returns a function of a module, which is created on first use; null if the module has no
/// function of that name.
inline function_ptr function_of(call& c, const module_ptr& module, std::string_view name,
                                std::shared_ptr<kernel_settings> settings = nullptr) {
  if (const auto known = module->functions.find(name); known != module->functions.end())
    return known->second;
  const machine::executable* kernel = module->code->loaded.find_kernel(name);
  if (kernel == nullptr) return nullptr;
  auto made = std::make_shared<function_state>();
  made->module = module;
  made->code = module->code;
  made->kernel = kernel;
  made->context = module->context->handle;
  made->settings = settings ? std::move(settings) : std::make_shared<kernel_settings>();
  (void)c.driver.functions.add(made);
  module->functions.emplace(std::string(name), made);
  return made;
}

/// Ends a module's handles. Work that is queued keeps the code until it is done.
inline void drop_module(driver_state& driver, const module_ptr& module) {
  for (const auto& [name, function] : module->functions)
    (void)driver.functions.take(function->handle);
  (void)driver.modules.take(module->handle);
}

/// A library's code in a context: one module for each, made when it is first asked for.
inline CUresult module_of(call& c, const library_ptr& library, const context_ptr& context,
                          module_ptr& made) {
  const auto known = library->modules.find(context.get());
  if (known != library->modules.end()) {
    made = known->second;
    return CUDA_SUCCESS;
  }
  if (library->refused) return library->refused;
  code_ptr code;
  if (!library->first_given) {
    library->first_given = true;
    code = library->first;
    c.driver.memory.allow(context->owner, code->owner);
  } else {
    const std::uint64_t owner = c.driver.next_owner();
    c.lock.unlock();
    const CUresult bad =
        make_code(c.driver, library->ptx, {}, owner, code, &library->first->loaded);
    c.lock.lock();
    if (bad) return bad;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (const auto other = library->modules.find(context.get()); other != library->modules.end()) {
      made = other->second;  // another thread made it first
      return CUDA_SUCCESS;
    }
    c.driver.memory.allow(context->owner, owner);
  }
  made = std::make_shared<module_state>();
  made->context = context;
  made->code = std::move(code);
  made->of_library = true;
  (void)c.driver.modules.add(made);
  library->modules.emplace(context.get(), made);
  return CUDA_SUCCESS;
}

/// Finds the function of a launch or a query: a function, or a kernel of a library in `context`.
inline CUresult find_function(call& c, CUfunction handle, const context_ptr& context,
                              function_ptr& function) {
  if (kind_of_handle(handle) == static_cast<unsigned>(handle_kind::kernel)) {
    const kernel_ptr kernel = c.driver.kernels.find(reinterpret_cast<CUkernel>(handle));
    const library_ptr library = kernel ? kernel->library.lock() : nullptr;
    if (!library) return CUDA_ERROR_INVALID_HANDLE;
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    module_ptr module;
    if (const CUresult bad = module_of(c, library, context, module)) return bad;
    function = function_of(c, module, kernel->name, kernel->settings_of(context->device->ordinal));
    return function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  }
  function = c.driver.functions.find(handle);
  return function ? CUDA_SUCCESS : c.driver.functions.why_unknown(handle);
}

/// Does the same for queries, in which a kernel of a library belongs to the current context.
inline CUresult find_function(call& c, CUfunction handle, function_ptr& function) {
  context_ptr context;
  if (kind_of_handle(handle) == static_cast<unsigned>(handle_kind::kernel))
    if (const CUresult bad = c.current(context)) return bad;
  return find_function(c, handle, context, function);
}

}}}  // namespace nogpu::v1::driver

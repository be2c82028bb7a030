#pragma once
/// \file
/// Entry points: the driver's linker. It takes PTX, alone or in a fat binary; what it makes is
/// loaded like a cubin.

#include <nogpu/driver/code_loading.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/enumeration.hpp>
#include <nogpu/driver/linked_image.hpp>

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline CUresult find_link(call& c, CUlinkState handle, link_ptr& link) {
  link = c.driver.links.find(handle);
  return link ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// Adds a line to the log for errors.
inline void note_link_error(link_state& link, const std::string& line) {
  if (!link.errors.empty()) link.errors += '\n';
  link.errors += line;
}

/// Writes the whole log to the caller's buffer.
inline void write_link_errors(link_state& link) {
  for (unsigned i = 0; i < link.options.count; ++i) {
    if (link.options.names[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      link.options.values[i] = link.option_values[i];
  }
  link.options.write_log(true, link.errors);
}

/// Finds the PTX in an input of `size` bytes.
inline ptx::image_text text_of_input(CUjitInputType type, std::string_view bytes) {
  if (type == CU_JIT_INPUT_PTX) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    const bool begins = first != bytes.npos && (bytes[first] == '.' || bytes[first] == '/');
    if (begins) return {std::string(bytes.substr(0, bytes.find('\0'))), std::nullopt};
  }
  if (type == CU_JIT_INPUT_FATBINARY && bytes.size() >= 16 &&
      ptx::identify(bytes.data()) == ptx::image_kind::fatbin) {
    return ptx::text_of_fatbin({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
                               target_architecture);
  }
  if (type == CU_JIT_INPUT_CUBIN && bytes.size() >= 20 &&
      ptx::identify(bytes.data()) == ptx::image_kind::elf) {
    return ptx::text_of_image(bytes.data(), target_architecture);
  }
  return ptx::detail::refuse_image(
      "error   : Binary format for key='0', ident='' is not recognized",
      ptx::refusal::invalid_image);
}

/// Adds an input to a link.
inline CUresult add_input(call& c, CUlinkState handle, CUjitInputType type, std::string bytes,
                          const char* name) {
  link_ptr link;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (link->spoilt) return CUDA_ERROR_UNKNOWN;
  if (link->done) return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY) {
    c.lock.unlock();
    c.driver.report("cannot link: the CPU driver links PTX only, not objects and archives");
    c.lock.lock();
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const auto begin = std::chrono::steady_clock::now();
  c.lock.unlock();
  ptx::image_text text = text_of_input(type, bytes);
  ptx::parse_result parsed;
  if (text) parsed = ptx::parse(text.text);
  if (text && parsed) parsed.error = machine::detail::refuse_constants(parsed.value);
  c.lock.lock();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  link->milliseconds += took.count();
  if (!text || !parsed) {
    const ptx::diagnostic why = text ? std::move(*parsed.error) : std::move(*text.error);
    note_link_error(*link, text ? "ptxas application ptx input, line " + std::to_string(why.line) +
                                      "; fatal   : " + why.text
                                : why.text);
    write_link_errors(*link);
    c.lock.unlock();
    const CUresult code = refuse_code(c.driver, {}, why);
    c.lock.lock();
    return code;
  }
  std::string called = name != nullptr ? name : "";
  const std::vector<std::string> errors = link->symbols.add(std::move(parsed.value), called);
  for (const std::string& each : errors) note_link_error(*link, each);
  write_link_errors(*link);
  if (!errors.empty()) {
    link->spoilt = true;
    return CUDA_ERROR_UNKNOWN;
  }
  link->units.emplace_back(std::move(called), std::move(text.text));
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult link_create(call& c, unsigned count, CUjit_option* names, void** values,
                            CUlinkState* handle) {
  context_ptr context;
  if (const CUresult bad = c.current(context)) return bad;
  const jit_options options{count, names, values};
  if (handle == nullptr || !options.valid() || options.has(CU_JIT_FALLBACK_STRATEGY))
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<link_state>();
  made->context = std::move(context);
  made->option_names.assign(names, names + count);
  made->option_values.assign(values, values + count);
  made->options = {count, made->option_names.data(), values};
  made->max_registers = options.max_registers();
  made->place = c.driver.place();
  *handle = c.driver.links.add(std::move(made));
  return CUDA_SUCCESS;
}

inline CUresult link_add_data(call& c, CUlinkState handle, CUjitInputType type, void* data,
                              std::size_t size, const char* name, unsigned count,
                              CUjit_option* names, void** values) {
  link_ptr link;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (data == nullptr || size == 0 || number_of(type) >= CU_JIT_NUM_INPUT_TYPES ||
      !jit_options{count, names, values}.valid())
    return CUDA_ERROR_INVALID_VALUE;
  return add_input(c, handle, type, std::string(static_cast<const char*>(data), size), name);
}

inline CUresult link_add_file(call& c, CUlinkState handle, CUjitInputType type, const char* path,
                              unsigned count, CUjit_option* names, void** values) {
  link_ptr link;
  std::vector<char> contents;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (path == nullptr || number_of(type) >= CU_JIT_NUM_INPUT_TYPES ||
      !jit_options{count, names, values}.valid())
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = read_file(path, contents)) return bad;
  return add_input(c, handle, type, std::string(contents.begin(), contents.end()), path);
}

inline CUresult link_complete(call& c, CUlinkState handle, void** image, std::size_t* size) {
  link_ptr link;
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = find_link(c, handle, link)) return bad;
  if (link->spoilt) return CUDA_ERROR_UNKNOWN;
  if (link->done) return link->refused != CUDA_SUCCESS ? link->refused : CUDA_ERROR_INVALID_HANDLE;
  link->done = true;
  for (const std::string& each : link->symbols.undefined()) {
    note_link_error(*link, each);
    link->refused = CUDA_ERROR_INVALID_SOURCE;
  }
  write_link_errors(*link);
  link->options.write_log(false, "");
  link->options.write_wall_time(link->milliseconds);
  if (link->refused) return link->refused;
  link->image = make_linked_image(link->units, link->options.target(target_architecture),
                                  link->max_registers);
  *image = link->image.data();
  if (size != nullptr) *size = link->image.size();
  return CUDA_SUCCESS;
}

inline CUresult link_destroy(call& c, CUlinkState handle) {
  return c.driver.links.take(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}}}  // namespace nogpu::v1::driver::entry

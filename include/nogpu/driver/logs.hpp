#pragma once
/// \file
/// Entry points: the driver's log. Mistakes that the CPU driver finds go there and to the program's
/// `report`.

#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace nogpu { inline namespace v1 { namespace driver::entry {

// The log has a lock of its own, and calls callbacks under it, which may come here: none of these
// holds the driver's lock meanwhile.

inline CUresult logs_register_callback(call& c, CUlogsCallback function, void* data,
                                       CUlogsCallbackHandle* handle) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  c.lock.unlock();
  const auto made = make_handle<CUlogsCallbackHandle>(handle_kind::log_callback);
  c.driver.log.listen(function, data, made);
  if (handle != nullptr) *handle = made;
  return CUDA_SUCCESS;
}

inline CUresult logs_unregister_callback(call& c, CUlogsCallbackHandle handle) {
  c.lock.unlock();
  return c.driver.log.stop_listening(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult logs_current(call& c, CUlogIterator* iterator, unsigned flags) {
  if (iterator == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  c.lock.unlock();
  *iterator = c.driver.log.end();
  return CUDA_SUCCESS;
}

inline CUresult logs_dump_to_file(call& c, CUlogIterator* iterator, const char* path,
                                  unsigned flags) {
  if (path == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  c.lock.unlock();
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::string text = c.driver.log.text(iterator, ~std::size_t{0});
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

inline CUresult logs_dump_to_memory(call& c, CUlogIterator* iterator, char* buffer,
                                    std::size_t* size, unsigned flags) {
  if (buffer == nullptr || size == nullptr || *size == 0 || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  c.lock.unlock();
  const CUlogIterator from = iterator != nullptr ? *iterator : CUlogIterator{0};
  const std::string text = c.driver.log.text(iterator, *size - 1);
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  *size = text.size();
  return text.empty() && from < c.driver.log.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry

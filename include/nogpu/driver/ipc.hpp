#pragma once
/// \file
/// Entry points: memory and events of one process in another, by handles that are plain bytes. The
/// memory or event of a handle is in a file that the process which made it keeps open.

#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/memory.hpp>

#include <cuda.h>

#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

template <class Handle> void write_name(const shared_file& file, Handle& handle) {
  const shared_name name = file.name();
  static_assert(sizeof name <= sizeof handle.reserved);
  handle = {};
  std::memcpy(static_cast<void*>(handle.reserved), &name, sizeof name);
}

/// The file that a handle of another process stands for.
template <class Handle>
CUresult open_name(call& c, const Handle& handle, shared_content wanted, shared_file_ptr& file) {
  shared_name name;
  const shared_name expected;
  std::memcpy(static_cast<void*>(&name), handle.reserved, sizeof name);
  if (std::memcmp(name.format, expected.format, sizeof name.format) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (name.process == ::getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  file = shared_file::open(name);
  if (!file || file->header().content != wanted) return CUDA_ERROR_INVALID_VALUE;
  const auto device = static_cast<std::size_t>(file->header().device);
  return device < c.driver.devices.size() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// Moves memory to a file permanently. The file does not record which bytes were never written.
inline CUresult move_to_file(call& c, memory_block& block) {
  shared_header header;
  header.content = shared_content::allocation;
  header.device = block.device;
  header.number = shared_number();
  header.bytes = block.size;
  auto file = shared_file::create(header);
  auto memory = file ? file->map(0, header.bytes) : nullptr;
  if (!memory || !c.driver.memory.move(block.base, std::move(memory)))
    return CUDA_ERROR_OPERATING_SYSTEM;
  block.file = std::move(file);
  return CUDA_SUCCESS;
}

inline memory_block* find_imported(call& c, const context_ptr& context, std::uint64_t number) {
  for (auto& [base, block] : c.driver.blocks_of_memory)
    if (block.opened != 0 && block.context == context && block.file->header().number == number)
      return &block;
  return nullptr;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult ipc_get_event_handle(call& c, CUipcEventHandle* handle, CUevent event_handle) {
  event_ptr event;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_event(event_handle, event)) return bad;
  if (!event->shared) return CUDA_ERROR_INVALID_VALUE;
  write_name(event->shared->file(), *handle);
  return CUDA_SUCCESS;
}

inline CUresult ipc_open_event_handle(call& c, CUevent* event, CUipcEventHandle handle) {
  context_ptr context;
  shared_file_ptr file;
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  if (const CUresult bad = open_name(c, handle, shared_content::event, file)) return bad;
  auto made = std::make_shared<event_state>();
  made->context = context;
  made->flags = CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  made->shared = shared_marks::open(std::move(file));
  if (!made->shared) return CUDA_ERROR_OPERATING_SYSTEM;
  made->place = c.driver.place();
  *event = c.driver.events.add(made);
  return CUDA_SUCCESS;
}

/// Waits only for work that is running at this moment.
inline CUresult ipc_get_mem_handle(call& c, CUipcMemHandle* handle, CUdeviceptr address) {
  context_ptr context;
  if (handle == nullptr || address == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  c.driver.work.rest(c.lock);
  const auto found = c.driver.blocks_of_memory.find(address);
  if (found == c.driver.blocks_of_memory.end() || found->second.free_enqueued ||
      found->second.from != memory_block::origin::device)
    return CUDA_ERROR_INVALID_VALUE;
  memory_block& block = found->second;
  if (!block.file)
    if (const CUresult bad = move_to_file(c, block)) return bad;
  write_name(*block.file, *handle);
  return CUDA_SUCCESS;
}

/// Memory that is open in the context already is reused; it must be closed as often as it was
/// opened.
inline CUresult ipc_open_mem_handle(call& c, CUdeviceptr* address, CUipcMemHandle handle,
                                    unsigned flags) {
  context_ptr context;
  shared_file_ptr file;
  if (address == nullptr || flags > CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.current(context)) return bad;
  if (const CUresult bad = open_name(c, handle, shared_content::allocation, file)) return bad;
  if (memory_block* const here = find_imported(c, context, file->header().number)) {
    ++here->opened;
    *address = here->base;
    return CUDA_SUCCESS;
  }
  memory_block block;
  block.size = file->header().bytes;
  block.from = memory_block::origin::imported;
  block.context = context;
  block.device = file->header().device;
  block.opened = 1;
  block.place = c.driver.place();
  block.id = next_handle_number();
  auto memory = file->map(0, block.size);
  block.file = std::move(file);
  const auto base = c.driver.memory.reserve(block.size, allocation_unit);
  if (!memory || !base ||
      !c.driver.memory.map(*base, std::move(memory), 0,
                           {.size = block.size, .owner = context->owner, .site = block.place}))
    return CUDA_ERROR_OPERATING_SYSTEM;
  block.base = *base;
  *address = *base;
  c.driver.blocks_of_memory.emplace(*base, std::move(block));
  return CUDA_SUCCESS;
}

inline CUresult ipc_close_mem_handle(call& c, CUdeviceptr address) {
  context_ptr context;
  if (const CUresult bad = c.current_in_any_state(context)) return bad;
  const auto found = c.driver.blocks_of_memory.find(address);
  if (found == c.driver.blocks_of_memory.end() || found->second.opened == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.opened != 0) return CUDA_SUCCESS;
  const context_ptr user = found->second.context;
  c.finish(user);
  free_block(c.driver, address);
  return c.tell_fault(*context);
}

}}}  // namespace nogpu::v1::driver::entry

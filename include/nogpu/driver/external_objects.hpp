#pragma once
/// \file
/// The objects behind handles of memory and semaphores of other interfaces, and of resources of
/// OpenGL. The driver's lock guards all members.

#include <nogpu/driver/array_objects.hpp>
#include <nogpu/gl_stand_in.hpp>
#include <nogpu/machine/storage.hpp>

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

struct context_state;

/// Memory of another interface: a file, mapped into the process.
struct external_memory_state {
  CUexternalMemory handle = nullptr;
  std::shared_ptr<context_state> context;
  std::shared_ptr<machine::storage> memory;
  std::string place;
};
using external_memory_ptr = std::shared_ptr<external_memory_state>;

/// A semaphore of another interface: the first 8 bytes of a file. They count, or are 1 while a
/// binary semaphore is signaled.
struct external_semaphore_state {
  CUexternalSemaphore handle = nullptr;
  std::shared_ptr<context_state> context;
  bool timeline = false;
  std::shared_ptr<machine::storage> memory;
  std::string place;

  std::uint64_t* word() const noexcept { return reinterpret_cast<std::uint64_t*>(memory->bytes()); }
};
using external_semaphore_ptr = std::shared_ptr<external_semaphore_state>;

/// A buffer or an image of OpenGL that was registered.
struct graphics_resource_state {
  CUgraphicsResource handle = nullptr;
  std::shared_ptr<context_state> context;
  std::shared_ptr<gl_object> object;
  unsigned flags = 0;      // of its registration
  unsigned map_flags = 0;  // of the next mapping
  bool mapped = false;
  std::uint64_t base = 0;                        // while it is mapped
  std::vector<array_ptr> arrays;                 // of an image: by level, and there by layer
  std::shared_ptr<mipmapped_array_state> whole;  // of an image
  std::string place;
};
using graphics_resource_ptr = std::shared_ptr<graphics_resource_state>;

}}}  // namespace nogpu::v1::driver

#pragma once
/// \file
/// As much of Vulkan as it takes to export memory and semaphores to CUDA. The library is opened at
/// run time, and no header of it is needed: the structures and numbers below are those of
/// vulkan_core.h.

#include <gpu/memory/file_descriptor.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace test {

namespace vk {

/// The beginning of each structure: its number, and the next one of a chain.
struct head {
  std::uint32_t type = 0;
  const void* next = nullptr;
};
struct application_info {
  head h{0};
  const char* name = nullptr;
  std::uint32_t version = 0;
  const char* engine = nullptr;
  std::uint32_t engine_version = 0;
  std::uint32_t api_version = 0;
};
struct instance_info {
  head h{1};
  std::uint32_t flags = 0;
  const application_info* application = nullptr;
  std::uint32_t layers = 0;
  const char* const* layer_names = nullptr;
  std::uint32_t extensions = 0;
  const char* const* extension_names = nullptr;
};
struct queue_info {
  head h{2};
  std::uint32_t flags = 0;
  std::uint32_t family = 0;
  std::uint32_t count = 1;
  const float* priorities = nullptr;
};
struct device_info {
  head h{3};
  std::uint32_t flags = 0;
  std::uint32_t queues = 1;
  const queue_info* queue = nullptr;
  std::uint32_t layers = 0;
  const char* const* layer_names = nullptr;
  std::uint32_t extensions = 0;
  const char* const* extension_names = nullptr;
  const void* features = nullptr;
};
struct timeline_features {
  head h{1000207000};
  std::uint32_t timeline = 1;
};
struct id_properties {
  head h{1000071004};
  unsigned char device_uuid[16] = {};
  unsigned char rest[16 + 8 + 8] = {};
};
struct properties {
  head h{1000059001};
  alignas(8) unsigned char rest[824] = {};
};
struct memory_properties {
  std::uint32_t types = 0;
  struct {
    std::uint32_t flags, heap;
  } type[32] = {};
  std::uint32_t heaps = 0;
  struct {
    std::uint64_t size;
    std::uint32_t flags;
  } heap[16] = {};
};
struct buffer_info {
  head h{12};
  std::uint32_t flags = 0;
  std::uint64_t size = 0;
  std::uint32_t usage = 3;  // source and destination of copies
  std::uint32_t sharing = 0;
  std::uint32_t families = 0;
  const std::uint32_t* family = nullptr;
};
/// Of external buffers, exported memory and exported semaphores.
struct handle_types {
  head h;
  std::uint32_t types = 1;  // opaque file descriptors
};
struct memory_info {
  head h{5};
  std::uint64_t size = 0;
  std::uint32_t type = 0;
};
struct requirements {
  std::uint64_t size = 0, alignment = 0;
  std::uint32_t types = 0;
};
/// Of memory and of a semaphore.
struct get_fd_info {
  head h;
  std::uint64_t object = 0;
  std::uint32_t type = 1;
};
struct semaphore_info {
  head h{9};
  std::uint32_t flags = 0;
};
struct semaphore_type_info {
  head h{1000207002};
  std::uint32_t timeline = 1;
  std::uint64_t initial = 0;
};
struct wait_info {
  head h{1000207004};
  std::uint32_t flags = 0;
  std::uint32_t count = 1;
  const std::uint64_t* semaphores = nullptr;
  const std::uint64_t* values = nullptr;
};
struct signal_info {
  head h{1000207005};
  std::uint64_t semaphore = 0;
  std::uint64_t value = 0;
};
struct pool_info {
  head h{39};
  std::uint32_t flags = 0;
  std::uint32_t family = 0;
};
struct command_info {
  head h{40};
  std::uint64_t pool = 0;
  std::uint32_t level = 0;
  std::uint32_t count = 1;
};
struct begin_info {
  head h{42};
  std::uint32_t flags = 1;
  const void* inheritance = nullptr;
};
struct submit_info {
  head h{4};
  std::uint32_t waits = 0;
  const std::uint64_t* wait = nullptr;
  const std::uint32_t* stages = nullptr;
  std::uint32_t commands = 1;
  void* const* command = nullptr;
  std::uint32_t signals = 0;
  const std::uint64_t* signal = nullptr;
};
struct submit_values {
  head h{1000207003};
  std::uint32_t waits = 1;
  const std::uint64_t* wait = nullptr;
  std::uint32_t signals = 1;
  const std::uint64_t* signal = nullptr;
};

}  // namespace vk

/// A device of Vulkan, with one queue. Nothing is destroyed before the end of the process: a
/// handful of objects in a test, which CUDA may still use.
class vulkan {
 public:
  struct memory {
    std::uint64_t buffer = 0, memory = 0, bytes = 0;
  };
  /// A semaphore and the value that is waited for or signaled; 0 of a binary one.
  struct step {
    std::uint64_t semaphore = 0, value = 0;
  };

  /// Opens the device with the UUID of a CUDA device. Without success, `missing` says why.
  explicit vulkan(const void* uuid) { missing_ = open(uuid); }
  const std::string& missing() const { return missing_; }

  /// A buffer that CUDA can import, or one whose bytes the host sees.
  memory make_buffer(std::uint64_t bytes, bool exported) const {
    const vk::handle_types external{{1000072000}}, exports{{1000072002}};
    vk::buffer_info info;
    if (exported) info.h.next = &external;
    info.size = bytes;
    memory made;
    device_call<int(void*, const void*, const void*, std::uint64_t*)>("vkCreateBuffer")(
        device_, &info, nullptr, &made.buffer);
    vk::requirements needs;
    device_call<void(void*, std::uint64_t, vk::requirements*)>("vkGetBufferMemoryRequirements")(
        device_, made.buffer, &needs);
    vk::memory_info allocation;
    if (exported) allocation.h.next = &exports;
    allocation.size = made.bytes = needs.size;
    allocation.type = find_type(needs.types, exported ? 1 : 2 | 4);
    device_call<int(void*, const void*, const void*, std::uint64_t*)>("vkAllocateMemory")(
        device_, &allocation, nullptr, &made.memory);
    device_call<int(void*, std::uint64_t, std::uint64_t, std::uint64_t)>("vkBindBufferMemory")(
        device_, made.buffer, made.memory, 0);
    return made;
  }
  gpu::file_descriptor export_memory(const memory& what) const {
    return get_fd("vkGetMemoryFdKHR", {{1000074002}, what.memory});
  }
  /// The bytes of a buffer that the host sees.
  const void* bytes(const memory& what) const {
    void* mapped = nullptr;
    device_call<int(void*, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, void**)>(
        "vkMapMemory")(device_, what.memory, 0, what.bytes, 0, &mapped);
    return mapped;
  }

  std::uint64_t make_semaphore(bool timeline) const {
    vk::semaphore_type_info type;
    vk::handle_types exports{{1000077000}};
    if (timeline) exports.h.next = &type;
    vk::semaphore_info info;
    info.h.next = &exports;
    std::uint64_t made = 0;
    device_call<int(void*, const void*, const void*, std::uint64_t*)>("vkCreateSemaphore")(
        device_, &info, nullptr, &made);
    return made;
  }
  gpu::file_descriptor export_semaphore(std::uint64_t semaphore) const {
    return get_fd("vkGetSemaphoreFdKHR", {{1000079001}, semaphore});
  }
  /// Signals a timeline semaphore from the host.
  void signal(step what) const {
    const vk::signal_info info{{1000207005}, what.semaphore, what.value};
    device_call<int(void*, const void*)>("vkSignalSemaphore")(device_, &info);
  }
  /// Waits for a timeline semaphore for ten seconds at most; returns whether it was reached.
  bool wait(step what) const {
    vk::wait_info info;
    info.semaphores = &what.semaphore;
    info.values = &what.value;
    return device_call<int(void*, const void*, std::uint64_t)>("vkWaitSemaphores")(
               device_, &info, std::uint64_t{10'000'000'000}) == 0;
  }

  /// Waits, fills a buffer with a word, and signals, all on the queue.
  void fill(step after, const memory& what, std::uint32_t value, step then) const {
    submit(after, then, [&](void* command) {
      device_call<void(void*, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t)>(
          "vkCmdFillBuffer")(command, what.buffer, 0, ~std::uint64_t{0}, value);
    });
  }
  /// Waits, copies a buffer, and signals, all on the queue.
  void copy(step after, const memory& from, const memory& to, std::uint64_t bytes,
            step then) const {
    submit(after, then, [&](void* command) {
      const std::uint64_t region[3] = {0, 0, bytes};
      device_call<void(void*, std::uint64_t, std::uint64_t, std::uint32_t, const void*)>(
          "vkCmdCopyBuffer")(command, from.buffer, to.buffer, 1, &region[0]);
    });
  }

 private:
  template <class Function> Function* instance_call(const char* name) const {
    return reinterpret_cast<Function*>(find_(instance_, name));
  }
  template <class Function> Function* device_call(const char* name) const {
    return reinterpret_cast<Function*>(find_in_device_(device_, name));
  }

  std::string open(const void* uuid) {
    void* const library = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return "libvulkan.so.1 is not installed";
    find_ = reinterpret_cast<decltype(find_)>(::dlsym(library, "vkGetInstanceProcAddr"));
    vk::application_info application;
    application.api_version = 1u << 22 | 2u << 12;  // 1.2
    vk::instance_info instance;
    instance.application = &application;
    if (instance_call<int(const void*, const void*, void**)>("vkCreateInstance")(&instance, nullptr,
                                                                                 &instance_) != 0)
      return "Vulkan 1.2 does not start";
    void* all[16] = {};
    std::uint32_t count = 16;
    instance_call<int(void*, std::uint32_t*, void**)>("vkEnumeratePhysicalDevices")(
        instance_, &count, &all[0]);
    for (std::uint32_t i = 0; i < count && i < 16; ++i) {
      vk::id_properties id;
      vk::properties properties;
      properties.h.next = &id;
      instance_call<void(void*, void*)>("vkGetPhysicalDeviceProperties2")(all[i], &properties);
      if (std::memcmp(&id.device_uuid[0], uuid, 16) != 0) continue;
      instance_call<void(void*, vk::memory_properties*)>("vkGetPhysicalDeviceMemoryProperties")(
          all[i], &memory_);
      return make_device(all[i]);
    }
    return "Vulkan has no device that is the GPU";
  }
  std::string make_device(void* physical) {
    const float priority = 1;
    vk::queue_info queue;
    queue.priorities = &priority;
    const vk::timeline_features features;
    const char* const extensions[] = {"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"};
    vk::device_info info;
    info.h.next = &features;
    info.queue = &queue;
    info.extensions = 2;
    info.extension_names = &extensions[0];
    if (instance_call<int(void*, const void*, const void*, void**)>("vkCreateDevice")(
            physical, &info, nullptr, &device_) != 0)
      return "Vulkan cannot export memory and semaphores by file descriptors";
    find_in_device_ = instance_call<void*(void*, const char*)>("vkGetDeviceProcAddr");
    device_call<void(void*, std::uint32_t, std::uint32_t, void**)>("vkGetDeviceQueue")(device_, 0,
                                                                                       0, &queue_);
    const vk::pool_info pool;
    device_call<int(void*, const void*, const void*, std::uint64_t*)>("vkCreateCommandPool")(
        device_, &pool, nullptr, &pool_);
    return {};
  }

  std::uint32_t find_type(std::uint32_t possible, std::uint32_t flags) const {
    for (std::uint32_t i = 0; i < memory_.types; ++i) {
      if ((possible >> i & 1) != 0 && (memory_.type[i].flags & flags) == flags) return i;
    }
    return 0;
  }
  gpu::file_descriptor get_fd(const char* name, const vk::get_fd_info& info) const {
    int made = -1;
    device_call<int(void*, const void*, int*)>(name)(device_, &info, &made);
    return gpu::file_descriptor::adopt(made);
  }

  template <class Record> void submit(step after, step then, Record record) const {
    vk::command_info allocation;
    allocation.pool = pool_;
    void* command = nullptr;
    device_call<int(void*, const void*, void**)>("vkAllocateCommandBuffers")(device_, &allocation,
                                                                             &command);
    const vk::begin_info begin;
    device_call<int(void*, const void*)>("vkBeginCommandBuffer")(command, &begin);
    record(command);
    device_call<int(void*)>("vkEndCommandBuffer")(command);
    vk::submit_values values;
    values.wait = &after.value;
    values.signal = &then.value;
    const std::uint32_t stage = 0x10000;  // all commands
    vk::submit_info info;
    info.h.next = &values;
    info.waits = values.waits = after.semaphore == 0 ? 0 : 1;
    info.wait = &after.semaphore;
    info.stages = &stage;
    info.command = &command;
    info.signals = 1;
    info.signal = &then.semaphore;
    device_call<int(void*, std::uint32_t, const void*, std::uint64_t)>("vkQueueSubmit")(queue_, 1,
                                                                                        &info, 0);
  }

  void* (*find_)(void*, const char*) = nullptr;
  void* (*find_in_device_)(void*, const char*) = nullptr;
  void* instance_ = nullptr;
  void* device_ = nullptr;
  void* queue_ = nullptr;
  std::uint64_t pool_ = 0;
  vk::memory_properties memory_;
  std::string missing_;
};

}  // namespace test

#pragma once
/// \file
/// The objects behind the driver's handles. The driver's lock guards all members unless stated
/// otherwise.

#include <nogpu/driver/array_objects.hpp>
#include <nogpu/driver/graph_objects.hpp>
#include <nogpu/driver/handles.hpp>
#include <nogpu/driver/jit_options.hpp>
#include <nogpu/driver/scheduler.hpp>
#include <nogpu/driver/shared_file.hpp>
#include <nogpu/driver/shared_marks.hpp>
#include <nogpu/machine/address_space.hpp>
#include <nogpu/machine/device_heap.hpp>
#include <nogpu/machine/loaded_module.hpp>
#include <nogpu/ptx/link.hpp>

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

struct context_state;
struct stream_state;
struct green_state;
struct library_state;
struct module_state;

using context_ptr = std::shared_ptr<context_state>;
using stream_ptr = std::shared_ptr<stream_state>;
using green_ptr = std::shared_ptr<green_state>;

/// Memory that stream-ordered allocations come from.
struct pool_state {
  CUmemoryPool handle = nullptr;
  CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemLocation location{};
  int device = -1;  // whose memory it takes; -1: the host's, managed memory included
  bool is_default = false;
  std::uint64_t owner = 0;  // in the address space
  std::uint64_t used = 0, used_high = 0;
  std::uint64_t reserved = 0, reserved_high = 0;  // counts against the device
  std::uint64_t release_threshold = 0;
  std::uint64_t maximum = 0;  // 0: as much as the device has
  std::uint64_t live = 0;     // allocations
  bool destroyed = false;
  std::array<int, 3> reuse{1, 1, 1};        // follow events, opportunistic, internal dependencies
  std::map<int, CUmemAccess_flags> access;  // of devices but its own
  shared_file_ptr file;                     // that its memory lies in; null: not to be shared
  std::uint64_t next_offset = 0;            // in the file; no part is used twice
  bool exported = false;                    // so its allocations can be, too
  bool imported = false;                    // allocates nothing itself
  std::map<std::uint64_t, std::uint64_t> opened;  // allocations of the exporter: offset, address
  std::string place;
};
using pool_ptr = std::shared_ptr<pool_state>;

/// The pools of a location for memory of one type.
struct place_pools {
  pool_ptr standard;  // from the start
  pool_ptr current;
};

/// The memory that graphs hold on a device.
struct graph_memory_state {
  std::uint64_t used = 0, used_high = 0;
  std::uint64_t reserved = 0, reserved_high = 0;  // counts against the device
};

struct device_state {
  int ordinal = 0;
  std::uint64_t memory = 0;  // bytes in total
  std::uint64_t used = 0;    // bytes of allocations and of what pools and graphs hold
  context_ptr primary;       // its handle stays the same when it is released and retained again
  unsigned primary_count = 0;
  graph_memory_state graph_memory;
};

struct context_state {
  CUcontext handle = nullptr;
  device_state* device = nullptr;
  std::uint64_t owner = 0;  // in the address space; unique also among lives of a primary context
  bool primary = false;
  bool alive = false;
  unsigned flags = 0;
  std::array<std::size_t, 16> limits{};
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
  stream_ptr default_stream;
  std::map<std::thread::id, stream_ptr> thread_streams;
  std::vector<stream_ptr> streams;  // all but the default one, destroyed ones while they have work
  std::set<const context_state*> peers;
  std::unique_ptr<machine::device_heap> heap;
  bool heap_used = false;    // a kernel that calls malloc or free was launched: its size is fixed
  bool printf_used = false;  // the same of vprintf and its buffer
  std::string place;
  /// The first fault of a kernel or copy, 0 = none: the context does no more work after it.
  std::atomic<int> fault{0};
  /// A synchronizing call has reported the fault to the program.
  bool fault_told = false;
};

struct stream_state : work_queue {
  CUstream handle = nullptr;
  context_ptr context;
  green_ptr green;  // null: in none
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  bool is_default = false;
  std::map<int, CUstreamAttrValue> attributes;  // those that were set
  capture_ptr capture;                          // null: not being captured
  std::vector<node_dependency> capture_after;   // dependencies of the next captured node
  std::vector<CUgraphNode> capture_handles;     // the same, as the program was given them
  std::vector<CUgraphEdgeData> capture_edges;
  std::string place;

  bool blocking() const noexcept { return (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

struct event_state {
  CUevent handle = nullptr;
  context_ptr context;
  unsigned flags = 0;
  operation_ptr recorded;                       // null: never recorded
  capture_ptr capture;                          // in which it was recorded last; null: in none
  std::vector<node_dependency> captured_after;  // the nodes that it marks there
  std::shared_ptr<shared_marks> shared;         // of an event for several processes
  std::uint64_t own_mark = 0;                   // among these, of `recorded`
  std::string place;
};
using event_ptr = std::shared_ptr<event_state>;

/// The hints of the program for pages of managed memory.
struct managed_hints {
  bool read_mostly = false;
  CUmemLocation preferred{};
  CUmemLocation prefetched{};
  std::set<int> accessed_by;
};

/// A live allocation, without its bytes, which are in the address space.
struct memory_block {
  enum class origin : std::uint8_t {
    device,
    array,
    pool,
    graph,
    managed,
    pinned,
    registered,
    imported,
    external,  // of another interface; cuMemFree ends the mapping
    graphics   // a mapped buffer of OpenGL
  };

  std::uint64_t base = 0;
  std::uint64_t size = 0;     // as asked for
  std::uint64_t charged = 0;  // against the device, the pool or, once it was launched, the graphs
  origin from = origin::device;
  context_ptr context;  // null for memory of a pool or a graph
  int device = 0;
  pool_ptr pool;
  std::uint64_t offset = 0;               // in the file of its pool
  shared_file_ptr file;                   // of memory that was exported, or is imported
  unsigned opened = 0;                    // the number of imports
  std::weak_ptr<graph_allocation> graph;  // of memory that a graph allocates
  std::uint64_t owner = 0;                // of such memory, in the address space
  std::set<int> peers;                    // other devices that reach such memory
  unsigned flags = 0;                     // of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
  bool free_enqueued = false;             // cuMemFreeAsync was called, and has not happened yet
  bool seen_by_device = false;            // the program asked for its device address
  bool sync_memops = false;
  std::uint64_t id = 0;
  /// Hints for pages of managed memory, each from its offset to the next one.
  std::map<std::uint64_t, managed_hints> hints;
  std::string place;

  std::uint64_t end() const noexcept { return base + (size == 0 ? 1 : size); }
  bool on_host() const noexcept { return from == origin::pinned || from == origin::registered; }
  /// Returns whether the memory is a graph's and a device may access it.
  bool of_graph_for(int ordinal) const {
    return from == origin::graph && (device == ordinal || peers.count(ordinal) != 0);
  }
};

/// A module's code and variables as one context has them.
struct loaded_code {
  explicit loaded_code(machine::loaded_module m) : loaded{std::move(m)} {}
  machine::loaded_module loaded;
  std::uint64_t owner = 0;  // of its variables, in the address space
};
using code_ptr = std::shared_ptr<loaded_code>;

/// The settings of a kernel, for each device or context.
struct kernel_settings {
  int max_dynamic_shared = 48 * 1024;  // minus static shared memory; see function_limits
  bool max_dynamic_shared_set = false;
  int carveout = -1;
  int nonportable_cluster = 0;
  int cluster_policy = 0;
  std::array<int, 3> cluster{};
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
};

/// A kernel in a module, in one context.
struct function_state {
  CUfunction handle = nullptr;
  std::weak_ptr<module_state> module;
  code_ptr code;
  const machine::executable* kernel = nullptr;
  CUcontext context = nullptr;
  std::shared_ptr<kernel_settings> settings;
};
using function_ptr = std::shared_ptr<function_state>;

struct module_state {
  CUmodule handle = nullptr;
  context_ptr context;
  code_ptr code;
  bool of_library = false;
  std::map<std::string, function_ptr, std::less<>> functions;
  std::string place;
};
using module_ptr = std::shared_ptr<module_state>;

/// A kernel in a library, for all contexts.
struct kernel_state {
  CUkernel handle = nullptr;
  std::weak_ptr<library_state> library;
  std::string name;
  std::map<int, std::shared_ptr<kernel_settings>> settings;  // by device

  std::shared_ptr<kernel_settings> settings_of(int device) {
    auto& found = settings[device];
    if (!found) found = std::make_shared<kernel_settings>();
    return found;
  }
};
using kernel_ptr = std::shared_ptr<kernel_state>;

struct library_state {
  CUlibrary handle = nullptr;
  std::string ptx;
  /// The error of loading the code, which is known when the code is first needed.
  CUresult refused = CUDA_SUCCESS;
  /// Made when the library was loaded; the first context that uses the library gets its variables.
  code_ptr first;
  bool first_given = false;
  std::map<const context_state*, module_ptr> modules;
  std::map<std::string, kernel_ptr, std::less<>> kernels;
  std::vector<kernel_ptr> in_order;
  std::string place;
};
using library_ptr = std::shared_ptr<library_state>;

/// A link in progress, or done.
/// A file of an archive, which takes part in a link if something in it is asked for.
struct library_unit {
  std::string name;  // with that of the archive
  std::string text;
  ptx::module code;
  std::string refused;  // why it has no code for this device
  bool taken = false;
};

struct link_state {
  CUlinkState handle = nullptr;
  context_ptr context;
  jit_options options;  // the values are the caller's, who keeps them until the link is destroyed
  std::vector<CUjit_option> option_names;
  std::vector<void*> option_values;  // as they were given: the log is written more than once
  std::uint32_t max_registers = 0;
  ptx::linker symbols;
  std::vector<std::pair<std::string, std::string>> units;  // name and text
  std::vector<library_unit> library;
  std::string errors;
  bool spoilt = false;  // by symbols that contradict each other
  CUresult refused = CUDA_SUCCESS;
  std::string image;  // once it is done
  bool done = false;
  double milliseconds = 0;
  std::string place;
};
using link_ptr = std::shared_ptr<link_state>;

}}}  // namespace nogpu::v1::driver

#pragma once
/// \file
/// Handles as numbers: each is unique during the life of the process, differs from any address, and
/// is looked up before use. A stale or invented handle gives an error code, never a crash.

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// The kind of a handle's object. It is a part of the handle's value, so handles of other kinds are
/// recognized.
enum class handle_kind : std::uint8_t {
  context = 1,
  stream,
  event,
  pool,
  module,
  function,
  library,
  kernel,
  link,
  graph,
  graph_node,
  graph_exec,
  user_object,
  array,
  mipmapped_array,
  physical_memory,
  log_callback,
  external_memory,
  external_semaphore,
  graphics_resource,
  green_context,
  resource_description,
};

/// No process can map this part of the address space, so dereferencing a handle faults.
inline constexpr std::uint64_t handle_base = 0x00c0'0000'0000'0000;

inline std::uint64_t next_handle_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Returns a value that no handle of the process had before.
template <class Handle> Handle make_handle(handle_kind kind) noexcept {
  const std::uint64_t value =
      handle_base + (static_cast<std::uint64_t>(kind) << 40) + 16 * next_handle_number();
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(value));
}

/// The kind that the value of a handle claims, or 0 for a value that this driver never made.
inline unsigned kind_of_handle(const void* handle) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < handle_base || value - handle_base >= std::uint64_t{32} << 40) return 0;
  return static_cast<unsigned>((value - handle_base) >> 40);
}

/// The handles of a table as numbers, and what they name without its type: compiled once for all
/// kinds of handles.
class handle_numbers {
 public:
  using pointer = std::shared_ptr<void>;

  void add(std::uintptr_t handle, pointer object) { objects_.emplace(handle, std::move(object)); }
  pointer find(std::uintptr_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  pointer take(std::uintptr_t handle) {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    pointer object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  void orphan(std::uintptr_t handle) {
    if (objects_.erase(handle) != 0) orphans_.insert(handle);
  }
  bool is_orphan(std::uintptr_t handle) const { return orphans_.count(handle) != 0; }
  /// All objects, the oldest first.
  std::vector<pointer> all() const {
    std::vector<std::uintptr_t> order;
    order.reserve(objects_.size());
    for (const auto& entry : objects_) order.push_back(entry.first);
    std::sort(order.begin(), order.end());
    std::vector<pointer> list;
    list.reserve(order.size());
    for (const std::uintptr_t handle : order) list.push_back(objects_.at(handle));
    return list;
  }
  void clear() { objects_.clear(); }

 private:
  std::unordered_map<std::uintptr_t, pointer> objects_;
  std::unordered_set<std::uintptr_t> orphans_;
};

/// The live handles of one kind and what they name.
template <class Handle, class Object, handle_kind Kind> class handle_table {
 public:
  using pointer = std::shared_ptr<Object>;

  /// Gives the object a handle, which also goes into its member `handle`.
  Handle add(pointer object) {
    const Handle handle = make_handle<Handle>(Kind);
    object->handle = handle;
    numbers_.add(number(handle), std::move(object));
    return handle;
  }
  /// The object, or null.
  pointer find(Handle handle) const {
    return std::static_pointer_cast<Object>(numbers_.find(number(handle)));
  }
  /// Ends the handle and returns its object; null if the handle does not exist.
  pointer take(Handle handle) {
    return std::static_pointer_cast<Object>(numbers_.take(number(handle)));
  }
  /// Ends the handle because its context ended.
  void orphan(Handle handle) { numbers_.orphan(number(handle)); }
  /// Returns the error of a call for a handle that `find` does not find.
  CUresult why_unknown(Handle handle) const {
    return numbers_.is_orphan(number(handle)) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                              : CUDA_ERROR_INVALID_HANDLE;
  }
  /// All objects, the oldest first.
  std::vector<pointer> all() const {
    std::vector<pointer> list;
    for (const auto& each : numbers_.all()) list.push_back(std::static_pointer_cast<Object>(each));
    return list;
  }
  void clear() { numbers_.clear(); }

 private:
  static std::uintptr_t number(Handle handle) { return reinterpret_cast<std::uintptr_t>(handle); }

  handle_numbers numbers_;
};

}}}  // namespace nogpu::v1::driver

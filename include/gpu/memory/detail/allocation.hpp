#pragma once
/// \file
/// Allocates and frees device memory for the classes that own it.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/detail/library_pool.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Ranges that have a context until they are moved from.
template <class Range>
concept knows_context = requires(const Range& range) { context_ref{range.context()}; };

/// The way in which an allocation is freed.
enum class allocation_kind : unsigned char {
  plain,           // cuMemAlloc, cuMemFree
  stream_ordered,  // cuMemAllocAsync, cuMemFreeAsync
};

/// A piece of memory that goes back to the allocator that handed it out. A function pointer, so
/// that this header need not know the allocators.
struct returnable {
  void (*give_back)(returnable&) noexcept;
};

/// Device memory and its origin. Memory that was allocated without a stream has a `stream` with a
/// context only. Memory of 0 bytes has address 0. Memory with an `owner` is part of a larger
/// allocation, so the driver cannot free it by itself.
struct device_allocation {
  CUdeviceptr address = 0;
  stream_ref stream;
  returnable* owner = nullptr;
  allocation_kind kind = allocation_kind::plain;

  // Copies member by member: g++ would otherwise load 16 bytes that two stores wrote, and stall
  // until both have left the store buffer, several times on the way of a buffer out of a `result`.
  constexpr device_allocation() noexcept = default;
  constexpr device_allocation(const device_allocation& from) noexcept
      : address{from.address}, stream{from.stream}, owner{from.owner}, kind{from.kind} {}
  constexpr device_allocation& operator=(const device_allocation&) noexcept = default;

  friend bool operator==(const device_allocation& a, const device_allocation& b) noexcept {
    return a.address == b.address && a.stream == b.stream;
  }
};

/// Frees memory that the driver allocated. Takes values and is not inlined, so that the owner of a
/// cached block need not be in memory: that halves the time of "one thread on one stream" in
/// benchmarks/memory/caching_allocator.cpp.
[[gnu::noinline]] inline void free_with_driver(CUdeviceptr address, stream_ref stream,
                                               allocation_kind kind) noexcept {
  const CUcontext context = stream.context().native();
  if (kind == allocation_kind::plain) {
    driver::destroy_in<&driver::entry_points::mem_free>(context, address);
  } else if (is_default_stream(stream.native())) {
    driver::destroy_in<&driver::entry_points::mem_free_async>(context, address, stream.native());
  } else {
    driver::destroy<&driver::entry_points::mem_free_async>(address, stream.native());
  }
}

struct free_device_memory {
  void operator()(const device_allocation& a) const noexcept {
    if (a.address == 0) return;
    if (a.owner != nullptr) return a.owner->give_back(*a.owner);
    free_with_driver(a.address, a.stream, a.kind);
  }
};

using device_memory = unique_handle<device_allocation, free_device_memory>;

inline context_ref context_of(const device_allocation& a) noexcept { return a.stream.context(); }

/// Takes over memory that was allocated elsewhere.
inline device_memory adopt_memory(CUdeviceptr address, const stream_ref& stream,
                                  allocation_kind kind) noexcept {
  device_allocation owned;
  owned.address = address;
  owned.stream = stream;
  owned.kind = kind;
  return device_memory{owned};
}

/// Sets `memory`, which is empty, to `made` with the address that `get(address)` writes. `get`
/// returns a `result`; it is not called for 0 bytes. If it fails after all although there is an
/// address, the memory is freed.
template <class Get>
result<> obtain(device_allocation made, std::size_t bytes, device_memory& memory,
                Get get) noexcept {
  if (bytes != 0) {
    CUdeviceptr address = 0;
    result<> done = get(address);
    made.address = address;
    if (!done.has_value()) {
      free_device_memory{}(made);
      return fail(explain_out_of_memory(std::move(done).error(), made.stream.context(), bytes));
    }
  }
  memory.reset(made);
  return {};
}

/// Sets `memory` to memory that belongs to no stream. (cuMemAlloc)
inline result<> allocate(context_ref context, std::size_t bytes, device_memory& memory,
                         source_location where) noexcept {
  device_allocation made;
  made.stream = stream_ref::from_native(nullptr, context);
  return obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return with_kept_memory(made.stream, address, [&] {
      return driver::call_in<&driver::entry_points::mem_alloc>(context.native(), where, &address,
                                                               bytes);
    });
  });
}

/// Allocates from `pool`, or from the device's current pool if that is null.
inline result<> allocate_from(CUmemoryPool pool, const stream_ref& stream, std::size_t bytes,
                              CUdeviceptr& address, source_location where) noexcept {
  return on_stream(stream, where, [&] {
    if (pool == nullptr)
      return driver::call<&driver::entry_points::mem_alloc_async>(where, &address, bytes,
                                                                  stream.native());
    return driver::call<&driver::entry_points::mem_alloc_from_pool_async>(where, &address, bytes,
                                                                          pool, stream.native());
  });
}

/// Sets `memory` to memory that work on `stream` may use and that is freed in the order of the
/// stream. It comes from the pool that the library keeps for the device, or from the current pool
/// if somebody has chosen one, or from cuMemAlloc if the device has none.
/// (cuDeviceGetMemPool, cuMemAllocFromPoolAsync or cuMemAllocAsync)
inline result<> allocate(const stream_ref& stream, std::size_t bytes, device_memory& memory,
                         source_location where) noexcept {
  device_allocation made;
  made.stream = stream;
  made.kind = allocation_kind::stream_ordered;
  result<> done = obtain(made, bytes, memory, [&](CUdeviceptr& address) -> result<> {
    CUmemoryPool pool = nullptr;
    GPU_TRY(choose_pool(stream.device().native(), pool, where));
    return with_kept_memory(stream, address,
                            [&] { return allocate_from(pool, stream, bytes, address, where); });
  });
  if (done.has_value() || !is_without_pools(done.error())) return done;
  return allocate(stream.context(), bytes, memory, where);
}

}}}  // namespace gpu::v1::detail

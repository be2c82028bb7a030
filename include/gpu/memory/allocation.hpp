#pragma once
/// \file
/// Device memory as the owners of it see it: getting it, with what there is to say where there is
/// none, and giving it back.

#include <gpu/driver/stream.hpp>
#include <gpu/memory/element_owner.hpp>

namespace gpu::detail {

/// Adds to an out-of-memory error what was asked for and what the device has.
[[gnu::cold, gnu::noinline]] inline cuda_error with_memory_info(cuda_error error,
                                                                context_ref context,
                                                                std::size_t bytes) noexcept {
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_OUT_OF_MEMORY) {
    return error;
  }
  text_builder out;
  out << "asked for " << bytes << " bytes";
  std::size_t free = 0, total = 0;
  if (driver::call_in<&driver::entry_points::mem_get_info>(context.native(), error.where(), &free,
                                                           &total)
          .has_value()) {
    out << "; " << free << " of " << total << " are free on device " << context.device().native();
  }
  return detail::move(error).with_details(out.finish()).with_values(bytes, free);
}

/// Whether cuMemAllocAsync failed because driver or device have no pools.
[[gnu::cold]] inline bool is_without_pools(const cuda_error& error) noexcept {
  return error == errc::not_supported ||
         (error.domain() == error_domain::driver && error.code() == CUDA_ERROR_NOT_SUPPORTED);
}

/// How an allocation is given back.
enum class allocation_kind : unsigned char {
  plain,           // cuMemAlloc, cuMemFree
  stream_ordered,  // cuMemAllocAsync, cuMemFreeAsync
};

/// A piece of memory that goes back to whoever handed it out, without this header knowing them.
struct returnable {
  void (*give_back)(returnable&) noexcept;
};

/// Device memory and where it came from. `stream` is empty but for its context where the memory was
/// asked for without a stream. Memory of no bytes has no address. Where there is an `owner`, it is
/// part of a larger piece, and the driver knows nothing of it.
struct device_allocation {
  CUdeviceptr address = 0;
  stream_ref stream;
  returnable* owner = nullptr;
  allocation_kind kind = allocation_kind::plain;

  friend bool operator==(const device_allocation& a, const device_allocation& b) noexcept {
    return a.address == b.address && a.stream == b.stream;
  }
};

struct free_device_memory {
  void operator()(const device_allocation& a) const noexcept {
    if (a.address == 0) return;
    if (a.owner != nullptr) return a.owner->give_back(*a.owner);
    if (a.kind == allocation_kind::plain || is_default_stream(a.stream.native())) {
      const CUcontext context = a.stream.context().native();
      if (a.kind == allocation_kind::plain) {
        driver::destroy_in<&driver::entry_points::mem_free>(context, a.address);
      } else {
        driver::destroy_in<&driver::entry_points::mem_free_async>(context, a.address,
                                                                  a.stream.native());
      }
    } else {
      driver::destroy<&driver::entry_points::mem_free_async>(a.address, a.stream.native());
    }
  }
};

using device_memory = unique_handle<device_allocation, free_device_memory>;

inline context_ref context_of(const device_allocation& a) noexcept { return a.stream.context(); }

/// Memory that was allocated elsewhere, to be given back like what is allocated here.
inline device_memory adopt_memory(CUdeviceptr address, const stream_ref& stream,
                                  allocation_kind kind) noexcept {
  device_allocation owned;
  owned.address = address;
  owned.stream = stream;
  owned.kind = kind;
  return device_memory{owned};
}

/// Sets `memory` to `made` and the address that `get(address)` finds for it, which returns a
/// `result`; nothing is asked for where there are no bytes. Where memory came and the call failed
/// all the same, it goes back. Inlined into whoever allocates, as are the next two, so that what is
/// handed on stays in registers.
template <class Get>
[[gnu::always_inline]] inline result<> obtain(device_allocation made, std::size_t bytes,
                                              device_memory& memory, Get get) noexcept {
  if (bytes == 0) {
    memory.reset(made);
    return {};
  }
  CUdeviceptr address = 0;
  result<> done = get(address);
  made.address = address;
  memory.reset(made);
  if (done.has_value()) [[likely]]
    return done;
  memory.reset();
  return fail(with_memory_info(detail::move(done).error(), made.stream.context(), bytes));
}

/// Sets `memory` to memory that does not belong to a stream. (cuMemAlloc)
[[gnu::always_inline]] inline result<> allocate(context_ref context, std::size_t bytes,
                                                device_memory& memory,
                                                source_location where) noexcept {
  device_allocation made;
  made.stream = stream_ref::from_native(nullptr, context);
  return obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return driver::call_in<&driver::entry_points::mem_alloc>(context.native(), where, &address,
                                                             bytes);
  });
}

/// Sets `memory` to memory that work on `stream` may use, and that goes back in the order of the
/// stream: from the device's pool, or where it has none from cuMemAlloc. (cuMemAllocAsync)
[[gnu::always_inline]] inline result<> allocate(const stream_ref& stream, std::size_t bytes,
                                                device_memory& memory,
                                                source_location where) noexcept {
  device_allocation made;
  made.stream = stream;
  made.kind = allocation_kind::stream_ordered;
  result<> done = obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return on_stream(stream, where, [&] {
      return driver::call<&driver::entry_points::mem_alloc_async>(where, &address, bytes,
                                                                  stream.native());
    });
  });
  if (done.has_value() || !is_without_pools(done.error())) [[likely]]
    return done;
  return allocate(stream.context(), bytes, memory, where);
}

}  // namespace gpu::detail

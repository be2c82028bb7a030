#pragma once
/// \file
/// Device memory as the owners of it see it: getting it, with what there is to say where there is
/// none, and giving it back.

#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/element_owner.hpp>

namespace gpu::inline v0::detail {

/// Ranges that have a context until they are moved from.
template <class Range>
concept knows_context = requires(const Range& range) { context_ref{range.context()}; };

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
  return noted_error(detail::move(error).with_details(out.finish()).with_values(bytes, free));
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

  // Member by member: where g++ copies all at once it loads 16 bytes that two stores wrote, and
  // waits for both, several times on the way of a buffer out of a `result`.
  constexpr device_allocation() noexcept = default;
  constexpr device_allocation(const device_allocation& from) noexcept
      : address{from.address}, stream{from.stream}, owner{from.owner}, kind{from.kind} {}
  constexpr device_allocation& operator=(const device_allocation&) noexcept = default;

  friend bool operator==(const device_allocation& a, const device_allocation& b) noexcept {
    return a.address == b.address && a.stream == b.stream;
  }
};

/// Gives back what belongs to no stream or to a default one.
template <class Kind>
[[gnu::noinline]] void free_otherwise(CUdeviceptr address, CUstream stream, CUcontext context,
                                      Kind kind) noexcept {
  if (kind == Kind::plain) {
    driver::destroy_in<&driver::entry_points::mem_free>(context, address);
  } else if (is_default_stream(stream)) {
    driver::destroy_in<&driver::entry_points::mem_free_async>(context, address, stream);
  } else {
    driver::destroy<&driver::entry_points::mem_free_async>(address, stream);
  }
}

struct free_device_memory {
  template <class Allocation>
  [[gnu::always_inline]] void operator()(const Allocation& a) const noexcept {
    if (a.address == 0) return;
    if (a.owner != nullptr) return a.owner->give_back(*a.owner);
    if (is_usual(a.stream)) [[likely]] {
      driver::destroy<&driver::entry_points::mem_free_async>(a.address, a.stream.native());
    } else {
      // Not as a whole, so that `a` need not be in memory.
      free_otherwise(a.address, a.stream.native(), a.stream.context().native(), a.kind);
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

/// Says why there is no memory. Where it came and the call failed all the same, it goes back.
template <class Allocation>
[[gnu::cold, gnu::noinline]] result<> obtain_failed(const Allocation& made, std::size_t bytes,
                                                    result<>& failed) noexcept {
  free_device_memory{}(made);
  return fail(with_memory_info(detail::move(failed).error(), made.stream.context(), bytes));
}

/// Sets `memory`, which is empty, to `made` and the address that `get(address)` finds for it, which
/// returns a `result`; nothing is asked for where there are no bytes. Inlined into whoever
/// allocates, as are the next two, so that what is handed on stays in registers.
template <class Get>
[[gnu::always_inline]] inline result<> obtain(device_allocation made, std::size_t bytes,
                                              device_memory& memory, Get get) noexcept {
  CUdeviceptr address = 0;
  if (bytes != 0) [[likely]] {
    result<> done = get(address);
    if (!done.has_value()) [[unlikely]] {
      device_allocation unwanted = made;
      unwanted.address = address;
      return obtain_failed(unwanted, bytes, done);
    }
  }
  made.address = address;
  memory.reset(made);
  return {};
}

/// Sets `memory` to memory that does not belong to a stream. (cuMemAlloc)
template <class Memory>
[[gnu::always_inline]] inline result<> allocate(context_ref context, std::size_t bytes,
                                                Memory& memory, source_location where) noexcept {
  device_allocation made;
  made.stream = stream_ref::from_native(nullptr, context);
  return obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return driver::call_in<&driver::entry_points::mem_alloc>(context.native(), where, &address,
                                                             bytes);
  });
}

/// Where there are no pools, memory comes from cuMemAlloc.
template <class Allocation>
[[gnu::cold, gnu::noinline]] result<> allocate_otherwise(context_ref context, std::size_t bytes,
                                                         Allocation& made, result<>& failed,
                                                         source_location where) noexcept {
  if (!is_without_pools(failed.error())) return detail::move(failed);
  device_memory memory;
  result<> done = allocate(context, bytes, memory, where);
  made = memory.release();
  return done;
}

/// Sets `memory` to memory that work on `stream` may use, and that goes back in the order of the
/// stream: from the device's pool, or where it has none from cuMemAlloc. (cuMemAllocAsync)
template <class Memory>
[[gnu::always_inline]] inline result<> allocate(const stream_ref& stream, std::size_t bytes,
                                                Memory& memory, source_location where) noexcept {
  device_allocation made;
  made.stream = stream;
  made.kind = allocation_kind::stream_ordered;
  result<> done = obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return on_stream(stream, where, [&] {
      return driver::call<&driver::entry_points::mem_alloc_async>(where, &address, bytes,
                                                                  stream.native());
    });
  });
  if (done.has_value()) [[likely]]
    return done;
  device_allocation other;
  result<> otherwise = allocate_otherwise(stream.context(), bytes, other, done, where);
  memory.reset(other);
  return otherwise;
}

}  // namespace gpu::inline v0::detail

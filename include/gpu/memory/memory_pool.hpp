#pragma once
/// \file
/// Memory pools of the driver: `memory_pool` owns one, `memory_pool_ref` names one, such as a
/// device's own. A pool hands out memory in the order of streams.

#include <gpu/driver/device_attribute.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>

namespace gpu::inline v0 {

/// What a pool's memory is; converts to `CUmemAllocationType` by cast.
enum class allocation_type : int {
  pinned = CU_MEM_ALLOCATION_TYPE_PINNED,    ///< stays where it is
  managed = CU_MEM_ALLOCATION_TYPE_MANAGED,  ///< moves to where it is used
};

/// The enumerator, such as "pinned"; null for a value that this library does not know.
constexpr const char* name_of(allocation_type type) noexcept {
  switch (type) {
    case allocation_type::pinned:
      return "pinned";
    case allocation_type::managed:
      return "managed";
  }
  return nullptr;
}

struct memory_pool_options {
  allocation_type type = allocation_type::pinned;
  /// The most bytes that the pool grows to, which the driver rounds up; 0 is no limit but memory.
  std::size_t max_bytes = 0;
  /// How the pool can be handed to other processes.
  shareable_handle_types handle_types = shareable_handle_types::none;
  /// Whether the decompression engine is to read the memory.
  bool hardware_decompression = false;
};

class memory_pool_ref;

namespace detail {

result<> require(const memory_pool_ref& pool, const char* function, source_location where) noexcept;

/// `errc::invalid_argument` for a place that no pool can be at: at none there is managed memory
/// only.
inline result<> require_pool_place(const memory_location& at, allocation_type type,
                                   const char* function, source_location where) noexcept {
  GPU_TRY(require_enumerator(type, "allocation_type", function, where));
  const bool current_node = at.type() == memory_location_type::host_numa_current;
  if (!current_node && (at || type == allocation_type::managed)) [[likely]]
    return {};
  text_builder out;
  out << "a pool cannot be at " << at
      << ". Pass a device, gpu::memory_location::host() or host_numa(node).";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

/// Has an error that there is no memory say that it is the pool's limit, where its device has
/// enough.
[[gnu::cold, gnu::noinline]] inline cuda_error with_pool_limit(cuda_error error,
                                                               const memory_location& at) noexcept {
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_OUT_OF_MEMORY ||
      !at.is_device() || error.asked() > error.limit())
    return error;
  text_builder out;
  out << error.details().c_str()
      << ". That much is free, so it is likely the pool's limit, memory_pool_options::max_bytes, "
         "that is exhausted. Give buffers back to it, or create it with a larger limit";
  return noted_error(detail::move(error).with_details(out.finish()));
}

inline result<> allocate_from(CUmemoryPool pool, const stream_ref& stream, std::size_t bytes,
                              device_memory& memory, source_location where) noexcept {
  device_allocation made;
  made.stream = stream;
  made.kind = allocation_kind::stream_ordered;
  return obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return on_stream(stream, where, [&] {
      return driver::call<&driver::entry_points::mem_alloc_from_pool_async>(where, &address, bytes,
                                                                            pool, stream.native());
    });
  });
}

}  // namespace detail

/// What `memory_pool` and `memory_pool_ref` can both do.
/// **Threads**: any thread may call any member, also at the same time as another.
/// **Errors**: `errc::empty_handle`, and those of the driver call named in parentheses.
template <class Self> class memory_pool_operations {
 public:
  /// `count` elements in the order of `stream`, which may be another device's that has access. They
  /// go back to the pool in the order of the same stream. No elements are fine. Allowed during
  /// capture, where the memory belongs to the graph. (cuMemAllocFromPoolAsync, cuMemFreeAsync)
  /// **Errors**: `errc::size_overflow`; CUDA_ERROR_OUT_OF_MEMORY with the bytes asked, free and
  /// total, and a sentence where the pool's own limit is what is exhausted.
  template <class T>
  result<device_buffer<T>> allocate(
      stream_ref stream, std::size_t count,
      source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::memory_pool::allocate";
    GPU_TRY(detail::require(self(), function, where));
    GPU_TRY(detail::require(stream, function, where));
    std::size_t bytes = 0;
    GPU_TRY(detail::get_bytes(function, count, sizeof(T), bytes, where));
    detail::device_memory memory;
    result<> done = detail::allocate_from(self().native(), stream, bytes, memory, where);
    if (!done.has_value()) [[unlikely]] {
      return detail::fail(detail::with_pool_limit(detail::move(done).error(), self().location()));
    }
    return detail::buffer_maker::make<device_buffer<T>>(detail::move(memory), count);
  }

  /// Gives memory that is not in use back to the device, until no more than `keep_bytes` are held.
  /// Not allowed while a stream is captured. (cuMemPoolTrimTo)
  result<> trim(std::size_t keep_bytes = 0,
                source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require(self(), "gpu::memory_pool::trim", where));
    return driver::call<&driver::entry_points::mem_pool_trim_to>(where, self().native(),
                                                                 keep_bytes);
  }

  /// What a device may do with memory of the pool; its own may read and write. Not allowed while a
  /// stream is captured. (cuMemPoolGetAccess)
  /// **Errors**: `errc::index_out_of_range` for a device that there is not.
  result<memory_access> access(device by,
                               source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require(self(), "gpu::memory_pool::access", where));
    CUmemLocation location = memory_location(by).native();
    CUmemAccess_flags flags{};
    GPU_TRY(detail::explain_location(driver::call<&driver::entry_points::mem_pool_get_access>(
                                         where, &flags, self().native(), &location),
                                     by, where));
    return static_cast<memory_access>(flags);
  }

  /// Lets a device read and write memory of the pool, what there is and what will be, or not any
  /// more. The two devices have to be peers.
  /// **Errors**: `errc::invalid_argument` for `read`, which the driver does not have, and for
  /// taking access away from the pool's own device; `errc::index_out_of_range` for a device that
  /// there is not; CUDA_ERROR_INVALID_DEVICE where they are no peers. Not allowed while a stream is
  /// captured. (cuMemPoolSetAccess)
  result<> set_access(device by, memory_access access,
                      source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::memory_pool::set_access";
    GPU_TRY(detail::require(self(), function, where));
    GPU_TRY(detail::require_enumerator(access, "memory_access", function, where));
    const bool own = self().location() == memory_location(by);
    if (access != memory_access::read_write && (access != memory_access::none || own)) {
      detail::text_builder out;
      if (access == memory_access::none) {
        out << "device " << by.native()
            << " is the pool's own, and keeps its access. Take it from other devices only.";
      } else {
        out << "a pool gives access to read and write, or none. Use "
               "gpu::memory_access::read_write.";
      }
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                          static_cast<std::uint64_t>(access)));
    }
    CUmemAccessDesc wanted{};
    wanted.location = memory_location(by).native();
    wanted.flags = static_cast<CUmemAccess_flags>(access);
    return detail::explain_location(
        driver::call<&driver::entry_points::mem_pool_set_access>(
            where, self().native(), static_cast<const CUmemAccessDesc*>(&wanted), std::size_t{1}),
        by, where);
  }

 private:
  friend Self;
  memory_pool_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

/// Names a pool that something else keeps alive; copy it freely. Default constructed it is empty.
class memory_pool_ref : public memory_pool_operations<memory_pool_ref> {
 public:
  constexpr memory_pool_ref() noexcept = default;

  /// A pool made elsewhere, whose memory is at `location`.
  static constexpr memory_pool_ref from_native(CUmemoryPool native,
                                               memory_location location) noexcept {
    return memory_pool_ref{native, location};
  }
  /// The pool that a device has from the start. **Errors**: `errc::index_out_of_range` for a device
  /// that there is not. **Capture**: not affected. (cuDeviceGetDefaultMemPool)
  static result<memory_pool_ref> default_of(
      device on, source_location where = source_location::current()) noexcept {
    CUmemoryPool native = nullptr;
    GPU_TRY(
        detail::explain_location(driver::call<&driver::entry_points::device_get_default_mem_pool>(
                                     where, &native, on.native()),
                                 on, where));
    return memory_pool_ref::from_native(native, on);
  }
  /// The pool that `device_buffer::create(stream, count)` uses. **Errors**: as `default_of`.
  /// **Capture**: not affected. (cuDeviceGetMemPool)
  static result<memory_pool_ref> current_of(
      device on, source_location where = source_location::current()) noexcept {
    CUmemoryPool native = nullptr;
    GPU_TRY(detail::explain_location(
        driver::call<&driver::entry_points::device_get_mem_pool>(where, &native, on.native()), on,
        where));
    return memory_pool_ref::from_native(native, on);
  }

  /// The pools that a place has from the start and now, for memory of a type: of a device, of the
  /// host, of one of its NUMA nodes, and at no place in particular for managed memory.
  /// **Errors**: `errc::invalid_argument` for a place that pools cannot be at;
  /// `errc::index_out_of_range` for a device that there is not, the driver's
  /// CUDA_ERROR_INVALID_VALUE for another such place; `errc::not_supported` before CUDA 13.0's
  /// driver. **Capture**: not affected. (cuMemGetDefaultMemPool, cuMemGetMemPool)
  static result<memory_pool_ref> default_of(
      memory_location at, allocation_type type,
      source_location where = source_location::current()) noexcept {
    return at_place<&driver::entry_points::mem_get_default_mem_pool, memory_pool_ref>(
        at, type, "gpu::memory_pool_ref::default_of", where);
  }
  static result<memory_pool_ref> current_of(
      memory_location at, allocation_type type,
      source_location where = source_location::current()) noexcept {
    return at_place<&driver::entry_points::mem_get_mem_pool, memory_pool_ref>(
        at, type, "gpu::memory_pool_ref::current_of", where);
  }

  constexpr CUmemoryPool native() const noexcept { return native_; }
  /// Where the pool's memory is.
  constexpr memory_location location() const noexcept { return location_; }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }
  friend constexpr bool operator==(const memory_pool_ref& a, const memory_pool_ref& b) noexcept {
    return a.native_ == b.native_;
  }

 private:
  constexpr memory_pool_ref(CUmemoryPool native, memory_location location) noexcept
      : native_{native}, location_{location} {}

  template <auto Member, class Ref>
  static result<Ref> at_place(memory_location at, allocation_type type, const char* function,
                              source_location where) noexcept {
    GPU_TRY(detail::require_pool_place(at, type, function, where));
    CUmemLocation place = at.native();
    CUmemoryPool native = nullptr;
    GPU_TRY(detail::explain_location(
        driver::call<Member>(where, &native, &place, static_cast<CUmemAllocationType>(type)), at,
        where));
    return Ref::from_native(native, at);
  }

  CUmemoryPool native_ = nullptr;
  memory_location location_;
};

namespace detail {

inline result<> require(const memory_pool_ref& pool, const char* function,
                        source_location where) noexcept {
  if (!pool) [[unlikely]]
    return fail(empty_handle_error(function, "memory pool", where));
  return {};
}

struct destroy_memory_pool {
  template <class Pool> void operator()(const Pool& pool) const noexcept {
    driver::destroy<&driver::entry_points::mem_pool_destroy>(pool.native());
  }
};

/// `errc::invalid_argument` for a pool whose memory is elsewhere.
inline result<> require_pool_at(const memory_pool_ref& pool, const memory_location& at,
                                source_location where) noexcept {
  GPU_TRY(require(pool, "gpu::set_current_pool", where));
  if (pool.location() == at) [[likely]]
    return {};
  text_builder out;
  out << "the pool's memory is on " << pool.location() << ", and cannot be the one of " << at
      << ". Create a pool there.";
  return fail(refusal(errc::invalid_argument, "gpu::set_current_pool", out.finish(), where));
}

}  // namespace detail

/// Makes `pool` the one that `device_buffer::create(stream, count)` uses on its device, until
/// another is set, or it is destroyed. (cuDeviceSetMemPool)
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a pool of another device or of
/// the host. **Capture**: not allowed.
inline result<> set_current_pool(device on, memory_pool_ref pool,
                                 source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require_pool_at(pool, on, where));
  return driver::call<&driver::entry_points::device_set_mem_pool>(where, on.native(),
                                                                  pool.native());
}

/// Makes `pool` the one that `current_of(at, type)` gives, until another is set. Set another before
/// `pool` is destroyed: a device's driver is known to go back to the default only for
/// `allocation_type::pinned` on a device.
/// **Errors**: those of `default_of`; `errc::empty_handle`; `errc::invalid_argument` for a pool of
/// another place; CUDA_ERROR_INVALID_VALUE, with a sentence, for one of another type.
/// **Capture**: not allowed. (cuMemSetMemPool)
inline result<> set_current_pool(memory_location at, allocation_type type, memory_pool_ref pool,
                                 source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require_pool_place(at, type, "gpu::set_current_pool", where));
  GPU_TRY(detail::require_pool_at(pool, at, where));
  CUmemLocation place = at.native();
  result<> done = driver::call<&driver::entry_points::mem_set_mem_pool>(
      where, &place, static_cast<CUmemAllocationType>(type), pool.native());
  if (done.has_value() || done.error().code() != CUDA_ERROR_INVALID_VALUE) [[likely]]
    return done;
  detail::text_builder out;
  out << "the pool's memory is not " << name_of(type)
      << ", or there is no such place. Create the pool with that gpu::allocation_type.";
  return detail::fail(detail::noted_error(detail::move(done).error().with_details(out.finish())));
}

/// Owns a pool. Move-only; empty after a move. Buffers of it may outlive it.
class memory_pool : public memory_pool_operations<memory_pool> {
 public:
  /// A pool of a device's memory, or of the host's. Takes nothing of it yet.
  /// **Errors**: `errc::invalid_argument` for a location that pools cannot be at;
  /// `errc::index_out_of_range` for a device that there is not; the driver's
  /// CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_INVALID_VALUE. Not allowed while a stream is captured.
  /// (cuMemPoolCreate, cuMemPoolDestroy)
  static result<memory_pool> create(memory_location at, memory_pool_options options = {},
                                    source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::memory_pool::create";
    GPU_TRY(detail::require_pool_place(at, options.type, function, where));
    GPU_TRY(detail::require_flags(options.handle_types, detail::known_handle_types,
                                  "shareable_handle_types", function, where));
    CUmemPoolProps properties{};
    properties.allocType = static_cast<CUmemAllocationType>(options.type);
    properties.handleTypes = static_cast<CUmemAllocationHandleType>(options.handle_types);
    properties.location = at.native();
    properties.maxSize = options.max_bytes;
    if (options.hardware_decompression) properties.usage = CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS;
    CUmemoryPool native = nullptr;
    GPU_TRY(detail::explain_location(
        driver::call<&driver::entry_points::mem_pool_create>(
            where, &native, static_cast<const CUmemPoolProps*>(&properties)),
        at, where));
    return memory_pool::adopt(memory_pool_ref::from_native(native, at));
  }

  /// Takes over a pool that cuMemPoolCreate made.
  static memory_pool adopt(const memory_pool_ref& owned) noexcept { return memory_pool{owned}; }
  /// Gives the pool up; the caller destroys it.
  [[nodiscard]] memory_pool_ref release() noexcept { return handle_.release(); }

  CUmemoryPool native() const noexcept { return handle_.get().native(); }
  memory_location location() const noexcept { return handle_.get().location(); }
  operator memory_pool_ref() const& noexcept { return handle_.get(); }
  operator memory_pool_ref() const&& = delete;  // a name must not outlive its owner

 private:
  explicit memory_pool(const memory_pool_ref& owned) noexcept : handle_{owned} {}

  unique_handle<memory_pool_ref, detail::destroy_memory_pool> handle_;
};

}  // namespace gpu::inline v0

#pragma once
/// \file
/// Memory pools of the driver: `memory_pool` owns one, `memory_pool_ref` refers to one, such as a
/// device's default pool. Pools allocate and free memory in stream order.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/detail/library_pool.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/memory_access.hpp>
#include <gpu/memory/memory_location.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// The type of a pool's memory; converts to `CUmemAllocationType` by cast.
enum class allocation_type : int {
  pinned = CU_MEM_ALLOCATION_TYPE_PINNED,    ///< stays at its location
  managed = CU_MEM_ALLOCATION_TYPE_MANAGED,  ///< migrates to the processor that uses it
};

/// The enumerator, such as "pinned"; null for a value that this library does not know.
constexpr const char* name_of(allocation_type type) noexcept {
  using enum allocation_type;
  return detail::find_name(type, {{pinned, "pinned"}, {managed, "managed"}});
}

struct memory_pool_options {
  allocation_type type = allocation_type::pinned;
  /// The maximum size of the pool, which the driver rounds up; 0 means no limit.
  std::size_t max_bytes = 0;
  /// The handle types by which the pool can be shared with other processes.
  shareable_handle_types handle_types = shareable_handle_types::none;
  /// Makes the memory usable by the hardware decompression engine.
  bool hardware_decompression = false;
};

class memory_pool_ref;

namespace detail {

result<> require(const memory_pool_ref& pool, const char* function, source_location where) noexcept;

/// Returns `errc::invalid_argument` for a location that pools cannot have. The location `none` is
/// for managed memory only.
inline result<> require_pool_location(const memory_location& at, allocation_type type,
                                      const char* function, source_location where) noexcept {
  GPU_TRY(require_enumerator(type, "allocation_type", function, where));
  const bool current_node = at.type() == memory_location_type::host_numa_current;
  if (!current_node && (at || type == allocation_type::managed)) return {};
  text_builder out;
  out << "a pool cannot be at " << at
      << ". Pass a device, gpu::memory_location::host() or host_numa(node).";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

/// Adds to an out-of-memory error that the pool's limit is exhausted, if its device has enough free
/// memory.
inline cuda_error explain_pool_limit(cuda_error error, const memory_location& at) noexcept {
  if (!is_out_of_memory(error) || !at.is_device() || error.asked() > error.limit()) {
    return error;
  }
  text_builder out;
  out << error.details().c_str()
      << ". The device has enough free memory, so the pool has probably reached its limit, "
         "memory_pool_options::max_bytes. Free buffers of the pool, or create it with a larger "
         "limit";
  return record_error(std::move(error).with_details(out.finish()));
}

inline result<> allocate_from(CUmemoryPool pool, const stream_ref& stream, std::size_t bytes,
                              device_memory& memory, source_location where) noexcept {
  device_allocation made;
  made.stream = stream;
  made.kind = allocation_kind::stream_ordered;
  return obtain(made, bytes, memory, [&](CUdeviceptr& address) {
    return allocate_from(pool, stream, bytes, address, where);
  });
}

/// Gives the library's pool of a device the access that was given to `standard`, if that is the
/// default pool of the device: so it stays the access to buffers.
inline result<> set_access_of_library_pool(CUmemoryPool standard, const memory_location& at,
                                           const CUmemAccessDesc& access,
                                           source_location where) noexcept {
  CUmemoryPool pool = nullptr, its_standard = nullptr;
  if (at.is_device()) GPU_TRY(find_known_library_pool(at.id(), pool, its_standard, where));
  if (pool == nullptr || its_standard != standard) return {};
  return driver::call<&driver::entry_points::mem_pool_set_access>(where, pool, &access, 1);
}

}  // namespace detail

/// The members that `memory_pool` and `memory_pool_ref` share.
/// **Threads**: any thread may call any member, also at the same time as another.
/// **Errors**: `errc::empty_handle`, and those of the driver call named in parentheses.
template <class Self> class memory_pool_operations {
 public:
  /// Allocates `count` elements, which may be 0, in stream order. The destructor of the buffer
  /// frees them in the order of the same stream. The stream may be on another device that has
  /// access to the pool. (cuMemAllocFromPoolAsync, cuMemFreeAsync)
  /// **Errors**: `errc::size_overflow`; CUDA_ERROR_OUT_OF_MEMORY with the bytes requested, free and
  /// in total, and a sentence if the pool has reached its own limit.
  /// **Capture**: allowed; then the memory belongs to the graph.
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
    if (!done.has_value()) {
      return detail::fail(detail::explain_pool_limit(std::move(done).error(), self().location()));
    }
    return detail::buffer_maker::make<device_buffer<T>>(std::move(memory), count);
  }

  /// Frees memory of the pool that is not in use, until the pool holds at most `keep_bytes`.
  /// **Capture**: not allowed. (cuMemPoolTrimTo)
  result<> trim(std::size_t keep_bytes = 0,
                source_location where = source_location::current()) const noexcept {
    GPU_TRY(detail::require(self(), "gpu::memory_pool::trim", where));
    return driver::call<&driver::entry_points::mem_pool_trim_to>(where, self().native(),
                                                                 keep_bytes);
  }

  /// Returns the access of a device to the pool's memory; the pool's own device can read and write.
  /// **Errors**: `errc::index_out_of_range` for a device that does not exist. **Capture**: not
  /// allowed. (cuMemPoolGetAccess)
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

  /// Sets the access of a device to all memory of the pool, present and future, to `read_write` or
  /// `none`. The two devices must be peers. The access to a device's default pool is also that to
  /// the pool that the library keeps (`library_pool_of`), and so to buffers and arrays.
  /// **Errors**: `errc::invalid_argument` for `read`, which the driver does not support, and for
  /// removing the access of the pool's own device; `errc::index_out_of_range` for a device that
  /// does not exist; CUDA_ERROR_INVALID_DEVICE if the devices are not peers. **Capture**: not
  /// allowed. (cuMemPoolSetAccess)
  result<> set_access(device by, memory_access access,
                      source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::memory_pool::set_access";
    GPU_TRY(detail::require(self(), function, where));
    GPU_TRY(detail::require_enumerator(access, "memory_access", function, where));
    const bool own = self().location() == memory_location(by);
    if (access != memory_access::read_write && (access != memory_access::none || own)) {
      detail::text_builder out;
      if (access == memory_access::none) {
        out << "the pool is on device " << by.native()
            << ", which always has access. Remove only the access of other devices.";
      } else {
        out << "a pool does not support read-only access. Use gpu::memory_access::read_write or "
               "none.";
      }
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                          static_cast<std::uint64_t>(access)));
    }
    CUmemAccessDesc wanted{};
    wanted.location = memory_location(by).native();
    wanted.flags = static_cast<CUmemAccess_flags>(access);
    GPU_TRY(detail::explain_location(driver::call<&driver::entry_points::mem_pool_set_access>(
                                         where, self().native(), &wanted, 1),
                                     by, where));
    return detail::set_access_of_library_pool(self().native(), self().location(), wanted, where);
  }

 private:
  friend Self;
  memory_pool_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

/// Refers to a pool without owning it; cheap to copy. A default-constructed ref is empty.
class memory_pool_ref : public memory_pool_operations<memory_pool_ref> {
 public:
  constexpr memory_pool_ref() noexcept = default;

  /// Refers to a pool created by other code, whose memory is at `location`.
  static constexpr memory_pool_ref from_native(CUmemoryPool native,
                                               memory_location location) noexcept {
    return memory_pool_ref{native, location};
  }
  /// Returns the default pool of a device. **Errors**: `errc::index_out_of_range` for a device that
  /// does not exist. **Capture**: not affected. (cuDeviceGetDefaultMemPool)
  static result<memory_pool_ref> default_of(
      device on, source_location where = source_location::current()) noexcept {
    CUmemoryPool native = nullptr;
    GPU_TRY(
        detail::explain_location(driver::call<&driver::entry_points::device_get_default_mem_pool>(
                                     where, &native, on.native()),
                                 on, where));
    return memory_pool_ref::from_native(native, on);
  }
  /// Returns the current pool of a device. If it is not the default one,
  /// `device_buffer::create(stream, count)` uses it.
  /// **Errors**: as for `default_of`. **Capture**: not affected. (cuDeviceGetMemPool)
  static result<memory_pool_ref> current_of(
      device on, source_location where = source_location::current()) noexcept {
    CUmemoryPool native = nullptr;
    GPU_TRY(detail::explain_location(
        driver::call<&driver::entry_points::device_get_mem_pool>(where, &native, on.native()), on,
        where));
    return memory_pool_ref::from_native(native, on);
  }

  /// Returns the default or the current pool of a location for a type of memory: of a device, of
  /// the host, of a NUMA node, or of `memory_location{}` for managed memory.
  /// **Errors**: `errc::invalid_argument` for a location that pools cannot have;
  /// `errc::index_out_of_range` for a device that does not exist; CUDA_ERROR_INVALID_VALUE for
  /// another location that does not exist; `errc::not_supported` if the driver is older than CUDA
  /// 13.0. **Capture**: not affected. (cuMemGetDefaultMemPool, cuMemGetMemPool)
  static result<memory_pool_ref> default_of(
      memory_location at, allocation_type type,
      source_location where = source_location::current()) noexcept {
    return find<&driver::entry_points::mem_get_default_mem_pool>(
        at, type, "gpu::memory_pool_ref::default_of", where);
  }
  static result<memory_pool_ref> current_of(
      memory_location at, allocation_type type,
      source_location where = source_location::current()) noexcept {
    return find<&driver::entry_points::mem_get_mem_pool>(at, type,
                                                         "gpu::memory_pool_ref::current_of", where);
  }

  constexpr CUmemoryPool native() const noexcept { return native_; }
  /// Returns the location of the pool's memory.
  constexpr memory_location location() const noexcept { return location_; }
  constexpr explicit operator bool() const noexcept { return native_ != nullptr; }
  friend constexpr bool operator==(const memory_pool_ref& a, const memory_pool_ref& b) noexcept {
    return a.native_ == b.native_;
  }

 private:
  constexpr memory_pool_ref(CUmemoryPool native, memory_location location) noexcept
      : native_{native}, location_{location} {}

  template <auto Member>
  static result<memory_pool_ref> find(memory_location at, allocation_type type,
                                      const char* function, source_location where) noexcept {
    GPU_TRY(detail::require_pool_location(at, type, function, where));
    CUmemLocation location = at.native();
    CUmemoryPool native = nullptr;
    GPU_TRY(detail::explain_location(
        driver::call<Member>(where, &native, &location, static_cast<CUmemAllocationType>(type)), at,
        where));
    return memory_pool_ref::from_native(native, at);
  }

  CUmemoryPool native_ = nullptr;
  memory_location location_;
};

namespace detail {

inline result<> require(const memory_pool_ref& pool, const char* function,
                        source_location where) noexcept {
  if (!pool) return fail(empty_handle_error(function, "memory pool", where));
  return {};
}

struct destroy_memory_pool {
  void operator()(const memory_pool_ref& pool) const noexcept {
    driver::destroy<&driver::entry_points::mem_pool_destroy>(pool.native());
  }
};

/// Returns `errc::invalid_argument` for a pool whose memory is at another location.
inline result<> require_pool_at(const memory_pool_ref& pool, const memory_location& at,
                                source_location where) noexcept {
  GPU_TRY(require(pool, "gpu::set_current_pool", where));
  if (pool.location() == at) return {};
  text_builder out;
  out << "the pool's memory is on " << pool.location() << ", so it cannot be the current pool of "
      << at << ". Create a pool at that location.";
  return fail(refusal(errc::invalid_argument, "gpu::set_current_pool", out.finish(), where));
}

}  // namespace detail

/// Makes `pool` the current pool of its device, which `device_buffer::create(stream, count)` uses,
/// until another is set or it is destroyed. (cuDeviceSetMemPool)
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for a pool of another device or of
/// the host. **Capture**: not allowed.
inline result<> set_current_pool(device on, memory_pool_ref pool,
                                 source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require_pool_at(pool, on, where));
  return driver::call<&driver::entry_points::device_set_mem_pool>(where, on.native(),
                                                                  pool.native());
}

/// Makes `pool` the current pool of a location for a type of memory, as returned by
/// `current_of(at, type)`, until another is set. Set another one before `pool` is destroyed:
/// drivers are known to return to the default pool only for `allocation_type::pinned` on a device.
/// **Errors**: those of `default_of`; `errc::empty_handle`; `errc::invalid_argument` for a pool at
/// another location; CUDA_ERROR_INVALID_VALUE, with a sentence, for a pool of another type.
/// **Capture**: not allowed. (cuMemSetMemPool)
inline result<> set_current_pool(memory_location at, allocation_type type, memory_pool_ref pool,
                                 source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require_pool_location(at, type, "gpu::set_current_pool", where));
  GPU_TRY(detail::require_pool_at(pool, at, where));
  CUmemLocation location = at.native();
  result<> done = driver::call<&driver::entry_points::mem_set_mem_pool>(
      where, &location, static_cast<CUmemAllocationType>(type), pool.native());
  if (done.has_value() || done.error().code() != CUDA_ERROR_INVALID_VALUE) return done;
  detail::text_builder out;
  out << "the pool's memory is not " << name_of(type)
      << ", or the location does not exist. Create the pool with that gpu::allocation_type";
  return detail::fail(detail::record_error(std::move(done).error().with_details(out.finish())));
}

/// Owns a pool. Move-only; empty after a move. Its buffers may outlive it.
class memory_pool : public memory_pool_operations<memory_pool> {
 public:
  /// Creates an empty object, to be assigned to.
  memory_pool() noexcept = default;

  /// Creates a pool of memory of a device or of the host. Allocates no memory yet.
  /// **Errors**: `errc::invalid_argument` for a location that pools cannot have;
  /// `errc::index_out_of_range` for a device that does not exist; the driver's
  /// CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_INVALID_VALUE. **Capture**: not allowed.
  /// (cuMemPoolCreate, cuMemPoolDestroy)
  static result<memory_pool> create(memory_location at, memory_pool_options options = {},
                                    source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::memory_pool::create";
    GPU_TRY(detail::require_pool_location(at, options.type, function, where));
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
        driver::call<&driver::entry_points::mem_pool_create>(where, &native, &properties), at,
        where));
    return memory_pool::adopt(memory_pool_ref::from_native(native, at));
  }

  /// Takes ownership of a pool that cuMemPoolCreate created.
  static memory_pool adopt(const memory_pool_ref& owned) noexcept { return memory_pool{owned}; }
  /// Gives up ownership; the caller destroys the pool.
  [[nodiscard]] memory_pool_ref release() noexcept { return handle_.release(); }

  CUmemoryPool native() const noexcept { return handle_.get().native(); }
  memory_location location() const noexcept { return handle_.get().location(); }
  operator memory_pool_ref() const& noexcept { return handle_.get(); }
  operator memory_pool_ref() const&& = delete;  // a ref must not outlive its owner

 private:
  explicit memory_pool(const memory_pool_ref& owned) noexcept : handle_{owned} {}

  unique_handle<memory_pool_ref, detail::destroy_memory_pool> handle_;
};

}}  // namespace gpu::v1

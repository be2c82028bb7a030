#pragma once
/// \file
/// Device memory as the owners of it see it: getting it, with what there is to say where there is
/// none, and giving it back.

#include <gpu/driver/stream.hpp>

namespace gpu::detail {

/// `count * size`, or `errc::size_overflow`.
inline result<std::size_t> bytes_of(const char* function, std::size_t count, std::size_t size,
                                    source_location where) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) [[unlikely]] {
    text_builder out;
    out << count << " elements of " << size << " bytes are more bytes than a size_t can count. "
        << "At most " << ~std::size_t{0} / size << " elements fit.";
    return fail(
        refusal(errc::size_overflow, function, out.finish(), where, count, ~std::size_t{0} / size));
  }
  return bytes;
}

/// Adds to an out-of-memory error what was asked for and what the device has.
[[gnu::cold, gnu::noinline]] inline cuda_error with_memory_info(cuda_error error,
                                                                context_ref context,
                                                                std::size_t bytes) noexcept {
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_OUT_OF_MEMORY) {
    return error;
  }
  text_builder out;
  out << "asked for " << bytes << " bytes";
  std::size_t free = 0;
  if (const result<memory_info> info = context.memory_info(error.where()); info.has_value()) {
    free = info->free;
    out << "; " << free << " of " << info->total << " are free on device "
        << context.device().native();
  }
  return std::move(error).with_details(out.finish()).with_values(bytes, free);
}

/// How an allocation is given back.
enum class allocation_kind : unsigned char {
  plain,           // cuMemAlloc, cuMemFree
  stream_ordered,  // cuMemAllocAsync, cuMemFreeAsync
};

/// Device memory and where it came from. `stream` is empty but for its context where the memory was
/// asked for without a stream. Memory of no bytes has no address.
struct device_allocation {
  CUdeviceptr address = 0;
  stream_ref stream;
  allocation_kind kind = allocation_kind::plain;

  friend bool operator==(const device_allocation& a, const device_allocation& b) noexcept {
    return a.address == b.address && a.stream == b.stream;
  }
};

struct free_device_memory {
  void operator()(const device_allocation& a) const noexcept {
    if (a.address == 0) return;
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

/// Memory that does not belong to a stream. (cuMemAlloc)
inline result<device_memory> allocate(context_ref context, std::size_t bytes,
                                      source_location where) noexcept {
  device_allocation made;
  made.stream = stream_ref::from_native(nullptr, context);
  result<> done;
  if (bytes != 0) {
    done = driver::call_in<&driver::entry_points::mem_alloc>(context.native(), where, &made.address,
                                                             bytes);
  }
  device_memory owner{made};
  if (!done.has_value()) [[unlikely]] {
    return fail(with_memory_info(std::move(done).error(), context, bytes));
  }
  return owner;
}

/// Memory that work on `stream` may use, and that goes back in the order of the stream: from the
/// device's pool, or where it has none as `allocate(context_ref)`.
/// (cuDeviceGetAttribute, cuMemAllocAsync)
inline result<device_memory> allocate(const stream_ref& stream, std::size_t bytes,
                                      source_location where) noexcept {
  device_allocation made;
  made.stream = stream;
  made.kind = allocation_kind::stream_ordered;
  if (bytes == 0) return device_memory{made};
  if (GPU_TRY(stream.device().attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, where)) == 0) {
    device_memory plain = GPU_TRY(allocate(stream.context(), bytes, where));
    made = plain.release();
    made.stream = stream;
    return device_memory{made};
  }
  result<> done = on_stream(stream, where, [&] {
    return driver::call<&driver::entry_points::mem_alloc_async>(where, &made.address, bytes,
                                                                stream.native());
  });
  device_memory owner{made};
  if (!done.has_value()) [[unlikely]] {
    return fail(with_memory_info(std::move(done).error(), stream.context(), bytes));
  }
  return owner;
}

}  // namespace gpu::detail

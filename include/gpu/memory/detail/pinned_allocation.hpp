#pragma once
/// \file
/// Page-locked host memory as `pinned_vector` sees it: its flags, getting it and giving it back.

#include <gpu/memory/detail/allocation.hpp>

namespace gpu::inline v0 {

/// What page-locked memory can do beyond being copied fast; combine with `|`.
enum class pinned_flags : unsigned {
  none = 0,
  portable = CU_MEMHOSTALLOC_PORTABLE,  ///< page-locked for all contexts, not just its own
  mapped = CU_MEMHOSTALLOC_DEVICEMAP,   ///< kernels can use it where it is: `mapped_span`
  write_combined =
      CU_MEMHOSTALLOC_WRITECOMBINED,  ///< faster to send, very slow to read on the host
};
template <> inline constexpr bool is_flag_set<pinned_flags> = true;

namespace detail {

/// `errc::invalid_argument` for bits that are none of `pinned_flags`.
inline result<> check_pinned_flags(pinned_flags flags, const char* function,
                                   source_location where) noexcept {
  constexpr unsigned known =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  return require_flags(flags, known, "pinned_flags", function, where);
}

/// Where there is an `owner`, it is part of a larger piece, and the driver knows nothing of it.
struct pinned_allocation {
  void* address = nullptr;
  context_ref context;
  returnable* owner = nullptr;

  friend bool operator==(const pinned_allocation& a, const pinned_allocation& b) noexcept {
    return a.address == b.address;
  }
};

struct free_pinned_memory {
  void operator()(const pinned_allocation& a) const noexcept {
    if (a.owner != nullptr) return a.owner->give_back(*a.owner);
    driver::destroy_in<&driver::entry_points::mem_free_host>(a.context.native(), a.address);
  }
};

using pinned_memory = unique_handle<pinned_allocation, free_pinned_memory>;

/// Sets `memory`. (cuMemHostAlloc)
inline result<> allocate_pinned(context_ref context, std::size_t bytes, pinned_flags flags,
                                pinned_memory& memory, source_location where) noexcept {
  if (bytes == 0) return {};
  pinned_allocation made;
  made.context = context;
  result<> done = driver::call_in<&driver::entry_points::mem_host_alloc>(
      context.native(), where, &made.address, bytes, static_cast<unsigned>(flags));
  memory.reset(made);
  if (done.has_value()) [[likely]]
    return done;
  memory.reset();
  cuda_error error = detail::move(done).error();
  if (error.domain() == error_domain::driver && error.code() == CUDA_ERROR_OUT_OF_MEMORY) {
    text_builder out;
    out << "asked for " << bytes
        << " bytes of page-locked host memory, which the system has to keep in RAM";
    error = noted_error(detail::move(error).with_details(out.finish()).with_values(bytes, 0));
  }
  return fail(detail::move(error));
}

/// Sets `mapped` to where the device sees `address`. (cuMemHostGetDevicePointer)
inline result<> get_mapped_address(void* address, context_ref context, pinned_flags flags,
                                   CUdeviceptr& mapped, source_location where) noexcept {
  GPU_TRY(require(context, "gpu::pinned_vector::mapped_span", where));
  if (!has(flags, pinned_flags::mapped)) [[unlikely]] {
    return fail(refusal(errc::invalid_argument, "gpu::pinned_vector::mapped_span",
                        text("the memory is not mapped. Create the vector with "
                             "gpu::pinned_flags::mapped."),
                        where));
  }
  if (address == nullptr) return {};
  return driver::call_in<&driver::entry_points::mem_host_get_device_pointer>(
      context.native(), where, &mapped, address, 0u);
}

}  // namespace detail
}  // namespace gpu::inline v0

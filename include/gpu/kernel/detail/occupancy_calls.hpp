#pragma once
/// \file
/// Calls of the driver's occupancy functions, with the checks that they leave out.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/shared_memory_opt_in.hpp>
#include <gpu/kernel/kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Stands for all the dynamic shared memory that the kernel can have, in `call_with_opt_in`.
inline constexpr std::size_t all_dynamic_shared = ~std::size_t{0};

/// Returns `bytes`, but no more than 1 GiB, which is more than any block can have: the driver's
/// sums overflow at 32 bits, and then everything would fit.
constexpr std::size_t bounded_dynamic_shared(std::size_t bytes) noexcept {
  constexpr std::size_t bound = std::size_t{1} << 30;
  return bytes < bound ? bytes : bound;
}

/// Calls an occupancy function of the driver in the primary context of `on`: the driver answers for
/// the device of the current context, and assumes as much dynamic shared memory as the kernel has
/// opted in to. So opts in first if `dynamic_shared` bytes need it, as `launch` would.
template <auto Member, class... Arguments>
result<> call_with_opt_in(const char* function, const kernel_handle& kernel, device on,
                          std::size_t dynamic_shared, source_location where,
                          Arguments... arguments) noexcept {
  if (!kernel) return fail(empty_handle_error(function, "kernel", where));
  CUcontext context = nullptr;
  GPU_TRY(find_primary_context(on.native(), context, where));
  if (dynamic_shared != 0) {
    const kernel_on_device target{kernel_access::record(kernel), context, on.native(), function,
                                  where};
    const kernel_limits& limits = *GPU_TRY(find_limits(target));
    const std::uint32_t most = most_dynamic_shared(limits);
    const std::size_t wanted = dynamic_shared == all_dynamic_shared ? most : dynamic_shared;
    // If no block can have that much, the driver's answer says so.
    if (wanted > limits.dynamic_shared && wanted <= most)
      GPU_TRY(raise_dynamic_shared(target, limits));
  }
  return driver::call_in<Member>(context, where, arguments...);
}

inline CUfunction as_function(const kernel_handle& kernel) noexcept {
  return reinterpret_cast<CUfunction>(kernel.native());
}

inline result<> require_block_size(const char* function, const kernel_handle& kernel,
                                   int block_size, source_location where) noexcept {
  constexpr int limit = 1024;
  if (block_size >= 1 && block_size <= limit) return {};
  text_builder out;
  out << "kernel " << kernel.name() << ": a block of " << block_size
      << " threads is not possible; pass 1 to " << limit << '.';
  return fail(refusal(errc::invalid_launch, function, out.finish(), where,
                      static_cast<std::uint64_t>(std::int64_t{block_size}), limit));
}

inline result<> require_resident_blocks(const char* function, int blocks,
                                        source_location where) noexcept {
  if (blocks >= 1) return {};
  text_builder out;
  out << "the number of blocks must be at least 1, got " << blocks << '.';
  return fail(refusal(errc::invalid_launch, function, out.finish(), where,
                      static_cast<std::uint64_t>(std::int64_t{blocks}), 1));
}

}}}  // namespace gpu::v1::detail

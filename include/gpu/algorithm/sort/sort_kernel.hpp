#pragma once
/// \file
/// Launches the kernels that sort.

#include <gpu/algorithm/sort/sort_program.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The keys and values to sort, and the memory for the results.
struct sort_request {
  const char* function;
  stream_ref stream;
  source_location where;
  sort_key key;
  sort_order order;
  std::uint64_t count;
  CUdeviceptr keys_in;
  CUdeviceptr keys_out;  ///< `keys_in`, or 0 if the sorted keys are not wanted
  sort_value value = {};
  CUdeviceptr values_in = 0;  ///< 0 for the positions of the keys
  CUdeviceptr values_out = 0;

  bool in_place() const noexcept { return keys_in == keys_out; }
  std::uint64_t flip() const noexcept {
    return order == sort_order::descending ? ~key.inverted : key.inverted;
  }
};

struct sort_kernels;

/// Returns the kernels of a form: one, or that which counts and that which sorts by a digit.
inline result<const untyped_kernel*> find_sort_kernels(const sort_request& request,
                                                       const sort_form& form) {
  return find_generated<sort_kernels>(
      request.function, request.stream, form.store_key(), request.where,
      [&](generated_program& program) { return write_sort(form, program); });
}

/// `gpu::sorting::state`, which only the device reads.
inline constexpr std::size_t sort_state_bytes = 8 * 256 * 8 + 4 * (8 + 1 + 1 + 8);

/// `gpu::sorting::call`.
struct sort_arguments {
  CUdeviceptr keys, keys_a, keys_b;
  CUdeviceptr values, values_a, values_b;
  CUdeviceptr shared, counts;
  std::uint64_t n, wanted, flip, tiles;
  int least_steps, even_steps, keep_keys;
};

/// Sorts with one block, which writes the first `wanted` results.
inline result<> sort_in_block(const sort_request& request, std::uint64_t wanted) {
  const untyped_kernel* const kernel =
      GPU_TRY(find_sort_kernels(request, {request.key, request.value, {}, false}));
  sort_arguments arguments{};
  arguments.keys = request.keys_in;
  arguments.keys_a = request.keys_out;
  arguments.values = request.values_in;
  arguments.values_a = request.values_out;
  arguments.n = request.count;
  arguments.wanted = wanted;
  arguments.flip = request.flip();
  arguments.keep_keys = request.keys_out != 0;
  void* pointers[] = {&arguments};
  return launch_generated(request.stream,
                          {.grid = 1,
                           .block = block_tile.threads,
                           .shared_bytes = block_tile.size() * (request.key.bytes + 2u)},
                          *kernel, pointers, request.where);
}

/// Parts of one allocation.
class workspace_parts {
 public:
  /// Returns where the next part begins, relative to the first.
  std::uint64_t add(std::uint64_t bytes) noexcept {
    const std::uint64_t begin = bytes_;
    bytes_ += (bytes + 255) / 256 * 256;
    return begin;
  }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

inline result<> copy_bytes(const sort_request& request, CUdeviceptr from, CUdeviceptr to,
                           std::uint64_t bytes) noexcept {
  return on_stream(request.stream, request.where, [&] {
    return queue<&driver::entry_points::memcpy_dtod_async>(
        request.stream, copy_label, request.where, to, from, bytes, request.stream.native());
  });
}

inline result<> clear_bytes(const sort_request& request, CUdeviceptr first,
                            std::uint64_t bytes) noexcept {
  copy_end memory;
  memory.address = static_cast<std::uintptr_t>(first);
  memory.count = bytes;
  memory.on_device = true;
  return fill_on(request.stream, memory, 0, 1, request.where);
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Launches the kernels that sort.

#include <gpu/algorithm/detail/kernel_store.hpp>
#include <gpu/algorithm/detail/sort_program.hpp>
#include <gpu/algorithm/detail/sort_type.hpp>
#include <gpu/algorithm/detail/workspace.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_buffer.hpp>
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

/// Sorts with a sweep for each digit. If `wide`, numbers of 64 bits count keys.
inline result<> sort_in_sweeps(const sort_request& request, bool wide) {
  const std::uint64_t n = request.count;
  const int shared_bytes = GPU_TRY(attribute<device_attribute::max_shared_memory_per_block_optin>(
      request.stream.device(), request.where));
  const sort_tile tile = choose_sweep_tile(request.key.bytes, request.value.bytes, n,
                                           static_cast<unsigned>(shared_bytes));
  const untyped_kernel* const kernels =
      GPU_TRY(find_sort_kernels(request, {request.key, request.value, tile, wide}));
  const std::uint64_t tiles = (n - 1) / tile.size() + 1;
  const std::uint64_t counts_bytes = tiles * 256 * (wide ? 8 : 4);
  const std::uint64_t keys_bytes = n * request.key.bytes, values_bytes = n * request.value.bytes;
  const int passes = request.key.bytes;
  const bool has_values = request.value.bytes != 0;

  workspace_parts parts;
  const std::uint64_t state = parts.add(sort_state_bytes), counts = parts.add(counts_bytes);
  const std::uint64_t cleared = parts.bytes();
  parts.add(passes > 1 ? counts_bytes : 0);  // the counts of odd steps
  const std::uint64_t keys = parts.add(request.in_place() || passes > 1 ? keys_bytes : 0);
  const std::uint64_t more_keys = parts.add(request.in_place() || passes <= 2 ? 0 : keys_bytes);
  const bool moves_values = has_values && (passes > 1 || request.values_in == request.values_out);
  const std::uint64_t values = parts.add(moves_values ? values_bytes : 0);
  const device_buffer<unsigned char> memory =
      GPU_TRY(allocate_workspace(request.stream, parts.bytes(), request.where));
  const CUdeviceptr base = memory.span().native();

  // Steps alternate between two buffers and end in the results, so their number is even; a single
  // one starts from a copy.
  sort_arguments arguments{};
  arguments.keys = request.keys_in;
  arguments.keys_a = base + keys;
  arguments.keys_b = request.in_place() ? request.keys_out : base + more_keys;
  arguments.values = request.values_in;
  arguments.values_a = has_values ? base + values : 0;
  arguments.values_b = request.values_out;
  if (passes == 1) {
    arguments.keys_a = request.keys_out;
    arguments.values_a = request.values_out;
    if (request.in_place()) {
      arguments.keys = base + keys;
      GPU_TRY(copy_bytes(request, request.keys_in, arguments.keys, keys_bytes));
    }
    if (moves_values) {
      arguments.values = base + values;
      GPU_TRY(copy_bytes(request, request.values_in, arguments.values, values_bytes));
    }
  }
  arguments.shared = base + state;
  arguments.counts = base + counts;
  arguments.n = n;
  arguments.flip = request.flip();
  arguments.tiles = tiles;
  arguments.least_steps = request.in_place() ? 0 : passes == 1 ? 1 : 2;
  arguments.even_steps = passes > 1;
  arguments.keep_keys = request.keys_out != 0;

  GPU_TRY(clear_bytes(request, base, cleared));
  const int multiprocessors = GPU_TRY(
      attribute<device_attribute::multiprocessor_count>(request.stream.device(), request.where));
  const std::uint64_t most = static_cast<unsigned>(multiprocessors) * count_tile.blocks;
  const std::uint64_t of_count = (n - 1) / count_tile.size() + 1;
  void* count_pointers[] = {&arguments};
  GPU_TRY(launch_generated(
      request.stream,
      {static_cast<std::uint32_t>(of_count < most ? of_count : most), count_tile.threads},
      kernels[0], count_pointers, request.where));
  const unsigned widest =
      request.key.bytes > request.value.bytes ? request.key.bytes : request.value.bytes;
  for (int pass = 0; pass < passes; ++pass) {
    void* pointers[] = {&arguments, &pass};
    GPU_TRY(launch_generated(request.stream,
                             {.grid = static_cast<std::uint32_t>(tiles),
                              .block = tile.threads,
                              .shared_bytes = tile.size() * widest},
                             kernels[1], pointers, request.where));
  }
  return {};
}

/// Does what `run_sort` does.
inline result<> run_sort_here(const sort_request& request) {
  if (request.count == 0) return {};
  if (request.count <= block_tile.size()) return sort_in_block(request, request.count);
  return sort_in_sweeps(request, request.count >= least_wide_sort);
}

#if defined(GPU_ARRAY_COMPILED)
cuda_error run_sort_compiled(const sort_request& request);
#endif

/// Sorts, in one block or in sweeps over all keys, as the number of keys suggests.
inline result<> run_sort(const sort_request& request) {
#if defined(GPU_ARRAY_COMPILED)
  return result_of_error(run_sort_compiled(request));
#else
  return run_sort_here(request);
#endif
}

}}}  // namespace gpu::v1::detail

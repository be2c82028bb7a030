#pragma once
/// \file
/// The definition of run_sort.hpp.

#include <gpu/algorithm/sort/sort_kernel.hpp>
#include <gpu/algorithm/sort/sort_program.hpp>
#include <gpu/core/detail/compiled.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

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

GPU_DETAIL_INLINE stable_result run_sort(const sort_request& request) {
  if (request.count == 0) return {};
  if (request.count <= block_tile.size()) return sort_in_block(request, request.count);
  return sort_in_sweeps(request, request.count >= least_wide_sort);
}

}}}  // namespace gpu::v1::detail

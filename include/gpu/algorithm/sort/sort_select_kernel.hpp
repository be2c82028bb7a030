#pragma once
/// \file
/// Generates and launches the kernels of `top_k`.

#include <gpu/algorithm/sort/run_sort.hpp>
#include <gpu/algorithm/sort/sort_call.hpp>
#include <gpu/algorithm/sort/sort_kernel.hpp>
#include <gpu/algorithm/sort/sort_program.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/sort.hpp>
#include <gpu/device/embedded/sort_select.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The blocks that look for the selected keys, and their most. Each has a share of the keys.
inline constexpr sort_tile select_tile = {512, 8, 0};
inline constexpr std::uint64_t most_select_blocks = 512;
static_assert(most_select_blocks <= select_tile.threads);

/// Writes the three kernels for keys of a type and indices of a size.
inline result<> write_select(const sort_key& key, unsigned index_bytes,
                             generated_program& program) {
  text_builder out;
  program.headers.push_back({sort_header_name, sort_header});
  program.headers.push_back({sort_select_header_name, sort_select_header});
  write_keys(out, program, key);
  out << "using gpu_index = " << unsigned_of(index_bytes) << ";\n";
  const auto write_kernel = [&](const char* what, const char* function, const char* types = "",
                                bool of_digit = false) {
    text_builder name;
    name << "gpu_top_k_" << key.name << '_' << what;
    text made = required(name.finish());
    write_sort_kernel(out, made, select_tile, {function, types, of_digit, "select_call"});
    return made;
  };
  program.kernel = write_kernel("digit", "select_digit", "", true);
  program.more_kernels.push_back(write_kernel("count", "count_selected"));
  program.more_kernels.push_back(write_kernel("write", "write_selected", ", gpu_index"));
  program.set_source("gpu_top_k.cu", out);
  return {};
}

struct select_kernels;

/// `gpu::sorting::selection`, which only the device reads.
inline constexpr std::size_t selection_bytes = 8 * 256 * 8 + 8 * 2 + 4 * (2 + 9) + 4;

/// `gpu::sorting::select_call`.
struct select_arguments {
  CUdeviceptr keys, out_keys, out_indices;
  CUdeviceptr shared, of_blocks;
  std::uint64_t n, wanted, flip, share;
};

/// Writes the first `wanted` keys of the order, and their positions as values, not yet sorted.
inline result<> select_first(const sort_request& request, std::uint64_t wanted) {
  const sort_key& key = request.key;
  const unsigned index_bytes = request.value.bytes;
  const std::uint64_t store_key =
      std::uint64_t{key.bytes} << 16 | std::uint64_t{key.exponent} << 8 | index_bytes;
  const untyped_kernel* const kernels = GPU_TRY(find_generated<select_kernels>(
      request.function, request.stream, store_key, request.where,
      [&](generated_program& program) { return write_select(key, index_bytes, program); }));
  workspace_parts parts;
  const std::uint64_t state = parts.add(selection_bytes);
  const std::uint64_t of_blocks = parts.add(most_select_blocks * 16);
  const device_buffer<unsigned char> memory =
      GPU_TRY(allocate_workspace(request.stream, parts.bytes(), request.where));
  const CUdeviceptr base = memory.span().native();
  GPU_TRY(clear_bytes(request, base + state, selection_bytes));

  const std::uint64_t tiles = (request.count - 1) / select_tile.size() + 1;
  const std::uint64_t tiles_of_block = (tiles - 1) / most_select_blocks + 1;
  const auto blocks = static_cast<std::uint32_t>((tiles - 1) / tiles_of_block + 1);
  select_arguments arguments{
      request.keys_in, request.keys_out, request.values_out,
      base + state,    base + of_blocks, request.count,
      wanted,          request.flip(),   tiles_of_block * select_tile.size()};
  const launch_config config{.grid = blocks, .block = select_tile.threads};
  for (int pass = key.bytes - 1; pass >= 0; --pass) {
    void* pointers[] = {&arguments, &pass};
    GPU_TRY(launch_generated(request.stream, config, kernels[0], pointers, request.where));
  }
  void* pointers[] = {&arguments};
  GPU_TRY(launch_generated(request.stream, config, kernels[1], pointers, request.where));
  return launch_generated(request.stream, config, kernels[2], pointers, request.where);
}

inline result<> find_top(const stream_ref& stream, const named_elements& keys, const sort_key& key,
                         const named_elements& out_keys, const named_indices& indices,
                         sort_order order, source_location where) {
  constexpr const char* function = "gpu::top_k";
  const named_elements& out_indices = indices.elements;
  GPU_TRY(check_keys(function, stream, keys, order, where));
  GPU_TRY(require_usable(function, stream, out_keys, where));
  GPU_TRY(require_usable(function, stream, out_indices, where));
  GPU_TRY(require_same_count(function, out_keys, out_indices, where));
  GPU_TRY(require_disjoint(function, keys, out_keys, where));
  GPU_TRY(require_disjoint(function, keys, out_indices, where));
  GPU_TRY(require_disjoint(function, out_keys, out_indices, where));
  const std::size_t wanted = out_keys.count();
  if (wanted > keys.count()) {
    text_builder out;
    out << "out_keys asks for " << wanted << " keys, but there are only " << keys.count()
        << ". Pass ranges of at most as many elements as there are keys.";
    return fail(
        refusal(errc::invalid_argument, function, out.finish(), where, wanted, keys.count()));
  }
  GPU_TRY(require_indexed(function, indices, keys.count(), where));
  if (wanted == 0) return {};
  sort_request request = request_positions(function, stream, keys, key, out_indices, order, where);
  request.keys_out = out_keys.memory.device_address();
  if (request.count <= block_tile.size()) return sort_in_block(request, wanted);
  GPU_TRY(select_first(request, wanted));
  request.keys_in = request.keys_out;
  request.values_in = request.values_out;
  request.count = wanted;
  return run_sort(request);
}

}}}  // namespace gpu::v1::detail

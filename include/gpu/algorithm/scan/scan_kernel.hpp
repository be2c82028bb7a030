#pragma once
/// \file
/// Describes scans, writes their texts, and launches them.

#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/scan.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/loop_text.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Zeros for a scan of items that are not larger than `T`, or than 16 bytes, and whose neutral
/// value is never used.
template <class T> struct zero_value {
  alignas(16) static constexpr unsigned char bytes[sizeof(T) < 16 ? 16 : sizeof(T)] = {};
};

/// The type in which sums of `T` are computed: float if `T` has 16 bits.
template <class T> constexpr element_type sum_type_of() noexcept {
  constexpr element_type own = element_type_of<T>();
  if (own.name == string_ref("gpu::half") || own.name == string_ref("gpu::bfloat16"))
    return element_type_of<float>();
  return own;
}

/// A scan with the kernels that were made of it. The snippet's body is the map and the store, which
/// are looked at together to find out how they use elements.
struct scan_state : loop_state {
  element_type value;  ///< the type that is combined
  text map;            ///< of element `i`
  text combine;        ///< of two values `a` and `b`, of which `a` comes first
  text store;          ///< takes `item`, the combined values, for element `i`
  text segment_start;  ///< whether a new segment begins at element `i`; empty for one segment
  bool exclusive = false;
  bool backwards = false;
  const void* neutral = nullptr;

  bool is_segmented() const noexcept { return !segment_start.empty(); }
};

/// Threads of a block that scans a tile.
inline constexpr unsigned scan_threads = 512;
/// Bytes of values that a thread holds: 32 floats in 8 groups.
inline constexpr unsigned scan_bytes = 128;
/// Tiles that combine each other's totals, as in `<gpu/device/scan.cuh>`.
inline constexpr std::size_t tiles_of_group = 128;

/// Returns the form of a scan's kernel: a tile's size depends on the types alone.
inline loop_form form_of_scan(const scan_state& state, loop_form form) noexcept {
  if (state.backwards) form.by_element = false;
  form.groups = 16;
  while (form.groups > 1 && form.groups * form.width * state.value.bytes > scan_bytes)
    form.groups /= 2;
  return form;
}

/// Returns how many blocks a multiprocessor should hold at once: while one waits for the tiles
/// before it, another loads. Large items do not fit in the registers that are left then.
inline unsigned blocks_of_scan(const scan_state& state) noexcept {
  return state.value.bytes <= 8 && !state.is_segmented() ? 2 : 1;
}

/// Writes the type of the items, and how they are made, combined and used. With segments an item is
/// a value and whether a segment has begun in it.
inline void write_items(loop_writer& out, const scan_state& state) {
  out.write_function("gpu_map", "map", state.map, "gpu_value");
  out.code() << "  const auto gpu_combine = [&](const gpu_value& a, const gpu_value& b) {\n"
                "    return static_cast<gpu_value>(\n";
  out.add_users("combine", state.combine);
  out.code() << "    );\n  };\n";
  out.write_function("gpu_put", "store", state.store, nullptr, "const gpu_value&", "item");
  if (!state.is_segmented()) {
    out.code() << "  using gpu_item = gpu_value;\n"
                  "  const auto& gpu_make_item = gpu_map;\n"
                  "  const auto& gpu_combine_items = gpu_combine;\n"
                  "  const auto& gpu_put_item = gpu_put;\n"
                  "  const gpu_item& gpu_first = gpu_neutral;\n";
    return;
  }
  out.write_function("gpu_starts", "segment_start", state.segment_start, "bool");
  out.code()
      << "  using gpu_flag = gpu::loops::flag<alignof(gpu_value)>::type;\n  struct gpu_item {\n    "
         "gpu_value value;\n    gpu_flag starts;\n  };\n"
         "  const auto gpu_make_item = [&](auto& group, const int k, const long long i) {\n"
         "    return gpu_item{gpu_map(group, k, i), gpu_flag(gpu_starts(group, k, i))};\n  };\n"
         "  const auto gpu_combine_items = [&](const gpu_item& a, const gpu_item& b) {\n"
         "    return gpu_item{b.starts ? b.value : gpu_combine(a.value, b.value), "
         "gpu_flag(a.starts || b.starts)};\n  };\n"
         "  const auto gpu_put_item = [&](auto& group, const int k, const long long i, const "
         "gpu_item& item) {\n";
  if (state.exclusive) {
    out.code() << "    gpu_put(group, k, i, gpu_starts(group, k, i) ? gpu_neutral : item.value);\n";
  } else {
    out.code() << "    gpu_put(group, k, i, item.value);\n";
  }
  out.code() << "  };\n  const gpu_item gpu_first{gpu_neutral, 0};\n";
}

/// Writes the program of a form.
inline void write_scan(const loop_state& base, const loop_form& form, generated_program& program) {
  const auto& state = static_cast<const scan_state&>(base);
  const snippet& s = state.code;
  loop_writer out(s, state.uses, form, program);
  program.headers.push_back({scan_header_name, scan_header});
  out.write_head(&state.value);
  out.write_group_type();
  out.write_signature(s.name,
                      "const gpu_value gpu_neutral, unsigned long long* const gpu_state, "
                      "const long long gpu_tiles, ",
                      scan_threads, blocks_of_scan(state));
  out.add_users("before", s.before);
  write_items(out, state);
  out.write_moves(true);
  out.write_moves(false);
  const char* const index = state.backwards ? "n - 1 - i" : "i";
  out.code() << "  gpu::loops::scan_tile<gpu_group, " << form.width << ", " << form.groups << ", "
             << scan_threads << ", " << (state.exclusive ? "true" : "false")
             << ", gpu_item>(\n"
                "      gpu_index(n), gpu_state, gpu_tiles, gpu_first, gpu_load,\n"
                "      [&](auto& group, const int k, const long long i) {\n"
                "        return gpu_make_item(group, k, "
             << index
             << ");\n      },\n      gpu_combine_items,\n"
                "      [&](auto& group, const int k, const long long i, const gpu_item& item) {\n"
                "        gpu_put_item(group, k, "
             << index << ", item);\n      },\n      gpu_store);\n";
  out.add_users("after", s.after);
  out.code() << "}\n";
  out.finish();
}

/// Returns the bytes that the blocks of a scan share for the items of the tiles and of the groups
/// of tiles. An item of at most 16 bytes is in words of 8 that hold 4 each; of others there is one
/// word and the item. All have to be 0 at the beginning: words because they say which items are
/// published, items because padding between their members is read with them.
inline std::size_t memory_of_scan(std::size_t tiles, std::size_t item_bytes) noexcept {
  const std::size_t published = tiles + (tiles - 1) / tiles_of_group + 2;
  const std::size_t in_words = 8 * (((item_bytes < 16 ? item_bytes : 16) + 3) / 4);
  const std::size_t bytes =
      item_bytes <= 16 || 8 + item_bytes < in_words ? in_words : 8 + item_bytes;
  return (published + 1) / 2 * 2 * bytes;
}

/// Scans all elements of the arguments.
inline result<> run_scan(const loop_call& call) {
  auto& state = static_cast<scan_state&>(call.state);
  const snippet& code = call.code();
  GPU_TRY(require(call.stream, code.function, call.where));
  std::size_t count = 0;
  bool any = false;
  GPU_TRY(check_operands(call, count, any));
  if (!any) return refuse_no_elements(call);
  if (count == 0) return {};
  merged_axes axes;
  loop_form form = form_of_scan(state, choose_form(call, count, axes));
  const untyped_kernel* const kernel =
      GPU_TRY(find_kernel(state, call.stream.device(), form, call.where));
  const std::size_t tile = std::size_t{scan_threads} * form.width * form.groups;
  const std::size_t tiles = (count - 1) / tile + 1;
  GPU_TRY(require_grid(code.function, tiles, count, call.where));
  // An item with a flag takes the room of two values at the most, or 8 bytes.
  const std::size_t item_bytes =
      state.is_segmented() ? 2 * state.value.bytes + 8 : state.value.bytes;
  const std::size_t bytes = tiles > 1 ? memory_of_scan(tiles, item_bytes) : 0;
  device_buffer<unsigned char> memory = GPU_TRY(allocate_workspace(call.stream, bytes, call.where));
  if (tiles > 1) GPU_TRY(fill(call.stream, memory, static_cast<unsigned char>(0), call.where));
  CUdeviceptr shared = memory.span().native();
  auto all_tiles = static_cast<long long>(tiles), n = static_cast<long long>(count);
  loop_arguments arguments(call, axes, form);
  arguments.add(const_cast<void*>(state.neutral));
  arguments.add(&shared);
  arguments.add(&all_tiles);
  arguments.add(&n);
  return launch_generated(call.stream, {static_cast<std::uint32_t>(tiles), scan_threads}, *kernel,
                          arguments.pointers(), call.where);
}

}}}  // namespace gpu::v1::detail

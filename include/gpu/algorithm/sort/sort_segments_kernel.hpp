#pragma once
/// \file
/// Sorts segments: positions by key, then by segment, both stable, so that each segment is sorted.

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
#include <gpu/device/embedded/sort_segments.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// The beginnings of segments, and the end of the last one.
struct named_offsets {
  named_elements elements;
  bool is_signed;
  std::uint64_t segments() const noexcept { return elements.count() - 1; }
};

template <class Range> named_offsets name_offsets(const char* name, Range& range) noexcept {
  return {name_elements(name, range), std::is_signed_v<std::remove_cv_t<element_t<Range>>>};
}

/// Kernels that find segments and that move elements of a size.
struct segments_form {
  std::uint8_t position_bytes;
  std::uint8_t offset_bytes;
  bool signed_offsets;
  sort_value moved;

  std::uint64_t store_key() const noexcept {
    return std::uint64_t{position_bytes} << 32 | std::uint64_t{offset_bytes} << 24 |
           std::uint64_t{moved.bytes} << 16 | std::uint64_t{moved.alignment} << 8 |
           (signed_offsets ? 1u : 0u);
  }
};

inline constexpr unsigned segments_threads = 256;

inline result<> write_segments(const segments_form& form, generated_program& program) {
  text_builder out;
  program.headers.push_back({sort_header_name, sort_header});
  program.headers.push_back({sort_segments_header_name, sort_segments_header});
  write_includes(out, program);
  out << "using gpu_position = " << unsigned_of(form.position_bytes) << ";\nusing gpu_offset = "
      << (!form.signed_offsets     ? unsigned_of(form.offset_bytes)
          : form.offset_bytes == 4 ? "int"
                                   : "long long")
      << ";\nusing gpu_value = ";
  write_value_type(out, form.moved);
  constexpr const char* last =
      "const gpu_offset* offsets, const unsigned long long count, const unsigned long long n) {\n  "
      "gpu::sorting::";
  program.kernel = required(text("gpu_sort_segments_find"));
  program.more_kernels.push_back(required(text("gpu_sort_segments_move")));
  out << "extern \"C\" __global__ void __launch_bounds__(" << segments_threads << ") "
      << program.kernel << "(const gpu_position* positions, unsigned* numbers, " << last
      << "find_segments(positions, numbers, gpu::sorting::segments<gpu_offset>{offsets, count}, "
         "n);\n}\n"
      << "extern \"C\" __global__ void __launch_bounds__(" << segments_threads << ") "
      << *program.more_kernels.begin()
      << "(const gpu_position* positions, const gpu_value* from, gpu_value* to, " << last
      << "move_in_segments(positions, from, to, gpu::sorting::segments<gpu_offset>{offsets, "
         "count}, n);\n}\n";
  program.set_source("gpu_sort_segments.cu", out);
  return {};
}

struct segments_kernels;

/// A sort of segments. `order` of the request is that of the keys; `count` that of all elements.
struct segments_request {
  sort_request sort;
  named_offsets offsets;
  segments_form form;

  result<const untyped_kernel*> kernels(sort_value moved) const {
    segments_form wanted = form;
    wanted.moved = moved;
    return find_generated<segments_kernels>(
        sort.function, sort.stream, wanted.store_key(), sort.where,
        [&](generated_program& program) { return write_segments(wanted, program); });
  }
  result<> launch(const untyped_kernel& kernel, void** arguments) const {
    const std::uint64_t blocks = (sort.count - 1) / segments_threads + 1;
    return launch_generated(sort.stream, {static_cast<std::uint32_t>(blocks), segments_threads},
                            kernel, arguments, sort.where);
  }
  /// Brings elements into the order of positions, by way of temporary memory.
  result<> move(CUdeviceptr positions, CUdeviceptr elements, sort_value moved,
                CUdeviceptr temporary) const {
    const untyped_kernel* const found = GPU_TRY(kernels(moved));
    CUdeviceptr begins = offsets.elements.memory.device_address();
    std::uint64_t segments = offsets.segments(), n = sort.count;
    GPU_TRY(copy_bytes(sort, elements, temporary, n * moved.bytes));
    void* pointers[] = {&positions, &temporary, &elements, &begins, &segments, &n};
    return launch(found[1], pointers);
  }
};

inline result<> run_segments(const segments_request& request) {
  const sort_request& sort = request.sort;
  const sort_value whole_key{sort.key.bytes, sort.key.bytes};
  const std::uint8_t position_bytes = request.form.position_bytes;
  std::uint64_t n = sort.count;
  const unsigned widest = sort.value.bytes > sort.key.bytes ? sort.value.bytes : sort.key.bytes;
  workspace_parts parts;
  const std::uint64_t positions_part = parts.add(n * position_bytes);
  const std::uint64_t numbers_part = parts.add(n * (widest > 4 ? widest : 4));
  const device_buffer<unsigned char> memory =
      GPU_TRY(allocate_workspace(sort.stream, parts.bytes(), sort.where));
  CUdeviceptr positions = memory.span().native() + positions_part;
  CUdeviceptr numbers = memory.span().native() + numbers_part;

  sort_request by_key = sort;
  by_key.keys_out = 0;
  by_key.value = {position_bytes, position_bytes};
  by_key.values_in = 0;
  by_key.values_out = positions;
  GPU_TRY(run_sort(by_key));

  const untyped_kernel* const found = GPU_TRY(request.kernels(whole_key));
  CUdeviceptr begins = request.offsets.elements.memory.device_address();
  std::uint64_t segments = request.offsets.segments();
  void* pointers[] = {&positions, &numbers, &begins, &segments, &n};
  GPU_TRY(request.launch(found[0], pointers));

  sort_request by_segment = by_key;
  by_segment.key = sort_key_of<std::uint32_t>();
  by_segment.order = sort_order::ascending;
  by_segment.keys_in = numbers;
  by_segment.keys_out = numbers;
  by_segment.values_in = positions;
  GPU_TRY(run_sort(by_segment));

  // The numbers are not needed any more.
  GPU_TRY(request.move(positions, sort.keys_in, whole_key, numbers));
  if (sort.value.bytes == 0) return {};
  return request.move(positions, sort.values_in, sort.value, numbers);
}

/// Checks the arguments; `values` may be null.
inline result<> sort_segments_of(const char* function, const stream_ref& stream,
                                 const named_elements& keys, const sort_key& key,
                                 const named_elements* values, const named_offsets& offsets,
                                 sort_order order, source_location where) {
  GPU_TRY(check_keys(function, stream, keys, order, where));
  if (values != nullptr) {
    GPU_TRY(check_moved(function, stream, keys, *values, where));
    GPU_TRY(require_disjoint(function, *values, offsets.elements, where));
  }
  GPU_TRY(require_usable(function, stream, offsets.elements, where));
  GPU_TRY(require_disjoint(function, keys, offsets.elements, where));
  const std::size_t count = offsets.elements.count();
  constexpr std::uint64_t most = 0xffff'fffe;
  if (count == 0 || count - 1 > most) {
    text_builder out;
    out << "offsets has " << count
        << " elements, but must have one for the beginning of each segment and one for the end of "
           "the last, for at most "
        << most << " segments.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, count, most + 1));
  }
  if (keys.count() == 0 || count == 1) return {};
  const CUdeviceptr address = keys.memory.device_address();
  sort_request sort{function, stream, where, key, order, keys.count(), address, address};
  if (values != nullptr) {
    sort.value = value_of_elements(*values);
    sort.values_in = sort.values_out = values->memory.device_address();
  }
  const bool wide = keys.count() > most_indexed<std::uint32_t>();
  const segments_form form{static_cast<std::uint8_t>(wide ? 8 : 4),
                           static_cast<std::uint8_t>(offsets.elements.element_bytes),
                           offsets.is_signed,
                           {}};
  return run_segments({sort, offsets, form});
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Writes the texts of reductions.

#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/reduction.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_text.hpp>
#include <gpu/generated/snippet.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// A value that a reduction stores for each segment.
struct reduction_result {
  element_type type;
  text finish;  ///< the result for the combined value `a`; empty for `a` itself
};

/// A reduction with the kernels that were made of it. The snippet's body is the map.
struct reduction_state : loop_state {
  element_type value;  ///< the type that is combined
  text combine;        ///< of two values `a` and `b`
  /// The name of a function that combines a group of values, given the array and `combine`; empty
  /// for combining them in pairs.
  text join;
  const void* neutral = nullptr;
  sequence<reduction_result> results;  ///< one or two
  const char* wanted = nullptr;        ///< what needs at least one element, for messages
  /// Advice for messages: how to leave the result on the device.
  const char* to_device = "Write the result to device memory: into(stream, result, ...).";
};

/// Threads of the block that combines what the blocks of a segment leave, at the most, and how many
/// of their values each takes at a time.
inline constexpr unsigned partials_threads = 1024, partials_groups = 8;

/// Writes `gpu_combine`, and `gpu_finish`, which stores the results of a segment.
inline void write_combine(loop_writer& out, const reduction_state& state) {
  out.code() << "  const auto gpu_combine = [&](const gpu_value& a, const gpu_value& b) {\n"
                "    return static_cast<gpu_value>(\n";
  out.add_users("reduce", state.combine);
  out.code() << "    );\n  };\n"
                "  const auto gpu_finish = [&](const long long gpu_at, const gpu_value& a) {\n";
  for (std::size_t r = 0; r < state.results.size(); ++r) {
    const reduction_result& each = state.results[r];
    out.code() << "    gpu_results_" << r << "[gpu_at * gpu_step_" << r
               << "] = static_cast<gpu_result_" << r << ">(";
    if (each.finish.empty()) {
      out.code() << "a);\n";
      continue;
    }
    out.code() << '\n';
    out.add_users("result", each.finish);
    out.code() << "    );\n";
  }
  out.code() << "  };\n";
}

/// Returns the parameters that both kernels have after the user's, so that the snippets find the
/// same names in both.
inline text reduction_parameters(const reduction_state& state) {
  text_builder out;
  out << "const gpu_value gpu_neutral, gpu_value* const gpu_partials, ";
  for (std::size_t r = 0; r < state.results.size(); ++r) {
    out << "gpu_result_" << r << "* const gpu_results_" << r << ", const long long gpu_step_" << r
        << ", ";
  }
  out << "const long long gpu_segments, const long long gpu_length, const long long gpu_share, "
         "const int gpu_blocks, const int gpu_lanes, const int gpu_columns, ";
  return required(out.finish());
}

/// Returns the name of the kernel that combines what the blocks of the first one leave.
inline text partials_kernel(const snippet& s) {
  text_builder out;
  out << s.name << "_of_blocks";
  return required(out.finish());
}

/// Returns the warps whose lanes share a segment.
inline unsigned warps_of(const loop_form& form) noexcept {
  return form.in_warps ? 1 : loop_threads / 32;
}

/// Writes what a thread does with neighboring elements of a segment. The lanes that share one are a
/// power of two: dividing by their number would take as long as the rest of a short segment.
inline void write_rows(loop_writer& out, const loop_form& form) {
  out.write_moves(true);
  out.code() << (form.in_warps
                     ? "  const gpu_index gpu_segment =\n      gpu_index((blockIdx.x * 256ll + "
                       "threadIdx.x) >> (31 - __clz(gpu_lanes))), gpu_block = 0;\n"
                     : "  const gpu_index gpu_segment = blockIdx.x / gpu_blocks, "
                       "gpu_block = blockIdx.x % gpu_blocks;\n")
             << "  const gpu_index gpu_start = gpu_segment * gpu_index(gpu_length);\n"
                "  const gpu_index gpu_first = gpu_start + gpu_block * gpu_index(gpu_share);\n"
                "  const gpu_index gpu_last = "
             << (form.in_warps ? "gpu_segment >= gpu_segments ? gpu_first : " : "")
             << "gpu_index(min(gpu_first + gpu_share, gpu_start + gpu_length));\n"
                "  gpu_value gpu_total = gpu::loops::reduce_share<gpu_group, "
             << form.width << ", " << form.groups << ">(\n      gpu_first, gpu_last, "
             << (form.in_warps ? "gpu_lanes, threadIdx.x & (gpu_lanes - 1)"
                               : "blockDim.x, threadIdx.x")
             << ", gpu_neutral, gpu_load, gpu_map, gpu_combine, gpu_join);\n";
  if (form.in_warps) {
    out.code() << "  gpu_total = gpu::loops::reduce_lanes(gpu_total, gpu_lanes, gpu_combine);\n"
                  "  if ((threadIdx.x & (gpu_lanes - 1)) == 0 && gpu_segment < gpu_segments)\n"
                  "    gpu_put(gpu_segment, gpu_block, gpu_total);\n";
  } else {
    out.code() << "  gpu_total = gpu::loops::reduce_block<" << loop_threads << ">(gpu_total, "
               << loop_threads / 32
               << ", gpu_combine);\n"
                  "  if (threadIdx.x == 0) gpu_put(gpu_segment, gpu_block, gpu_total);\n";
  }
}

/// Writes the loop of a thread over elements of neighboring segments. Threads past the last segment
/// repeat it, so that all threads of a block take part.
inline void write_columns(loop_writer& out, const loop_form& form) {
  out.write_column_moves();
  out.code()
      << "  const unsigned gpu_wide_blocks = gridDim.x / gpu_blocks;\n"
         "  const gpu_index gpu_wanted = gpu_index((blockIdx.x % gpu_wide_blocks * "
         "(long long)gpu_columns + threadIdx.x % gpu_columns) * "
      << form.aligned
      << ");\n  const gpu_index gpu_segment = gpu_wanted < gpu_segments ? gpu_wanted : "
         "gpu_index(gpu_segments) - "
      << form.aligned
      << ";\n  const gpu_index gpu_block = blockIdx.x / gpu_wide_blocks;\n"
         "  const gpu_index gpu_first = gpu_block * gpu_index(gpu_share);\n"
         "  gpu::loops::reduce_columns<gpu_group, "
      << form.aligned << ", " << form.width << ", " << form.groups << ", " << warps_of(form) << ", "
      << loop_threads
      << ">(\n      gpu_first, gpu_index(min(gpu_first + gpu_share, gpu_length)), gpu_lanes, "
         "gpu_columns, gpu_neutral,\n"
         "      [&](auto& group, const gpu_index position) {\n"
         "        gpu_load_columns(group, gpu_segment, position);\n      },\n"
         "      [&](auto& group, const int k, const gpu_index position) {\n"
         "        return gpu_map(group, k, (gpu_segment + k) * gpu_length + position);\n"
         "      },\n      gpu_combine, gpu_join,\n      [&](auto& totals) {\n"
         "        if (gpu_segment != gpu_wanted) return;\n"
         "        for (int k = 0; k < "
      << form.aligned << "; ++k) gpu_put(gpu_segment + k, gpu_block, totals[k]);\n      });\n";
}

/// Writes the program of a form: the reduction, and the kernel that combines the blocks' results.
inline void write_reduction(const loop_state& base, const loop_form& form,
                            generated_program& program) {
  const auto& state = static_cast<const reduction_state&>(base);
  const snippet& s = state.code;
  loop_writer out(s, state.uses, form, program);
  program.headers.push_back({reduction_header_name, reduction_header});
  const text further = reduction_parameters(state);
  bool numbers = false;
  for (const reduction_result& each : state.results)
    numbers = numbers || starts_with(each.type.name, "gpu::");
  out.write_head(&state.value, numbers);
  out.write_group_type();
  for (std::size_t r = 0; r < state.results.size(); ++r)
    out.code() << "using gpu_result_" << r << " = " << state.results[r].type.name << ";\n";
  out.write_signature(s.name, further.c_str());
  out.add_users("before", s.before);
  out.write_function("gpu_map", "map", s.body, "gpu_value");
  write_combine(out, state);
  out.code() << "  const auto gpu_join = [&](auto& values) { return "
             << (state.join.empty() ? "gpu::loops::combine_group" : state.join.c_str())
             << "(values, gpu_combine); };\n"
                "  const auto gpu_put = [&](const long long segment, const int block, const "
                "gpu_value& total) {\n"
                "    if (gpu_blocks == 1) {\n"
                "      gpu_finish(segment, total);\n    } else {\n"
                "      gpu_partials[segment * gpu_blocks + block] = total;\n    }\n  };\n";
  if (form.segment_axes != 0) {
    write_columns(out, form);
  } else {
    write_rows(out, form);
  }
  out.add_users("after", s.after);
  out.code() << "}\n";
  if (form.in_warps) return out.finish();

  program.more_kernels.push_back(partials_kernel(s));
  out.write_signature(partials_kernel(s), further.c_str(), partials_threads);
  out.add_users("before", s.before);
  write_combine(out, state);
  out.code() << "  gpu_value gpu_total = gpu::loops::reduce_values<" << partials_groups
             << ">(\n      gpu_partials + blockIdx.x * (long long)gpu_blocks, gpu_blocks, "
                "gpu_neutral, gpu_combine);\n"
                "  gpu_total = gpu::loops::reduce_block<"
             << partials_threads
             << ">(gpu_total, blockDim.x / 32, gpu_combine);\n"
                "  if (threadIdx.x == 0) gpu_finish(blockIdx.x, gpu_total);\n}\n";
  out.finish();
}

}}}  // namespace gpu::v1::detail

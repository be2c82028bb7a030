#pragma once
/// \file
/// Makes the numbers of MT19937 in the memory of an engine, from where fills read them.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/mt19937.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/random/detail/mt19937_jumps.hpp>
#include <gpu/random/detail/random_request.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Numbers that all generators make of one state each.
inline constexpr std::uint64_t mt19937_range = mt19937_words * std::uint64_t{mt19937_generators};
/// Words of 32 bits before the numbers: what the host has made, which range each generator has, and
/// how often a few numbers of it were made.
inline constexpr std::size_t mt19937_head_words =
    (1 + mt19937_jumps) * mt19937_words + 3 * mt19937_generators;
/// The most numbers of a range that are made without a state for each generator.
inline constexpr std::uint64_t mt19937_few = 32 * std::uint64_t{mt19937_generators};
/// Words behind the numbers of a range: a few numbers, for whole groups of generators.
inline constexpr std::uint64_t mt19937_few_words = mt19937_few + 2 * 8 * mt19937_group;

struct mt19937_family;

/// Makes numbers `begin` to `begin + count - 1` of a range in the memory of the engine, and returns
/// where the first one is.
inline result<std::uint64_t> make_mt19937(const random_request& request, const stream_ref& stream,
                                          std::uint64_t range, std::uint64_t begin,
                                          std::uint64_t count, source_location where) {
  const char* const function = request.recipe().function;
  const untyped_kernel* const kernels = GPU_TRY(find_generated<mt19937_family>(
      function, stream, 0, where, [](generated_program& program) -> result<> {
        program.kernel = required(text("gpu_mt19937"));
        program.more_kernels.push_back(required(text("gpu_mt19937_few")));
        program.headers.push_back({mt19937_header_name, mt19937_header});
        program.source.part("gpu_mt19937.cu",
                            required(text("#include <gpu/device/mt19937.cuh>\n")));
        program.options.default_device = true;
        program.options.standard = cpp_standard::cpp17;
        return {};
      }));
  // Eight numbers of each generator follow each other.
  auto first = static_cast<std::uint32_t>(begin / 8);
  auto end = static_cast<std::uint32_t>((begin + count - 1) / 8 + 1);
  const std::uint32_t blocks = end - first < mt19937_generators ? end - first : mt19937_generators;
  // States serve later fills, too; one or two are made as soon as a few numbers.
  const bool few = end - first > 2 && count <= mt19937_few;
  std::uint32_t patience = few ? 8 : 0;
  CUdeviceptr memory = request.source.place.device_address();
  void* arguments[] = {&memory, &first, &range, &patience};
  GPU_TRY(launch_generated(stream, {blocks, 256}, kernels[0], arguments, where));
  if (!few) return mt19937_head_words + begin;
  const std::uint32_t group = first / mt19937_group, groups = (end - 1) / mt19937_group + 1 - group;
  void* of_few[] = {&memory, &first, &end, &range};
  GPU_TRY(launch_generated(stream, {groups, mt19937_group}, kernels[1], of_few, where));
  return mt19937_head_words + mt19937_range + begin - std::uint64_t{group} * mt19937_group * 8;
}

}}}  // namespace gpu::v1::detail

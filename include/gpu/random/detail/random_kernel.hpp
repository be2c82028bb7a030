#pragma once
/// \file
/// Finds and launches the kernels that make random numbers.

#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/array/detail/shared_kernel.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/random/detail/mt19937_kernel.hpp>
#include <gpu/random/detail/poisson_table.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/detail/random_request.hpp>
#include <gpu/random/detail/random_text.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

struct random_family;
struct advance_family;

/// Adds to a position in memory, behind the kernel that has used the numbers.
inline result<> advance_position(const random_request& request, const stream_ref& stream,
                                 source_location where) {
  loop_operand place;
  place.memory = request.source.place;
  place.extents[0] = 1;
  place.strides[0] = 1;
  // Those of an order of their own begin at a multiple of their range.
  unsigned long long blocks = (request.used - 1) / 4 + 1;
  unsigned long long unit = request.in_order_of_doubles() ? numbers_of_both_orders / 4 : 1;
  const loop_argument list[] = {{&place, nullptr}, {nullptr, &blocks}, {nullptr, &unit}};
  return run_shared<advance_family, unsigned long long*, unsigned long long, unsigned long long>(
      {request.recipe().function, "gpu_advance_engine", "place, blocks, unit"}, stream, where,
      [] { return text("place[i] = (place[i] + unit - 1) / unit * unit + blocks"); }, list);
}

/// Returns the state of the kernels for a request.
inline result<loop_state*> find_random(const random_request& request, bool aligned,
                                       source_location where) {
  const random_recipe& recipe = request.recipe();
  char key[128];
  __builtin_snprintf(
      key, sizeof key, "%s %.*s %d %d %d %d %.*s", recipe.kernel,
      static_cast<int>(request.element.type.name.size()), request.element.type.name.data(),
      static_cast<int>(request.source.kind), aligned ? 1 : 0, static_cast<int>(request.words()),
      request.is_tabulated() ? 1 : 0, static_cast<int>(request.distribution.mean_type.name.size()),
      request.distribution.mean_type.name.data());
  return find_shared<random_family, loop_state>(
      recipe.function, {key}, where, [&](loop_state& made) -> result<> {
        snippet& code = made.code;
        using number = unsigned long long;
        code.function = recipe.function;
        code.parameters = {describe_parameter<float*>(),
                           describe_parameter<number>(),
                           describe_parameter<number>(),
                           describe_parameter<number>(),
                           describe_parameter<number>(),
                           describe_parameter<double>(),
                           describe_parameter<double>(),
                           describe_parameter<double>(),
                           describe_parameter<number>(),
                           describe_parameter<number>(),
                           describe_parameter<raw<const double*>>(),
                           describe_parameter<raw<const number*>>(),
                           describe_parameter<raw<const number*>>()};
        code.parameters[0].type = request.element.type;
        text_builder names;
        names << "out, seed, sequence, first, rows, a, b, c, least, count, sums, place, shifts";
        if (request.distribution.has_means) {
          code.parameters.push_back(describe_parameter<const float*>());
          code.parameters[code.parameters.size() - 1].type = request.distribution.mean_type;
          names << ", means";
        } else if (request.is_tabulated()) {
          code.parameters.push_back(describe_parameter<number>());
          code.parameters[code.parameters.size() - 1].type = poisson_table_type;
          names << ", table";
        }
        const random_writer writer(request, aligned);
        // Four blocks of Philox, or four of Sobol's groups.
        const bool draws = recipe.draws_until_accepted && !request.is_tabulated();
        if (!request.takes_rows() && !draws && request.element.type.bytes == 4) made.groups = 4;
        code.quick = required(writer.quick());
        GPU_TRY(describe_elementwise(made, required(names.finish()), required(writer.body()),
                                     {.name = recipe.kernel,
                                      .preamble = required(writer.preamble()),
                                      .before = required(writer.before())},
                                     where));
        // However a thread counts its elements, it reads the mean of one and then writes that one.
        for (parameter_use& use : made.uses) use.reaches_others = false;
        return {};
      });
}

/// Returns the number beside the end of a range that is excluded.
inline ieee_number excluded_limit(const random_request& request) noexcept {
  ieee_number from = request.element.nearest(request.distribution.a);
  ieee_number to = request.element.nearest(request.distribution.b);
  if (request.distribution.kind == random_kind::uniform_from) std::swap(from, to);
  return request.element.next_to(from, to);
}

/// Makes the numbers of a request range by range: those of an engine, and then elements of them.
/// `first` is an argument of `call`: where in the memory of the engine the elements begin.
inline result<> run_in_ranges(const random_request& request, std::uint64_t& first,
                              const loop_call& call) {
  GPU_TRY(require_usable(request.recipe().function, call.stream,
                         {"engine", request.source.place, 4}, call.where));
  const std::uint64_t step = request.words_of_unit(), offset = request.source.position.offset;
  for (std::uint64_t element = 0; element < request.count;) {
    const std::uint64_t range = (offset + element * step) / mt19937_range;
    const std::uint64_t begin = offset + element * step - range * mt19937_range;
    std::uint64_t count = (mt19937_range - begin) / step;
    if (count > request.count - element) count = request.count - element;
    first = GPU_TRY(make_mt19937(request, call.stream, range, begin, count * step, call.where));
    first -= element * step;  // may wrap around, and back for the elements that are written
    const slice part(static_cast<std::ptrdiff_t>(element),
                     static_cast<std::ptrdiff_t>(element + count));
    GPU_TRY(run_elementwise(call, count == request.count ? nullptr : &part));
    element += count;
  }
  return {};
}

/// Makes the numbers of a request in the elements of `out`.
inline result<> run_random(const random_request& request, const stream_ref& stream,
                           const loop_operand& out, source_location where) {
  GPU_TRY(check_distribution(request.distribution, request.element, where));
  GPU_TRY(check_source(request, where));
  const random_distribution& d = request.distribution;
  std::uint64_t first = request.source.position.offset, rows = 0;
  const bool in_memory = request.source.kind == engine_kind::philox_in_memory;
  if (request.source.is_quasi_random() && request.source.shifts.count != 0)
    rows = request.count / request.source.shifts.count;
  const bool aligned = !request.takes_rows() && (in_memory || first % 4 == 0) && rows % 4 == 0;
  if (aligned && request.source.counts()) first /= 4;
  loop_state& state = *GPU_TRY(find_random(request, aligned, where));
  std::uint64_t seed = request.source.position.seed, sequence = request.source.position.sequence;
  sequence *= request.source.counts() ? 65536 : interleaved_sequences;
  ieee_number a = d.a, b = d.b, c;  // their bytes are those of doubles
  if (d.kind == random_kind::uniform || d.kind == random_kind::uniform_from) {
    a = request.element.nearest(a);
    b = request.element.nearest(b);
    c = excluded_limit(request);
  }
  std::uint64_t least = d.first, count = d.count;
  CUdeviceptr sums = d.sums.device_address(), place = request.source.place.device_address();
  CUdeviceptr shifts = request.source.shifts.device_address();
  poisson_table table;
  loop_argument last{&d.means, nullptr};
  if (request.is_tabulated()) {
    make_poisson_table(d.a.value(), table);
    last = {nullptr, &table};
  }
  const value_checks of_sums{&d.sums}, of_place{&request.source.place},
      of_shifts{&request.source.shifts};
  const loop_argument list[] = {{&out, nullptr},
                                {nullptr, &seed},
                                {nullptr, &sequence},
                                {nullptr, &first},
                                {nullptr, &rows},
                                {nullptr, &a},
                                {nullptr, &b},
                                {nullptr, &c},
                                {nullptr, &least},
                                {nullptr, &count},
                                {nullptr, &sums, &of_sums},
                                {nullptr, &place, &of_place},
                                {nullptr, &shifts, &of_shifts},
                                last};
  if (request.source.is_stored() && request.count != 0) {
    return run_in_ranges(request, first, {state, stream, where, list});
  }
  if (!request.takes_rows() || request.count == 0) {
    GPU_TRY(run_elementwise({state, stream, where, list}, nullptr));
    if (!in_memory || request.count == 0) return {};
    return advance_position(request, stream, where);
  }
  // Enough threads for the largest devices, but each with enough rows to pay for its skipping.
  const std::uint64_t units = request.units();
  rows = units / (interleaved_sequences * 64) + 1;
  if (rows < 32) rows = 32;
  const std::uint64_t part = rows * interleaved_sequences, parts = (units - 1) / part + 1;
  const std::uint64_t rest = units - (parts - 1) * part;
  const slice threads(0, static_cast<std::ptrdiff_t>(
                             (parts - 1) * interleaved_sequences +
                             (rest < interleaved_sequences ? rest : interleaved_sequences)));
  return run_elementwise({state, stream, where, list}, &threads);
}

}}}  // namespace gpu::v1::detail

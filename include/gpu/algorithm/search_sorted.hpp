#pragma once
/// \file
/// `search_sorted`: finds where values belong among sorted ones.

#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/algorithm/gather/indexed_call.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/device_span.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 {

/// The position among equal elements that `search_sorted` returns.
enum class search_side : unsigned char {
  left,   ///< before them, as `std::lower_bound`
  right,  ///< behind them, as `std::upper_bound`
};

/// Returns the enumerator's name, such as "left"; null for an invalid value.
constexpr const char* name_of(search_side side) noexcept {
  using enum search_side;
  return detail::find_name(side, {{left, "left"}, {right, "right"}});
}

namespace detail {

/// The order of `sort`: NaN comes last, -0.0 equals 0.0.
inline constexpr char search_preamble[] =
    "template <class T> bool gpu_is_before(const T& a, const T& b) {\n"
    "  return a < b || (b != b && a == a);\n"
    "}\n"
    "template <bool Right, class Sorted, class T, class Size>\n"
    "Size gpu_search(const Sorted& sorted, Size size, const T& value) {\n"
    "  Size first = 0;\n"
    "  while (size > 0) {\n"
    "    const Size half = size / 2;\n"
    "    const T middle(sorted[first + half]);\n"
    "    if (Right ? !gpu_is_before(value, middle) : gpu_is_before(middle, value)) {\n"
    "      first += half + 1;\n"
    "      size -= half + 1;\n"
    "    } else {\n"
    "      size = half;\n"
    "    }\n"
    "  }\n"
    "  return first;\n"
    "}\n";

template <class T, class Position> struct search_family;

/// Returns the kernel of a side; `wide` if there may be 2^32 sorted elements or more.
template <class T, class Position>
result<loop_state*> find_search(search_side side, bool wide, source_location where) {
  constexpr const char* function = "gpu::search_sorted";
  return find_shared<search_family<T, Position>, loop_state>(
      function, {name_of(side), wide}, where, [&](loop_state& made) {
        made.code.parameters = {
            describe_parameter<raw<const T*>>(),
            wide ? describe_parameter<unsigned long long>() : describe_parameter<unsigned>(),
            describe_parameter<const T*>(), describe_parameter<Position*>()};
        const bool right = side == search_side::right;
        return describe_indexed(made, function, "sorted, size, values, positions",
                                right ? "positions[i] = gpu_search<true>(sorted, size, values[i])"
                                      : "positions[i] = gpu_search<false>(sorted, size, values[i])",
                                {.name = "gpu_search_sorted", .preamble = search_preamble}, where);
      });
}

/// Fails with `errc::invalid_argument` if a type of positions does not hold that of the end.
inline result<> require_positions(std::uint64_t count, std::uint64_t most,
                                  source_location where) noexcept {
  if (count < most) return {};
  text_builder out;
  out << "sorted has " << count << " elements, but the type of positions holds positions up to "
      << most - 1 << ". Use an integer of 64 bits for the positions.";
  return fail(
      refusal(errc::invalid_argument, "gpu::search_sorted", out.finish(), where, count, most - 1));
}

}  // namespace detail

/// Finds where each of `values` belongs in `sorted`: `positions[i]` is the number of elements of
/// `sorted` before `values[i]`, with `search_side::right` also of those that equal it. As NumPy's
/// `searchsorted`, `std::lower_bound` and `std::upper_bound`. `sorted` is a device range in the
/// order of `sort`: ascending, NaN last. `values`, of the same type (numbers that `sort` takes),
/// and `positions`, integers of 32 or 64 bits, are device ranges or views of the same shape.
/// `positions` may not overlap `sorted`.
/// **Precondition**: `sorted` is sorted. Otherwise positions are from 0 to `sorted.size()`, but
/// which is not specified.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::size_mismatch`, `errc::invalid_argument` for memory that overlaps and for a
/// type of positions that is too small, `errc::wrong_context`, `errc::empty_handle`, those of
/// `compile` at the first call with these types. **Cost**: one launch; a binary search for each
/// value. **Capture**: allowed. **Threads**: any number.
template <class Sorted, class Values, class Positions>
result<> search_sorted(const stream_ref& stream, Sorted&& sorted, Values&& values,
                       Positions&& positions, search_side side = search_side::left,
                       source_location where = source_location::current()) {
  static_assert(device_range<Sorted&>, "gpu::search_sorted: `sorted` is contiguous device memory");
  using element = detail::argument_element<Sorted>;
  using position = detail::argument_element<Positions>;
  static_assert(detail::sortable<element>,
                "gpu::search_sorted: elements are numbers of 8 to 64 bits (bool, integers, float, "
                "double, __half, __nv_bfloat16)");
  static_assert(detail::index_type<position>,
                "gpu::search_sorted: positions are std::uint32_t, std::int32_t, std::uint64_t or "
                "std::int64_t");
  GPU_TRY(detail::require_enumerator(side, "search_side", "gpu::search_sorted", where));
  const detail::named_elements in = detail::name_elements("sorted", sorted);
  const bool wide = in.count() > 0xffff'ffff;
  detail::loop_state& state = *GPU_TRY((detail::find_search<element, position>(side, wide, where)));
  CUdeviceptr address = in.memory.device_address();
  unsigned long long size = in.count();
  auto narrow_size = static_cast<unsigned>(size);
  detail::bound_argument<const element*> wanted(values);
  detail::bound_argument<position*> found(positions);
  void* const passed_size = wide ? static_cast<void*>(&size) : &narrow_size;
  const detail::loop_argument list[] = {
      {nullptr, &address}, {nullptr, passed_size}, wanted.get(), found.get()};
  const detail::loop_call call{state, stream, where, list};
  GPU_TRY(detail::require(stream, "gpu::search_sorted", where));
  GPU_TRY(detail::require_apart(call, in, false));
  GPU_TRY(detail::require_positions(in.count(), detail::most_indexed<position>(), where));
  return detail::run_elementwise(call, nullptr);
}

}}  // namespace gpu::v1

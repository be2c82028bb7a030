#pragma once
/// \file
/// `permutation`, `shuffle` and `choice`: elements in random order, and some of them, as NumPy's
/// generators have them.

#include <gpu/algorithm/sort.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/take.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/random/discrete_weights.hpp>
#include <gpu/random/distributions.hpp>
#include <gpu/random/engines.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Options of `choice`.
struct choice_options {
  bool replace = true;  ///< an element may be chosen again
};

namespace detail {

/// Fails with `errc::invalid_argument` and a sentence.
inline unexpected<cuda_error> refuse_choice(const char* sentence, std::size_t asked,
                                            std::size_t limit, source_location where) noexcept {
  char made[192];
  __builtin_snprintf(made, sizeof made, sentence, asked, limit);
  return fail(refusal(errc::invalid_argument, "gpu::choice", text(made), where, asked, limit));
}

}  // namespace detail

/// Makes an array of the numbers from 0 to `count - 1` in random order: all orders are equally
/// likely, but for one in 2^64 / count^2 in which two of the random keys that are sorted are equal.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: those of `argsort`
/// and of `device_buffer::create`. **Capture**: allowed. **Cost**: a sort of keys of 64 bits.
template <detail::index_type T, detail::independent_engine Engine>
result<array<T>> permutation(const stream_ref& stream, Engine& engine, std::size_t count,
                             source_location where = source_location::current()) {
  const auto keys = GPU_TRY(
      gpu::evaluate(stream, gpu::random_bits<std::uint64_t>(engine, shape<1>{count}), where));
  auto order = GPU_TRY((gpu::empty<T>(stream, shape<1>{count}, where)));
  GPU_TRY(gpu::argsort(stream, keys, order, sort_order::ascending, where));
  return order;
}

/// Brings the elements of `a`, or its rows along the first axis, into random order, in place.
/// **Errors**: those of `permutation` and of `assign`. **Cost**: that of `permutation`, and a copy
/// of `a` in temporary memory.
template <detail::independent_engine Engine, detail::viewable A>
result<> shuffle(const stream_ref& stream, Engine& engine, A&& a,
                 source_location where = source_location::current()) {
  static_assert(detail::viewed_rank<A> > 0, "gpu::shuffle: one element has no order");
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::shuffle", stream, "a", view, a, where));
  const auto copied = GPU_TRY(gpu::evaluate(stream, a, where));
  const auto order =
      GPU_TRY(gpu::permutation<std::uint64_t>(stream, engine, view.extent(0), where));
  return gpu::take(stream, copied, order, 0, a, {}, where);
}

/// Makes an array of `count` elements of `a`, or of its rows along the first axis, chosen at
/// random: each time among all, or without replacement.
/// **Errors**: `errc::invalid_argument` if `a` has none, or fewer than `count` without replacement.
/// **Cost**: two launches, and temporary memory for an index of each; without replacement a
/// `permutation` of all.
template <detail::independent_engine Engine, detail::viewable A>
auto choice(const stream_ref& stream, Engine& engine, A&& a, std::size_t count,
            const choice_options& options = {}, source_location where = source_location::current())
    -> result<array<std::remove_cv_t<detail::viewed_element_t<A>>, detail::viewed_rank<A>>> {
  static_assert(detail::viewed_rank<A> > 0, "gpu::choice: there is only one element");
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::choice", stream, "a", view, a, where));
  const std::size_t rows = view.extent(0);
  if (rows == 0 && count != 0) {
    return detail::refuse_choice(
        "a choice of %zu from an empty range is not possible. Pass at least %zu element.", count, 1,
        where);
  }
  if (!options.replace && count > rows) {
    return detail::refuse_choice(
        "%zu elements cannot be chosen from %zu without replacement. Choose fewer, or leave "
        "`replace` on.",
        count, rows, where);
  }
  if (!options.replace) {
    const auto all = GPU_TRY(gpu::permutation<std::uint64_t>(stream, engine, rows, where));
    return gpu::take(stream, a, all(slice(0, static_cast<std::ptrdiff_t>(count))), 0, {}, where);
  }
  const std::uint64_t last = rows == 0 ? 0 : rows - 1;
  const auto order = GPU_TRY(gpu::evaluate(
      stream, gpu::uniform_integers<std::uint64_t>(engine, shape<1>{count}, 0, last), where));
  return gpu::take(stream, a, order, 0, {}, where);
}

/// The same with a weight for each element or row.
/// **Errors**: `errc::size_mismatch` for another number of weights.
template <detail::independent_engine Engine, detail::viewable A>
auto choice(const stream_ref& stream, Engine& engine, A&& a, std::size_t count,
            const discrete_weights& weights, source_location where = source_location::current())
    -> result<array<std::remove_cv_t<detail::viewed_element_t<A>>, detail::viewed_rank<A>>> {
  static_assert(detail::viewed_rank<A> > 0, "gpu::choice: there is only one element");
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::choice", stream, "a", view, a, where));
  if (weights.size() != view.extent(0)) {
    detail::text_builder out;
    out << "a has " << view.extent(0) << " elements along its first axis, but there are "
        << weights.size() << " weights. Pass a weight for each.";
    return detail::fail(detail::refusal(errc::size_mismatch, "gpu::choice", out.finish(), where,
                                        view.extent(0), weights.size()));
  }
  const auto order = GPU_TRY(
      gpu::evaluate(stream, gpu::discrete<std::uint64_t>(engine, shape<1>{count}, weights), where));
  return gpu::take(stream, a, order, 0, {}, where);
}

}}  // namespace gpu::v1

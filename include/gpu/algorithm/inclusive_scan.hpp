#pragma once
/// \file
/// `inclusive_scan` and `exclusive_scan`: running sums and the like.

#include <gpu/algorithm/scan.hpp>
#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_states.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// Fills in a scan of `x` into `out`.
inline result<> describe_running(scan_state& state, const char* names, const char* store,
                                 const char* kernel, string_ref combine, source_location where) {
  state.map = required(text("x[i]"));
  state.combine = required(combine.to_text());
  state.store = required(text(store));
  state.write = &write_scan;
  return describe_scan(state, names, {.name = kernel}, where);
}

template <class X, class Out> constexpr void check_running() noexcept {
  static_assert(!std::is_const_v<typename elements_of_argument<std::remove_reference_t<Out>>::type>,
                "the elements of `out` are const");
}

template <class X, class Out> struct inclusive_family;
template <class X, class Out> struct exclusive_family;

}  // namespace detail

/// Combines each element of `x` with all before it: `out[i] = x[0] + ... + x[i]`. As
/// `std::inclusive_scan`, and as `cumsum` and `cumprod` of NumPy. `combine` is a snippet that
/// combines two values, `a` before `b`: `"a + b"`, `"a * b"`, `"min(a, b)"`. It has to be
/// associative. Values are converted to the type of `out` and combined in that type (in float, if
/// it has 16 bits). Both are device memory or views, and may be the same elements. Results have the
/// same bits in every run and on every device.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: those of `scan`.
/// **Cost**: as for `scan`; the kernel is compiled by the first call with these types and this
/// text. **Capture**: allowed. **Threads**: any number.
template <class X, class Out>
result<> inclusive_scan(const stream_ref& stream, X&& x, Out&& out, string_ref combine = "a + b",
                        source_location where = source_location::current()) {
  detail::check_running<X, Out>();
  using from = detail::argument_element<X>;
  using to = detail::argument_element<Out>;
  constexpr const char* function = "gpu::inclusive_scan";
  detail::scan_state& state =
      *GPU_TRY((detail::find_shared<detail::inclusive_family<from, to>, detail::scan_state>(
          function, {combine}, where, [&](detail::scan_state& made) {
            made.code.function = function;
            made.code.parameters = {detail::describe_parameter<const from*>(),
                                    detail::describe_parameter<to*>()};
            made.value = detail::sum_type_of<to>();
            made.neutral = detail::zero_value<to>::bytes;
            return detail::describe_running(made, "x, out", "out[i] = item", "gpu_inclusive_scan",
                                            combine, where);
          })));
  detail::bound_argument<const from*> values(static_cast<X&&>(x));
  detail::bound_argument<to*> results(static_cast<Out&&>(out));
  const detail::loop_argument list[] = {values.get(), results.get()};
  return detail::run_scan({state, stream, where, list});
}

/// Combines `initial` and all elements before each element of `x`: `out[i] = initial + x[0] + ... +
/// x[i - 1]`, so that `out[0] = initial`. As `std::exclusive_scan`. Otherwise as `inclusive_scan`.
template <class X, class Out>
result<> exclusive_scan(const stream_ref& stream, X&& x, Out&& out,
                        detail::argument_element<Out> initial = {}, string_ref combine = "a + b",
                        source_location where = source_location::current()) {
  detail::check_running<X, Out>();
  using from = detail::argument_element<X>;
  using to = detail::argument_element<Out>;
  constexpr const char* function = "gpu::exclusive_scan";
  detail::scan_state& state =
      *GPU_TRY((detail::find_shared<detail::exclusive_family<from, to>, detail::scan_state>(
          function, {combine}, where, [&](detail::scan_state& made) {
            made.code.function = function;
            made.code.parameters = {detail::describe_parameter<const from*>(),
                                    detail::describe_parameter<to*>(),
                                    detail::describe_parameter<to>()};
            made.value = detail::sum_type_of<to>();
            made.exclusive = true;
            made.neutral = detail::zero_value<to>::bytes;
            return detail::describe_running(
                made, "x, out, initial",
                "out[i] = i == 0 ? gpu_value(initial) : gpu_combine(initial, item)",
                "gpu_exclusive_scan", combine, where);
          })));
  detail::bound_argument<const from*> values(static_cast<X&&>(x));
  detail::bound_argument<to*> results(static_cast<Out&&>(out));
  const detail::loop_argument list[] = {values.get(), results.get(), {nullptr, &initial}};
  return detail::run_scan({state, stream, where, list});
}

}}  // namespace gpu::v1

#pragma once
/// \file
/// `reduction`: a kernel generated from lines of text, which combines all elements into one value.

#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/algorithm/reduce/reduction_text.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The text of a `reduction` to a value of type `R`.
template <class R> struct reduction_text {
  option_text parameters;   ///< the names of the parameters, separated by commas
  option_text map;          ///< the value of element `i`: `x[i] * y[i]`
  option_text reduce;       ///< combines two values `a` and `b`, in any grouping and order: `a + b`
  R neutral;                ///< changes nothing when it is combined with a value
  option_text result = {};  ///< the result for the combined value `a`: `sqrt(a)`; by default `a`
  snippet_options options = {};
};

namespace detail {

template <class R> struct typed_reduction_state : reduction_state {
  R neutral_value;
};
template <class R> struct delete_reduction_state {
  void operator()(typed_reduction_state<R>* state) const noexcept { delete state; }
};

}  // namespace detail

/// A reduction that is generated from snippets of CUDA C++:
///
///     auto squares = GPU_TRY((gpu::reduction<float, const float*>::create(
///         {.parameters = "x", .map = "x[i] * x[i]", .reduce = "a + b", .neutral = 0.0f})));
///     float sum = GPU_TRY(squares(stream, x));
///
/// `R` is the type of the values that are combined, and of the result: a number or a structure. The
/// further arguments of the template are the types of the parameters, as for `elementwise`.
/// The order in which values are combined depends on the number of elements and on the types alone,
/// so that the result has the same bits in every run, on every device and for every alignment. The
/// neutral value is combined with elements, also where there are enough of them. Move-only; empty
/// after a move. **Threads**: any number may call one object.
template <class R, class... Parameters> class reduction {
  static_assert(sizeof...(Parameters) <= detail::most_loop_parameters,
                "gpu::reduction: at most 32 parameters");

 public:
  /// Creates an empty object.
  constexpr reduction() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <class First, class Second, class... Rest>
    requires std::is_convertible_v<const First&, string_ref> &&
             std::is_convertible_v<const Second&, string_ref>
  static result<reduction> create(const First&, const Second&, const Rest&...) {
    static_assert(
        detail::always_false<First>,
        "write create({.parameters = \"x\", .map = \"x[i]\", .reduce = \"a + b\", .neutral "
        "= 0.0f})");
    return {};
  }

  /// Checks the description and compiles the kernel for the device that `compile` would choose.
  /// **Errors**: `errc::invalid_argument` for names that do not fit the types;
  /// `errc::compile_failed` with the line of the snippet; those of `compile`.
  static result<reduction> create(const reduction_text<R>& parts,
                                  source_location where = source_location::current()) {
    return detail::catch_bad_alloc("gpu::reduction::create", where, [&]() -> result<reduction> {
      reduction made;
      made.state_.reset(new detail::typed_reduction_state<R>);
      detail::typed_reduction_state<R>& state = *made.state_.get();
      state.code.function = "gpu::reduction";
      state.code.parameters = {detail::describe_parameter<Parameters>()...};
      state.value = detail::element_type_of<R>();
      state.combine = parts.reduce;
      state.results.push_back({state.value, parts.result});
      state.neutral_value = parts.neutral;
      state.neutral = &state.neutral_value;
      state.write = &detail::write_reduction;
      GPU_TRY(
          detail::describe_snippet(state.code, parts.parameters, parts.map, parts.options, where));
      GPU_TRY(detail::require_part(state.code, "the map", state.code.body, "x[i]", where));
      GPU_TRY(detail::require_part(state.code, "reduce", state.combine, "a + b", where));
      state.uses = detail::find_uses(state.code);
      GPU_TRY(detail::compile_first(state, form_of(state), where));
      return made;
    });
  }

  /// Combines all elements of the arguments and returns the value.
  /// **Ordering**: after the work queued on the stream; waits for the result.
  /// **Errors**: as for `elementwise`; `errc::capture_prohibited` during capture.
  /// **Cost**: one launch for few elements, else two, and one copy to the host.
  template <class... A> result<R> operator()(located<stream_ref> stream, A&&... arguments) const {
    R value;
    const auto run = [&](const detail::loop_call& made) {
      return detail::reduce_to_host(made, &value);
    };
    GPU_TRY(call(stream, run, arguments...));  // waits, so temporaries live long enough
    return value;
  }

  /// Combines the elements of each segment into an element of `results`, device memory or a view
  /// whose elements are evenly spaced, such as a column. The
  /// segments are parts of equal length, one for each result, in C order: with one result all
  /// elements are combined, with as many as a matrix has rows each row.
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: as for `elementwise`; `errc::size_mismatch` if the number of results does not
  /// divide that of the elements. **Capture**: allowed.
  template <class Results, class... A>
  result<> into(located<stream_ref> stream, Results&& results, A&&... arguments) const {
    static_assert(detail::range_or_view<Results>,
                  "the results go to device memory: pass a device_buffer, not a temporary one, a "
                  "device_span, or a view");
    static_assert(std::same_as<detail::argument_element<Results>, R>,
                  "gpu::reduction: the results have the type of the reduction's value");
    const detail::reduction_output output = detail::make_output("results", results);
    const auto run = [&](const detail::loop_call& made) {
      return detail::reduce_into(made, &output);
    };
    return call(stream, run, static_cast<A&&>(arguments)...);
  }

  /// Returns the text of the kernel for contiguous, aligned arguments.
  text source() const {
    if (state_.get() == nullptr) return {};
    return detail::source_of(*state_.get(), form_of(*state_.get()));
  }

  explicit operator bool() const noexcept { return state_.get() != nullptr; }

 private:
  static detail::loop_form form_of(const detail::reduction_state& state) noexcept {
    return detail::form_of_reduction(detail::usual_form(state), 1, 0);
  }

  template <class Run, class... A>
  result<> call(const located<stream_ref>& stream, Run run, A&&... arguments) const {
    static_assert(sizeof...(A) == sizeof...(Parameters),
                  "gpu::reduction: the number of arguments differs from the number of parameters");
    if (state_.get() == nullptr)
      return detail::fail(detail::empty_handle_error("gpu::reduction", "reduction", stream.where));
    const auto run_bound = [&](detail::bound_argument<Parameters>... bound) {
      const detail::loop_argument list[] = {bound.get()..., {}};
      return run(detail::loop_call{*state_.get(), stream.value, stream.where, list});
    };
    return run_bound(detail::bound_argument<Parameters>(static_cast<A&&>(arguments))...);
  }

  unique_handle<detail::typed_reduction_state<R>*, detail::delete_reduction_state<R>> state_;
};

}}  // namespace gpu::v1

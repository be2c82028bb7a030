#pragma once
/// \file
/// `scan`: a kernel generated from lines of text, which combines each element with all before it.

#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/compiler/compile_options.hpp>
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
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>

namespace gpu { inline namespace v1 {

/// The text of a `scan` of values of type `R`.
template <class R> struct scan_text {
  option_text parameters;  ///< the names of the parameters, separated by commas
  option_text map;         ///< the value of element `i`: `x[i]`
  option_text combine;     ///< combines two values, `a` before `b`, in any grouping: `a + b`
  option_text store;       ///< uses `item`, the values combined up to element `i`: `y[i] = item`
  R neutral;               ///< the item of an element that nothing comes before, if exclusive
  bool exclusive = false;  ///< the item of an element does not include the element's own value
  bool backwards = false;  ///< begins with the last element
  /// An expression that is true if a new segment begins at element `i`:
  /// `i == 0 || key[i] != key[i - 1]`. Segments are scanned each by itself. If it is empty, all
  /// elements are one segment.
  option_text segment_start = {};
  snippet_options options = {};
};

namespace detail {

template <class R> struct typed_scan_state : scan_state {
  R neutral_value;
};
template <class R> struct delete_scan_state {
  void operator()(typed_scan_state<R>* state) const noexcept { delete state; }
};

/// Fills in the texts of a scan.
inline result<> describe_scan(scan_state& state, string_ref names, const snippet_options& options,
                              source_location where) {
  text_builder both;
  both << state.map << "\n;\n" << state.segment_start << "\n;\n" << state.store;
  GPU_TRY(describe_snippet(state.code, names, required(both.finish()), options, where));
  GPU_TRY(require_part(state.code, "the map", state.map, "x[i]", where));
  GPU_TRY(require_part(state.code, "combine", state.combine, "a + b", where));
  GPU_TRY(require_part(state.code, "the store", state.store, "y[i] = item", where));
  for (const snippet_parameter& each : state.code.parameters) {
    if (each.name == string_ref("item"))
      return refuse_name(state.code, each.name, "it is what the store gets", where);
  }
  state.uses = find_uses(state.code);
  return {};
}

}  // namespace detail

/// A scan that is generated from snippets of CUDA C++:
///
///     auto running_sum = GPU_TRY((gpu::scan<float, const float*, float*>::create(
///         {.parameters = "x, y", .map = "x[i]", .combine = "a + b", .store = "y[i] = item",
///          .neutral = 0.0f})));
///     GPU_TRY(running_sum(stream, x, y));
///
/// `R` is the type of the values that are combined: a number or a structure. The further arguments
/// of the template are the types of the parameters, as for `elementwise`. `combine` has to be
/// associative, and need not be commutative. Since the store is a statement, it may write only
/// where a condition holds, or to a place that depends on `item`. The grouping depends on the
/// number of elements and on the types alone, so that results have the same bits in every run, on
/// every device and for every alignment. Move-only; empty after a move.
/// **Threads**: any number may call one object.
template <class R, class... Parameters> class scan {
  static_assert(sizeof...(Parameters) <= detail::most_loop_parameters,
                "gpu::scan: at most 32 parameters");

 public:
  /// Creates an empty object.
  constexpr scan() noexcept = default;

  /// Checks the description and compiles the kernel for the device that `compile` would choose.
  /// **Errors**: `errc::invalid_argument` for names that do not fit the types;
  /// `errc::compile_failed` with the line of the snippet; those of `compile`.
  static result<scan> create(const scan_text<R>& parts,
                             source_location where = source_location::current()) {
    return detail::catch_bad_alloc("gpu::scan::create", where, [&]() -> result<scan> {
      scan made;
      made.state_.reset(new detail::typed_scan_state<R>);
      detail::typed_scan_state<R>& state = *made.state_.get();
      state.code.function = "gpu::scan";
      state.code.parameters = {detail::describe_parameter<Parameters>()...};
      state.value = detail::element_type_of<R>();
      state.map = parts.map;
      state.combine = parts.combine;
      state.store = parts.store;
      state.segment_start = parts.segment_start;
      state.exclusive = parts.exclusive;
      state.backwards = parts.backwards;
      state.neutral_value = parts.neutral;
      state.neutral = &state.neutral_value;
      state.write = &detail::write_scan;
      GPU_TRY(detail::describe_scan(state, parts.parameters, parts.options, where));
      GPU_TRY(detail::compile_first(state, form_of(state), where));
      return made;
    });
  }

  /// Scans the elements of the arguments, in C order.
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: as for `elementwise`. **Cost**: one launch; with more than some thousand elements
  /// also an allocation in stream order and a fill. **Capture**: allowed.
  template <class... A> result<> operator()(located<stream_ref> stream, A&&... arguments) const {
    static_assert(sizeof...(A) == sizeof...(Parameters),
                  "gpu::scan: the number of arguments differs from the number of parameters");
    if (state_.get() == nullptr)
      return detail::fail(detail::empty_handle_error("gpu::scan", "scan", stream.where));
    const auto run = [&](detail::bound_argument<Parameters>... bound) {
      const detail::loop_argument list[] = {bound.get()..., {}};
      return detail::run_scan({*state_.get(), stream.value, stream.where, list});
    };
    return run(detail::bound_argument<Parameters>(static_cast<A&&>(arguments))...);
  }

  /// Returns the text of the kernel for contiguous, aligned arguments.
  text source() const {
    if (state_.get() == nullptr) return {};
    return detail::source_of(*state_.get(), form_of(*state_.get()));
  }

  explicit operator bool() const noexcept { return state_.get() != nullptr; }

 private:
  static detail::loop_form form_of(const detail::scan_state& state) noexcept {
    return detail::form_of_scan(state, detail::usual_form(state));
  }

  unique_handle<detail::typed_scan_state<R>*, detail::delete_scan_state<R>> state_;
};

}}  // namespace gpu::v1

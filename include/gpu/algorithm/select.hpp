#pragma once
/// \file
/// `select` and `selection`: copy the elements that fulfill a condition to neighboring places.

#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/snippet_options.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

/// The text of a `selection`.
struct selection_text {
  option_text parameters;  ///< the names of the parameters, separated by commas
  option_text condition;   ///< whether element `i` is selected: `x[i] > limit`
  option_text value;       ///< what is stored for it: `x[i]`, or `i` for the index
  snippet_options options = {};
};

namespace detail {

/// A selection with counts of 32 and of 64 bits.
struct selection_states {
  compaction_state narrow, wide;

  compaction_state& of(std::size_t elements) noexcept {
    return needs_wide_counts(elements) ? wide : narrow;
  }
};
struct delete_selection_states {
  void operator()(selection_states* states) const noexcept { delete states; }
};

inline std::size_t count_of_elements(const loop_argument* arguments, std::size_t count) noexcept {
  for (std::size_t p = 0; p < count; ++p) {
    if (arguments[p].operand != nullptr) return arguments[p].operand->memory.count;
  }
  return 0;
}

}  // namespace detail

/// A selection that is generated from snippets of CUDA C++:
///
///     auto above = GPU_TRY((gpu::selection<float, const float*, float>::create(
///         {.parameters = "x, limit", .condition = "x[i] > limit", .value = "x[i]"})));
///     std::size_t found = GPU_TRY(above(stream, chosen, x, 0.5f));
///
/// `T` is the type of what is stored. The further arguments of the template are the types of the
/// parameters, as for `elementwise`. What is selected keeps its order. Move-only; empty after a
/// move. **Threads**: any number may call one object.
template <class T, class... Parameters> class selection {
  static_assert(sizeof...(Parameters) + 3 <= detail::most_loop_parameters,
                "gpu::selection: at most 29 parameters");

 public:
  /// Creates an empty object.
  constexpr selection() noexcept = default;

  /// Checks the description and compiles the kernel for the device that `compile` would choose.
  /// **Errors**: as for `elementwise`.
  static result<selection> create(const selection_text& parts,
                                  source_location where = source_location::current()) {
    return detail::catch_bad_alloc("gpu::selection::create", where, [&]() -> result<selection> {
      selection made;
      made.states_.reset(new detail::selection_states);
      for (const bool wide : {false, true}) {
        detail::compaction_state& state =
            wide ? made.states_.get()->wide : made.states_.get()->narrow;
        state.code.function = "gpu::selection";
        state.code.parameters = {detail::describe_parameter<Parameters>()...};
        state.condition = parts.condition;
        state.pick = parts.value;
        state.result = detail::element_type_of<T>();
        state.neutral = detail::zero_value<long long>::bytes;
        GPU_TRY(detail::finish_compaction(state, parts.parameters, wide,
                                          detail::element_type_of<unsigned long long>(),
                                          parts.options, where));
      }
      detail::compaction_state& usual = made.states_.get()->narrow;
      GPU_TRY(detail::compile_first(usual, detail::form_of_scan(usual, detail::usual_form(usual)),
                                    where));
      return made;
    });
  }

  /// Stores the selected values at the beginning of `out`, and returns their number.
  /// **Ordering**: after the work queued on the stream; waits for the number.
  /// **Errors**: as for `elementwise`; `errc::size_mismatch` with both numbers if `out` is too
  /// short, in which case it has the first values; `errc::capture_prohibited` during capture.
  template <class Out, class... A>
  result<std::size_t> operator()(located<stream_ref> stream, Out&& out, A&&... arguments) const {
    const detail::returned_count found =
        GPU_TRY(detail::returned_count::create(stream.value, "gpu::selection", stream.where));
    auto count = found.range();
    const detail::compaction_outputs to = outputs_to(out, detail::name_count(count));
    GPU_TRY(call(stream, to, arguments...));  // waits, so temporaries live long enough
    return found.wait(stream.value, "gpu::selection", to.kept, stream.where);
  }

  /// Stores the selected values at the beginning of `out`, and their number in `count`, one
  /// `unsigned long long` in device memory. If there are more than `out` has elements, those beyond
  /// are not stored, but counted.
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: as for `elementwise`. **Capture**: allowed.
  template <class Out, class Count, class... A>
  result<> into(located<stream_ref> stream, Out&& out, Count&& count, A&&... arguments) const {
    static_assert(std::same_as<detail::element_t<Count>, unsigned long long>,
                  "gpu::selection: the count is an unsigned long long in device memory");
    detail::check_results<Out>();
    return call(stream, outputs_to(out, detail::name_count(count)), static_cast<A&&>(arguments)...);
  }

  /// Returns the text of the kernel for contiguous, aligned arguments.
  text source() const {
    if (states_.get() == nullptr) return {};
    const detail::compaction_state& state = states_.get()->narrow;
    return detail::source_of(state, detail::form_of_scan(state, detail::usual_form(state)));
  }

  explicit operator bool() const noexcept { return states_.get() != nullptr; }

 private:
  template <class Out>
  static detail::compaction_outputs outputs_to(Out& out, detail::named_elements count) noexcept {
    detail::check_results<Out&>();
    static_assert(std::same_as<detail::element_t<Out>, T>,
                  "gpu::selection: `out` has elements of the selection's type, not const");
    return {detail::name_elements("out", out), {}, count};
  }

  template <class... A>
  result<> call(const located<stream_ref>& stream, const detail::compaction_outputs& to,
                A&&... arguments) const {
    static_assert(sizeof...(A) == sizeof...(Parameters),
                  "gpu::selection: the number of arguments differs from the number of parameters");
    if (states_.get() == nullptr)
      return detail::fail(detail::empty_handle_error("gpu::selection", "selection", stream.where));
    const auto run = [&](detail::bound_argument<Parameters>... bound) {
      const detail::loop_argument list[] = {bound.get()..., {}};
      const std::size_t elements = detail::count_of_elements(list, sizeof...(Parameters));
      return detail::run_compaction(states_.get()->of(elements), stream.value, stream.where, list,
                                    sizeof...(Parameters), to);
    };
    return run(detail::bound_argument<Parameters>(static_cast<A&&>(arguments))...);
  }

  unique_handle<detail::selection_states*, detail::delete_selection_states> states_;
};

/// Copies the elements of `x` whose element of `flags` is not zero to the beginning of `out`, in
/// their order, and their number to `count`, one integer in device memory. As `x[flags]` in NumPy.
/// If there are more than `out` has elements, those beyond are not stored, but counted. `x` and
/// `flags` may be views; nothing may overlap `out`.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::size_mismatch`, `errc::invalid_argument` for memory that overlaps,
/// `errc::wrong_context`, `errc::empty_handle`, those of `compile` at the first call with these
/// types. **Cost**: as for `scan`. **Capture**: allowed. **Threads**: any number.
template <class X, class Flags, class Out, device_range Count>
result<> select(const stream_ref& stream, X&& x, Flags&& flags, Out&& out, Count&& count,
                source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using flag = detail::argument_element<Flags>;
  detail::check_results<Out>();
  static_assert(std::same_as<detail::element_t<Out>, from>,
                "gpu::select: `out` has elements of the type of those of `x`, not const");
  detail::bound_argument<const from*> values(static_cast<X&&>(x));
  detail::bound_argument<const flag*> chosen(static_cast<Flags&&>(flags));
  const detail::loop_argument list[] = {values.get(), chosen.get()};
  detail::compaction_state& state = *GPU_TRY(
      (detail::find_flagged<from, flag, detail::element_t<Count>, detail::compaction_kind::chosen>(
          "gpu::select", "gpu_select", values.operand.memory.count, where)));
  return detail::run_compaction(state, stream, where, list, 2, detail::outputs_to(out, count));
}

/// As above, and returns the number.
/// **Ordering**: after the work queued on the stream; waits for the number.
/// **Errors**: also `errc::size_mismatch` with both numbers if `out` is too short, in which case it
/// has the first elements; `errc::capture_prohibited` during capture.
template <class X, class Flags, class Out>
result<std::size_t> select(const stream_ref& stream, X&& x, Flags&& flags, Out&& out,
                           source_location where = source_location::current()) {
  const detail::returned_count found =
      GPU_TRY(detail::returned_count::create(stream, "gpu::select", where));
  GPU_TRY(select(stream, x, flags, out, found.range(), where));
  return found.wait(stream, "gpu::select", detail::name_elements("out", out), where);
}

}}  // namespace gpu::v1

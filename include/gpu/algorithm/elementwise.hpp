#pragma once
/// \file
/// `elementwise`: a kernel generated from a line of text, which runs for each element.

#include <gpu/algorithm/elementwise/elementwise_kernel.hpp>
#include <gpu/algorithm/elementwise/run_elementwise.hpp>
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
#include <gpu/generated/snippet_options.hpp>
#include <gpu/memory/slice.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

struct delete_loop_state {
  void operator()(loop_state* state) const noexcept { delete state; }
};

}  // namespace detail

/// A kernel that is generated from a snippet of CUDA C++ and runs it once for each element:
///
///     auto saxpy = GPU_TRY(gpu::elementwise<float, const float*, float*>::create(
///         "a, x, y", "y[i] += a * x[i]"));
///     GPU_TRY(saxpy(stream, 2.0f, x, y));
///
/// The template's arguments are the types of the parameters. A pointer stands for device memory
/// with one element for each index: a buffer, a span, or a view of up to 8 axes, which the snippet
/// indexes in C order. All have the same number of elements, and views the same shape. `raw<T*>` is
/// a pointer that the snippet uses as it likes. In the snippet `i` is the index and `n` the number
/// of elements, both `long long`. A `bool` in memory may have any byte, and all but 0 are true; in
/// a snippet it converts to `bool` and is assigned one. Move-only; empty after a move.
/// **Threads**: any number may call one object.
template <class... Parameters> class elementwise {
  static_assert(sizeof...(Parameters) <= detail::most_loop_parameters,
                "gpu::elementwise: at most 32 parameters");

 public:
  /// Creates an empty object.
  constexpr elementwise() noexcept = default;

  /// Checks the description and compiles the kernel for the device that `compile` would choose.
  /// Kernels for other devices and for other layouts of the arguments (strides, alignment) are
  /// compiled when they are first needed.
  /// **Errors**: `errc::invalid_argument` for names that do not fit the types;
  /// `errc::compile_failed` with the line of the snippet; those of `compile`.
  static result<elementwise> create(string_ref parameters, string_ref operation,
                                    const snippet_options& options = {},
                                    source_location where = source_location::current()) {
    return detail::catch_bad_alloc("gpu::elementwise::create", where, [&]() -> result<elementwise> {
      elementwise made;
      made.state_.reset(new detail::loop_state);
      detail::snippet& code = made.state_.get()->code;
      code.function = "gpu::elementwise";
      code.parameters = {detail::describe_parameter<Parameters>()...};
      GPU_TRY(
          detail::describe_elementwise(*made.state_.get(), parameters, operation, options, where));
      GPU_TRY(detail::require_part(code, "the operation", code.body, "y[i] = x[i]", where));
      GPU_TRY(detail::compile_first(*made.state_.get(), form_of(*made.state_.get()), where));
      return made;
    });
  }

  /// Runs the snippet for each element of the arguments.
  /// **Ordering**: after the work queued on the stream; does not wait. Device memory must live
  /// until the kernel has run.
  /// **Errors**: `errc::size_mismatch` with both sizes or shapes; `errc::invalid_argument` for
  /// elements that are written and overlap other arguments, unless they are the same elements;
  /// `errc::wrong_context`; `errc::empty_handle`; those of `launch`, and of `compile` at the first
  /// call with another layout or device.
  /// **Cost**: one launch; nothing is allocated. **Capture**: allowed.
  template <class... A> result<> operator()(located<stream_ref> stream, A&&... arguments) const {
    return call(stream, nullptr, static_cast<A&&>(arguments)...);
  }

  /// Runs the snippet for the indices that a slice selects: `over(stream, gpu::slice(0, n, 2),
  /// ...)`. Elements at other indices are left alone. If no parameter has elements, the slice
  /// counts as it is. Otherwise as above.
  template <class... A>
  result<> over(located<stream_ref> stream, const slice& indices, A&&... arguments) const {
    return call(stream, &indices, static_cast<A&&>(arguments)...);
  }

  /// Returns the text of the kernel for contiguous, aligned arguments.
  text source() const {
    if (state_.get() == nullptr) return {};
    return detail::source_of(*state_.get(), form_of(*state_.get()));
  }

  explicit operator bool() const noexcept { return state_.get() != nullptr; }

 private:
  static detail::loop_form form_of(const detail::loop_state& state) noexcept {
    return detail::spread_groups(detail::usual_form(state));
  }

  template <class... A>
  result<> call(const located<stream_ref>& stream, const slice* range, A&&... arguments) const {
    static_assert(
        sizeof...(A) == sizeof...(Parameters),
        "gpu::elementwise: the number of arguments differs from the number of parameters");
    if (state_.get() == nullptr) {
      return detail::fail(
          detail::empty_handle_error("gpu::elementwise", "elementwise kernel", stream.where));
    }
    const auto run = [&](detail::bound_argument<Parameters>&&... bound) {
      const detail::loop_argument list[] = {bound.get()..., {}};
      return detail::run_elementwise({*state_.get(), stream.value, stream.where, list}, range);
    };
    return run(detail::bound_argument<Parameters>(static_cast<A&&>(arguments))...);
  }

  unique_handle<detail::loop_state*, detail::delete_loop_state> state_;
};

}}  // namespace gpu::v1

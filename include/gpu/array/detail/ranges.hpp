#pragma once
/// \file
/// The kernels behind `arange`, `linspace`, `logspace` and arrays of a function of the index.

#include <gpu/array/array.hpp>
#include <gpu/array/detail/shared_kernel.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

template <class T> struct arange_family;
template <class T, bool Powers> struct spaced_family;
template <class T, int Rank> struct index_family;

/// Keeps a parameter out of the deduction of template arguments.
template <class T> using same_type = typename std::type_identity<T>::type;
template <class A> using value_of_view = std::remove_cv_t<viewed_element_t<const A&>>;

/// Returns how many steps it takes from `first` to reach `last`.
template <class T>
result<std::size_t> count_steps(T first, T last, T step, source_location where) noexcept {
  const char* reason = nullptr;
  bool stands_still = false;
  if constexpr (word_integer<T>) {
    stands_still = step == T(0);
  } else {
    stands_still = ieee_number(step) == 0;
  }
  if (stands_still) {
    reason =
        "the step is 0, so the last value is never reached. Pass a step of another value, "
        "negative to go down.";
  } else if constexpr (word_integer<T>) {
    const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last);
    const auto by = static_cast<std::uint64_t>(step);
    if (step > T(0)) return first < last ? (to - from - 1) / by + 1 : 0;
    return first > last ? (from - to - 1) / (0 - by) + 1 : 0;
  } else {
    const ieee_number steps = static_cast<T>((last - first) / step);  // rounded as by NumPy
    if (steps <= 0) return std::size_t{0};
    if (steps < 9e15) {
      const auto whole = static_cast<std::size_t>(steps.value());
      return whole + (static_cast<double>(whole) < steps ? 1 : 0);
    }
    reason =
        "the number of elements does not follow from the numbers: it is not a number, infinite, "
        "or more than 9e15. Pass finite numbers, and a larger step.";
  }
  return fail(refusal(errc::invalid_argument, "gpu::arange", text(reason), where));
}

template <class T> text arange_text() {
  text_builder out;
  const string_ref name = element_type_of<T>().name;
  if constexpr (word_integer<T>) {
    out << "out[i] = (" << name
        << ")((unsigned long long)first + (unsigned long long)i * (unsigned long long)step)";
  } else {
    out << "out[i] = first + (" << name << ")i * step";
  }
  return out.finish();
}

template <class T, bool Powers> text spaced_text() {
  text_builder out;
  const string_ref name = element_type_of<T>().name;
  out << "const double exact = i == n - 1 && has_last ? last"
         " : (double)i / divisor * factor + first;\nout[i] = ("
      << name << ')' << (word_integer<T> ? "floor(" : "(")
      << (Powers ? "pow(base, exact))" : "exact)");
  return out.finish();
}

/// Makes an array of numbers at equal distances, or of powers with such exponents.
template <class T, bool Powers>
result<array<T>> make_spaced(const char* function, const stream_ref& stream, double first,
                             double last, std::size_t count, bool endpoint, double base,
                             source_location where) {
  auto made = GPU_TRY(array<T>::adopt(GPU_TRY(device_buffer<T>::create(stream, count, where)),
                                      shape<1>{count}, where));
  const double difference = last - first;
  const auto parts = static_cast<double>(endpoint ? count - 1 : count);
  const double step = count > (endpoint ? 1u : 0u) ? difference / parts : 0;
  // As in NumPy: if the step is too small for a double, the numbers are divided one by one.
  double divisor = 1, factor = step;
  if (ieee_number(step) == 0) {
    divisor = parts > 0 ? parts : 1;
    factor = difference;
  }
  int has_last = endpoint && count > 1 ? 1 : 0;
  const loop_operand out = operand_of(made.view(), made);
  const loop_argument arguments[] = {{&out, nullptr},     {nullptr, &first},  {nullptr, &last},
                                     {nullptr, &divisor}, {nullptr, &factor}, {nullptr, &has_last},
                                     {nullptr, &base}};
  GPU_TRY((run_shared<spaced_family<T, Powers>, T*, double, double, double, double, int, double>(
      {function, Powers ? "gpu_logspace" : "gpu_linspace",
       "out, first, last, divisor, factor, has_last, base"},
      stream, where, &spaced_text<T, Powers>, arguments)));
  return made;
}

/// Writes the statements that compute `i0`, `i1`, ... from `i`, and then the element.
template <class T, int Rank> text index_text(string_ref code) {
  text_builder out;
  for (int axis = Rank; axis-- > 0;) {
    out << "[[maybe_unused]] const long long i" << axis << " = i";
    for (int inner = Rank; --inner > axis;) out << " / extent" << inner;
    if (axis > 0) out << " % extent" << axis;
    out << "; ";
  }
  // On a line of its own, because the code may end with a comment.
  out << "out[i] = (" << element_type_of<T>().name << ")(\n" << code << "\n)";
  return out.finish();
}

/// Sets each element of an array to the value of a text for its indices.
template <class T, int Rank>
result<> fill_by_index(const stream_ref& stream, array<T, Rank>& made, string_ref code,
                       source_location where) {
  static_assert(Rank <= most_axes, "a function of the index has at most 8 axes");
  // Every kernel has eight extents, of which the text uses those that there are.
  long long extents[most_axes] = {};
  for (int axis = 0; axis < Rank; ++axis) extents[axis] = static_cast<long long>(made.extent(axis));
  const loop_operand out = operand_of(made.view(), made);
  loop_argument arguments[1 + most_axes] = {{&out, nullptr}};
  for (int axis = 0; axis < most_axes; ++axis) arguments[1 + axis] = {nullptr, &extents[axis]};
  using number = long long;
  return run_shared<index_family<T, Rank>, T*, number, number, number, number, number, number,
                    number, number>(
      {"gpu::from_function",
       "gpu_from_function",
       "out, extent0, extent1, extent2, extent3, extent4, extent5, extent6, extent7",
       {code}},
      stream, where, [&] { return index_text<T, Rank>(code); }, arguments);
}

}}}  // namespace gpu::v1::detail

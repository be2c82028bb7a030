#pragma once
/// \file
/// `cufft_plan`: Fourier transforms of one to three dimensions by cuFFT, which is opened when the
/// first plan is made.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/libraries/cufft_functions.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/system/library_table.hpp>

#include <cuda.h>
#include <complex>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// The numbers that a transform of `T` has on its other side.
template <class T> struct fft_types;
template <> struct fft_types<float> {
  using real = float;
  static constexpr int forward = 0x2a, backward = 0x2c;  // CUFFT_R2C, CUFFT_C2R
};
template <> struct fft_types<double> {
  using real = double;
  static constexpr int forward = 0x6a, backward = 0x6c;
};
template <> struct fft_types<std::complex<float>> {
  using real = float;
  static constexpr int forward = 0x29, backward = 0x29;  // CUFFT_C2C
};
template <> struct fft_types<std::complex<double>> {
  using real = double;
  static constexpr int forward = 0x69, backward = 0x69;
};

/// Fails unless an operand has as many elements as the plan needs, without gaps.
inline result<> require_fft_size(const char* function, std::size_t size, std::size_t needed,
                                 bool is_contiguous, source_location where) noexcept {
  text_builder words;
  if (size != needed) {
    words << "an operand has " << size << " elements, but the plan is for " << needed
          << ". Pass memory of that size; the spectrum of a real signal has n / 2 + 1 elements "
             "along its last axis.";
    return fail(refusal(errc::size_mismatch, function, words.finish(), where, size, needed));
  }
  if (is_contiguous) return {};
  words << "the elements of an operand are not in C order without gaps. Copy the view to an array.";
  return fail(refusal(errc::invalid_argument, function, words.finish(), where));
}

}  // namespace detail

/// Owns a plan for transforms of arrays with `Rank` axes, 1 to 3, bound to a stream. Move-only;
/// empty after a move. `T` is float, double, or `std::complex` of one of them:
///
///     auto plan = GPU_TRY((gpu::cufft_plan<float, 2>::create(stream, {rows, columns})));
///     GPU_TRY(plan.forward(image, spectrum));   // (rows, columns) to (rows, columns / 2 + 1)
///     GPU_TRY(plan.backward(spectrum, image));  // rows * columns times the image
///
/// A real signal has a spectrum of complex numbers with `n / 2 + 1` elements along the last axis;
/// the others follow from them. As in cuFFT, nothing is divided by the number of elements. With a
/// batch, the first of `Rank + 1` axes numbers the transforms. Arrays and views are in C order
/// without gaps.
/// **Threads**: one thread at a time uses a plan.
template <class T, int Rank = 1> class cufft_plan {
  static_assert(Rank >= 1 && Rank <= 3, "cuFFT transforms one, two or three axes");
  using types = detail::fft_types<T>;
  static constexpr bool is_real = std::same_as<T, typename types::real>;

 public:
  using complex = std::complex<typename types::real>;

  /// Creates an empty object, to be assigned to.
  cufft_plan() noexcept = default;

  /// Makes a plan for `batch` signals of this shape. The first call of the process opens cuFFT: the
  /// file that GPU_CUFFT names, or else that of the toolkit, of the system or of NVIDIA's Python
  /// wheels. Takes milliseconds and device memory (for real signals twice: one plan each way), so
  /// keep it. `stream` has to outlive its use.
  /// **Errors**: `errc::no_library` without cuFFT, or on the CPU driver; `errc::library_too_old`;
  /// `errc::invalid_argument` for an empty shape; `errc::empty_handle`; those of cuFFT.
  /// **Capture**: not allowed. (cufftMakePlanMany64, cufftSetStream)
  static result<cufft_plan> create(const stream_ref& stream, const shape<Rank>& extents,
                                   std::size_t batch = 1,
                                   source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::cufft_plan::create";
    GPU_TRY(detail::require(stream, function, where));
    GPU_TRY(detail::require_libcuda<detail::cufft_library>(function, where));
    if (extents.size() == 0 || batch == 0) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, function,
          text("a transform has at least 1 element along each axis, and at least 1 signal. Pass a "
               "shape without zeros."),
          where));
    }
    cufft_plan made;
    made.extents_ = extents;
    made.batch_ = batch;
    long long lengths[std::size_t{Rank}];
    for (int axis = 0; axis < Rank; ++axis) lengths[axis] = static_cast<long long>(extents[axis]);
    GPU_TRY(detail::make_cufft(made.forward_, stream, lengths, Rank, types::forward, batch, where));
    if constexpr (is_real) {
      GPU_TRY(
          detail::make_cufft(made.backward_, stream, lengths, Rank, types::backward, batch, where));
    }
    return made;
  }

  /// Transforms signals to spectra. `in` and `out` may be the same memory only if both are complex.
  /// **Ordering**: queued on the plan's stream; does not wait. **Errors**: `errc::size_mismatch`
  /// with the number of elements; `errc::invalid_argument` for gaps; the reason of a faulty view;
  /// `errc::empty_handle`; those of cuFFT. **Capture**: allowed. (cufftExecR2C, cufftExecC2C, ...)
  template <detail::viewable In, detail::viewable Out>
  result<> forward(In&& in, Out&& out,
                   source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::cufft_plan::forward";
    static_assert(std::same_as<value_of<In>, T> && std::same_as<value_of<Out>, complex>,
                  "gpu::cufft_plan::forward: from elements of the plan's type to complex numbers");
    GPU_TRY(require_plan(function, where));
    const CUdeviceptr from = GPU_TRY(operand(function, in, signal_size(), where));
    const CUdeviceptr to = GPU_TRY(operand(function, out, spectrum_size(), where));
    return detail::run_cufft(forward_.get(), types::forward, from, to, -1, where);
  }

  /// Transforms spectra back to signals, times the number of elements. A real transform of several
  /// axes overwrites `in`.
  template <detail::viewable In, detail::viewable Out>
  result<> backward(In&& in, Out&& out,
                    source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::cufft_plan::backward";
    static_assert(std::same_as<value_of<In>, complex> && std::same_as<value_of<Out>, T>,
                  "gpu::cufft_plan::backward: from complex numbers to elements of the plan's type");
    GPU_TRY(require_plan(function, where));
    const CUdeviceptr from = GPU_TRY(operand(function, in, spectrum_size(), where));
    const CUdeviceptr to = GPU_TRY(operand(function, out, signal_size(), where));
    return detail::run_cufft(is_real ? backward_.get() : forward_.get(), types::backward, from, to,
                             1, where);
  }

  stream_ref stream() const noexcept { return forward_.get().stream; }
  /// Returns the `cufftHandle` of the transforms forward; -1 if the plan is empty.
  int native() const noexcept { return forward_.get().native; }

 private:
  result<> require_plan(const char* function, source_location where) const noexcept {
    if (forward_) return {};
    return detail::refuse_empty_handle(function, "cufft_plan", where);
  }

  template <class A>
  using value_of =
      typename std::remove_cvref_t<decltype(detail::array_view_of(std::declval<A>()))>::value_type;

  std::size_t signal_size() const noexcept { return batch_ * extents_.size(); }
  std::size_t spectrum_size() const noexcept {
    if (!is_real) return signal_size();
    const std::size_t last = extents_[Rank - 1];
    return signal_size() / last * (last / 2 + 1);
  }

  template <class A>
  result<CUdeviceptr> operand(const char* function, A& a, std::size_t size,
                              source_location where) const noexcept {
    const auto view = detail::array_view_of(a);
    GPU_TRY(view.checked(where));
    GPU_TRY(detail::require_fft_size(function, view.size(), size, view.is_contiguous(), where));
    return view.native();
  }

  detail::cufft_plan_handle forward_, backward_;
  shape<Rank> extents_{};
  std::size_t batch_ = 0;
};

/// Returns whether there is a cuFFT that this program can use. Opens it on first use.
inline bool has_cufft() noexcept {
  return detail::require_libcuda<detail::cufft_library>("gpu::has_cufft", {}).has_value() &&
         detail::library_table<detail::cufft_library>().create != nullptr;
}

}}  // namespace gpu::v1

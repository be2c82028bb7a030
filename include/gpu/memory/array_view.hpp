#pragma once
/// \file
/// `array_view<T, Rank>`: a view of device memory in any number of dimensions.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/memory/detail/pick_axes.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {
struct view_access;
}

/// A view of elements in device memory that something else keeps alive, with one index for each
/// axis: `(i, j)` is `stride(0) * i + stride(1) * j` elements after the first. Strides count
/// elements; they may be negative, and a stride of 0 repeats one element along an axis. Copy it
/// freely. As a kernel argument it passes by value: the pointer, the extents, the strides; if the
/// parameter is a `T*`, a contiguous view passes as the pointer. Device code has a type of the same
/// name in `<gpu/device.hpp>`, which accesses elements as `view(i, j)`. A view of rank 0 has one
/// element, `view()`.
///
/// Functions of views (`view(1, gpu::all())`, `gpu::reshape(view, 3, -1)`) cannot return an error.
/// If they are asked for something impossible, the result is faulty: it has no elements, and
/// launches and generated kernels fail with the reason. `checked()` returns it early.
template <class T, int Rank = 1> class array_view {
  static_assert(Rank >= 0, "the rank of an array_view is the number of its axes, 0 or more");

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  static constexpr int rank = Rank;
  /// The length of the list of extents. Rank 0 has an unused one: C++ has no arrays of length 0.
  static constexpr std::size_t slots = Rank == 0 ? 1 : std::size_t{Rank};

  /// Makes an empty view.
  constexpr array_view() noexcept = default;

  /// Converts to a view of const elements.
  template <class U>
    requires(std::is_convertible_v<U (*)[], T (*)[]>)
  constexpr array_view(const array_view<U, Rank>& other) noexcept : data_{other.data()} {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      extents_[slot] = other.extents_[slot];
      strides_[slot] = other.strides_[slot];
    }
  }

  /// Makes a view of the elements of a span.
  template <class U, std::size_t Extent>
    requires(Rank == 1 && std::is_convertible_v<U (*)[], T (*)[]>)
  constexpr array_view(device_span<U, Extent> elements) noexcept
      : data_{elements.data()}, extents_{elements.size()}, strides_{1} {
    if (__builtin_is_constant_evaluated()) return;
    if (native() >> 57 != 0 || elements.size() > detail::most_memory_bytes / sizeof(T))
      *this = check_foreign();
  }

  /// Makes a view of all `elements` in row-major order: the last index is contiguous.
  /// **Errors**: `errc::size_mismatch` if the product of the extents is not the number of elements.
  static result<array_view> row_major(device_span<T> elements, const std::size_t (&extents)[slots],
                                      source_location where = source_location::current())
    requires(Rank > 0)
  {
    array_view view;
    view.data_ = elements.data();
    for (int axis = 0; axis < Rank; ++axis) view.extents_[axis] = extents[axis];
    detail::set_dense_strides(extents, view.strides_, Rank);
    const std::size_t product = detail::saturated_product(extents, Rank);
    if (product == elements.size()) return view.check_foreign();
    detail::text_builder out;
    for (int axis = 0; axis < Rank; ++axis) out << (axis == 0 ? "" : " x ") << extents[axis];
    out << " elements do not match the span, which has " << elements.size()
        << ". Pass extents whose product is the number of elements, or a part of the span.";
    return detail::fail(detail::refusal(errc::size_mismatch, "gpu::array_view::row_major",
                                        out.finish(), where, product, elements.size()));
  }

  /// Makes a view of elements at an address from the driver. The view is faulty if that is no
  /// address, or if memory cannot have so many elements or reach so far.
  static array_view from_native(CUdeviceptr address, const std::size_t (&extents)[slots],
                                const std::ptrdiff_t (&strides)[slots]) noexcept
    requires(Rank > 0)
  {
    array_view view;
    view.data_ = reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    for (int axis = 0; axis < Rank; ++axis) {
      view.extents_[axis] = extents[axis];
      view.strides_[axis] = strides[axis];
    }
    return view.check_foreign();
  }
  static array_view from_native(CUdeviceptr address) noexcept
    requires(Rank == 0)
  {
    array_view view;
    view.data_ = reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    return view.check_foreign();
  }

  /// Returns the device's pointer to the element with all indices 0. The host may pass it on, but
  /// not dereference it.
  constexpr T* data() const noexcept { return data_; }
  CUdeviceptr native() const noexcept {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data_));
  }
  constexpr std::size_t extent(int axis) const noexcept { return extents_[axis]; }
  constexpr std::ptrdiff_t stride(int axis) const noexcept { return strides_[axis]; }
  constexpr gpu::shape<Rank> shape() const noexcept {
    gpu::shape<Rank> extents;
    for (int axis = 0; axis < Rank; ++axis) extents[axis] = extents_[axis];
    return extents;
  }
  /// Returns the number of elements: the product of the extents.
  constexpr std::size_t size() const noexcept { return detail::saturated_product(extents_, Rank); }
  /// Returns whether the elements are one after the other in memory, in C order unless another is
  /// named; for `axis_order::keep`, in either.
  constexpr bool is_contiguous() const noexcept { return is_contiguous(axis_order::c); }
  constexpr bool is_contiguous(axis_order order) const noexcept {
    if (order == axis_order::keep) return is_contiguous() || is_contiguous(axis_order::fortran);
    std::size_t dense = 1;
    for (int k = Rank; k-- > 0;) {
      const int axis = order == axis_order::c ? k : Rank - 1 - k;
      if (extents_[axis] > 1 && strides_[axis] != static_cast<std::ptrdiff_t>(dense)) return false;
      dense = detail::saturated_product(dense, extents_[axis]);
    }
    return true;
  }

  /// Returns a part of the view, as NumPy does. Each argument is for the next axis: an index, which
  /// removes the axis and counts from the end if it is negative; a `slice`; `all()`. `new_axis()`
  /// adds an axis of 1 element, and `ellipsis()` stands for all axes that the other arguments leave
  /// over; it is at the end if it is not written.
  ///
  ///     m(1);                                        // a row
  ///     m(gpu::all(), gpu::slice(0, gpu::to_end, 2)); // every other column
  ///
  /// Slices leave out what is out of range; an index that is out of range makes the view faulty.
  template <detail::axis_index... Indices>
  array_view<T, detail::rank_after<Indices...>(Rank)> operator()(Indices... indices) const noexcept;

  /// Returns the view, or the error of a faulty one.
  /// **Errors**: `errc::index_out_of_range`; `errc::invalid_argument`.
  result<array_view> checked(source_location where = source_location::current()) const noexcept {
    const detail::view_fault fault = detail::fault_at(native(), strides_[0]);
    if (!fault) return *this;
    return detail::fail(detail::fault_error(fault, nullptr, "", where));
  }

 private:
  template <class, int> friend class array_view;
  friend detail::view_access;

  /// Returns the view, or a faulty one if memory cannot be as it says.
  array_view check_foreign() noexcept {
    const detail::view_fault fault = detail::check_foreign(reinterpret_cast<std::uintptr_t>(data_),
                                                           sizeof(T), extents_, strides_, Rank);
    return fault ? from_fault(fault) : *this;
  }
  static array_view from_fault(const detail::view_fault& fault) noexcept {
    array_view view;
    view.data_ = reinterpret_cast<T*>(detail::fault_address(fault));
    view.strides_[0] = static_cast<std::ptrdiff_t>(fault.limit);
    return view;
  }

  T* data_ = nullptr;
  std::size_t extents_[slots] = {};
  std::ptrdiff_t strides_[slots] = {};
};

template <class T, std::size_t Extent> array_view(device_span<T, Extent>) -> array_view<T, 1>;

// The device's type of the same name has this layout.
static_assert(sizeof(array_view<char, 3>) == 56 && alignof(array_view<char, 3>) == 8);
static_assert(sizeof(array_view<char, 0>) == 24 && alignof(array_view<char, 0>) == 8);

/// Kernels take views as they are, and contiguous ones for pointers; the launch rejects faulty
/// ones, and for pointers those with strides.
template <class T, int Rank> struct kernel_argument<array_view<T, Rank>> {
  static constexpr T* pointer(const array_view<T, Rank>& view) noexcept { return view.data(); }
  static constexpr const array_view<T, Rank>& value(const array_view<T, Rank>& view) noexcept {
    return view;
  }
  static constexpr std::ptrdiff_t first_stride(const array_view<T, Rank>& view) noexcept {
    return view.stride(0);
  }
};

namespace detail {

template <class> inline constexpr bool is_array_view = false;
template <class T, int Rank> inline constexpr bool is_array_view<array_view<T, Rank>> = true;

/// Converts views to and from their form without a type.
struct view_access {
  template <class T, int Rank>
  static view_layout layout_of(const array_view<T, Rank>& view) noexcept {
    static_assert(Rank < most_view_axes, "functions of views take at most 15 axes");
    view_layout layout;
    layout.address = reinterpret_cast<std::uintptr_t>(view.data_);
    layout.element_bytes = sizeof(T);
    layout.rank = Rank;
    layout.fault = fault_at(layout.address, view.strides_[0]);
    for (int axis = 0; axis < Rank; ++axis) {
      layout.extents[axis] = view.extents_[axis];
      layout.strides[axis] = view.strides_[axis];
    }
    return layout;
  }
  template <class T, int Rank> static array_view<T, Rank> make(const view_layout& layout) noexcept {
    if (layout.fault) return array_view<T, Rank>::from_fault(layout.fault);
    array_view<T, Rank> view;
    view.data_ = reinterpret_cast<T*>(layout.address);
    for (int axis = 0; axis < Rank; ++axis) {
      view.extents_[axis] = layout.extents[axis];
      view.strides_[axis] = layout.strides[axis];
    }
    return view;
  }
};

/// Specialized for the expressions of `gpu/array`.
template <class> inline constexpr bool is_expression = false;

/// Satisfied by views, by what has a `view()`, and by spans and buffers.
template <class A>
concept has_elements =
    is_array_view<std::remove_cvref_t<A>> || device_range<std::remove_reference_t<A>&> ||
    requires(std::remove_reference_t<A>& owner) {
      requires is_array_view<std::remove_cvref_t<decltype(owner.view())>>;
    };

/// Satisfied by a `result` of such a type.
template <class A>
concept result_with_elements =
    is_result<std::remove_cvref_t<A>> && has_elements<typename std::remove_cvref_t<A>::value_type&>;

/// Satisfied by all of these, and by expressions, so that `array_view_of` says what to write for
/// what has no elements.
template <class A>
concept viewable =
    has_elements<A> || result_with_elements<A> || is_expression<std::remove_cvref_t<A>>;

/// Returns a view of all elements of an array, a buffer or a span, or the view itself.
template <class A> constexpr auto array_view_of(A&& a) noexcept {
  using bare = std::remove_cvref_t<A>;
  if constexpr (is_array_view<bare>) {
    return a;
  } else if constexpr (is_expression<bare>) {
    static_assert(always_false<A>,
                  "an expression has no elements in memory: give it an array with a name first, "
                  "auto values = GPU_TRY(gpu::evaluate(stream, expression))");
    return array_view<const typename bare::value_type, bare::rank>();
  } else if constexpr (is_result<bare>) {
    static_assert(
        always_false<A>,
        "this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it");
    return decltype(array_view_of(std::declval<typename bare::value_type&>()))();
  } else {
    static_assert(std::is_lvalue_reference_v<A> || is_device_span<bare>,
                  "a view of a temporary array or buffer would outlive its memory: give the array "
                  "a name first");
    if constexpr (requires { a.view(); }) {
      return a.view();
    } else {
      return array_view(device_span_of(a));
    }
  }
}

}  // namespace detail

template <class T, int Rank>
template <detail::axis_index... Indices>
array_view<T, detail::rank_after<Indices...>(Rank)> array_view<T, Rank>::operator()(
    Indices... indices) const noexcept {
  static_assert(detail::consumed_axes<Indices...> <= Rank, "more indices than the view has axes");
  static_assert(detail::count_of<gpu::ellipsis, Indices...> <= 1,
                "gpu::ellipsis() may be written once: it stands for all axes that are left over");
  const detail::axis_pick picks[] = {detail::axis_pick(indices)..., detail::axis_pick(ellipsis())};
  detail::view_layout layout = detail::view_access::layout_of(*this);
  detail::pick_axes(layout, picks, int{sizeof...(Indices)});
  return detail::view_access::make<T, detail::rank_after<Indices...>(Rank)>(layout);
}

}}  // namespace gpu::v1

// Parts of views and views with other axes, shapes and element types: where the elements are, by
// NumPy, and what is wrong with those that cannot be.

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/array/view_elements.hpp>
#include <gpu/array/view_shape.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <complex>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace views_test { namespace {

constexpr CUdeviceptr start = 0x10000;

const auto row = gpu::array_view<int>(gpu::device_span<int>::from_native(start, 120));
const auto matrix = gpu::reshape(row, 20, 6);
const auto cube = gpu::reshape(row, 5, 6, 4);

template <class T, int Rank> gpu::cuda_error fault_of(const gpu::array_view<T, Rank>& view) {
  return test::error_of(view.checked());
}

/// Compares a view with the offset of its first element, its shape and its strides. Strides of axes
/// with at most one element, and of views without elements, do not matter.
template <class T, int Rank>
void check(const gpu::array_view<T, Rank>& view, long long offset,
           std::initializer_list<std::size_t> extents,
           std::initializer_list<std::ptrdiff_t> strides) {
  REQUIRE(view.checked().has_value());
  REQUIRE(extents.size() == Rank);
  for (int axis = 0; axis < Rank; ++axis) REQUIRE(view.extent(axis) == extents.begin()[axis]);
  if (view.size() == 0) return;
  CHECK(static_cast<long long>(view.native() - start) == 4 * offset);
  for (int axis = 0; axis < Rank; ++axis) {
    if (view.extent(axis) > 1) REQUIRE(view.stride(axis) == strides.begin()[axis]);
  }
}

/// Checks that a view cannot be reshaped because of its strides.
template <class T, int Rank> void check_no_view(const gpu::array_view<T, Rank>& view) {
  CHECK(view.size() == (Rank == 0 ? 1 : 0));
  CHECK(test::says(fault_of(view), "no strides describe the elements", "Copy the elements"));
}

TEST_CASE("views are where NumPy has them", "[array][view]") {
#include "array/view_reference.inc"
}

TEST_CASE("parts of views have the ranks of NumPy", "[array][view]") {
  static_assert(std::is_same_v<decltype(cube(1)), gpu::array_view<int, 2>>);
  static_assert(std::is_same_v<decltype(cube(1, 2, 3)), gpu::array_view<int, 0>>);
  static_assert(
      std::is_same_v<decltype(cube(gpu::new_axis(), 1u, gpu::all())), gpu::array_view<int, 3>>);
  static_assert(
      std::is_same_v<decltype(cube(gpu::ellipsis(), std::size_t{2})), gpu::array_view<int, 2>>);
  static_assert(std::is_same_v<decltype(cube()), gpu::array_view<int, 3>>);
  static_assert(std::is_same_v<decltype(gpu::squeeze(cube, 0, -1)), gpu::array_view<int>>);
  // What repeats elements is for reading.
  static_assert(std::is_same_v<decltype(gpu::broadcast_to(row, gpu::shape{3, 120})),
                               gpu::array_view<const int, 2>>);
  static_assert(
      std::is_same_v<decltype(gpu::sliding_windows(row, 3)), gpu::array_view<const int, 2>>);
  CHECK(cube(1, 2, 3).native() == start + 4 * (24 + 8 + 3));
  CHECK(gpu::squeeze(cube(gpu::slice(1, 2), gpu::all(), gpu::slice(3, 4)), 0, -1).native() ==
        start + 4 * 27);
  CHECK(gpu::ravel(cube).extent(0) == 120);
  CHECK(gpu::reshape(row(7)).native() == start + 28);
  CHECK(gpu::reshape(row, gpu::shape{4, 30}).shape() == gpu::shape{4, 30});
  CHECK(gpu::permute_axes(cube, 1, -1, 0).shape() == gpu::shape{6, 4, 5});
  CHECK(gpu::shape{3, 4}.size() == 12);
  CHECK(gpu::shape<0>().size() == 1);
  CHECK((gpu::shape{std::size_t{1} << 40, std::size_t{1} << 40}.size() ==
         static_cast<std::size_t>(-1)));
  CHECK(cube.is_contiguous());
  CHECK_FALSE(gpu::transpose(cube).is_contiguous());
  CHECK(cube(2).is_contiguous());
}

TEST_CASE("a view that cannot be keeps what is wrong", "[array][view]") {
  CHECK(test::says(fault_of(cube(1, 6)), "gpu::array_view::operator()",
                   "index 6 is out of range for axis 1, which has 6 elements", "from -6 to 5"));
  CHECK(fault_of(cube(1, 6)) == gpu::errc::index_out_of_range);
  CHECK(fault_of(cube(1, 6)).limit() == 6);
  CHECK(test::says(fault_of(row(-121)), "index -121 is out of range for axis 0"));
  CHECK(test::says(fault_of(row(gpu::slice(0, 0))(0)), "which has 0 elements", "Take a slice"));
  CHECK(test::says(fault_of(matrix(gpu::all(), gpu::slice(0, 3, 0))),
                   "the step of the slice of axis 1 is 0"));
  CHECK(test::says(fault_of(gpu::move_axis(cube, 3, 0)), "gpu::move_axis",
                   "axis 3 is out of range for 3 axes", "from -3 to 2"));
  CHECK(test::says(fault_of(gpu::swap_axes(cube, 0, -4)), "gpu::swap_axes", "axis -4 is out of"));
  CHECK(test::says(fault_of(gpu::permute_axes(cube, 0, 1, -2)), "axis 1 is named twice"));
  CHECK(test::says(fault_of(gpu::reverse(matrix, 0, 0)), "gpu::reverse", "axis 0 is named twice"));
  CHECK(test::says(fault_of(gpu::expand_dims(row, 2)), "gpu::expand_dims", "from -2 to 1"));
  CHECK(test::says(fault_of(gpu::reverse(row(0), 0)), "axis 0 is out of range for 0 axes"));
  CHECK(test::says(fault_of(gpu::squeeze(cube, 1)), "axis 1 has 6 elements", "Take an index"));
  CHECK(test::says(fault_of(gpu::diagonal(cube, 0, 1, -2)), "axis 1 is named twice"));
  CHECK(test::says(fault_of(gpu::reshape(cube, 5, 25)), "gpu::reshape",
                   "the shape has 125 elements, but the view has 120"));
  CHECK(test::says(fault_of(gpu::reshape(cube, -1, 3, -1)), "2 extents are negative"));
  CHECK(test::says(fault_of(gpu::reshape(cube, -1, 7)), "their product is 7", "120 elements"));
  CHECK(test::says(fault_of(gpu::reshape(cube, -1, 0)), "their product is 0"));
  CHECK(test::says(fault_of(gpu::ravel(gpu::transpose(cube))), "because axis 1 does not continue"));
  CHECK(test::says(fault_of(gpu::broadcast_to(matrix, gpu::shape{20, 7})),
                   "axis 1 of the new shape has 7 elements, but the view has 6"));
  CHECK(test::says(fault_of(gpu::sliding_windows(matrix, 7)), "a window of 7 elements",
                   "axis 1, which has 6"));
  CHECK(test::says(fault_of(gpu::sliding_windows(matrix, 0, 0)), "a window of 0 elements"));
  CHECK(test::says(fault_of(gpu::sliding_windows(matrix(gpu::slice(0, 0)), 1, 0)),
                   "axis 0, which has 0. Pass at least 1, and an axis with at least as many."));
  // An extent that does not fit is not taken for a small one.
  CHECK(test::says(fault_of(gpu::reshape(row, std::size_t{1} << 62, 8)), "the shape has"));
  CHECK(test::says(fault_of(row(std::ptrdiff_t{1} << 60)), "is out of range for axis 0"));
}

TEST_CASE("views of more elements than memory can have are faulty", "[array][view]") {
  constexpr std::size_t one = 1;
  const auto single = row(gpu::slice(0, 1));
  const auto wide = gpu::broadcast_to(single, gpu::shape{one << 32, one << 32});
  CHECK(wide.size() == 0);
  CHECK(test::says(fault_of(wide), "gpu::broadcast_to", "more than 9223372036854775807 bytes",
                   "smaller extents"));
  CHECK(test::says(fault_of(gpu::reshape(wide, one << 16, -1)), "gpu::broadcast_to"));
  CHECK_FALSE(gpu::broadcast_to(single, gpu::shape{one << 30, one << 31}).checked().has_value());
  const auto most = gpu::broadcast_to(single, gpu::shape{one << 30, one << 30});
  CHECK(most.size() == one << 60);
  CHECK(gpu::reshape(most, one << 20, one << 20, -1).extent(2) == one << 20);
  CHECK(test::says(fault_of(gpu::reshape(most, one << 40, one << 40)), "has 1152921504606846976"));
  CHECK(test::says(fault_of(gpu::reshape(most, one << 62, one << 62, -1)), "cannot follow"));
  const auto many = gpu::broadcast_to(single, gpu::shape{one << 40});
  CHECK(
      test::says(fault_of(gpu::sliding_windows(many, one << 39)), "gpu::sliding_windows", "bytes"));
  const auto none = gpu::broadcast_to(single, gpu::shape{one << 40, one << 40, std::size_t{0}});
  CHECK((none.checked().has_value() && none.size() == 0));
  // Reversing what has no elements reaches nothing.
  CHECK(gpu::reverse(none).checked().has_value());
  CHECK(gpu::diagonal(matrix, -gpu::to_end - 1).size() == 0);
}

TEST_CASE("an axis and an extent of an unsigned type are never negative", "[array][view]") {
  const std::size_t i = 0;
  CHECK(fault_of(gpu::reverse(matrix, i - 1)).code() ==
        static_cast<int>(gpu::errc::invalid_argument));
  CHECK(test::says(fault_of(gpu::permute_axes(matrix, i - 1, i)), "out of range for 2 axes"));
  CHECK(test::says(fault_of(gpu::permute_axes(matrix, std::size_t{1} << 32, i + 1)),
                   "out of range for 2 axes"));
  CHECK(test::says(fault_of(gpu::squeeze(gpu::expand_dims(row, 1), i - 1)),
                   "out of range for 2 axes"));
  CHECK(test::says(fault_of(gpu::reshape(row, i + 20, i - 1)), "but the view has 120"));
  CHECK(gpu::reshape(row, i + 20, -1).extent(1) == 6);
}

TEST_CASE("the first mistake is the one that is reported", "[array][view]") {
  const auto faulty = gpu::transpose(cube(7));
  CHECK(faulty.size() == 0);
  const char* const reason = "index 7 is out of range for axis 0, which has 5 elements";
  CHECK(test::says(fault_of(faulty), reason));
  CHECK(test::says(fault_of(faulty(0, 0)), reason));
  CHECK(test::says(fault_of(gpu::reshape(faulty(gpu::new_axis()), -1, -1)), reason));
  CHECK(test::says(fault_of(gpu::broadcast_to(faulty, gpu::shape{9, 8, 7})), reason));
  CHECK(test::says(fault_of(gpu::view_as<char>(faulty)), reason));
  CHECK(test::says(fault_of(gpu::array_view<const int, 2>(faulty)), reason));
  CHECK(test::says(fault_of(gpu::diagonal(gpu::sliding_windows(faulty, 3))), reason));
}

TEST_CASE("generated kernels refuse a faulty view", "[array][view]") {
  const gpu::stream stream = test::new_stream();
  auto buffer = test::value_of(gpu::device_buffer<int>::create(stream, 12));
  const auto fill = test::value_of(gpu::elementwise<int, int*>::create("value, x", "x[i] = value"));
  const auto view = gpu::reshape(buffer, 3, 4);
  test::value_of(fill(stream, 1, view));
  test::value_of(fill(stream, 2, view(gpu::all(), 1)));
  test::value_of(fill(stream, 3, view(2, 1)));
  std::vector<int> found(12);
  test::value_of(gpu::copy(buffer, found));
  CHECK(found == std::vector<int>{1, 2, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1});
  CHECK(test::says(test::error_of(fill(stream, 2, view(3))), "gpu::elementwise",
                   "x is the result of a faulty gpu::array_view::operator()", "index 3"));
  CHECK(test::says(test::error_of(fill(stream, 2, view(0, 4))), "index 4"));
}

TEST_CASE("views are reshaped in Fortran order", "[array][view]") {
  const auto fortran = gpu::array_view<int, 2>::from_native(start, {3, 4}, {1, 3});
  const auto reshaped = gpu::transpose(gpu::reshape(gpu::transpose(fortran), 3, 4));
  // numpy.reshape(a, (4, 3), order="F").strides, in elements
  CHECK(reshaped.shape() == gpu::shape{4, 3});
  CHECK((reshaped.stride(0) == 1 && reshaped.stride(1) == 4));
  CHECK(reshaped.native() == start);
}

TEST_CASE("complex numbers have views of their parts", "[array][view]") {
  using complex = std::complex<float>;
  const auto numbers = gpu::array_view<complex, 2>::from_native(start, {3, 4}, {4, 1});
  const auto real = gpu::real(numbers);
  const auto imag = gpu::imag(gpu::array_view<const complex, 2>(numbers));
  static_assert(std::is_same_v<decltype(real), const gpu::array_view<float, 2>>);
  static_assert(std::is_same_v<decltype(imag), const gpu::array_view<const float, 2>>);
  CHECK((real.native() == start && real.stride(0) == 8 && real.stride(1) == 2));
  CHECK((imag.native() == start + 4 && imag.stride(0) == 8 && imag.stride(1) == 2));
  CHECK(imag.shape() == numbers.shape());
}

TEST_CASE("elements are viewed as elements of another type", "[array][view]") {
  check(gpu::view_as<float>(matrix), 0, {20, 6}, {6, 1});
  check(gpu::view_as<float>(gpu::transpose(matrix)), 0, {6, 20}, {1, 6});
  const auto bytes = gpu::view_as<unsigned char>(matrix(gpu::slice(0, 20, 2)));
  check(bytes, 0, {10, 24}, {48, 1});
  check(gpu::view_as<long long>(matrix), 0, {20, 3}, {3, 1});
  check(gpu::view_as<int>(bytes(gpu::all(), gpu::slice(8, 20))), 2, {10, 3}, {12, 1});
  check(gpu::view_as<float>(row(3)), 3, {}, {});
  CHECK(test::says(fault_of(gpu::view_as<char>(gpu::transpose(matrix))), "gpu::view_as",
                   "are 6 elements apart"));
  CHECK(test::says(fault_of(gpu::view_as<long long>(matrix(gpu::all(), gpu::slice(0, 5)))),
                   "the last axis has 20 bytes", "8 bytes"));
  CHECK(test::says(fault_of(gpu::view_as<long long>(
                       gpu::reshape(row(gpu::slice(0, 105)), 15, 7)(gpu::all(), gpu::slice(0, 6)))),
                   "8 bytes do not divide"));
  CHECK(test::says(fault_of(gpu::view_as<long long>(row(gpu::slice(1, 5)))), "4 bytes past",
                   "a multiple of 8 bytes"));
}

}}  // namespace views_test

// Products of sparse matrices by cuSPARSE: here by a stand-in that sums by the definition, and on a
// GPU by the real one; against sums in double on the host.

#include "algorithm/algorithm_fixture.hpp"
#include "interop/failing_calls.hpp"
#include "support/subprocess.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/cusparse.hpp>
#include <gpu/libraries/cusparse_functions.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/system/library_table.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace cusparse_test {
namespace {

using algorithm_test::fixture;
using complex = std::complex<double>;
using in_force = gpu::detail::scoped_library_table<gpu::detail::cusparse_library>;

int live = 0;  // handles and descriptors
void* stream_of_handle = nullptr;
bool computes = true;

/// What descriptors hold: a CSR matrix, a vector or a dense matrix.
struct operand {
  std::int64_t rows = 0, columns = 0, leading = 0, entries = 0;
  int type = 0, order = 0;
  void *offsets = nullptr, *indices = nullptr, *values = nullptr;

  /// The number of elements of a dense matrix from the first to the last.
  std::int64_t reach() const {
    const std::int64_t lines = order == 2 ? rows : columns, length = order == 2 ? columns : rows;
    return (lines - 1) * leading + length;
  }
  std::size_t place(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(order == 2 ? i * leading + j : j * leading + i);
  }
};

int make(void** made, const operand& what) {
  const test::library_call call;
  if (call.fails()) return 3;
  *made = new operand(what);
  ++live;
  return 0;
}
int destroy(const void* what) {
  delete static_cast<const operand*>(what);
  --live;
  return 0;
}

template <class T> std::vector<T> read(const void* from, std::int64_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  REQUIRE(gpu::driver::current_entry_points().memcpy_dtoh(host.data(),
                                                          reinterpret_cast<std::uintptr_t>(from),
                                                          host.size() * sizeof(T)) == CUDA_SUCCESS);
  return host;
}

template <class T> T narrow(const complex& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(static_cast<typename T::value_type>(value.real()),
             static_cast<typename T::value_type>(value.imag()));
  }
}

template <class T>
void multiply(const operand& a, operand b, const operand& c, bool turned, const void* alpha,
              const void* beta) {
  const auto offsets = read<int>(a.offsets, a.rows + 1), indices = read<int>(a.indices, a.entries);
  const auto values = read<T>(a.values, a.entries), from = read<T>(b.values, b.reach());
  auto to = read<T>(c.values, c.reach());
  if (turned) {  // the transpose in the one order is the matrix in the other
    std::swap(b.rows, b.columns);
    b.order = 3 - b.order;
  }
  CHECK(b.rows == a.columns);
  CHECK((c.rows == a.rows && c.columns == b.columns));
  const complex scale(*static_cast<const T*>(alpha)), keep(*static_cast<const T*>(beta));
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      complex sum = 0;
      for (int entry = offsets[static_cast<std::size_t>(i)];
           entry < offsets[static_cast<std::size_t>(i) + 1]; ++entry) {
        const auto at = static_cast<std::size_t>(entry);
        sum += complex(values[at]) * complex(from[b.place(indices[at], j)]);
      }
      T& out = to[c.place(i, j)];
      out = narrow<T>(scale * sum + (keep == 0.0 ? 0.0 : keep * complex(out)));
    }
  }
  REQUIRE(gpu::driver::current_entry_points().memcpy_htod(
              reinterpret_cast<std::uintptr_t>(c.values), to.data(), to.size() * sizeof(T)) ==
          CUDA_SUCCESS);
  test::wait_for_copies();
}

int multiply(const void* a, const void* b, void* c, bool turned, const void* alpha,
             const void* beta, int type) {
  const test::library_call call;
  if (call.fails()) return 6;
  if (!computes) return 0;
  REQUIRE(gpu::driver::current_entry_points().stream_synchronize(
              static_cast<CUstream>(stream_of_handle)) == CUDA_SUCCESS);
  const auto& matrix = *static_cast<const operand*>(a);
  const auto &from = *static_cast<const operand*>(b), &to = *static_cast<const operand*>(c);
  CHECK((matrix.type == type && from.type == type && to.type == type));
  switch (type) {
    case 0: multiply<float>(matrix, from, to, turned, alpha, beta); return 0;
    case 1: multiply<double>(matrix, from, to, turned, alpha, beta); return 0;
    case 4: multiply<std::complex<float>>(matrix, from, to, turned, alpha, beta); return 0;
    case 5: multiply<std::complex<double>>(matrix, from, to, turned, alpha, beta); return 0;
    default: return 10;
  }
}

gpu::detail::cusparse_functions stand_in() {
  gpu::detail::cusparse_functions table{};
  table.create = [](void** made) { return make(made, {}); };
  table.destroy = [](void* handle) { return destroy(handle); };
  table.set_stream = [](void*, void* stream) {
    stream_of_handle = stream;
    return test::calls_of_library().fails() ? 1 : 0;
  };
  table.create_csr = [](void** made, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                        void* offsets, void* indices, void* values, int offset_type, int index_type,
                        int base, int type) {
    CHECK((offset_type == 2 && index_type == 2 && base == 0));
    return make(made, {rows, columns, 0, entries, type, 0, offsets, indices, values});
  };
  table.destroy_sparse = destroy;
  table.create_vector = [](void** made, std::int64_t size, void* values, int type) {
    return make(made, {size, 1, size, 0, type, 1, nullptr, nullptr, values});
  };
  table.destroy_vector = destroy;
  table.create_dense = [](void** made, std::int64_t rows, std::int64_t columns,
                          std::int64_t leading, void* values, int type, int order) {
    CHECK(leading >= (order == 2 ? columns : rows));
    return make(made, {rows, columns, leading, 0, type, order, nullptr, nullptr, values});
  };
  table.destroy_dense = destroy;
  table.vector_workspace = [](void*, int, const void*, const void*, const void*, const void*, void*,
                              int, int, std::size_t* bytes) {
    *bytes = 0;
    return test::calls_of_library().fails() ? 11 : 0;
  };
  table.dense_workspace = [](void*, int, int, const void*, const void*, const void*, const void*,
                             void*, int, int, std::size_t* bytes) {
    *bytes = 100;
    return test::calls_of_library().fails() ? 11 : 0;
  };
  table.multiply_vector = [](void*, int transpose, const void* alpha, const void* a, const void* x,
                             const void* beta, void* y, int type, int algorithm, void* workspace) {
    CHECK((transpose == 0 && algorithm == 0 && workspace != nullptr));
    return multiply(a, x, y, false, alpha, beta, type);
  };
  table.multiply_dense = [](void*, int transpose_a, int transpose_b, const void* alpha,
                            const void* a, const void* b, const void* beta, void* c, int type,
                            int algorithm, void* workspace) {
    CHECK((transpose_a == 0 && algorithm == 0 && workspace != nullptr));
    return multiply(a, b, c, transpose_b == 1, alpha, beta, type);
  };
  return table;
}

template <class T> T number(std::size_t i) {
  const auto part = [](std::size_t k) { return static_cast<double>(k % 13) / 4 - 1.5; };
  return narrow<T>({part(i * 7), part(i * 5 + 3)});
}

constexpr std::size_t rows = 6, inner = 9, width = 4;

/// A matrix of 6 rows, one of them empty, and the same on the host.
template <class T> struct sparse {
  std::vector<int> in_row, in_column;
  std::vector<T> values;
  gpu::csr_matrix<T> matrix;

  explicit sparse(const fixture& f) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = i == 2 ? inner : i % 3; j < inner; j += 2) {
        in_row.push_back(static_cast<int>(i));
        in_column.push_back(static_cast<int>(j));
        values.push_back(number<T>(i * inner + j));
      }
    }
    matrix = test::value_of(
        gpu::csr_matrix<T>::from_triplets(f.stream, {rows, inner}, in_row, in_column, values));
  }
};

template <class T>
gpu::array<T, 2> matrix_of(const fixture& f, const std::vector<T>& host,
                           const gpu::shape<2>& extents, bool fortran) {
  const auto made = test::value_of(gpu::array<T, 2>::from(f.stream, host, extents));
  auto ordered = test::value_of(
      gpu::empty<T>(f.stream, extents, fortran ? gpu::axis_order::fortran : gpu::axis_order::c));
  test::value_of(gpu::assign(f.stream, ordered, made));
  return ordered;
}

/// All orders of the dense matrices, parts of larger ones, and vectors. Each element is a sum of at
/// most 6 products below 8, and is held to 16 roundings of such a sum, twice for its factors.
template <class T> void check_products(const fixture& f, gpu::cusparse_handle& handle) {
  using real = typename std::remove_cvref_t<decltype(std::real(T()))>;
  const double bound = 16.0 * 2 * 48 * static_cast<double>(std::numeric_limits<real>::epsilon());
  const sparse<T> a(f);
  std::vector<T> host_b, host_c;
  for (std::size_t i = 0; i < inner * width; ++i) host_b.push_back(number<T>(i + 2));
  for (std::size_t i = 0; i < rows * width; ++i) host_c.push_back(number<T>(i + 5));
  const T alpha = narrow<T>({2, 1}), beta = narrow<T>({-1, 0.5});
  const auto expected = [&](bool adds) {
    std::vector<complex> sums(rows * width);
    for (std::size_t e = 0; e < a.values.size(); ++e) {
      for (std::size_t j = 0; j < width; ++j)
        sums[static_cast<std::size_t>(a.in_row[e]) * width + j] +=
            complex(a.values[e]) *
            complex(host_b[static_cast<std::size_t>(a.in_column[e]) * width + j]);
    }
    for (std::size_t i = 0; adds && i < sums.size(); ++i)
      sums[i] = complex(alpha) * sums[i] + complex(beta) * complex(host_c[i]);
    return sums;
  };
  const auto check = [&](const std::vector<T>& found, bool adds, std::size_t columns) {
    const auto sums = expected(adds);
    REQUIRE(found.size() == rows * columns);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const complex sum = sums[i / columns * width + i % columns];
      CAPTURE(i, found[i], sum);
      REQUIRE(std::abs(complex(found[i]) - sum) <= bound);
    }
  };
  for (int orders = 0; orders < 4; ++orders) {
    CAPTURE(orders);
    const auto b = matrix_of(f, host_b, {inner, width}, (orders & 1) != 0);
    auto c = matrix_of(f, host_c, {rows, width}, (orders & 2) != 0);
    test::value_of(handle.matmul(a.matrix, b, c, {.alpha = alpha, .beta = beta}));
    check(f.download(test::value_of(gpu::evaluate(f.stream, c))), true, width);
    test::value_of(handle.matmul(a.matrix, b, c));
    check(f.download(test::value_of(gpu::evaluate(f.stream, c))), false, width);
  }
  // The first columns of both.
  const auto b = matrix_of(f, host_b, {inner, width}, false);
  auto c = matrix_of(f, host_c, {rows, width}, false);
  const auto part = c(gpu::all(), gpu::slice(0, 3));
  test::value_of(handle.matmul(a.matrix, b(gpu::all(), gpu::slice(0, 3)), part));
  check(f.download(test::value_of(gpu::evaluate(f.stream, part))), false, 3);
  const auto x = test::value_of(gpu::evaluate(f.stream, b(gpu::all(), 0)));
  const auto before = matrix_of(f, host_c, {rows, width}, false);
  auto y = test::value_of(gpu::evaluate(f.stream, before(gpu::all(), 0)));
  test::value_of(handle.matmul(a.matrix, x, y, {.alpha = alpha, .beta = beta}));
  check(f.download(y), true, 1);
  test::value_of(handle.matmul(a.matrix, x.span(), y.span()));
  check(f.download(y), false, 1);
}

void check_all(const fixture& f) {
  auto handle = test::value_of(gpu::cusparse_handle::create(f.stream));
  CHECK(handle.stream() == gpu::stream_ref(f.stream));
  check_products<float>(f, handle);
  check_products<double>(f, handle);
  check_products<std::complex<float>>(f, handle);
  check_products<std::complex<double>>(f, handle);
  // A matrix without entries, for which cuSPARSE is not asked.
  const auto none = test::value_of(gpu::csr_matrix<float>::from_triplets(
      f.stream, {2, 3}, std::vector<int>(), std::vector<int>(), std::vector<float>()));
  const auto x = test::value_of(gpu::ones<float>(f.stream, gpu::shape{3}));
  auto y = test::value_of(gpu::ones<float>(f.stream, gpu::shape{2}));
  test::value_of(handle.matmul(none, x, y, {.beta = 3}));
  CHECK(f.download(y) == std::vector<float>{3, 3});
  test::value_of(handle.matmul(none, x, y));
  CHECK(f.download(y) == std::vector<float>{0, 0});
}

}  // namespace

TEST_CASE("cuSPARSE: products have the sums of the definition", "[interop][cusparse]") {
  const auto table = stand_in();
  const in_force replaced(table);
  check_all(fixture());
  CHECK(live == 0);
}

TEST_CASE("cuSPARSE: the real library has the same products", "[interop][cusparse][hardware]") {
  if (!gpu::has_cusparse()) {
    WARN("skipped: there is no cuSPARSE");
    return;
  }
  check_all(fixture());
}

TEST_CASE("cuSPARSE: what does not fit is refused with a sentence", "[interop][cusparse]") {
  const auto table = stand_in();
  const in_force replaced(table);
  const fixture f;
  CHECK(test::error_of(gpu::cusparse_handle::create(gpu::stream_ref())) == gpu::errc::empty_handle);
  auto handle = test::value_of(gpu::cusparse_handle::create(f.stream));
  sparse<float> a(f);
  auto b = test::value_of(gpu::ones<float>(f.stream, gpu::shape{inner, width}));
  auto c = test::value_of(gpu::ones<float>(f.stream, gpu::shape{rows, width}));
  CHECK(test::says(test::error_of(handle.matmul(a.matrix, c, c)), "the sparse matrix is 6 x 9",
                   "b has the shape (6, 4) and c has (6, 4)"));
  CHECK(test::error_of(handle.matmul(a.matrix, b, c(gpu::all(), gpu::slice(0, 2)))) ==
        gpu::errc::size_mismatch);
  const auto overlapping = gpu::ravel(b)(gpu::slice(0, rows * width));
  CHECK(test::says(test::error_of(handle.matmul(a.matrix, b, gpu::reshape(overlapping, 6, 4))),
                   "c overlaps b in memory"));
  const auto every_other = gpu::slice(0, gpu::to_end, 2);
  CHECK(test::says(test::error_of(handle.matmul(a.matrix, b(gpu::all(), every_other),
                                                c(gpu::all(), gpu::slice(0, 2)))),
                   "cuSPARSE does not take these strides", "Copy the view to an array"));
  CHECK(test::error_of(handle.matmul(a.matrix, b(gpu::all(), 0), c(gpu::all(), 0))) ==
        gpu::errc::invalid_argument);
  const gpu::csr_matrix<float> taken = std::move(a.matrix);
  CHECK(test::error_of(handle.matmul(a.matrix, b, c)) == gpu::errc::empty_handle);
  gpu::cusparse_handle moved = std::move(handle);
  CHECK(handle.native() == nullptr);
  CHECK(test::error_of(handle.matmul(taken, b, c)) == gpu::errc::empty_handle);
  CHECK(live == 1);
}

TEST_CASE("cuSPARSE: each of its calls fails in turn", "[interop][cusparse]") {
  const auto table = stand_in();
  const in_force replaced(table);
  const fixture f;
  const sparse<double> a(f);
  const auto b = test::value_of(gpu::ones<double>(f.stream, gpu::shape{inner, width}));
  auto c = test::value_of(gpu::zeros<double>(f.stream, gpu::shape{rows, width}));
  const auto x = test::value_of(gpu::ones<double>(f.stream, gpu::shape{inner}));
  auto y = test::value_of(gpu::zeros<double>(f.stream, gpu::shape{rows}));
  const int calls = test::sweep_library(
      [&]() -> gpu::result<> {
        auto handle = GPU_TRY(gpu::cusparse_handle::create(f.stream));
        GPU_TRY(handle.matmul(a.matrix, x, y));
        return handle.matmul(a.matrix, b, c);
      },
      [](const gpu::result<>& done, int number) {
        const char* const names[] = {"cusparseCreate: CUSPARSE_STATUS_INVALID_VALUE (3)",
                                     "cusparseSetStream: CUSPARSE_STATUS_NOT_INITIALIZED (1)",
                                     "cusparseCreateCsr",
                                     "cusparseCreateDnVec",
                                     "cusparseCreateDnVec",
                                     "cusparseSpMV_bufferSize",
                                     "cusparseSpMV: CUSPARSE_STATUS_EXECUTION_FAILED (6)",
                                     "cusparseCreateCsr",
                                     "cusparseCreateDnMat",
                                     "cusparseCreateDnMat",
                                     "cusparseSpMM_bufferSize: CUSPARSE_STATUS_INSUFFICIENT",
                                     "cusparseSpMM"};
        REQUIRE(number < 12);
        CHECK(test::says(test::error_of(done), names[number]));
        CHECK(live == 0);
      });
  CHECK(calls == 12);
}

TEST_CASE("cuSPARSE: driver calls and allocations fail in turn", "[interop][cusparse][cpu]") {
  const auto table = stand_in();
  const in_force replaced(table);
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const auto stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
              return gpu::cusparse_handle::create(stream).transform([](const auto&) {});
            },
            {"cuCtxGetCurrent", "cuCtxPushCurrent"}) == "");
  CHECK(live == 0);
}

TEST_CASE("cuSPARSE: driver calls and allocations of products fail in turn",
          "[interop][cusparse][cpu][thorough]") {
  const auto table = stand_in();
  const in_force replaced(table);
  computes = false;
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const auto stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
              auto handle = GPU_TRY(gpu::cusparse_handle::create(stream));
              const auto a = GPU_TRY(gpu::csr_matrix<float>::from_triplets(
                  stream, {2, 2}, std::vector<int>{0, 1}, std::vector<int>{1, 0},
                  std::vector<float>{1, 2}));
              const auto b = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{2, 2}));
              auto c = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{2, 2}));
              GPU_TRY(handle.matmul(a, b, c));
              return handle.matmul(a, b(0), c(0));
            },
            {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxGetDevice"}) == "");
  computes = true;
  CHECK(live == 0);
}

TEST_CASE("child: there is no cuSPARSE", "[.child]") {
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  table.unavailable_detail = "libcuda.so.1";  // as if it were
  const gpu::driver::scoped_entry_points real(table);
  const fixture f;
  CHECK_FALSE(gpu::has_cusparse());
  const auto error = test::error_of(gpu::cusparse_handle::create(f.stream));
  CHECK(error == gpu::errc::no_library);
  CHECK(test::says(error, "the library cuSPARSE was not found", "/nowhere/libcusparse.so",
                   "pip install nvidia-cusparse", "GPU_CUSPARSE"));
}

TEST_CASE("cuSPARSE: without the library its calls say so", "[interop][cusparse]") {
  const auto found =
      test::run_child("child: there is no cuSPARSE", {{"GPU_CUSPARSE", "/nowhere/libcusparse.so"}});
  INFO(found.output);
  CHECK(found.succeeded());
}

}  // namespace cusparse_test

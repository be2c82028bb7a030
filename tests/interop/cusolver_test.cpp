// Least squares and eigenvalues by cuSOLVER: here by a stand-in, and on a GPU by the real one;
// against conditions that the results have to meet, in double, and known eigenvalues.

#include "algorithm/algorithm_fixture.hpp"
#include "interop/blas_stand_in.hpp"
#include "interop/cusolver_stand_in.hpp"
#include "support/subprocess.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/cusolver.hpp>
#include <gpu/libraries/cublas_functions.hpp>
#include <gpu/libraries/cusolver_functions.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/system/library_table.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace cusolver_test {
namespace {

using algorithm_test::fixture;
using complex = std::complex<double>;
using solver_in_force = gpu::detail::scoped_library_table<gpu::detail::cusolver_library>;
using blas_in_force = gpu::detail::scoped_library_table<gpu::detail::cublas_library>;

struct stand_ins {
  gpu::detail::cusolver_functions solver = cusolver_stand_in::cusolver();
  gpu::detail::cublas_functions blas = cusolver_stand_in::cublas();
  solver_in_force first{solver};
  blas_in_force second{blas};
  int live_before = blas_stand_in::live;  // matrix products keep theirs

  ~stand_ins() {
    CHECK(cusolver_stand_in::live == 0);
    CHECK(blas_stand_in::live == live_before);
  }
};

template <class T> std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  const auto next = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  std::vector<T> all(count);
  for (T& each : all) {
    const double real = next();
    each = cusolver_stand_in::narrow<T>({real, next()});
  }
  return all;
}

template <class T> double epsilon() {
  return static_cast<double>(
      std::numeric_limits<typename gpu::detail::cusolver_calls<T>::real>::epsilon());
}

/// The elements of an array or view in C order.
template <class A> auto elements(const fixture& f, const A& a) {
  return f.download(test::value_of(gpu::evaluate(f.stream, a)));
}

/// The residual of least squares is orthogonal to each column, to within 64 roundings of the sum's
/// terms, which are below 4 here.
template <class T> void check_least_squares(const fixture& f, gpu::cusolver_handle& solver) {
  constexpr std::size_t m = 9, n = 4, k = 3;
  const auto host_a = numbers<T>(m * n, 3), host_b = numbers<T>(m * k, 4);
  const auto a = test::value_of(gpu::array<T, 2>::from(f.stream, host_a, {m, n}));
  const auto b = test::value_of(gpu::array<T, 2>::from(f.stream, host_b, {m, k}));
  auto turned = test::value_of(gpu::empty<T>(f.stream, gpu::shape{m, n}, gpu::axis_order::fortran));
  test::value_of(gpu::assign(f.stream, turned, a));
  const auto check = [&](const std::vector<T>& x, std::size_t columns) {
    REQUIRE(x.size() == n * columns);
    for (std::size_t c = 0; c < columns; ++c) {
      std::vector<complex> residual(m);
      for (std::size_t i = 0; i < m; ++i) {
        residual[i] = -complex(host_b[i * k + c]);
        for (std::size_t j = 0; j < n; ++j)
          residual[i] += complex(host_a[i * n + j]) * complex(x[j * columns + c]);
      }
      for (std::size_t j = 0; j < n; ++j) {
        complex sum = 0;
        for (std::size_t i = 0; i < m; ++i)
          sum += std::conj(complex(host_a[i * n + j])) * residual[i];
        CAPTURE(c, j, sum);
        REQUIRE(std::abs(sum) <= 64 * m * epsilon<T>());
      }
    }
  };
  const auto x = test::value_of(solver.least_squares(a, b));
  CHECK(x.shape() == gpu::shape{n, k});
  check(elements(f, x), k);
  check(elements(f, test::value_of(solver.least_squares(turned, b))), k);
  check(elements(f, test::value_of(solver.least_squares(a, b(gpu::all(), 0)))), 1);
  CHECK(elements(f, a) == host_a);
  CHECK(elements(f, b) == host_b);
}

/// The matrix with 2 on its diagonal and -1 beside it has the eigenvalues 2 - 2 cos(k pi / (n +
/// 1)), also if its rows are multiplied with phases and its columns with their conjugates. What is
/// above the diagonal is not read.
template <class T> void check_eigenvalues(const fixture& f, gpu::cusolver_handle& solver) {
  constexpr std::size_t n = 7;
  constexpr bool is_real = std::is_floating_point_v<T>;
  std::vector<complex> whole(n * n);
  std::vector<T> host(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double plain = i == j ? 2 : i == j + 1 || j == i + 1 ? -1 : 0;
      const double turns = is_real ? 0 : static_cast<double>(i * i) - static_cast<double>(j * j);
      whole[i * n + j] = plain * std::polar(1.0, turns);
      host[i * n + j] = j > i ? T(9) : cusolver_stand_in::narrow<T>(whole[i * n + j]);
    }
  }
  const double bound = 32 * n * epsilon<T>();
  const auto a = test::value_of(gpu::array<T, 2>::from(f.stream, host, {n, n}));
  const auto check_values = [&](const auto& values) {
    REQUIRE(values.size() == n);
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = static_cast<double>(i + 1) * std::numbers::pi / (n + 1);
      CAPTURE(i, values[i]);
      REQUIRE(std::abs(static_cast<double>(values[i]) - (2 - 2 * std::cos(angle))) <= bound);
    }
  };
  check_values(f.download(test::value_of(solver.eigenvalues(a))));
  const auto found = test::value_of(solver.eigenvectors(a));
  const auto values = f.download(found.values);
  check_values(values);
  const auto vectors = elements(f, found.vectors);
  for (std::size_t j = 0; j < n; ++j) {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      complex sum = 0;
      for (std::size_t p = 0; p < n; ++p) sum += whole[i * n + p] * complex(vectors[p * n + j]);
      sum -= static_cast<double>(values[j]) * complex(vectors[i * n + j]);
      CAPTURE(i, j, sum);
      REQUIRE(std::abs(sum) <= bound);
      squares += std::norm(complex(vectors[i * n + j]));
    }
    REQUIRE(std::abs(squares - 1) <= bound);
  }
}

void check_all(const fixture& f) {
  auto solver = test::value_of(gpu::cusolver_handle::create(f.stream));
  CHECK(solver.stream() == gpu::stream_ref(f.stream));
  CHECK(solver.native() != nullptr);
  check_least_squares<float>(f, solver);
  check_least_squares<double>(f, solver);
  check_least_squares<std::complex<float>>(f, solver);
  check_least_squares<std::complex<double>>(f, solver);
  check_eigenvalues<float>(f, solver);
  check_eigenvalues<double>(f, solver);
  check_eigenvalues<std::complex<float>>(f, solver);
  check_eigenvalues<std::complex<double>>(f, solver);
  // A column that is twice another, and no columns at all.
  const std::vector<double> dependent = {1, 2, 5, 3, 6, 1, 4, 8, 2, 7, 14, 3};
  const auto a = test::value_of(gpu::array<double, 2>::from(f.stream, dependent, {4, 3}));
  const auto b = test::value_of(gpu::ones<double>(f.stream, gpu::shape{4}));
  const gpu::cuda_error error = test::error_of(solver.least_squares(a, b));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(test::says(error, "column 1 of a is a combination of the columns before it"));
  const auto none = a(gpu::all(), gpu::slice(0, 0));
  CHECK(test::value_of(solver.least_squares(none, b)).size() == 0);
  CHECK(test::value_of(solver.eigenvalues(none(gpu::slice(0, 0)))).size() == 0);
}

}  // namespace

TEST_CASE("cuSOLVER: least squares and eigenvalues meet their conditions", "[interop][cusolver]") {
  const stand_ins in_force;
  check_all(fixture());
}

TEST_CASE("cuSOLVER: the real library meets the same conditions", "[interop][cusolver][hardware]") {
  if (!gpu::has_cusolver()) {
    WARN("skipped: there is no cuSOLVER");
    return;
  }
  check_all(fixture());
}

TEST_CASE("cuSOLVER: what does not fit is refused with a sentence", "[interop][cusolver]") {
  const stand_ins in_force;
  const fixture f;
  CHECK(test::error_of(gpu::cusolver_handle::create(gpu::stream_ref())) == gpu::errc::empty_handle);
  auto solver = test::value_of(gpu::cusolver_handle::create(f.stream));
  const auto a = test::value_of(gpu::ones<float>(f.stream, gpu::shape{4, 6}));
  const auto b = test::value_of(gpu::ones<float>(f.stream, gpu::shape{4}));
  CHECK(test::says(test::error_of(solver.least_squares(a, b)), "a has 4 rows and 6 columns",
                   "at least as many rows as columns"));
  CHECK(test::says(test::error_of(solver.least_squares(gpu::transpose(a), b)),
                   "cannot solve with (6, 4) and (4,)"));
  CHECK(test::says(test::error_of(solver.eigenvalues(a)), "a has 4 rows and 6 columns",
                   "Pass a square matrix"));
  CHECK(test::error_of(solver.least_squares(a, a(9))) == gpu::errc::index_out_of_range);
  CHECK(test::says(test::error_of(gpu::detail::require_int_extent("f", 1ull << 31, {})),
                   "an extent of 2147483648", "counts to 2147483647"));
  const auto one = a(gpu::all(), gpu::slice(0, 1));
  cusolver_stand_in::info_of_next = -4;
  CHECK(test::says(test::error_of(solver.least_squares(one, b)),
                   "cuSOLVER rejects parameter 4 of its geqrf"));
  const auto square = a(gpu::all(), gpu::slice(0, 4));
  cusolver_stand_in::info_of_next = 3;
  const gpu::cuda_error error = test::error_of(solver.eigenvalues(square));
  CHECK(error == gpu::errc::not_converged);
  CHECK(test::says(error, "3 elements beside the diagonal did not converge"));
  gpu::cusolver_handle moved = std::move(solver);
  CHECK(solver.native() == nullptr);
  CHECK(test::error_of(solver.least_squares(one, b)) == gpu::errc::empty_handle);
  CHECK(test::error_of(solver.eigenvectors(square)) == gpu::errc::empty_handle);
  CHECK(cusolver_stand_in::live == 1);
}

TEST_CASE("cuSOLVER: each of its calls fails in turn", "[interop][cusolver]") {
  const stand_ins in_force;
  const fixture f;
  const auto a = test::value_of(gpu::eye<double>(f.stream, 2));
  const auto b = test::value_of(gpu::ones<double>(f.stream, gpu::shape{2}));
  const int calls = test::sweep_library(
      [&]() -> gpu::result<> {
        auto solver = GPU_TRY(gpu::cusolver_handle::create(f.stream));
        GPU_TRY(solver.eigenvalues(a));
        return solver.least_squares(a, b).transform([](const auto&) {});
      },
      [&](const gpu::result<>& done, int number) {
        const char* const names[] = {"cusolverDnCreate: CUSOLVER_STATUS_ALLOC_FAILED (2)",
                                     "cusolverDnSetStream: CUSOLVER_STATUS_NOT_INITIALIZED (1)",
                                     "cublasCreate_v2",
                                     "cublasSetStream_v2",
                                     "cusolverDnDsyevd_bufferSize",
                                     "cusolverDnDsyevd: CUSOLVER_STATUS_INTERNAL_ERROR (7)",
                                     "cusolverDnDgeqrf_bufferSize",
                                     "cusolverDnDormqr_bufferSize",
                                     "cusolverDnDgeqrf",
                                     "cusolverDnDormqr",
                                     "cublasDtrsm_v2: CUBLAS_STATUS_EXECUTION_FAILED (13)"};
        REQUIRE(number < 11);
        CHECK(test::says(test::error_of(done), names[number]));
        CHECK(cusolver_stand_in::live == 0);
        CHECK(blas_stand_in::live == in_force.live_before);
      });
  CHECK(calls == 11);
}

TEST_CASE("cuSOLVER: driver calls and allocations fail in turn", "[interop][cusolver][cpu]") {
  const stand_ins in_force;
  cusolver_stand_in::computes = false;
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const auto stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
              auto solver = GPU_TRY(gpu::cusolver_handle::create(stream));
              const auto a = GPU_TRY(gpu::eye<float>(stream, 2));
              GPU_TRY(solver.eigenvectors(a));
              return solver.least_squares(a, a(0)).transform([](const auto&) {});
            },
            {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuMemcpyHtoD"}) == "");
  cusolver_stand_in::computes = true;
}

TEST_CASE("child: there is no cuSOLVER", "[.child]") {
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  table.unavailable_detail = "libcuda.so.1";  // as if it were
  const gpu::driver::scoped_entry_points real(table);
  const fixture f;
  CHECK_FALSE(gpu::has_cusolver());
  const auto error = test::error_of(gpu::cusolver_handle::create(f.stream));
  CHECK(error == gpu::errc::no_library);
  CHECK(test::says(error, "the library cuSOLVER was not found", "/nowhere/libcusolver.so",
                   "pip install nvidia-cusolver", "GPU_CUSOLVER"));
}

TEST_CASE("cuSOLVER: without the library its calls say so", "[interop][cusolver]") {
  const auto found =
      test::run_child("child: there is no cuSOLVER", {{"GPU_CUSOLVER", "/nowhere/libcusolver.so"}});
  INFO(found.output);
  CHECK(found.succeeded());
}

}  // namespace cusolver_test

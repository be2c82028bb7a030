// Products by cuBLAS and cuBLASLt: here by stand-ins that follow the rules of BLAS, and on a GPU by
// the real ones.

#include "algorithm/algorithm_fixture.hpp"
#include "interop/blas_stand_in.hpp"
#include "interop/failing_calls.hpp"
#include "support/subprocess.hpp"

#include <gpu/array.hpp>
#include <gpu/array/detail/cublaslt_product.hpp>
#include <gpu/array/detail/product_shape.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/cublas.hpp>
#include <gpu/libraries/cublas_functions.hpp>
#include <gpu/libraries/cublaslt_functions.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/system/library_table.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cublas_test {
namespace {

using algorithm_test::fixture;
using in_force = gpu::detail::scoped_library_table<gpu::detail::cublas_library>;
using lt_in_force = gpu::detail::scoped_library_table<gpu::detail::cublaslt_library>;

gpu::cublas_handle handle_for(const fixture& f) {
  return test::value_of(gpu::cublas_handle::create(f.stream));
}

/// Small whole numbers, so that sums are exact in every order.
template <class T> std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> all(count);
  for (T& each : all) each = T(static_cast<float>(static_cast<int>(random() % 9) - 4));
  return all;
}

/// The product of matrices in C order, on the host.
template <class T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, std::size_t m,
                       std::size_t n, std::size_t k) {
  std::vector<T> c(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t p = 0; p < k; ++p)
        sum += static_cast<double>(static_cast<float>(a[i * k + p])) *
               static_cast<double>(static_cast<float>(b[p * n + j]));
      c[i * n + j] = T(static_cast<float>(sum));
    }
  }
  return c;
}

/// An array with these elements, which are in memory in that order.
template <class T>
gpu::array<T, 2> array_of(const fixture& f, const std::vector<T>& host, std::size_t rows,
                          std::size_t columns, bool transposed) {
  auto made = test::value_of(gpu::array<T, 2>::from(f.stream, host, {rows, columns}));
  if (!transposed) return made;
  auto turned =
      test::value_of(gpu::empty<T>(f.stream, gpu::shape{rows, columns}, gpu::axis_order::fortran));
  test::value_of(gpu::assign(f.stream, turned, made));
  return turned;
}

template <class T>
void check_layouts(const fixture& f, gpu::cublas_handle& blas, std::size_t m, std::size_t n,
                   std::size_t k) {
  const auto a = numbers<T>(m * k, 1), b = numbers<T>(k * n, 2);
  const auto expected = product(a, b, m, n, k);
  for (int layouts = 0; layouts < 8; ++layouts) {
    CAPTURE(m, n, k, layouts);
    const auto left = array_of(f, a, m, k, (layouts & 1) != 0);
    const auto right = array_of(f, b, k, n, (layouts & 2) != 0);
    auto out = array_of(f, std::vector<T>(m * n), m, n, (layouts & 4) != 0);
    test::value_of(blas.matmul(left, right, out));
    auto rows = test::value_of(gpu::empty<T>(f.stream, out.shape()));
    test::value_of(gpu::assign(f.stream, rows, out));
    const auto found = f.download(rows);
    for (std::size_t i = 0; i < found.size(); ++i)
      REQUIRE(static_cast<float>(found[i]) == static_cast<float>(expected[i]));
  }
}

void check_all_layouts(const fixture& f) {
  gpu::cublas_handle blas = handle_for(f);
  check_layouts<float>(f, blas, 5, 3, 4);
  check_layouts<float>(f, blas, 1, 3, 4);
  check_layouts<float>(f, blas, 5, 1, 4);
  check_layouts<float>(f, blas, 5, 3, 1);
  check_layouts<float>(f, blas, 1, 1, 7);
  check_layouts<double>(f, blas, 2, 6, 3);
  check_layouts<__half>(f, blas, 4, 2, 3);
  check_layouts<__nv_bfloat16>(f, blas, 2, 5, 3);
}

/// Batches, parts of larger arrays, factors and complex numbers.
void check_batches(const fixture& f) {
  gpu::cublas_handle blas = handle_for(f);
  const auto host_a = numbers<float>(3 * 4 * 6, 3), host_b = numbers<float>(5 * 2, 4);
  const auto a = test::value_of(gpu::array<float, 3>::from(f.stream, host_a, {3, 4, 6}));
  const auto b = test::value_of(gpu::array<float, 2>::from(f.stream, host_b, {5, 2}));
  auto c = test::value_of(gpu::full<float>(f.stream, gpu::shape{3, 4, 4}, 1.0f));
  const auto narrow = gpu::slice(0, 5);
  const auto to = c(gpu::all(), gpu::all(), gpu::slice(1, 3));
  test::value_of(blas.matmul(a(gpu::all(), gpu::all(), narrow), b, to, {.alpha = 2, .beta = -3}));
  const auto found = f.download(c);
  for (std::size_t of = 0; of < 3; ++of) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        float sum = 0;
        for (std::size_t p = 0; p < 5 && (j == 1 || j == 2); ++p)
          sum += host_a[(of * 4 + i) * 6 + p] * host_b[p * 2 + j - 1];
        CAPTURE(of, i, j);
        REQUIRE(found[(of * 4 + i) * 4 + j] == (j == 1 || j == 2 ? 2 * sum - 3 : 1));
      }
    }
  }
  using number = std::complex<double>;
  const auto z = test::value_of(
      gpu::array<number, 2>::from(f.stream, {{number(1, 2), number(3, -1)}, {number(0, 1), 2}}));
  auto w = test::value_of(gpu::zeros<number>(f.stream, gpu::shape{2, 2}));
  test::value_of(blas.matmul(z, gpu::transpose(z), w, {.alpha = number(0, 1)}));
  CHECK(f.download(w) == std::vector<number>{{2, 5}, {1, 4}, {1, 4}, {0, 3}});
  const auto none = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 0}));
  auto zeros = test::value_of(gpu::full<float>(f.stream, gpu::shape{2, 2}, 5.0f));
  test::value_of(blas.matmul(none, gpu::transpose(none), zeros));
  CHECK(f.download(zeros) == std::vector<float>(4));
}

}  // namespace

TEST_CASE("cuBLAS: rows, columns and transposes are multiplied as they are", "[interop][cublas]") {
  const auto table = blas_stand_in::cublas();
  const in_force stand_in(table);
  check_all_layouts(fixture());
  check_batches(fixture());
  CHECK(blas_stand_in::live == 0);
}

TEST_CASE("cuBLAS: the real library gives the same products", "[interop][cublas][hardware]") {
  if (!gpu::has_cublas()) {
    WARN("skipped: there is no cuBLAS");
    return;
  }
  check_all_layouts(fixture());
  check_batches(fixture());
}

TEST_CASE("cuBLAS: a handle moves, and follows a stream", "[interop][cublas]") {
  const auto table = blas_stand_in::cublas();
  const in_force stand_in(table);
  const fixture f;
  gpu::cublas_handle first = handle_for(f);
  CHECK(first.stream() == gpu::stream_ref(f.stream));
  gpu::cublas_handle second = std::move(first);
  CHECK(first.native() == nullptr);
  const auto a = test::value_of(gpu::ones<float>(f.stream, gpu::shape{2, 2}));
  auto c = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 2}));
  CHECK(test::error_of(first.matmul(a, a, c)) == gpu::errc::empty_handle);
  const auto other = test::value_of(gpu::stream::create(test::first_device()));
  test::value_of(f.stream.synchronize());
  test::value_of(second.set_stream(other));
  CHECK(second.stream() == gpu::stream_ref(other));
  test::value_of(second.matmul(a, a, c));
  CHECK(blas_stand_in::last_stream == other.native());
  test::value_of(other.synchronize());
  CHECK(f.download(c) == std::vector<float>(4, 2));
  CHECK(blas_stand_in::live == 1);
  void* const native = second.release();
  CHECK(blas_stand_in::live == 1);
  table.destroy(native);
  CHECK(test::error_of(second.set_stream(other)) == gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::cublas_handle::create(gpu::stream_ref())) == gpu::errc::empty_handle);
}

TEST_CASE("cuBLAS: what does not fit is refused with a sentence", "[interop][cublas]") {
  const auto table = blas_stand_in::cublas();
  const in_force stand_in(table);
  const fixture f;
  gpu::cublas_handle blas = handle_for(f);
  const auto a = test::value_of(gpu::ones<float>(f.stream, gpu::shape{4, 6}));
  auto c = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{4, 4}));
  CHECK(test::says(test::error_of(blas.matmul(a, a, c)), "cannot multiply (4, 6) and (4, 6)"));
  const auto turned = gpu::transpose(a);
  CHECK(test::says(test::error_of(blas.matmul(turned, a, c)), "the product has the shape (6, 6)",
                   "but c has (4, 4)"));
  auto same = test::value_of(gpu::ones<float>(f.stream, gpu::shape{4, 4}));
  CHECK(test::says(test::error_of(blas.matmul(same, c, same)), "c overlaps an operand"));
  const auto every_other = a(gpu::all(), gpu::slice(0, gpu::to_end, 2));
  const gpu::cuda_error strides =
      test::error_of(blas.matmul(every_other, gpu::transpose(every_other), c));
  CHECK(strides == gpu::errc::invalid_argument);
  CHECK(test::says(strides, "does not take these strides", "call gpu::matmul"));
  const auto repeated = gpu::broadcast_to(a(gpu::slice(0, 1)), gpu::shape{4, 6});
  CHECK(test::error_of(blas.matmul(repeated, turned, c)) == gpu::errc::invalid_argument);
  CHECK(blas_stand_in::live == 1);
}

TEST_CASE("cuBLAS: each of its calls fails in turn", "[interop][cublas]") {
  const auto table = blas_stand_in::cublas();
  const in_force stand_in(table);
  const fixture f;
  const auto a = test::value_of(gpu::ones<float>(f.stream, gpu::shape{2, 2}));
  auto c = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 2}));
  const int calls = test::sweep_library(
      [&]() -> gpu::result<> {
        gpu::cublas_handle blas = GPU_TRY(gpu::cublas_handle::create(f.stream));
        return blas.matmul(a, a, c);
      },
      [](const gpu::result<>& done, int number) {
        const char* const names[] = {"cublasCreate_v2: CUBLAS_STATUS_INTERNAL_ERROR (14)",
                                     "cublasSetStream_v2: CUBLAS_STATUS_INVALID_VALUE (7)",
                                     "cublasGemmStridedBatchedEx_64: CUBLAS_STATUS_NOT_SUPPORTED"};
        REQUIRE(number < 3);
        CHECK(test::says(test::error_of(done), names[number]));
        CHECK(blas_stand_in::live == 0);
      });
  CHECK(calls == 3);
}

TEST_CASE("cuBLAS: driver calls and allocations fail in turn", "[interop][cublas][cpu]") {
  const auto table = blas_stand_in::cublas();
  const in_force stand_in(table);
  blas_stand_in::computes = false;
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const auto stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
              auto blas = GPU_TRY(gpu::cublas_handle::create(stream));
              const auto a = GPU_TRY(gpu::eye<float>(stream, 2));
              auto c = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{2, 2}));
              return blas.matmul(a, a, c);
            },
            // The destructor destroys the handle all the same, and reports them.
            {"cuCtxGetCurrent", "cuCtxPushCurrent"}) == "");
  blas_stand_in::computes = true;
  CHECK(blas_stand_in::live == 0);
}

TEST_CASE("child: there is no cuBLAS", "[.child]") {
  // As if the driver in force were libcuda: the libraries are looked for, and not found.
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  table.unavailable_detail = "libcuda.so.1";
  const gpu::driver::scoped_entry_points real(table);
  const fixture f;
  CHECK_FALSE(gpu::has_cublas());
  const gpu::cuda_error error = test::error_of(gpu::cublas_handle::create(f.stream));
  CHECK(error == gpu::errc::no_library);
  CHECK(error.kind() == gpu::error_kind::runtime);
  CHECK(test::says(error, "the library cuBLAS was not found", "/nowhere/libcublas.so",
                   "pip install nvidia-cublas", "GPU_CUBLAS"));
  const auto a = test::value_of(gpu::ones<float>(f.stream, gpu::shape{128, 128}));
  CHECK(f.download(test::value_of(gpu::matmul(f.stream, a, a))) ==
        std::vector<float>(128 * 128, 128));
}

TEST_CASE("cuBLAS: without the library its calls say so, and matmul works", "[interop][cublas]") {
  const auto found = test::run_child(
      "child: there is no cuBLAS",
      {{"GPU_CUBLAS", "/nowhere/libcublas.so"}, {"GPU_CUBLASLT", "/nowhere/libcublasLt.so"}});
  INFO(found.output);
  CHECK(found.succeeded());
}

TEST_CASE("cuBLAS: it does not work on the CPU driver", "[interop][cublas][cpu]") {
  const fixture f;
  CHECK_FALSE(gpu::driver::uses_libcuda());
  CHECK_FALSE(gpu::has_cublas());
  const gpu::cuda_error error = test::error_of(gpu::cublas_handle::create(f.stream));
  CHECK(error == gpu::errc::no_library);
  CHECK(test::says(error, "works with the NVIDIA driver alone", "Run it on a GPU"));
  CHECK_FALSE(gpu::detail::has_cublaslt());
}

TEST_CASE("matmul: large products are those of cuBLASLt", "[array][matmul][cublas]") {
  const auto table = blas_stand_in::cublaslt();
  const lt_in_force stand_in(table);
  const fixture f;
  blas_stand_in::products = 0;
  constexpr std::size_t m = 8, n = 4, k = 65536;
  const auto host_a = numbers<float>(m * k, 5), host_b = numbers<float>(k * n, 6);
  const auto a = array_of(f, host_a, m, k, false);
  const auto b = array_of(f, host_b, k, n, false);
  const auto expected = product(host_a, host_b, m, n, k);
  CHECK(f.download(test::value_of(gpu::matmul(f.stream, a, b))) == expected);
  CHECK(blas_stand_in::products == 1);
  CHECK(f.download(test::value_of(gpu::matmul(f.stream, a, b, {.same_bits = true}))) == expected);
  const auto few = a(gpu::all(), gpu::slice(0, 100));
  CHECK(test::value_of(gpu::matmul(f.stream, few, b(gpu::slice(0, 100)))).size() == m * n);
  CHECK(blas_stand_in::products == 1);
  // A batch with a workspace; then strides that BLAS does not have.
  blas_stand_in::workspace = 4096;
  const auto batch = gpu::reshape(a, 2, 4, 65536);
  auto out = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 4, 4}));
  test::value_of(gpu::matmul(f.stream, batch, b, out));
  CHECK(f.download(out) == expected);
  CHECK(blas_stand_in::products == 2);
  blas_stand_in::workspace = 0;
  const auto half = a(gpu::all(), gpu::slice(0, gpu::to_end, 2));
  static_cast<void>(test::value_of(gpu::matmul(f.stream, half, b(gpu::slice(0, gpu::to_end, 2)))));
  CHECK(blas_stand_in::products == 2);
  CHECK(blas_stand_in::live == 1);  // the handle of this device and driver
}

TEST_CASE("matmul: its own kernel multiplies what cuBLASLt fails to", "[array][matmul][cublas]") {
  const auto table = blas_stand_in::cublaslt();
  const lt_in_force stand_in(table);
  const fixture f;
  const auto a = test::value_of(gpu::ones<float>(f.stream, gpu::shape{128, 128}));
  auto out = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{128, 128}));
  blas_stand_in::products = 0;
  blas_stand_in::live = 0;
  // Called directly, so that the kernel does not run each time.
  gpu::detail::blas_product product{};
  const gpu::detail::product_shape s =
      gpu::detail::product_shape_of<float, 2, 2, 2>(a.view(), a.view(), out.view());
  REQUIRE(gpu::detail::to_blas(a.native(), a.native(), out.native(), s, product));
  const auto type = gpu::detail::blas_type_of<float>();
  const int calls = test::sweep_library(
      [&]() -> gpu::result<> {
        const bool done = gpu::detail::multiply_with_cublaslt(f.stream, type, product);
        if (test::calls_of_library().made > test::calls_of_library().failing) CHECK_FALSE(done);
        return {};
      },
      [](const gpu::result<>&, int) { CHECK(blas_stand_in::live <= 1); });
  CHECK(calls == 15);  // and the handle, which is made once
  test::calls_of_library() = {0, 3};
  test::value_of(gpu::matmul(f.stream, a, a, out));
  test::calls_of_library() = {};
  CHECK(f.download(out) == std::vector<float>(128 * 128, 128));
}

TEST_CASE("matmul: cuBLASLt and the own kernel agree within the bound",
          "[array][matmul][cublas][hardware]") {
  if (!gpu::detail::has_cublaslt()) {
    WARN("skipped: there is no cuBLASLt");
    return;
  }
  const fixture f;
  const auto check = [&]<class T>(T, std::size_t m, std::size_t n, std::size_t k, double unit,
                                  double final_unit) {
    std::mt19937 random(static_cast<unsigned>(m));
    std::vector<T> host_a(m * k), host_b(k * n);
    for (T& each : host_a) each = T(static_cast<float>(random() % 2001) / 1000 - 1);
    for (T& each : host_b) each = T(static_cast<float>(random() % 2001) / 1000 - 1);
    const auto a = array_of(f, host_a, m, k, false);
    const auto b = array_of(f, host_b, k, n, true);
    const auto fast = f.download(test::value_of(gpu::matmul(f.stream, a, b)));
    const double bound = static_cast<double>(k) * unit / (1 - static_cast<double>(k) * unit);
    for (int each = 0; each < 2000; ++each) {
      const std::size_t i = random() % m, j = random() % n;
      double sum = 0, absolute = 0;
      for (std::size_t p = 0; p < k; ++p) {
        const double x = static_cast<double>(static_cast<float>(host_a[i * k + p])) *
                         static_cast<double>(static_cast<float>(host_b[p * n + j]));
        sum += x;
        absolute += std::abs(x);
      }
      CAPTURE(m, n, k, i, j);
      REQUIRE(std::abs(static_cast<double>(static_cast<float>(fast[i * n + j])) - sum) <=
              bound * absolute + (std::abs(sum) + bound * absolute) * final_unit + 1e-12);
    }
  };
  const double single = std::ldexp(1.0, -24), cut_off = std::ldexp(1.0, -22);
  check(float(), 1000, 513, 777, single, 0);
  check(double(), 300, 301, 302, std::ldexp(1.0, -53), single);  // as compared in float
  check(__half(), 1024, 512, 768, cut_off, std::ldexp(1.0, -11));
  check(__nv_bfloat16(), 515, 333, 1111, cut_off, std::ldexp(1.0, -8));
}

}  // namespace cublas_test

#pragma once
/// \file
/// Stands in for cuSOLVER, and for the triangular systems of cuBLAS: computes on the host, in
/// double, with Householder's reflections and Jacobi's rotations.

#include "interop/blas_stand_in.hpp"
#include "interop/failing_calls.hpp"
#include "support/catch.hpp"

#include <gpu/driver/entry_points.hpp>
#include <gpu/libraries/cublas_functions.hpp>
#include <gpu/libraries/cusolver_functions.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace cusolver_stand_in {

using complex = std::complex<double>;

inline int live = 0;          // handles
inline int info_of_next = 0;  // what the next computation stores as its info
inline bool computes = true;  // or it stores its info and nothing else
inline void* stream_of_handle = nullptr;
constexpr int work_size = 3;

template <class T> T narrow(const complex& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(static_cast<typename T::value_type>(value.real()),
             static_cast<typename T::value_type>(value.imag()));
  }
}

/// Device memory as host numbers. Reads after all work on the handle's stream.
template <class T> std::vector<complex> read(const void* from, int count) {
  const auto& driver = gpu::driver::current_entry_points();
  REQUIRE(driver.stream_synchronize(static_cast<CUstream>(stream_of_handle)) == CUDA_SUCCESS);
  std::vector<T> host(static_cast<std::size_t>(count));
  REQUIRE(driver.memcpy_dtoh(host.data(), reinterpret_cast<std::uintptr_t>(from),
                             host.size() * sizeof(T)) == CUDA_SUCCESS);
  return {host.begin(), host.end()};
}
template <class T> void write(void* to, const std::vector<complex>& values) {
  std::vector<T> host;
  for (const complex& each : values) host.push_back(narrow<T>(each));
  REQUIRE(gpu::driver::current_entry_points().memcpy_htod(reinterpret_cast<std::uintptr_t>(to),
                                                          host.data(),
                                                          host.size() * sizeof(T)) == CUDA_SUCCESS);
  test::wait_for_copies();
}
/// Stores the info: at the second attempt, if a test lets the first one fail.
inline int write_info(int* info) {
  const int value = std::exchange(info_of_next, 0);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (gpu::driver::current_entry_points().memcpy_htod(reinterpret_cast<std::uintptr_t>(info),
                                                        &value, sizeof value) == CUDA_SUCCESS) {
      if (computes) test::wait_for_copies();
      return 0;
    }
  }
  return 7;
}

/// A matrix in Fortran order, without gaps.
struct matrix {
  int rows;
  std::vector<complex> elements;
  complex& at(int i, int j) { return elements[static_cast<std::size_t>(j * rows + i)]; }
};

/// Applies I - factor v v^H to a column; `v` is below the diagonal of column `of`, and 1 on it.
inline void reflect(matrix& a, int of, const complex& factor, matrix& c, int column) {
  complex sum = c.at(of, column);
  for (int i = of + 1; i < a.rows; ++i) sum += std::conj(a.at(i, of)) * c.at(i, column);
  sum *= factor;
  c.at(of, column) -= sum;
  for (int i = of + 1; i < a.rows; ++i) c.at(i, column) -= a.at(i, of) * sum;
}

template <class T>
int factorize(void*, int m, int n, void* a, int leading, void* factors, void* work, int size,
              int* info) {
  const test::library_call call;
  if (call.fails()) return 7;
  if (!computes) return write_info(info);
  CHECK(leading == m);
  CHECK(work != nullptr);
  CHECK(size >= work_size);
  matrix q{m, read<T>(a, m * n)};
  std::vector<complex> tau(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    double squares = 0;
    for (int i = j; i < m; ++i) squares += std::norm(q.at(i, j));
    if (squares == 0) continue;
    const complex alpha = q.at(j, j);
    const double beta = alpha.real() > 0 ? -std::sqrt(squares) : std::sqrt(squares);
    const complex factor = (beta - alpha) / beta;
    tau[static_cast<std::size_t>(j)] = factor;
    for (int i = j + 1; i < m; ++i) q.at(i, j) /= alpha - beta;
    q.at(j, j) = beta;
    for (int column = j + 1; column < n; ++column) reflect(q, j, std::conj(factor), q, column);
  }
  write<T>(a, q.elements);
  write<T>(factors, tau);
  return write_info(info);
}

template <class T>
int apply(void*, int side, int transpose, int m, int n, int k, const void* a, int,
          const void* factors, void* c, int leading, void*, int, int* info) {
  const test::library_call call;
  if (call.fails()) return 7;
  if (!computes) return write_info(info);
  CHECK(side == 0);
  CHECK(transpose == (std::is_floating_point_v<T> ? 1 : 2));
  CHECK(leading == m);
  matrix q{m, read<T>(a, m * k)}, target{m, read<T>(c, m * n)};
  const auto tau = read<T>(factors, k);
  for (int j = 0; j < k; ++j) {
    for (int column = 0; column < n; ++column)
      reflect(q, j, std::conj(tau[static_cast<std::size_t>(j)]), target, column);
  }
  write<T>(c, target.elements);
  return write_info(info);
}

template <class T>
int solve(void*, int side, int triangle, int transpose, int diagonal, int m, int n, const void*,
          const void* a, int a_leading, void* b, int b_leading) {
  const test::library_call call;
  if (call.fails()) return 13;
  if (!computes) return 0;
  CHECK((side == 0 && triangle == 1 && transpose == 0 && diagonal == 0));
  matrix r{a_leading, read<T>(a, a_leading * m)}, x{b_leading, read<T>(b, b_leading * n)};
  for (int column = 0; column < n; ++column) {
    for (int i = m; i-- > 0;) {
      for (int j = i + 1; j < m; ++j) x.at(i, column) -= r.at(i, j) * x.at(j, column);
      x.at(i, column) /= r.at(i, i);
    }
  }
  write<T>(b, x.elements);
  return 0;
}

template <class T>
int decompose(void*, int vectors, int triangle, int n, void* a, int leading, void* values, void*,
              int size, int* info) {
  const test::library_call call;
  if (call.fails()) return 7;
  if (!computes) return write_info(info);
  CHECK(triangle == 0);
  CHECK(leading == n);
  CHECK(size == work_size);
  matrix h{n, read<T>(a, n * n)}, v{n, std::vector<complex>(h.elements.size())};
  for (int j = 0; j < n; ++j) {
    v.at(j, j) = 1;
    h.at(j, j) = h.at(j, j).real();
    for (int i = j + 1; i < n; ++i) h.at(j, i) = std::conj(h.at(i, j));
  }
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        const double off = std::abs(h.at(p, q));
        if (off < 1e-300) continue;
        // Columns p and u, which is q turned so that the element between them is real.
        const complex turn = std::conj(h.at(p, q)) / off;
        const double tau = (h.at(q, q).real() - h.at(p, p).real()) / (2 * off);
        const double t = (tau < 0 ? -1 : 1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double cosine = 1 / std::sqrt(1 + t * t), sine = t * cosine;
        const auto rotate = [&](complex& x, complex& y, const complex& by) {
          const complex first = x, second = by * y;
          x = cosine * first - sine * second;
          y = sine * first + cosine * second;
        };
        for (int i = 0; i < n; ++i) rotate(h.at(i, p), h.at(i, q), turn);
        for (int i = 0; i < n; ++i) rotate(v.at(i, p), v.at(i, q), turn);
        for (int i = 0; i < n; ++i) rotate(h.at(p, i), h.at(q, i), std::conj(turn));
      }
    }
  }
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int i, int j) { return h.at(i, i).real() < h.at(j, j).real(); });
  std::vector<complex> found, sorted;
  for (const int j : order) {
    found.push_back(h.at(j, j));
    for (int i = 0; i < n; ++i) sorted.push_back(v.at(i, j));
  }
  write<typename gpu::detail::cusolver_calls<T>::real>(values, found);
  if (vectors == 1) write<T>(a, sorted);
  return write_info(info);
}

template <class T> void fill(gpu::detail::cusolver_functions& table) {
  using calls = gpu::detail::cusolver_calls<T>;
  table.*calls::qr_size = [](void*, int, int, void*, int, int* size) {
    *size = work_size;
    return test::calls_of_library().fails() ? 3 : 0;
  };
  table.*calls::apply_size = [](void*, int, int, int, int, int, const void*, int, const void*,
                                const void*, int, int* size) {
    *size = work_size + 1;
    return test::calls_of_library().fails() ? 3 : 0;
  };
  table.*calls::eigen_size = [](void*, int, int, int, const void*, int, const void*, int* size) {
    *size = work_size;
    return test::calls_of_library().fails() ? 3 : 0;
  };
  table.*calls::qr = factorize<T>;
  table.*calls::apply = apply<T>;
  table.*calls::eigen = decompose<T>;
}

inline gpu::detail::cusolver_functions cusolver() {
  gpu::detail::cusolver_functions table{};
  table.create = [](void** made) {
    const test::library_call call;
    if (call.fails()) return 2;
    *made = new int;
    ++live;
    return 0;
  };
  table.destroy = [](void* handle) {
    delete static_cast<int*>(handle);
    --live;
    return 0;
  };
  table.set_stream = [](void*, void* stream) {
    stream_of_handle = stream;
    return test::calls_of_library().fails() ? 1 : 0;
  };
  fill<float>(table);
  fill<double>(table);
  fill<std::complex<float>>(table);
  fill<std::complex<double>>(table);
  return table;
}

inline gpu::detail::cublas_functions cublas() {
  gpu::detail::cublas_functions table = blas_stand_in::cublas();
  table.solve_float = solve<float>;
  table.solve_double = solve<double>;
  table.solve_complex_float = solve<std::complex<float>>;
  table.solve_complex_double = solve<std::complex<double>>;
  return table;
}

}  // namespace cusolver_stand_in

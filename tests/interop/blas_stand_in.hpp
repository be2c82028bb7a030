#pragma once
/// \file
/// Stands in for cuBLAS and cuBLASLt: multiplies on the host what is in the memory of the driver in
/// force, by the rules of BLAS and nothing else.

#include "interop/failing_calls.hpp"
#include "support/catch.hpp"

#include <gpu/driver/entry_points.hpp>
#include <gpu/libraries/cublas_functions.hpp>
#include <gpu/libraries/cublaslt_functions.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace blas_stand_in {

inline int live = 0;               // handles and descriptors
inline int products = 0;           // that were computed
inline bool computes = true;       // or products are not computed
inline std::size_t workspace = 0;  // bytes that cuBLASLt asks for
inline void* last_stream = nullptr;

inline int made(void** object) {
  const test::library_call call;
  if (call.fails()) return 14;
  *object = new std::map<int, std::int64_t>;
  ++live;
  return 0;
}
inline int destroyed(void* object) {
  delete static_cast<std::map<int, std::int64_t>*>(object);
  --live;
  return 0;
}
inline int set(void* object, int attribute, const void* value, std::size_t bytes) {
  const test::library_call call;
  if (call.fails()) return 7;
  std::int64_t number = 0;
  __builtin_memcpy(&number, value, bytes);
  (*static_cast<std::map<int, std::int64_t>*>(object))[attribute] = number;
  return 0;
}

struct matrix {
  std::uintptr_t address;
  bool transposed;
  std::int64_t leading, stride;
};

/// The elements of a batch of matrices as they are in memory, without what lies between them.
template <class T> struct loaded {
  std::int64_t rows, columns, count;  // in memory: transposed if the operand is
  bool transposed;
  std::vector<T> elements;

  loaded(const matrix& x, std::int64_t m, std::int64_t n, std::int64_t batch)
      : rows{x.transposed ? n : m},
        columns{x.transposed ? m : n},
        count{x.stride == 0 ? 1 : batch},
        transposed{x.transposed},
        elements(static_cast<std::size_t>(rows * columns * count)) {
    const bool dense = x.leading == rows;
    for (std::int64_t of = 0; of < count; ++of) {
      for (std::int64_t column = 0; column < (dense ? 1 : columns); ++column) {
        const auto from =
            x.address + static_cast<std::uintptr_t>(of * x.stride + column * x.leading) * sizeof(T);
        T* const to = elements.data() + (of * columns + column) * rows;
        const auto bytes = static_cast<std::size_t>(dense ? rows * columns : rows) * sizeof(T);
        if (bytes != 0)
          REQUIRE(gpu::driver::current_entry_points().memcpy_dtoh(to, from, bytes) == CUDA_SUCCESS);
      }
    }
  }
  T operator()(std::int64_t of, std::int64_t i, std::int64_t j) const {
    if (transposed) std::swap(i, j);
    return elements[static_cast<std::size_t>((of % count * columns + j) * rows + i)];
  }
};

template <class T, class Scale>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Scale alpha, const matrix& a,
              const matrix& b, Scale beta, const matrix& c, std::int64_t count) {
  const loaded<T> left(a, m, k, count), right(b, k, n, count);
  const bool adds = beta != Scale(0);
  const loaded<T> before(c, adds ? m : 0, adds ? n : 0, count);
  for (std::int64_t of = 0; of < count; ++of) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        Scale sum{};
        for (std::int64_t p = 0; p < k; ++p) sum += Scale(left(of, i, p)) * Scale(right(of, p, j));
        sum *= alpha;
        if (adds) sum += beta * Scale(before(of, i, j));
        const T value = T(sum);
        const auto at =
            c.address + static_cast<std::uintptr_t>(of * c.stride + i + j * c.leading) * sizeof(T);
        REQUIRE(gpu::driver::current_entry_points().memcpy_htod(at, &value, sizeof value) ==
                CUDA_SUCCESS);
      }
    }
  }
  test::wait_for_copies();
}

inline int multiply(int type, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                    const matrix& a, const matrix& b, const void* beta, const matrix& c,
                    std::int64_t count, void* stream) {
  const test::library_call call;
  if (call.fails()) return 15;
  if (!computes) return 0;
  last_stream = stream;
  // The rules of BLAS for the distance of columns.
  CHECK(a.leading >= (a.transposed ? k : m));
  CHECK(b.leading >= (b.transposed ? n : k));
  CHECK(c.leading >= m);
  CHECK_FALSE(c.transposed);
  REQUIRE(gpu::driver::current_entry_points().stream_synchronize(static_cast<CUstream>(stream)) ==
          CUDA_SUCCESS);
  const auto run = [&]<class T, class Scale>(T, Scale) {
    multiply<T, Scale>(m, n, k, *static_cast<const Scale*>(alpha), a, b,
                       *static_cast<const Scale*>(beta), c, count);
  };
  switch (type) {
    case 0: run(float(), float()); break;
    case 1: run(double(), double()); break;
    case 2: run(__half(), float()); break;
    case 14: run(__nv_bfloat16(), float()); break;
    case 4: run(std::complex<float>(), std::complex<float>()); break;
    case 5: run(std::complex<double>(), std::complex<double>()); break;
    default: return 15;
  }
  ++products;
  return 0;
}

inline gpu::detail::cublas_functions cublas() {
  gpu::detail::cublas_functions table{};
  table.create = made;
  table.destroy = destroyed;
  table.set_stream = [](void* handle, void* stream) {
    const auto value = reinterpret_cast<std::intptr_t>(stream);
    return set(handle, 0, &value, sizeof value);
  };
  table.multiply = [](void* handle, int transpose_a, int transpose_b, std::int64_t m,
                      std::int64_t n, std::int64_t k, const void* alpha, const void* a, int type,
                      std::int64_t a_leading, long long a_stride, const void* b, int,
                      std::int64_t b_leading, long long b_stride, const void* beta, void* c, int,
                      std::int64_t c_leading, long long c_stride, std::int64_t count, int, int) {
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    const std::intptr_t stream = (*static_cast<std::map<int, std::int64_t>*>(handle))[0];
    return multiply(type, m, n, k, alpha, {address(a), transpose_a == 1, a_leading, a_stride},
                    {address(b), transpose_b == 1, b_leading, b_stride}, beta,
                    {address(c), false, c_leading, c_stride}, count,
                    reinterpret_cast<void*>(stream));
  };
  return table;
}

inline gpu::detail::cublaslt_functions cublaslt() {
  enum : int { type = 100, rows, columns, leading };  // beside the attributes of a layout
  gpu::detail::cublaslt_functions table{};
  table.create = made;
  table.destroy = destroyed;
  table.get_version = [] { return std::size_t{130000}; };
  table.operation_create = [](void** operation, int, int) { return made(operation); };
  table.operation_destroy = destroyed;
  table.operation_set = set;
  table.layout_create = [](void** layout, int element_type, std::uint64_t row_count,
                           std::uint64_t column_count, std::int64_t distance) {
    const int code = made(layout);
    if (code != 0) return code;
    auto& values = *static_cast<std::map<int, std::int64_t>*>(*layout);
    values[type] = element_type;
    values[rows] = static_cast<std::int64_t>(row_count);
    values[columns] = static_cast<std::int64_t>(column_count);
    values[leading] = distance;
    return 0;
  };
  table.layout_destroy = destroyed;
  table.layout_set = set;
  table.preference_create = made;
  table.preference_destroy = destroyed;
  table.preference_set = set;
  table.choose = [](void*, void*, void*, void*, void*, void*, void* preference, int,
                    gpu::detail::cublaslt_choice* choices, int* found) {
    const test::library_call call;
    if (call.fails()) return 15;
    auto& values = *static_cast<std::map<int, std::int64_t>*>(preference);
    CHECK(values.at(1) == 32 << 20);
    CHECK(values.at(3) == 2);
    CHECK(values.at(5) >= 4);
    choices[0] = {{{42}}, workspace, 0, 1, {}};
    *found = 1;
    return 0;
  };
  table.multiply = [](void*, void* operation, const void* alpha, const void* a, void* a_layout,
                      const void* b, void* b_layout, const void* beta, const void*, void*, void* d,
                      void* d_layout, const gpu::detail::cublaslt_algorithm* algorithm, void*,
                      std::size_t bytes, void* stream) {
    using values = std::map<int, std::int64_t>;
    values &op = *static_cast<values*>(operation), &of_a = *static_cast<values*>(a_layout),
           &of_b = *static_cast<values*>(b_layout), &of_d = *static_cast<values*>(d_layout);
    CHECK(algorithm->data[0] == 42);
    CHECK(bytes == workspace);
    const bool turn_a = op.at(3) == 1, turn_b = op.at(4) == 1;
    const auto part = [](const void* address, values& layout, bool turned) {
      return matrix{reinterpret_cast<std::uintptr_t>(address), turned, layout.at(leading),
                    layout[6]};
    };
    const std::int64_t k = turn_a ? of_a.at(rows) : of_a.at(columns);
    CHECK(k == (turn_b ? of_b.at(columns) : of_b.at(rows)));
    CHECK(of_d.at(rows) == (turn_a ? of_a.at(columns) : of_a.at(rows)));
    const std::int64_t count = of_d.count(5) != 0 ? of_d[5] : 1;
    return multiply(static_cast<int>(of_d.at(type)), of_d.at(rows), of_d.at(columns), k, alpha,
                    part(a, of_a, turn_a), part(b, of_b, turn_b), beta, part(d, of_d, false), count,
                    stream);
  };
  return table;
}

}  // namespace blas_stand_in

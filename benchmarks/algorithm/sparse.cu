// Products of sparse matrices beside cuSPARSE, the making of a matrix, and conjugate gradients, on
// one GPU.
//   nvcc -std=c++20 -O3 -arch=native -I include -I benchmarks benchmarks/algorithm/sparse.cu -lcuda
//   -lcusparse

#include "beside.cuh"

#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/reordered_matrix.hpp>

#include <cusparse.h>

#include <chrono>
#include <cmath>
#include <random>
#include <string>

using beside::need;
using beside::row;

namespace {

void need_sparse(cusparseStatus_t code) {
  if (code == CUSPARSE_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s\n", cusparseGetErrorString(code));
  std::exit(2);
}

struct host_matrix {
  std::vector<int> offsets{0}, columns;
  int columns_count = 0;

  void end_row() { offsets.push_back(static_cast<int>(columns.size())); }
  std::size_t rows() const { return offsets.size() - 1; }
};

host_matrix poisson(int side) {
  host_matrix made;
  made.columns_count = side * side;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int own = y * side + x;
      if (y > 0) made.columns.push_back(own - side);
      if (x > 0) made.columns.push_back(own - 1);
      made.columns.push_back(own);
      if (x + 1 < side) made.columns.push_back(own + 1);
      if (y + 1 < side) made.columns.push_back(own + side);
      made.end_row();
    }
  }
  return made;
}

/// Rows whose lengths follow a power law, with columns anywhere.
host_matrix power_law(int rows) {
  host_matrix made;
  made.columns_count = rows;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int r = 0; r < rows; ++r) {
    const double length = 3.0 / std::pow(1 - uniform(random), 1 / 1.1);
    const int count = static_cast<int>(std::min(length, 1e6));
    for (int k = 0; k < count; ++k)
      made.columns.push_back(static_cast<int>(random() % static_cast<unsigned>(rows)));
    made.end_row();
  }
  return made;
}

host_matrix even_rows(int rows, int length) {
  host_matrix made;
  made.columns_count = rows;
  std::mt19937 random(7);
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < length; ++k)
      made.columns.push_back(
          std::min(rows - 1, std::max(0, r + static_cast<int>(random() % 2000) - 1000)));
    made.end_row();
  }
  return made;
}

template <class T> constexpr cudaDataType type_of = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;

/// A product by cuSPARSE, with the algorithm that suits the matrix best of its two for rows. Its
/// preparation is not timed.
template <class T> class yardstick {
 public:
  yardstick(cudaStream_t stream, gpu::csr_matrix<T>& matrix, T* x, T* y,
            cusparseSpMVAlg_t algorithm)
      : algorithm_{algorithm} {
    need_sparse(cusparseCreate(&handle_));
    need_sparse(cusparseSetStream(handle_, stream));
    const auto rows = static_cast<std::int64_t>(matrix.shape().rows);
    const auto columns = static_cast<std::int64_t>(matrix.shape().columns);
    need_sparse(cusparseCreateCsr(
        &matrix_, rows, columns, static_cast<std::int64_t>(matrix.entries()),
        const_cast<int*>(matrix.row_offsets().data()),
        const_cast<int*>(matrix.column_indices().data()), matrix.values().data(),
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type_of<T>));
    need_sparse(cusparseCreateDnVec(&x_, columns, x, type_of<T>));
    need_sparse(cusparseCreateDnVec(&y_, rows, y, type_of<T>));
    std::size_t bytes = 0;
    need_sparse(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_,
                                        x_, &zero_, y_, type_of<T>, algorithm_, &bytes));
    beside::need(cudaMalloc(&buffer_, bytes + 16));
    need_sparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_,
                                        x_, &zero_, y_, type_of<T>, algorithm_, buffer_));
  }
  yardstick(const yardstick&) = delete;
  yardstick& operator=(const yardstick&) = delete;
  ~yardstick() {
    cudaFree(buffer_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
    cusparseDestroy(handle_);
  }
  void operator()() const {
    need_sparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_,
                             y_, type_of<T>, algorithm_, buffer_));
  }

 private:
  cusparseSpMVAlg_t algorithm_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  void* buffer_ = nullptr;
  T one_ = 1, zero_ = 0;
};

template <class T> gpu::csr_matrix<T> make_matrix(gpu::stream_ref stream, const host_matrix& of) {
  const std::vector<T> values(of.columns.size(), T(0.5));
  return need(gpu::csr_matrix<T>::create(stream,
                                         {of.rows(), static_cast<std::size_t>(of.columns_count)},
                                         of.offsets, of.columns, values));
}

template <class T> void products(gpu::stream_ref stream, const char* name, const host_matrix& of) {
  auto matrix = make_matrix<T>(stream, of);
  auto x = need(gpu::device_buffer<T>::create(stream, matrix.shape().columns));
  auto y = need(gpu::device_buffer<T>::create(stream, matrix.shape().rows));
  auto expected = need(gpu::device_buffer<T>::create(stream, matrix.shape().rows));
  auto ramp = need(gpu::elementwise<T*>::create("x", "x[i] = 1.0f / (1 + i % 1000)"));
  need(ramp(stream, x));
  // What has to move at least: each entry, each offset and each element of the vectors once.
  const double bytes = static_cast<double>(matrix.entries()) * (4 + sizeof(T)) +
                       static_cast<double>(matrix.shape().rows) * (4 + sizeof(T)) +
                       static_cast<double>(matrix.shape().columns) * sizeof(T);
  const auto ours = [&] { need(matrix.apply(stream, x, y)); };
  for (const auto algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    const yardstick<T> theirs(stream.native(), matrix, x.span().data(), expected.span().data(),
                              algorithm);
    const std::string title = std::string(name) + (sizeof(T) == 4 ? " float" : " double") +
                              (algorithm == CUSPARSE_SPMV_CSR_ALG1 ? ", ALG1" : ", ALG2");
    row(title.c_str(), stream.native(), bytes, [&] { theirs(); }, ours);
  }
  auto worst = need((gpu::reduction<double, const T*, const T*>::create(
      {.parameters = "a, b",
       .map = "fabs(double(a[i]) - b[i]) / (1e-6 + fabs(double(a[i])))",
       .reduce = "max(a, b)",
       .neutral = 0.0})));
  const double difference = need(worst(stream, expected, y));
  if (difference > (sizeof(T) == 4 ? 1e-3 : 1e-10)) {
    std::fprintf(stderr, "%s: the products differ by %g\n", name, difference);
    std::exit(1);
  }
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// How long it takes to make a matrix of unsorted triplets, from host and from device memory.
void making(gpu::stream_ref stream, const host_matrix& of) {
  std::vector<int> rows, columns = of.columns;
  for (std::size_t r = 0; r < of.rows(); ++r)
    rows.insert(rows.end(), static_cast<std::size_t>(of.offsets[r + 1] - of.offsets[r]),
                static_cast<int>(r));
  std::mt19937 random(1);
  for (std::size_t k = rows.size(); k > 1; --k) {
    const std::size_t other = random() % k;
    std::swap(rows[k - 1], rows[other]);
    std::swap(columns[k - 1], columns[other]);
  }
  const std::vector<float> values(rows.size(), 1.0f);
  const gpu::operator_shape shape{of.rows(), static_cast<std::size_t>(of.columns_count)};
  auto device_rows = need(gpu::device_buffer<int>::create(stream, rows.size()));
  auto device_columns = need(gpu::device_buffer<int>::create(stream, rows.size()));
  auto device_values = need(gpu::device_buffer<float>::create(stream, rows.size()));
  need(gpu::copy(rows, device_rows));
  need(gpu::copy(columns, device_columns));
  need(gpu::copy(values, device_values));
  for (int round = 0; round < 3; ++round) {
    auto begin = std::chrono::steady_clock::now();
    {
      auto made = need(gpu::csr_matrix<float>::from_triplets(stream, shape, rows, columns, values));
    }
    const double of_host = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    {
      auto made = need(gpu::csr_matrix<float>::from_triplets(stream, shape, device_rows,
                                                             device_columns, device_values));
    }
    std::printf("%zu triplets become a matrix in %.0f ms from the host, %.0f ms from the device\n",
                rows.size(), of_host * 1e3, seconds_since(begin) * 1e3);
  }
}

/// The time of an iteration beside that of its product alone.
void iterations(gpu::stream_ref stream, int side) {
  const host_matrix structure = poisson(side);
  std::vector<double> values;
  for (std::size_t r = 0; r < structure.rows(); ++r) {
    for (int at = structure.offsets[r]; at < structure.offsets[r + 1]; ++at)
      values.push_back(structure.columns[static_cast<std::size_t>(at)] == static_cast<int>(r) ? 4
                                                                                              : -1);
  }
  const std::size_t n = structure.rows();
  const auto matrix = need(gpu::csr_matrix<double>::create(stream, {n, n}, structure.offsets,
                                                           structure.columns, values));
  auto b = need(gpu::device_buffer<double>::create(stream, n));
  auto x = need(gpu::device_buffer<double>::create(stream, n));
  auto y = need(gpu::device_buffer<double>::create(stream, n));
  auto ramp = need(
      gpu::elementwise<double*, double*>::create("b, x", "b[i] = 1.0 / (1 + i % 1000); x[i] = 0"));
  need(ramp(stream, b, x));
  auto solver = need((gpu::conjugate_gradient<gpu::csr_matrix<double>>::create(stream, matrix)));
  need(solver.reset(b, x, {.relative_tolerance = 1e-14}));
  const double vectors = 8.0 * static_cast<double>(n);
  const double product = static_cast<double>(matrix.entries()) * 12 + 2.5 * vectors;
  // p and q; p, q, x, r in, x, r out; r; r, p in, p out.
  const std::string title = "an iteration on " + std::to_string(side) + "^2 points, beside A p";
  row(
      title.c_str(), stream.native(), product + 12 * vectors,
      [&] { need(matrix.apply(stream, b, y)); }, [&] { need(solver.one_iteration()); });
  need(ramp(stream, b, x));
  const auto begin = std::chrono::steady_clock::now();
  const auto done = need(
      gpu::solve(stream, matrix, b, x, {.relative_tolerance = 1e-6, .most_iterations = 100'000}));
  std::printf("solved in %zu iterations, %.3f s, residual %g of %g\n", done.iterations,
              seconds_since(begin), done.residual, done.goal);
}

}  // namespace

int main() {
  const gpu::device device = need(gpu::device::get(0));
  std::printf("%s\n%-44s %12s %11s   %12s %11s\n", need(device.name()).c_str(), "", "cuSPARSE", "",
              "gpu", "");
  const gpu::stream owner = need(gpu::stream::create(device));
  const gpu::stream_ref stream = owner;
  const host_matrix grid = poisson(3163), skewed = power_law(2'000'000);
  std::printf("%zu rows, %zu entries; skewed: %zu rows, %zu entries\n", grid.rows(),
              grid.columns.size(), skewed.rows(), skewed.columns.size());
  products<float>(stream, "Poisson, 10^7 rows,", grid);
  products<double>(stream, "Poisson, 10^7 rows,", grid);
  products<float>(stream, "power law,", skewed);
  products<double>(stream, "power law,", skewed);
  products<double>(stream, "80 entries a row,", even_rows(500'000, 80));
  making(stream, grid);
  iterations(stream, 300);
  iterations(stream, 2000);
}

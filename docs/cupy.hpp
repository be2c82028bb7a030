// Declares the operands of the code in docs/from-cupy.md, which tests/structure/documents compiles
// after this header.
#pragma once

#include <gpu/gpu.hpp>

#include <gpu/algorithm.hpp>
#include <gpu/array.hpp>
#include <gpu/interop/cusolver.hpp>
#include <gpu/measure.hpp>
#include <gpu/memory/pinned_buffer.hpp>
#include <gpu/random.hpp>

#include <complex>
#include <cstdint>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern gpu::stream stream;
extern gpu::program program;
extern gpu::philox engine;
extern gpu::cusolver_handle solver;
extern gpu::csr_matrix<float> matrix;
extern gpu::shape<2> shape;
extern std::vector<float> host, vector;
extern std::size_t rows, columns;
extern int axis, n, k;
extern float first, last, step, low, high, value, pi, absolute, relative;

namespace matrices {
extern gpu::array<float, 2> a, b, c, x, y, out, values;
}  // namespace matrices
namespace matrix_indices {
extern gpu::array<int, 2> indices;
}  // namespace matrix_indices
namespace matrix_masks {
extern gpu::array<bool, 2> mask;
}  // namespace matrix_masks
namespace vector_indices {
extern gpu::array<int> indices;
}  // namespace vector_indices
namespace vector_masks {
extern gpu::array<bool> mask;
}  // namespace vector_masks
namespace vectors {
extern gpu::array<float> a, b, x, y, w, weights;
}  // namespace vectors
namespace cubes {
extern gpu::array<float, 3> a;
}  // namespace cubes
namespace exponents {
extern gpu::array<float, 2> a;
extern gpu::array<int, 2> b;
}  // namespace exponents
namespace integers {
extern gpu::array<int, 2> a, b, x;
}  // namespace integers
namespace complex_numbers {
extern gpu::array<std::complex<float>, 2> a;
}  // namespace complex_numbers

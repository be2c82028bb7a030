// What the code in docs/from-cupy.md takes for granted, beside the operands that
// scripts/page-values declares after this.
#pragma once

#include <gpu/gpu.hpp>

#include <gpu/algorithm.hpp>
#include <gpu/array.hpp>
#include <gpu/interop/cusolver.hpp>
#include <gpu/measure.hpp>
#include <gpu/random.hpp>

#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern gpu::program program;
extern gpu::cusolver_handle solver;
extern gpu::csr_matrix<float> matrix;
inline gpu::philox engine(42);

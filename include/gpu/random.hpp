#pragma once
/// \file
/// Random numbers: engines, distributions, and the arrays that are filled with them.

// IWYU pragma: begin_exports
#include <gpu/random/device_philox.hpp>
#include <gpu/random/discrete_weights.hpp>
#include <gpu/random/distributions.hpp>
#include <gpu/random/engines.hpp>
#include <gpu/random/mt19937.hpp>
#include <gpu/random/permutation.hpp>
#include <gpu/random/random_numbers.hpp>
#include <gpu/random/random_operand.hpp>
#include <gpu/random/sobol.hpp>
// IWYU pragma: end_exports

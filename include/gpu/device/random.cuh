#pragma once
/// \file
/// What device code includes as `<gpu/random.hpp>`: engines and distributions of random numbers.

#include <gpu/device/distributions.cuh>
#include <gpu/device/mrg32k3a.cuh>
#include <gpu/device/philox.cuh>
#include <gpu/device/poisson.cuh>
#include <gpu/device/sobol.cuh>
#include <gpu/device/xorwow.cuh>

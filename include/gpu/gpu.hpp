#pragma once
/// \file
/// All that a program with kernels of its own needs. By themselves are `gpu/algorithm.hpp`,
/// `gpu/array.hpp` and `gpu/random.hpp`, with generated kernels; `gpu/measure.hpp`; `gpu/testing/`;
/// and `gpu/interop/`, which needs the headers of other libraries.

// IWYU pragma: begin_exports
#include <gpu/compiler.hpp>
#include <gpu/core/dims.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>
#include <gpu/texture.hpp>
#include <gpu/version.hpp>
// IWYU pragma: end_exports

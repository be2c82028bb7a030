#pragma once
/// \file
/// CUDA arrays, the textures that sample them and the surfaces that write them.

// IWYU pragma: begin_exports
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_mapping.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/copy_array_batch.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/matrix_array.hpp>
#include <gpu/texture/mipmapped_array.hpp>
#include <gpu/texture/resource_view.hpp>
#include <gpu/texture/surface.hpp>
#include <gpu/texture/texture.hpp>
#include <gpu/texture/texture_options.hpp>
#include <gpu/texture/texture_resource.hpp>
// IWYU pragma: end_exports

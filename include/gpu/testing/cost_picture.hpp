#pragma once
/// \file
/// `to_svg`: the costs of kernels as a picture.

#include <nogpu/cost_picture.hpp>  // IWYU pragma: export

namespace gpu { inline namespace v1 { namespace testing {

using nogpu::to_svg;

}}}  // namespace gpu::v1::testing

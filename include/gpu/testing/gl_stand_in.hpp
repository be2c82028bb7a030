#pragma once
/// \file
/// `gl_stand_in`: a stand-in for a context of OpenGL, whose buffers and images a test can register
/// with the CPU driver.

#include <nogpu/gl_stand_in.hpp>  // IWYU pragma: export

namespace gpu { inline namespace v1 { namespace testing {

using nogpu::gl_image;
using nogpu::gl_stand_in;

}}}  // namespace gpu::v1::testing

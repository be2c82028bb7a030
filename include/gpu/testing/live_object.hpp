#pragma once
/// \file
/// `live_object`: a handle or an allocation that a program has not released to the CPU driver.

#include <nogpu/live_object.hpp>  // IWYU pragma: export

namespace gpu { inline namespace v1 { namespace testing {

using nogpu::live_object;

}}}  // namespace gpu::v1::testing

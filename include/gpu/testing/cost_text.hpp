#pragma once
/// \file
/// `to_table`: the costs of kernels as text to read.

#include <nogpu/cost_text.hpp>  // IWYU pragma: export

namespace gpu { inline namespace v1 { namespace testing {

using nogpu::to_table;

}}}  // namespace gpu::v1::testing

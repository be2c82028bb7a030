#pragma once
/// \file
/// `cost_report`: what kernels that the CPU driver ran would cost a GPU, by line of their source.

#include <nogpu/kernel_costs.hpp>  // IWYU pragma: export

namespace gpu { inline namespace v1 { namespace testing {

using nogpu::cost_counts;
using nogpu::cost_report;
using nogpu::instruction_kind;
using nogpu::instruction_kinds;
using nogpu::kernel_costs;
using nogpu::line_costs;

}}}  // namespace gpu::v1::testing

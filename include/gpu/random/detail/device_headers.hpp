#pragma once
/// \file
/// Offers the headers of random numbers for device code: `<gpu/random.hpp>` and those that it
/// includes.

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/random/detail/distributions_header.hpp>
#include <gpu/random/detail/engines_header.hpp>
#include <gpu/random/detail/poisson_header.hpp>
#include <gpu/random/detail/random_jumps_header.hpp>
#include <gpu/random/detail/sobol_header.hpp>

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr device_code_header random_headers[] = {
    {random_header_name, random_header},   {philox_header_name, philox_header},
    {xorwow_header_name, xorwow_header},   {mrg32k3a_header_name, mrg32k3a_header},
    {sobol_header_name, sobol_header},     {distributions_header_name, distributions_header},
    {poisson_header_name, poisson_header}, {random_jumps_header_name, random_jumps_header},
};
inline const offered_headers offered_random_headers{random_headers};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Offers the headers of random numbers for device code: `<gpu/random.hpp>` and those that it
/// includes.

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/device/embedded/distributions.hpp>
#include <gpu/device/embedded/mrg32k3a.hpp>
#include <gpu/device/embedded/philox.hpp>
#include <gpu/device/embedded/poisson.hpp>
#include <gpu/device/embedded/random.hpp>
#include <gpu/device/embedded/random_jumps.hpp>
#include <gpu/device/embedded/random_leaf.hpp>
#include <gpu/device/embedded/sobol.hpp>
#include <gpu/device/embedded/stored_words.hpp>
#include <gpu/device/embedded/xorwow.hpp>

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr device_code_header random_headers[] = {
    {"gpu/random.hpp", random_header},
    {distributions_header_name, distributions_header},
    {mrg32k3a_header_name, mrg32k3a_header},
    {philox_header_name, philox_header},
    {poisson_header_name, poisson_header},
    {random_jumps_header_name, random_jumps_header},
    {random_leaf_header_name, random_leaf_header},
    {sobol_header_name, sobol_header},
    {stored_words_header_name, stored_words_header},
    {xorwow_header_name, xorwow_header},
};
inline const offered_headers offered_random_headers{random_headers};

}}}  // namespace gpu::v1::detail

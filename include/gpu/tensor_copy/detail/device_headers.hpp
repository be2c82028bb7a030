#pragma once
/// \file
/// Offers the header of tensor copies for device code.

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/device/embedded/tensor_copy.hpp>

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr device_code_header tensor_copy_headers[] = {
    {"gpu/tensor_copy.hpp", tensor_copy_header}};
inline const offered_headers offered_tensor_copy_headers{tensor_copy_headers};

}}}  // namespace gpu::v1::detail

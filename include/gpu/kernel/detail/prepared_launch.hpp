#pragma once
/// \file
/// A launch with its arguments packed, as the checks and the submission take it.

#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// An argument that knows the context of its memory, a view, which may be faulty, or an argument
/// that is refused.
struct argument_owner {
  context_ref context;  ///< empty if the memory was moved away, and for a view
  CUdeviceptr address;  ///< 0 for zero elements, or if every device reaches them
  std::int64_t limit;   ///< of a view: its first stride, see `view_fault`
  unsigned position;    ///< among the arguments, from 1
  bool is_view;
  bool is_strided;  ///< a view that is passed for a pointer although it is not contiguous
  bool is_refused;
};

/// A launch with its arguments packed.
struct prepared_launch {
  stream_ref stream;
  launch_config config;
  kernel_record* kernel;
  void** arguments;  ///< one pointer for each parameter, as the driver wants them
  source_location where;
  const argument_owner* owners = nullptr;  ///< those to check; none if all belong to the context
  std::size_t owner_count = 0;
  const text* refusal = nullptr;  ///< why the first owner that is refused is
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `nccl_unique_id`: with it NCCL's functions, and those that stand in for them in tests, are
/// declared alike.

namespace gpu { inline namespace v1 { namespace detail {

/// ncclUniqueId.
struct nccl_unique_id {
  char bytes[128] = {};
};

}}}  // namespace gpu::v1::detail

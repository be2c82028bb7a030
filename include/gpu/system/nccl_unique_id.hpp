#pragma once
/// \file
/// `nccl_unique_id`: with it NCCL's functions, and those that stand in for them in tests, are
/// declared alike.

namespace gpu::inline v1::detail {

/// ncclUniqueId.
struct nccl_unique_id {
  char bytes[128] = {};
};

}  // namespace gpu::inline v1::detail

#pragma once
/// \file
/// Entry points: the attributes of streams.

#include <nogpu/driver/context_life.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nogpu { inline namespace v1 { namespace driver {

/// Returns whether this value of an attribute can be set for a stream.
inline bool fits(CUstreamAttrID which, const CUstreamAttrValue& value) {
  switch (which) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: {
      const CUaccessPolicyWindow& window = value.accessPolicyWindow;
      return window.num_bytes <= std::size_t{largest_policy_window} && window.hitRatio >= 0 &&
             window.hitRatio <= 1 && window.hitProp >= CU_ACCESS_PROPERTY_NORMAL &&
             window.hitProp <= CU_ACCESS_PROPERTY_PERSISTING &&
             (window.missProp == CU_ACCESS_PROPERTY_NORMAL ||
              window.missProp == CU_ACCESS_PROPERTY_STREAMING);
    }
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      return value.syncPolicy >= CU_SYNC_POLICY_AUTO &&
             value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: return true;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return value.memSyncDomainMap.default_ < memory_sync_domains &&
             value.memSyncDomainMap.remote < memory_sync_domains;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
             value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    default: return false;
  }
}

inline bool is_stream_attribute(CUstreamAttrID which) {
  return which == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
         which == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
         which == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
         which == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
         which == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult stream_get_attribute(call& c, CUstream handle, CUstreamAttrID which,
                                     CUstreamAttrValue* value) {
  stream_ptr stream;
  if (value == nullptr || !is_stream_attribute(which)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  *value = {};
  if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    value->priority = stream->priority;
    return CUDA_SUCCESS;
  }
  const auto found = stream->attributes.find(static_cast<int>(which));
  if (found != stream->attributes.end()) {
    *value = found->second;
  } else if (which == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
    constexpr int unset = -1;  // as devices report it
    std::memcpy(&value->syncPolicy, &unset, sizeof unset);
  } else if (which == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) {
    value->memSyncDomainMap.remote = 1;
  }
  return CUDA_SUCCESS;
}

inline CUresult stream_set_attribute(call& c, CUstream handle, CUstreamAttrID which,
                                     const CUstreamAttrValue* value) {
  stream_ptr stream;
  if (value == nullptr || !fits(which, *value)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_stream(handle, stream)) return bad;
  if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    stream->priority = std::clamp(value->priority, greatest_priority, 0);
  } else {
    stream->attributes[static_cast<int>(which)] = *value;
  }
  return CUDA_SUCCESS;
}

inline CUresult stream_copy_attributes(call& c, CUstream to_handle, CUstream from_handle) {
  stream_ptr to, from;
  if (const CUresult bad = c.find_stream(to_handle, to)) return bad;
  if (const CUresult bad = c.find_stream(from_handle, from)) return bad;
  if (to->context != from->context) return CUDA_ERROR_INVALID_VALUE;
  to->attributes = from->attributes;
  to->priority = from->priority;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry

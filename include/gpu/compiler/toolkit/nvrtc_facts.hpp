#pragma once
/// \file
/// What has to be known of NVRTC to settle a request.

#include <gpu/compiler/toolkit/library_calls.hpp>
#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/compiler/toolkit/nvrtc_entry_points.hpp>

namespace gpu::inline v0::detail {

/// Sets `numbers` to the architectures that NVRTC knows, as in `sm_90`, in ascending order.
template <class Numbers>
inline result<> get_supported_architectures(Numbers& numbers, source_location where) {
  int count = 0;
  GPU_TRY(library_call<&nvrtc::entry_points::get_num_supported_archs>(where, &count));
  numbers.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  if (numbers.empty()) return {};
  return library_call<&nvrtc::entry_points::get_supported_archs>(where, numbers.data());
}

/// Sets `facts` to what is so of the NVRTC in use. Where there is none, that is no error: a cache
/// may have been shipped.
template <class Facts> inline result<> get_nvrtc_facts(Facts& facts, source_location where) {
  if (const auto* recalled = recalled_library<nvrtc::detail::library>()) {
    facts = *recalled;
    return {};
  }
  const nvrtc::entry_points& table = nvrtc::current_entry_points();
  if (table.version == nullptr) return {};
  GPU_TRY(library_call<&nvrtc::entry_points::version>(where, &facts.major, &facts.minor));
  GPU_TRY(get_supported_architectures(facts.architectures, where));
  identify_library<nvrtc::detail::library>(facts, reinterpret_cast<const void*>(table.version));
  return {};
}

}  // namespace gpu::inline v0::detail

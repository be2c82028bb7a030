#pragma once
/// \file
/// The facts about NVRTC that resolving a request needs.

#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Sets `numbers` to the architectures that NVRTC supports, 90 for `sm_90`, in ascending order.
inline result<> get_supported_architectures(sequence<int>& numbers, source_location where) {
  int count = 0;
  GPU_TRY(library_call<&nvrtc::entry_points::get_num_supported_archs>(where, &count));
  numbers.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  if (numbers.empty()) return {};
  return library_call<&nvrtc::entry_points::get_supported_archs>(where, numbers.data());
}

/// Sets `facts` to those of the NVRTC in use. A missing NVRTC is not an error: the program may be
/// in the cache.
inline result<> get_nvrtc_facts(library_facts& facts, source_location where) {
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

}}}  // namespace gpu::v1::detail

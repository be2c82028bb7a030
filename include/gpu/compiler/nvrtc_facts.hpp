#pragma once
/// \file
/// `nvrtc_facts`: what has to be known of NVRTC to settle a request, which may be known without
/// opening it. Opening it takes several milliseconds.

#include <gpu/compiler/library_identity.hpp>
#include <gpu/compiler/nvrtc_calls.hpp>

#include <gpu/core/sequence.hpp>

namespace gpu::detail {

/// What is known of the NVRTC in use.
struct nvrtc_facts {
  text identity = {};  ///< version and build; empty where there is no NVRTC
  text library = {};   ///< the path of its file
  int major = 0, minor = 0;
  sequence<int> architectures = {};  ///< that it compiles for, as in `sm_90`, ascending

  bool present() const noexcept { return !identity.empty(); }
};

/// What an earlier process found out of the NVRTC that this one would open; null where that is not
/// known. It counts until NVRTC is open.
inline const nvrtc_facts*& recalled_nvrtc() noexcept {
  static const nvrtc_facts* facts = nullptr;
  return facts;
}

/// The NVRTC of a table by version and build; empty for a table without functions.
template <class Builder = text_builder>
inline text nvrtc_identity(const nvrtc::entry_points& table) noexcept {
  if (table.version == nullptr) return {};
  int major = 0, minor = 0;
  table.version(&major, &minor);
  return library_identity(nvrtc::detail::library::name, major, minor,
                          reinterpret_cast<const void*>(table.version));
}

/// Sets `numbers` to the architectures that NVRTC knows, as in `sm_90`, in ascending order.
template <class Numbers>
inline result<> get_supported_architectures(Numbers& numbers, source_location where) {
  int count = 0;
  GPU_TRY(nvrtc::call<&nvrtc::entry_points::get_num_supported_archs>(where, &count));
  numbers.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  if (numbers.empty()) return {};
  return nvrtc::call<&nvrtc::entry_points::get_supported_archs>(where, numbers.data());
}

/// Sets `facts` to what is so of the NVRTC in use. Where there is none, that is no error: a cache
/// may have been shipped.
template <class Facts> inline result<> get_nvrtc_facts(Facts& facts, source_location where) {
  if (nvrtc::entry_points_in_force() == nullptr) {
    const nvrtc_facts* recalled = __atomic_load_n(&recalled_nvrtc(), __ATOMIC_ACQUIRE);
    if (recalled != nullptr) {
      facts = *recalled;
      return {};
    }
  }
  const nvrtc::entry_points& table = nvrtc::current_entry_points();
  if (table.version == nullptr) return {};
  GPU_TRY(nvrtc::call<&nvrtc::entry_points::version>(where, &facts.major, &facts.minor));
  GPU_TRY(get_supported_architectures(facts.architectures, where));
  facts.identity = nvrtc_identity(table);
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(table.version), &info) != 0) {
    facts.library = text(info.dli_fname);
  }
  return {};
}

}  // namespace gpu::detail

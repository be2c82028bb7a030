#pragma once
/// \file
/// `std::hash` of what names something, so that it can be a key: devices, contexts, streams,
/// events. Equal names have equal hashes.

#include <gpu/driver/event.hpp>

#include <functional>

namespace gpu::inline v0::detail {

template <class Name> struct hash_of_native {
  std::size_t operator()(const Name& name) const noexcept {
    const auto native = name.native();
    return std::hash<remove_cv_t<decltype(native)>>{}(native);
  }
};

}  // namespace gpu::inline v0::detail

template <> struct std::hash<gpu::device> : gpu::detail::hash_of_native<gpu::device> {};
template <> struct std::hash<gpu::context_ref> : gpu::detail::hash_of_native<gpu::context_ref> {};
template <> struct std::hash<gpu::stream_ref> : gpu::detail::hash_of_native<gpu::stream_ref> {};
template <> struct std::hash<gpu::event_ref> : gpu::detail::hash_of_native<gpu::event_ref> {};

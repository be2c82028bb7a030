#pragma once
/// \file
/// `std::hash` of devices, contexts, streams and events, so that they can be keys. Equal refs have
/// equal hashes.

#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

template <class Ref> struct hash_of_native {
  std::size_t operator()(const Ref& ref) const noexcept {
    const auto native = ref.native();
    return std::hash<std::remove_cv_t<decltype(native)>>{}(native);
  }
};

}}}  // namespace gpu::v1::detail

template <> struct std::hash<gpu::device> : gpu::detail::hash_of_native<gpu::device> {};
template <> struct std::hash<gpu::context_ref> : gpu::detail::hash_of_native<gpu::context_ref> {};
template <> struct std::hash<gpu::stream_ref> : gpu::detail::hash_of_native<gpu::stream_ref> {};
template <> struct std::hash<gpu::event_ref> : gpu::detail::hash_of_native<gpu::event_ref> {};

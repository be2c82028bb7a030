#pragma once
/// \file
/// `default_context`: a context on the device that the user named, or else on the first one that
/// can be used.

#include <gpu/core/error.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/choose_device.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/device.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

/// Returns what `make(device)` makes, such as a context, on the device that `default_device` finds
/// named by environment variable or file; if none is named, on each device in turn until it
/// succeeds, so that a device which another process has for itself is passed over:
///
///     gpu::default_context([](gpu::device on) { return gpu::context::primary(on); });
///
/// `make` returns a `result` of anything.
/// **Errors**: those of `default_device`; if `make` fails on the named device, its error; if it
/// fails on all, the error of the last, with those of all; `errc::index_out_of_range` without a
/// device. **Capture**, **Threads**: as `make`.
template <class Make>
auto default_context(Make make, source_location where = source_location::current())
    -> decltype(make(std::declval<device>())) {
  detail::named_device named;
  GPU_TRY(detail::find_named_device(named, where));
  if (!named.origin.empty()) return make(GPU_TRY(detail::device_of_name(named, where)));
  const detail::last_error_mark before;
  const int count = GPU_TRY(device::count(where));
  detail::text_builder tried;
  for (int index = 0; index < count; ++index) {
    auto made = make(GPU_TRY(device::get(index, where)));
    if (made.has_value()) {
      before.restore();
      return made;
    }
    tried << (index == 0 ? "" : "; ") << "device " << index << ": " << made.error().message();
    if (index + 1 < count) continue;
    if (count == 1) return made;
    detail::text_builder out;
    out << "none of the " << count << " devices can be used. " << tried.finish();
    return detail::fail(detail::record_error(std::move(made).error().with_details(out.finish())));
  }
  return detail::fail(detail::device_out_of_range("gpu::default_context", 0, count, where));
}

/// Returns a context of its own on such a device. It is not left current: see `context_scope`; its
/// end destroys it. (cuCtxCreate)
inline result<context> default_context(
    source_location where = source_location::current()) noexcept {
  return default_context([&](device on) { return context::create(on, context_flags::none, where); },
                         where);
}

}}  // namespace gpu::v1

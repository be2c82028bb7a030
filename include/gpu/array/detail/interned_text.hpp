#pragma once
/// \file
/// `intern`: texts that live as long as the process, so that expressions can point at them.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/generated/shared_states.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// A text is a key without a state.
struct no_state {};
using interned_text = shared_states<no_state>::entry;

/// Returns the text with these characters, which is made on first use and never destroyed; null if
/// the host is out of memory. Each different text takes about 80 bytes and its characters until the
/// process ends.
/// **Threads**: takes no lock. **Cost**: a look at as many texts as the number of all has digits,
/// to the base of 4.
inline const interned_text* intern(string_ref characters) noexcept {
  static constinit shared_states<no_state> all;  // no guard, so no lock in a fork
  const result<interned_text*> found = all.find("gpu::formula", {characters}, source_location{},
                                                [](no_state&) -> result<> { return {}; });
  return found.has_value() ? *found : nullptr;
}

}}}  // namespace gpu::v1::detail

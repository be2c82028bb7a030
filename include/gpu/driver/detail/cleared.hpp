#pragma once
/// \file
/// `cleared`: structures of the driver without a stray bit.

#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns a structure of the driver with all bytes zero. Braces would clear only the first member
/// of a union, and the driver requires that its reserved bytes are zero.
template <class Struct> Struct cleared() noexcept {
  Struct made;
  std::memset(&made, 0, sizeof made);
  return made;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `request_key`: a request in its caller's own words, which a cache can compare.

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A request in its caller's own words, which can be compared before anything is resolved. The
/// cache does not know what they mean.
class request_key {
 public:
  request_key() noexcept = default;
  request_key(const request_key&) = delete;
  request_key& operator=(const request_key&) = delete;
  virtual ~request_key() = default;

  virtual std::uint64_t hash() const noexcept = 0;
  /// Returns whether `other`, of the same class, says the same.
  virtual bool equals(const request_key& other) const noexcept = 0;
  /// Returns a copy that owns all it refers to; made by `new`.
  virtual request_key* copy() const = 0;
};

}}}  // namespace gpu::v1::detail

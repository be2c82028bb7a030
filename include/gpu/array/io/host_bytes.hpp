#pragma once
/// \file
/// Memory of the host for bytes that are fetched or read.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Owns bytes of the host. They are aligned for every element type of `number`.
class host_bytes {
 public:
  host_bytes() noexcept = default;
  host_bytes(host_bytes&& other) noexcept : data_{std::exchange(other.data_, nullptr)} {}
  host_bytes& operator=(host_bytes&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~host_bytes() { ::operator delete(data_); }

  /// **Errors**: `errc::out_of_host_memory`.
  static result<host_bytes> create(const char* function, std::size_t size,
                                   source_location where) noexcept {
    host_bytes made;
    made.data_ = ::operator new(size, std::nothrow);
    if (made.data_ == nullptr) return fail(out_of_host_memory_error(function, size, where));
    return made;
  }
  /// Returns the address of the first byte; null for an empty object.
  unsigned char* data() const noexcept { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `peer_matrix`: for all pairs of devices, whether one reaches the memory of the other.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/peer_access.hpp>

#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

struct delete_reach {
  void operator()(bool* reach) const noexcept { delete[] reach; }
};

}  // namespace detail

/// The results of `can_access_peer` for all pairs of devices at one time. Move-only; empty after a
/// move.
///
///     const gpu::peer_matrix reaches = GPU_TRY(gpu::peer_matrix::get());
///     if (reaches(0, 1)) ...  // kernels on device 0 can be given access to memory of device 1
class peer_matrix {
 public:
  /// Asks for every pair of devices.
  /// **Errors**: `errc::out_of_host_memory`; the driver's. **Capture**: not affected.
  /// **Threads**: any. **Cost**: a few calls for each pair, in each direction.
  /// (cuDeviceGetCount, cuDeviceGet, cuDeviceCanAccessPeer)
  static result<peer_matrix> get(source_location where = source_location::current()) noexcept {
    const int count = GPU_TRY(device::count(where));
    const std::size_t pairs = static_cast<std::size_t>(count) * static_cast<std::size_t>(count);
    peer_matrix made;
    made.count_ = count;
    made.reach_.reset(new (std::nothrow) bool[pairs]());
    if (!made.reach_) {
      return detail::fail(detail::out_of_host_memory_error("gpu::peer_matrix::get", pairs, where));
    }
    for (int row = 0; row < count; ++row) {
      const device from = GPU_TRY(device::get(row, where));
      for (int column = 0; column < count; ++column) {
        if (column == row) continue;
        const device to = GPU_TRY(device::get(column, where));
        made.reach_.get()[row * count + column] = GPU_TRY(can_access_peer(from, to, where));
      }
    }
    return made;
  }

  peer_matrix(peer_matrix&& other) noexcept
      : count_{std::exchange(other.count_, 0)}, reach_{std::move(other.reach_)} {}
  peer_matrix& operator=(peer_matrix&& other) noexcept {
    count_ = std::exchange(other.count_, 0);
    reach_ = std::move(other.reach_);
    return *this;
  }

  /// Returns the number of devices, which is the number of rows and of columns.
  int device_count() const noexcept { return count_; }

  /// Returns whether kernels on device `from`, the row, can be given access to memory of device
  /// `to`, the column. Both are indexes as for `device::get`. False for a device and itself, and
  /// for an index out of range.
  bool operator()(int from, int to) const noexcept {
    const bool known = from >= 0 && from < count_ && to >= 0 && to < count_;
    return known && reach_.get()[from * count_ + to];
  }

 private:
  peer_matrix() noexcept = default;

  int count_ = 0;
  unique_handle<bool*, detail::delete_reach> reach_;
};

}}  // namespace gpu::v1

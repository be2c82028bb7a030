#pragma once
/// \file
/// `multiprocessor_set`: multiprocessors of a device, to be split into groups for green contexts.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>

#include <cstdint>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// The groups that `multiprocessor_set::split` makes.
struct split_options {
  unsigned groups = 1;  ///< their number
  unsigned size = 0;    ///< the number of multiprocessors in each
  /// Allows sizes below the device's smallest and between its multiples, at the price of large
  /// clusters. The driver rounds them up, so ask a group for its `size`.
  bool ignore_coscheduling = false;
  /// Makes groups for the largest clusters (compute capability 9.0 and later).
  bool largest_clusters = false;
};

class multiprocessor_split;

/// Multiprocessors of one device: all of them, a group of a split, or those of a green context. A
/// value, cheap to copy; empty if default-constructed.
/// **Threads**: any. **Capture**: not affected.
/// **Errors**: those of the driver call named in parentheses; `errc::not_supported` if the driver
/// is older than CUDA 12.4.
class multiprocessor_set {
 public:
  multiprocessor_set() noexcept = default;

  /// Returns all multiprocessors of a device. (cuDeviceGetDevResource)
  /// **Errors**: `errc::index_out_of_range` for a device that does not exist.
  static result<multiprocessor_set> of(
      gpu::device on, source_location where = source_location::current()) noexcept {
    multiprocessor_set found;
    found.device_ = on.native();
    result<> got = driver::call<&driver::entry_points::device_get_dev_resource>(
        where, on.native(), &found.native_, CU_DEV_RESOURCE_TYPE_SM);
    if (!got.has_value()) GPU_TRY(detail::explain_device(std::move(got), on.native(), where));
    return found;
  }

  /// Returns the multiprocessors that the work of a context may use. (cuCtxGetDevResource)
  /// **Errors**: `errc::empty_handle`.
  static result<multiprocessor_set> of(
      context_ref context, source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(context, "gpu::multiprocessor_set::of", where));
    multiprocessor_set found;
    found.device_ = context.device().native();
    GPU_TRY(driver::call<&driver::entry_points::ctx_get_dev_resource>(
        where, context.native(), &found.native_, CU_DEV_RESOURCE_TYPE_SM));
    return found;
  }

  /// Takes a resource of type CU_DEV_RESOURCE_TYPE_SM that the driver has filled in. `of_split`:
  /// by a split, so that it cannot be split again.
  static multiprocessor_set from_native(const CUdevResource& native, gpu::device on,
                                        bool of_split = false) noexcept {
    multiprocessor_set made;
    made.native_ = native;
    made.device_ = on.native();
    made.of_split_ = of_split;
    return made;
  }
  const CUdevResource& native() const noexcept { return native_; }
  gpu::device device() const noexcept { return gpu::device::from_native(device_); }

  /// Returns the number of multiprocessors.
  unsigned size() const noexcept { return native_.sm.smCount; }
  /// Returns the size of the smallest group that this can be split into: 8 on compute capability
  /// 9.0.
  unsigned smallest_group() const noexcept { return native_.sm.minSmPartitionSize; }
  /// Returns the number that sizes of groups are multiples of: 8 on compute capability 9.0.
  unsigned granularity() const noexcept { return native_.sm.smCoscheduledAlignment; }
  explicit operator bool() const noexcept { return size() != 0; }

  /// Splits this into groups of the same size without common multiprocessors, and a rest.
  /// (cuDevSmResourceSplitByCount)
  /// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for no groups, for a size that is
  /// too small or not a multiple of `granularity()`, for more multiprocessors than there are, or if
  /// this is itself a part of a split: the driver splits only what a device or a context has;
  /// `errc::out_of_host_memory`.
  result<multiprocessor_split> split(
      split_options options, source_location where = source_location::current()) const noexcept;

 private:
  CUdevResource native_{};
  CUdevice device_ = 0;
  bool of_split_ = false;
};

namespace detail {

struct delete_resources {
  void operator()(CUdevResource* all) const noexcept { delete[] all; }
};

/// Fails unless the multiprocessors can be divided as `options` says.
inline result<> check_split(const multiprocessor_set& from, bool of_split, split_options options,
                            source_location where) noexcept {
  constexpr const char* function = "gpu::multiprocessor_set::split";
  if (!from) return refuse_empty_handle(function, "set of multiprocessors", where);
  const unsigned all = from.size();
  const unsigned unit = from.granularity() == 0 ? 1 : from.granularity();
  const unsigned least = from.smallest_group();
  text_builder out;
  std::uint64_t asked = options.size, limit = all;
  if (of_split) {
    out << "these multiprocessors are a part of a split, and the driver splits only what a device "
           "or a context has. Make a green_context with them, and split its multiprocessors().";
  } else if (options.groups == 0) {
    asked = 0, limit = 1;
    out << "the number of groups must be at least 1, got 0.";
  } else if (options.size == 0) {
    limit = least;
    out << "the size of a group must be at least 1, got 0. Pass the number of multiprocessors for "
           "each group as .size.";
  } else if (options.size > all) {
    out << "a group of " << options.size << " multiprocessors is more than the " << all
        << " that there are. Pass a smaller size.";
  } else if (!options.ignore_coscheduling && (options.size < least || options.size % unit != 0)) {
    limit = options.size < least ? least : unit;
    const unsigned more = options.size < least ? least : (options.size / unit + 1) * unit;
    out << "a group of " << options.size << " multiprocessors is not possible: on device "
        << from.device().native() << " it has at least " << least << ", and a multiple of " << unit
        << ". Pass " << (more <= all ? more : all / unit * unit)
        << ", or set ignore_coscheduling to let the driver round it.";
  } else if (options.groups > all / options.size) {
    asked = std::uint64_t{options.groups} * options.size;
    out << options.groups << " groups of " << options.size << " multiprocessors are " << asked
        << ", more than the " << all << " that there are. Pass fewer groups, or smaller ones.";
  } else {
    return {};
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, asked, limit));
}

}  // namespace detail

/// The groups of a split, and the rest. Move-only; empty after a move.
class multiprocessor_split {
 public:
  multiprocessor_split(multiprocessor_split&& other) noexcept
      : groups_{std::move(other.groups_)},
        size_{std::exchange(other.size_, 0u)},
        rest_{std::exchange(other.rest_, multiprocessor_set())} {}
  multiprocessor_split& operator=(multiprocessor_split&& other) noexcept {
    groups_ = std::move(other.groups_);
    size_ = std::exchange(other.size_, 0u);
    rest_ = std::exchange(other.rest_, multiprocessor_set());
    return *this;
  }

  /// Returns the number of groups, which is the number asked for.
  unsigned size() const noexcept { return size_; }
  /// Returns a group; an empty set for an index that is not less than `size()`.
  multiprocessor_set operator[](unsigned index) const noexcept {
    if (index >= size_) return {};
    return multiprocessor_set::from_native(groups_.get()[index], rest_.device(), true);
  }
  /// Returns the multiprocessors that are in no group, empty if there are none. They may be few,
  /// and far apart: the driver promises less for them than for groups.
  const multiprocessor_set& rest() const noexcept { return rest_; }

 private:
  friend class multiprocessor_set;
  multiprocessor_split() noexcept = default;

  unique_handle<CUdevResource*, detail::delete_resources> groups_;
  unsigned size_ = 0;
  multiprocessor_set rest_;
};

inline result<multiprocessor_split> multiprocessor_set::split(
    split_options options, source_location where) const noexcept {
  constexpr const char* function = "gpu::multiprocessor_set::split";
  GPU_TRY(detail::check_split(*this, of_split_, options, where));
  multiprocessor_split made;
  made.groups_.reset(new (std::nothrow) CUdevResource[options.groups]());
  if (!made.groups_) {
    return detail::fail(
        detail::out_of_host_memory_error(function, options.groups * sizeof(CUdevResource), where));
  }
  unsigned flags = 0;
  if (options.ignore_coscheduling) flags |= CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
  if (options.largest_clusters) flags |= CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  CUdevResource rest{};
  made.size_ = options.groups;
  GPU_TRY(driver::call<&driver::entry_points::dev_sm_resource_split_by_count>(
      where, made.groups_.get(), &made.size_, &native_, &rest, flags, options.size));
  made.rest_ = from_native(rest, device(), true);
  if (made.size_ == options.groups) return made;
  detail::text_builder out;
  out << "device " << device_ << " makes only " << made.size_ << " groups of " << options.size
      << " multiprocessors, and " << options.groups << " were asked for. Pass fewer groups.";
  return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                      options.groups, made.size_));
}

}}  // namespace gpu::v1

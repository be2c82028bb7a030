#pragma once
/// \file
/// Batches of copies: many copies in one call, each with its own hints.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/detail/batch.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/memory/ranges.hpp>

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {
struct batch_access;
}

/// The time at which a copy of a batch may read its source.
enum class source_access_order : int {
  /// in stream order
  stream = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
  /// before the call returns: no queued work may write to the source
  during_call = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
  /// at any time until the copy is done: no queued work may write to the source
  any = CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
};

/// Returns the enumerator's name, such as "during_call"; null for an unknown value.
constexpr const char* name_of(source_access_order order) noexcept {
  using enum source_access_order;
  return detail::find_name(order, {{stream, "stream"}, {during_call, "during_call"}, {any, "any"}});
}

/// Hints for the driver about one copy of a batch.
struct copy_hints {
  source_access_order source_order = source_access_order::stream;
  /// The likely location of managed memory.
  memory_location source{};
  memory_location destination{};
  /// Prefers a slower copy that takes fewer resources from running kernels.
  bool prefer_overlap_with_compute = false;
};

/// One copy of a batch: all elements of one range to another, with the ranges of `gpu::copy`.
class range_copy {
 public:
  template <class Source, class Destination>
  range_copy(Source&& source, Destination&& destination, copy_hints hints = {}) noexcept
      : range_copy(detail::copy_end_of(source), detail::copy_end_of(destination),
                   sizeof(detail::element_t<Destination>), hints) {
    check<Source, Destination>();
    static_assert(device_range<Source> || pinned_range<Source>,
                  "a copy of a batch needs page-locked host memory that lives until it runs: use a "
                  "gpu::pinned_vector, not a temporary one, or range_copy::read_now, which reads "
                  "any host memory before the call returns");
  }

  /// Makes a copy that reads its source, which may be any host memory, before the call returns.
  template <class Source, class Destination>
  static range_copy read_now(Source&& source, Destination&& destination,
                             copy_hints hints = {}) noexcept {
    check<Source, Destination>();
    hints.source_order = source_access_order::during_call;
    return {detail::copy_end_of(source), detail::copy_end_of(destination),
            sizeof(detail::element_t<Destination>), hints};
  }

 private:
  friend struct detail::batch_access;

  range_copy(detail::copy_end source, detail::copy_end destination, std::size_t element,
             const copy_hints& hints) noexcept
      : source_{source}, destination_{destination}, element_{element}, hints_{hints} {}

  template <class Source, class Destination> static constexpr void check() noexcept {
    detail::check_copy<Source, Destination>();
    static_assert(device_range<Destination> || pinned_range<Destination>,
                  "a copy of a batch needs page-locked host memory that lives until it runs: use a "
                  "gpu::pinned_vector, not a temporary one");
  }

  detail::copy_end source_;
  detail::copy_end destination_;
  std::size_t element_;
  copy_hints hints_;
};

/// One copy of a batch: a 2D or 3D region, or a part of it, with the arguments of `gpu::copy`.
/// Batches with CUDA arrays are in `gpu/texture/copy_array_batch.hpp`.
class box_copy {
 public:
  template <detail::pitched_range Source, detail::pitched_range Destination>
  box_copy(Source&& source, Destination&& destination, copy_region region = {},
           copy_hints hints = {}) noexcept
      : box_copy(detail::side_of(source), detail::side_of(destination), region, hints) {
    detail::check_region_copy<Source, Destination>();
    static_assert(!detail::is_host_region<Source>() && !detail::is_host_region<Destination>(),
                  "a copy of a batch needs page-locked host memory: use a "
                  "gpu::pitched_pinned_span, or box_copy::read_now, which reads any host memory "
                  "before the call returns");
  }

  /// Makes a copy that reads its source, which may be any host memory, before the call returns.
  template <detail::pitched_range Source, detail::pitched_range Destination>
  static box_copy read_now(Source&& source, Destination&& destination, copy_region region = {},
                           copy_hints hints = {}) noexcept {
    detail::check_region_copy<Source, Destination>();
    static_assert(!detail::is_host_region<Destination>(),
                  "a copy of a batch needs page-locked host memory: use a "
                  "gpu::pitched_pinned_span");
    hints.source_order = source_access_order::during_call;
    return {detail::side_of(source), detail::side_of(destination), region, hints};
  }

 private:
  friend struct detail::batch_access;

  box_copy(const detail::region_side& source, const detail::region_side& destination,
           const copy_region& region, const copy_hints& hints) noexcept
      : source_{source}, destination_{destination}, region_{region}, hints_{hints} {}

  result<> make_sides(detail::region_side& from, detail::region_side& to,
                      source_location) const noexcept {
    from = source_;
    to = destination_;
    return {};
  }

  detail::region_side source_;
  detail::region_side destination_;
  copy_region region_;
  copy_hints hints_;
};

namespace detail {

inline result<> check_hints(const copy_hints& hints, source_location where) noexcept {
  return require_enumerator(hints.source_order, "source_access_order", "gpu::copy", where);
}

inline unsigned native_flags(const copy_hints& hints) noexcept {
  return hints.prefer_overlap_with_compute ? unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}
                                           : unsigned{CU_MEMCPY_FLAG_DEFAULT};
}

/// Queues a batch in the stream's context, which the driver requires to be current.
template <auto Member, class... Arguments>
result<> queue_batch(const stream_ref& stream, source_location where,
                     Arguments... arguments) noexcept {
  result<> done = driver::in_context(stream.context().native(), where, [&] {
    return queue<Member>(stream, copy_batch_label, where, arguments..., stream.native());
  });
  if (done.has_value()) return done;
  return fail(
      explain_code(std::move(done).error(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   "a graph cannot contain a batch of copies. In a capture, copy one by one."));
}

inline result<> batch_without_room(std::size_t bytes, source_location where) noexcept {
  return fail(out_of_host_memory_error("gpu::copy", bytes, where));
}

/// Queues batches, with access to the members of their copies.
struct batch_access {
  /// (cuMemcpyBatchAsync)
  static result<> queue(const stream_ref& stream, const range_copy* copies, std::size_t count,
                        source_location where) noexcept {
    GPU_TRY(require_batch_stream(stream, "gpu::copy", "copies", where));
    const scratch_array<CUdeviceptr> addresses(2 * count);
    const scratch_array<std::size_t> sizes(2 * count);
    const scratch_array<CUmemcpyAttributes> attributes(count);
    if (addresses.data == nullptr || sizes.data == nullptr || attributes.data == nullptr) {
      return batch_without_room(count * (4 * sizeof(std::size_t) + sizeof(CUmemcpyAttributes)),
                                where);
    }
    CUdeviceptr* const to = addresses.data;
    CUdeviceptr* const from = addresses.data + count;
    std::size_t* const first_copies =
        sizes.data + count;  // index of the first copy that each entry of `attributes` applies to
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const range_copy& copy = copies[i];
      GPU_TRY(require_owners(copy.source_, copy.destination_, where));
      GPU_TRY(require_same_size(copy.source_, copy.destination_, where));
      GPU_TRY(require_contexts(stream, copy.source_.context, copy.destination_.context, where));
      GPU_TRY(check_hints(copy.hints_, where));
      if (copy.source_.count == 0) continue;  // the driver does not accept copies of 0 bytes
      to[used] = copy.destination_.device_address();
      from[used] = copy.source_.device_address();
      GPU_TRY(get_bytes("gpu::copy", copy.source_.count, copy.element_, sizes.data[used], where));
      CUmemcpyAttributes& of_copy = attributes.data[used];
      of_copy.srcAccessOrder = static_cast<CUmemcpySrcAccessOrder>(copy.hints_.source_order);
      of_copy.srcLocHint = copy.hints_.source.native();
      of_copy.dstLocHint = copy.hints_.destination.native();
      of_copy.flags = native_flags(copy.hints_);
      first_copies[used] = used;
      ++used;
    }
    if (used == 0) return {};
    return explain_hints(
        queue_batch<&driver::entry_points::memcpy_batch_async>(
            stream, where, to, from, sizes.data, used, attributes.data, first_copies, used),
        copies, count, where);
  }

  /// For `box_copy`, and for the copies with arrays. (cuMemcpy3DBatchAsync)
  template <class Copy>
  static result<> queue(const stream_ref& stream, const Copy* copies, std::size_t count,
                        source_location where) noexcept {
    GPU_TRY(require_batch_stream(stream, "gpu::copy", "copies", where));
    const scratch_array<CUDA_MEMCPY3D_BATCH_OP> natives(count);
    if (natives.data == nullptr)
      return batch_without_room(count * sizeof(CUDA_MEMCPY3D_BATCH_OP), where);
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const copy_hints& hints = copies[i].hints_;
      copy_region region = copies[i].region_;
      region_side from, to;
      GPU_TRY(copies[i].make_sides(from, to, where));
      GPU_TRY(complete_region(from, to, region, where));
      GPU_TRY(require_contexts(stream, from.context, to.context, where));
      GPU_TRY(check_hints(hints, where));
      if (region.size.empty()) continue;
      // The driver counts in elements of an array, or, between two pointers, in bytes.
      const bool texels = from.array != nullptr || to.array != nullptr;
      const std::size_t unit = texels ? from.element : 1;
      CUDA_MEMCPY3D_BATCH_OP& native = natives.data[used];
      native.src = operand(from, region.source, hints.source, unit);
      native.dst = operand(to, region.destination, hints.destination, unit);
      native.extent = {region.size.width * from.element / unit, region.size.height,
                       region.size.depth};
      native.srcAccessOrder = static_cast<CUmemcpySrcAccessOrder>(hints.source_order);
      native.flags = native_flags(hints);
      ++used;
    }
    if (used == 0) return {};
    return explain_hints(queue_batch<&driver::entry_points::memcpy_3d_batch_async>(
                             stream, where, used, natives.data, 0ull),
                         copies, count, where);
  }

 private:
  /// If a hint names a device that does not exist, returns an error with its index and the number
  /// of devices.
  template <class Copy>
  static result<> explain_hints(result<> done, const Copy* copies, std::size_t count,
                                source_location where) noexcept {
    for (std::size_t i = 0; !done.has_value() && i < count; ++i) {
      // By swap, because nvcc warns of an assignment.
      explain_location(done, copies[i].hints_.source, where).swap(done);
      explain_location(done, copies[i].hints_.destination, where).swap(done);
    }
    return done;
  }

  static CUmemcpy3DOperand operand(const region_side& side, const box_position& at,
                                   const memory_location& hint, std::size_t unit) noexcept {
    CUmemcpy3DOperand made{};
    if (side.array != nullptr) {
      made.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
      made.op.array.array = side.array;
      made.op.array.offset = {at.x, at.y, at.z};
      return made;
    }
    made.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    made.op.ptr.ptr = static_cast<CUdeviceptr>(
        side.address + (at.z * side.rows + at.y) * side.pitch + at.x * side.element);
    made.op.ptr.rowLength = side.pitch / unit;
    made.op.ptr.layerHeight = side.rows;
    made.op.ptr.locHint = hint.native();
    return made;
  }
};

template <class> inline constexpr bool is_batched_copy = false;
template <> inline constexpr bool is_batched_copy<range_copy> = true;
template <> inline constexpr bool is_batched_copy<box_copy> = true;

template <class Copy>
concept batched_copy = is_batched_copy<Copy>;

}  // namespace detail

/// Queues copies on `stream`, and returns:
///
///     GPU_TRY(gpu::copy(stream, {gpu::range_copy(a, x), gpu::range_copy(b, y)}));
///
/// **Ordering**: after the work already queued on `stream`, before work queued later. The copies
/// run in any order, so none may write what another reads or writes. Ranges must stay alive until
/// the batch has run; sources that are read during the call, only during the call.
/// **Errors**: those of `copy`, before anything is queued; `errc::invalid_argument` for the legacy
/// default stream; `errc::index_out_of_range` for a hint with a device that does not exist;
/// `errc::out_of_host_memory`; `errc::not_supported` with a driver before CUDA 13.0.
/// **Capture**: not allowed: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED with an explanation; the capture
/// stays valid. **Threads**: any. (cuMemcpyBatchAsync, cuMemcpy3DBatchAsync)
template <detail::batched_copy Copy>
result<> copy(stream_ref stream, std::initializer_list<Copy> copies,
              source_location where = source_location::current()) noexcept {
  return detail::batch_access::queue(stream, copies.begin(), copies.size(), where);
}
/// Does the same for any contiguous range of copies.
template <host_range Copies>
  requires detail::batched_copy<std::remove_cv_t<detail::host_element_t<const Copies>>>
result<> copy(stream_ref stream, const Copies& copies,
              source_location where = source_location::current()) noexcept {
  return detail::batch_access::queue(stream, detail::data_of(copies), detail::size_of(copies),
                                     where);
}

}}  // namespace gpu::v1

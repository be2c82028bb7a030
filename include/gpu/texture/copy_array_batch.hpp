#pragma once
/// \file
/// `array_copy`: a copy with a CUDA array, for batches that one call queues.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/copy_batch.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/detail/array_copy_end.hpp>

namespace gpu { inline namespace v1 {

/// A copy to, from or between arrays, as an element of a batch:
///
///     GPU_TRY(gpu::copy(stream, {gpu::array_copy(pixels, atlas, {.destination = {64, 0}}),
///                                gpu::array_copy(mask, stencil)}));
///
/// The same `copy` queues such a batch as a batch of 2D and 3D copies. **Errors**: those of copies
/// with arrays; also `errc::invalid_argument` if a pitch is not a whole number of texels, which a
/// batch requires. Location hints apply to the ends that are not arrays.
class array_copy {
 public:
  template <class Source, class Destination>
    requires detail::copies_array<Source, Destination>
  array_copy(Source&& source, Destination&& destination, copy_region region = {},
             copy_hints hints = {}) noexcept
      : array_copy(detail::array_copy_end_of(source), detail::array_copy_end_of(destination),
                   region, hints) {
    static_cast<void>(detail::check_array_copy<Source, Destination>());
    static_assert(detail::is_asynchronous_end<Source>(),
                  "a copy of a batch needs page-locked host memory: use a gpu::pinned_vector, or "
                  "array_copy::read_now, which reads any host memory before the call returns");
    check_destination<Destination>();
  }

  /// Makes a copy whose source may be any host memory: the call that queues the batch reads it
  /// before it returns.
  template <class Source, class Destination>
    requires detail::copies_array<Source, Destination>
  static array_copy read_now(Source&& source, Destination&& destination, copy_region region = {},
                             copy_hints hints = {}) noexcept {
    static_cast<void>(detail::check_array_copy<Source, Destination>());
    check_destination<Destination>();
    hints.source_order = source_access_order::during_call;
    return {detail::array_copy_end_of(source), detail::array_copy_end_of(destination), region,
            hints};
  }

 private:
  friend struct detail::batch_access;

  array_copy(const detail::array_copy_end& source, const detail::array_copy_end& destination,
             const copy_region& region, const copy_hints& hints) noexcept
      : source_{source}, destination_{destination}, region_{region}, hints_{hints} {}

  template <class Destination> static constexpr void check_destination() noexcept {
    static_assert(detail::is_asynchronous_end<Destination>(),
                  "a copy of a batch needs page-locked host memory: use a gpu::pinned_vector");
  }

  result<> make_sides(detail::region_side& from, detail::region_side& to,
                      source_location where) const noexcept {
    GPU_TRY(detail::make_sides(source_, destination_, region_, from, to, where));
    GPU_TRY(require_texel_pitch("source", from, where));
    return require_texel_pitch("destination", to, where);
  }

  static result<> require_texel_pitch(const char* what, const detail::region_side& side,
                                      source_location where) noexcept {
    if (side.array != nullptr || side.pitch % side.element == 0) return {};
    detail::text_builder out;
    out << "the " << what << " has a pitch of " << side.pitch
        << " bytes, but in a batch it must be a multiple of the texel size of " << side.element
        << " bytes. Use such a pitch, or queue this copy on its own.";
    return detail::fail(detail::refusal(errc::invalid_argument, "gpu::copy", out.finish(), where,
                                        side.pitch, side.element));
  }

  detail::array_copy_end source_;
  detail::array_copy_end destination_;
  copy_region region_;
  copy_hints hints_;
};

namespace detail {
template <> inline constexpr bool is_batched_copy<array_copy> = true;
}

}}  // namespace gpu::v1

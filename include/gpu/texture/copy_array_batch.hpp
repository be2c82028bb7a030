#pragma once
/// \file
/// Batches of copies with CUDA arrays: many queued by one call, each with hints of its own.

#include <gpu/memory/copy_batch.hpp>
#include <gpu/texture/copy_array.hpp>

namespace gpu::inline v0 {

/// One copy of a batch to, from or between arrays, as `gpu::copy` takes them:
///
///     GPU_TRY(gpu::copy(stream, {gpu::array_copy(pixels, atlas, {.destination = {64, 0}}),
///                                gpu::array_copy(mask, stencil)}));
///
/// Such a batch is queued as one of boxes is, by the same `copy`. **Errors**: those of copies with
/// arrays; also `errc::invalid_argument` where a pitch is no whole number of texels, which a batch
/// counts in. Hints of locations are for the ends that are no arrays.
class array_copy {
 public:
  template <class Source, class Destination>
    requires detail::copies_array<Source, Destination>
  array_copy(Source&& source, Destination&& destination, copy_region region = {},
             copy_hints hints = {}) noexcept
      : array_copy(detail::array_copy_end_of(source), detail::array_copy_end_of(destination),
                   region, hints) {
    detail::check_array_copy<Source, Destination>();
    static_assert(detail::is_asynchronous_end<Source>(),
                  "a copy of a batch needs page-locked host memory: use a gpu::pinned_vector, or "
                  "array_copy::read_now, which reads any host memory before the call returns");
    check_destination<Destination>();
  }

  /// A copy that has read its source, which may be any host memory, when the call returns.
  template <class Source, class Destination>
    requires detail::copies_array<Source, Destination>
  static array_copy read_now(Source&& source, Destination&& destination, copy_region region = {},
                             copy_hints hints = {}) noexcept {
    detail::check_array_copy<Source, Destination>();
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
    if (side.array != nullptr || side.pitch % side.element == 0) [[likely]]
      return {};
    detail::text_builder out;
    out << "the " << what << " has a pitch of " << side.pitch
        << " bytes, but a batch counts in texels of " << side.element
        << " bytes. Give a pitch that is a multiple of that, or copy this one by itself.";
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

}  // namespace gpu::inline v0

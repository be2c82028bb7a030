#pragma once
/// \file
/// NumPy's .npy files: `save_npy`, `load_npy`.

#include <gpu/array/array.hpp>
#include <gpu/array/detail/fetch.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/npy_elements.hpp>
#include <gpu/array/io/npy_header.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>

namespace gpu { inline namespace v1 {

/// Writes a view or an array to a .npy file, byte for byte as NumPy's `save` does: in Fortran
/// order, if the elements are so in memory, else in C order.
///
///     GPU_TRY(gpu::save_npy(stream, a, "a.npy"));
///
/// The file gets its name when it is complete. Until then, and after an error, an earlier file of
/// that name is unchanged.
/// **Ordering**: waits for the stream. **Errors**: `errc::file_error` with the path and the reason;
/// the reason of a faulty view; `errc::empty_handle`; `errc::wrong_context`; out of host or device
/// memory. **Cost**: elements go through two pieces of 4 MiB of page-locked memory, so that the
/// host need not have room for all; those of views that are not contiguous are copied on the device
/// first. **Capture**: not allowed.
template <detail::viewable A>
  requires detail::npy_number<detail::value_of_view<A>>
result<> save_npy(const stream_ref& stream, A&& a, string_ref path,
                  source_location where = source_location::current()) {
  using element = detail::value_of_view<A>;
  constexpr const char* function = "gpu::save_npy";
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_readable(function, stream, view, a, where));
  const auto name = GPU_TRY(detail::name_file(function, path, where));
  detail::file_sink file(name);
  GPU_TRY(file.open());
  const array_view<const element, detail::viewed_rank<A>> elements = view;
  GPU_TRY(detail::with_packed(stream, elements, where, [&](const auto& packed, bool fortran) {
    return detail::save_array(file, name, stream, packed, fortran);
  }));
  return file.commit();
}

/// Makes an array of the contents of a .npy file of version 1.0, 2.0 or 3.0, whoever wrote it: its
/// header is read as by NumPy's `load`. Elements that are in Fortran order in the file are so in
/// the array; big-endian ones are converted. If arrays or other bytes follow in the file, only the
/// first array is loaded, as by `np.load(path)`; save several arrays with `save_npz`.
///
///     auto a = GPU_TRY((gpu::load_npy<float, 2>(stream, "a.npy")));
///
/// **Ordering**: waits for the stream. **Errors**: `errc::invalid_argument` for elements of another
/// type, `errc::size_mismatch` for another rank, both with what is in the file; `errc::file_error`
/// with the reason, and the byte if the file is damaged; out of host or device memory.
/// **Cost**: as `save_npy`. **Capture**: not allowed.
template <class T, int Rank = 1>
  requires detail::npy_number<T>
result<array<T, Rank>> load_npy(const stream_ref& stream, string_ref path,
                                source_location where = source_location::current()) {
  constexpr const char* function = "gpu::load_npy";
  GPU_TRY(detail::require_waiting(function, stream, where));
  const auto name = GPU_TRY(detail::name_file(function, path, where));
  const auto file = GPU_TRY(detail::open_named(name));
  detail::file_source source(file, name, 0, file.size());
  return detail::load_array<T, Rank>(name, source, stream);
}

}}  // namespace gpu::v1

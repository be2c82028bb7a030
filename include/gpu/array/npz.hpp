#pragma once
/// \file
/// NumPy's .npz files, which hold several arrays by name: `save_npz`, `load_npz`.

#include <gpu/array/array.hpp>
#include <gpu/array/detail/fetch.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/inflate.hpp>
#include <gpu/array/io/npy_elements.hpp>
#include <gpu/array/io/npy_header.hpp>
#include <gpu/array/io/zip_reader.hpp>
#include <gpu/array/io/zip_writer.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>

#include <cerrno>
#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

inline constexpr const char* save_npz_name = "gpu::save_npz";

/// Returns whether one of several arrays has this name.
inline bool is_among(string_ref) noexcept { return false; }
template <class A, class... Others>
bool is_among(string_ref name, string_ref other, const A&, const Others&... others) noexcept {
  return name == other || is_among(name, others...);
}

inline result<> check_npz(const stream_ref&, source_location) noexcept { return {}; }
/// Fails, before anything is written, unless all arrays can be saved under their names.
template <class A, class... Others>
result<> check_npz(const stream_ref& stream, source_location where, string_ref name, const A& a,
                   const Others&... others) {
  static_assert(
      viewable<const A&> && npy_number<value_of_view<A>>,
      "gpu::save_npz: after the path there are names and arrays in turn, and the elements "
      "are numbers that NumPy has, too");
  constexpr std::size_t most = 65000;
  if (name.empty() || name.size() > most) {
    text_builder out;
    out << "an array has a name of " << name.size() << " characters. Pass one of 1 to " << most
        << '.';
    return fail(
        refusal(errc::invalid_argument, save_npz_name, out.finish(), where, name.size(), most));
  }
  if (is_among(name, others...)) {
    text_builder out;
    out << "two arrays have the name " << escaped{name} << ". Pass another name for one.";
    return fail(refusal(errc::invalid_argument, save_npz_name, out.finish(), where));
  }
  GPU_TRY(require_readable(save_npz_name, stream, array_view_of(a), a, where));
  return check_npz(stream, where, others...);
}

inline result<> write_npz(zip_writer&, const named_file&, const stream_ref&) noexcept { return {}; }
template <class A, class... Others>
result<> write_npz(zip_writer& archive, const named_file& file, const stream_ref& stream,
                   string_ref name, const A& a, const Others&... others) {
  using element = value_of_view<A>;
  const array_view<const element, viewed_rank<const A&>> view = array_view_of(a);
  GPU_TRY(with_packed(stream, view, file.where, [&](const auto& packed, bool fortran) -> result<> {
    const text header =
        write_npy_header(npy_type_of<element>(), fortran, view_access::layout_of(packed));
    if (header.lost()) return fail(file.failed("written", ENOMEM));
    const std::size_t bytes = packed.size() * sizeof(element);
    GPU_TRY(archive.begin(name, header.size() + bytes));
    GPU_TRY(archive.write(header.data(), header.size()));
    GPU_TRY(save_elements(archive, stream, packed.native(), bytes, file.where));
    return archive.end(name);
  }));
  return write_npz(archive, file, stream, others...);
}

}  // namespace detail

/// Writes views and arrays to a .npz file, each under a name, uncompressed, for NumPy's `load`:
///
///     GPU_TRY(gpu::save_npz(stream, "state.npz", "positions", x, "velocities", v));
///
/// The file gets its name when it is complete.
/// **Ordering**: waits for the stream. **Errors**: `errc::invalid_argument` for an empty name, and
/// for one that comes twice; otherwise as `save_npy`. **Cost**: as `save_npy`; files larger than
/// 4 GiB are ZIP archives of version 4.5. **Capture**: not allowed.
template <class... NamesAndArrays>
result<> save_npz(located<stream_ref> stream, string_ref path, const NamesAndArrays&... arrays) {
  static_assert(sizeof...(arrays) % 2 == 0,
                "gpu::save_npz: after the path there are names and arrays in turn");
  GPU_TRY(detail::require_waiting(detail::save_npz_name, stream.value, stream.where));
  GPU_TRY(detail::check_npz(stream.value, stream.where, arrays...));
  const auto name = GPU_TRY(detail::name_file(detail::save_npz_name, path, stream.where));
  detail::file_sink file(name);
  GPU_TRY(file.open());
  detail::zip_writer archive(file);
  GPU_TRY(detail::write_npz(archive, name, stream.value, arrays...));
  GPU_TRY(archive.finish());
  return file.commit();
}

/// Makes an array of one of those in a .npz file, as NumPy's `savez` and `savez_compressed` write
/// it; the second needs zlib, which is opened when it is first needed.
///
///     auto v = GPU_TRY((gpu::load_npz<float, 2>(stream, "state.npz", "velocities")));
///
/// **Ordering**: waits for the stream. **Errors**: `errc::unknown_name` with the names in the file;
/// `errc::not_supported` if zlib is missing; otherwise as `load_npy`, with the byte of the unpacked
/// array where it was compressed; a wrong checksum is an error. **Capture**: not allowed.
template <class T, int Rank = 1>
  requires detail::npy_number<T>
result<array<T, Rank>> load_npz(const stream_ref& stream, string_ref path, string_ref name,
                                source_location where = source_location::current()) {
  constexpr const char* function = "gpu::load_npz";
  GPU_TRY(detail::require_waiting(function, stream, where));
  const auto whole = GPU_TRY(detail::name_file(function, path, where));
  const auto file = GPU_TRY(detail::open_named(whole));
  const auto member = GPU_TRY(detail::zip_reader(file, whole).find(name));
  detail::file_source stored(file, whole, member.begin, member.end);
  if (!member.deflated) {
    detail::checked_source source(stored, whole, member.crc);
    return detail::load_array<T, Rank>(whole, source, stream);
  }
  const auto zlib = GPU_TRY(detail::zlib_functions::find(whole));
  detail::text_builder words;
  words << whole.path << ", unpacked " << name;
  const detail::named_file unpacked{function, words.finish(), where};
  if (unpacked.path.lost()) return detail::fail(whole.failed("read", ENOMEM));
  detail::inflated_source inflated(zlib, stored, whole, unpacked, member.size);
  detail::checked_source source(inflated, unpacked, member.crc);
  return detail::load_array<T, Rank>(unpacked, source, stream);
}

}}  // namespace gpu::v1

#pragma once
/// \file
/// The array of a .npy file, or of a member of an .npz file: its header and its elements.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/evaluate.hpp>  // IWYU pragma: keep
#include <gpu/array/io/byte_sink.hpp>
#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/file_transfer.hpp>
#include <gpu/array/io/npy_header.hpp>
#include <gpu/array/io/npy_header_reader.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/shape.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns whether `source` holds the elements that a header describes, as far as that is known
/// before they are read.
inline result<> require_length(const named_file& file, const npy_header& header,
                               const byte_source& source) noexcept {
  std::size_t bytes = header.type.bytes;
  for (int axis = 0; axis < header.rank; ++axis)
    bytes = saturated_product(bytes, header.extents[axis]);
  if (bytes <= source.left()) return {};
  return fail(file.damaged(source.offset() + source.left(),
                           "the file ends before the last element that its header names"));
}

/// Fails unless a file has elements of type `wanted` and `rank` axes.
inline result<> require_header(const named_file& file, const npy_header& header,
                               const npy_type& wanted, int rank) noexcept {
  const npy_type_name& stored = *find_npy_type(header.type);
  const auto suggest = [&](text_builder& out) {
    out << ". Call " << file.function << '<' << stored.element << ", " << header.rank << '>';
  };
  if (!(header.type == wanted)) {
    text_builder out;
    out << "the elements in \"" << escaped{file.path} << "\" are of type " << stored.element
        << " (NumPy's " << stored.numpy << "), not " << find_npy_type(wanted)->element;
    suggest(out);
    out << "; gpu::assign converts them.";
    return fail(refusal(errc::invalid_argument, file.function, out.finish(), file.where));
  }
  if (header.rank == rank) return {};
  text_builder out;
  out << "the array in \"" << escaped{file.path} << "\" has the shape ";
  write_extents(out, header.extents, header.rank);
  out << ", so its rank is " << header.rank << ", not " << rank;
  suggest(out);
  out << '.';
  return fail(refusal(errc::size_mismatch, file.function, out.finish(), file.where,
                      static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(header.rank)));
}

template <class T, int Rank>
result<array<T, Rank>> load_array(const named_file& file, byte_source& source,
                                  const stream_ref& stream) {
  constexpr npy_type wanted = npy_type_of<T>();
  const npy_header header = GPU_TRY(read_npy_header(file, source));
  GPU_TRY(require_header(file, header, wanted, Rank));
  GPU_TRY(require_length(file, header, source));
  shape<Rank> extents;
  for (int axis = 0; axis < Rank; ++axis) extents[axis] = header.extents[axis];
  auto made = GPU_TRY((gpu::empty<T>(
      stream, extents, header.fortran ? axis_order::fortran : axis_order::c, file.where)));
  GPU_TRY(load_elements(file, source, stream, made.native(), made.size_bytes(),
                        header.type.big_endian ? wanted.word_bytes() : 0));
  return made;
}

/// Calls `write(view, fortran)` with the elements of a view in an order that a file can have, C or
/// Fortran: those of the view, or of a copy.
template <class T, int Rank, class Write>
result<> with_packed(const stream_ref& stream, const array_view<const T, Rank>& view,
                     source_location where, Write write) {
  if (view.is_contiguous(axis_order::keep)) return write(view, !view.is_contiguous());
  const auto copy = GPU_TRY(gpu::evaluate(stream, view, where));
  return write(copy.view(), false);
}

/// Writes a header and elements.
template <class T, int Rank>
result<> save_array(byte_sink& sink, const named_file& file, const stream_ref& stream,
                    const array_view<const T, Rank>& view, bool fortran) {
  const text header = write_npy_header(npy_type_of<T>(), fortran, view_access::layout_of(view));
  if (header.lost()) return fail(file.failed("written", ENOMEM));
  GPU_TRY(sink.write(header.data(), header.size()));
  return save_elements(sink, stream, view.native(), view.size() * sizeof(T), file.where);
}

}}}  // namespace gpu::v1::detail

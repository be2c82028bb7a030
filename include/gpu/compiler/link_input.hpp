#pragma once
/// \file
/// `link_input`: a piece of compiled code to link with others.

#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel/detail/image.hpp>
#include <gpu/system/read_file.hpp>

#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The form of a `link_input`.
enum class link_input_kind : unsigned char {
  program,  ///< a `compiled_program`: LTO-IR, machine code, PTX
  ptx,
  cubin,
  fatbin,
  lto_ir,
  object,   ///< a host object file of nvcc with device code in it
  library,  ///< an archive of such objects
  unknown,  ///< none of these; `link` rejects it
};

namespace detail {

inline link_input_kind kind_of_link_input(bytes_ref image) noexcept {
  constexpr std::uint32_t lto_ir_magic = 0x7f4e'43ed;
  constexpr std::uint16_t cuda_machine = 190;
  if (image.size() >= 8 && __builtin_memcmp(image.data(), "!<arch>\n", 8) == 0) {
    return link_input_kind::library;
  }
  if (image.size() >= 4 && read_at<std::uint32_t>(image, 0) == lto_ir_magic) {
    return link_input_kind::lto_ir;
  }
  switch (kind_of_image(image)) {
    case image_kind::ptx: return link_input_kind::ptx;
    case image_kind::fatbin: return link_input_kind::fatbin;
    case image_kind::cubin: {
      const bool host = image.size() >= 20 && read_at<std::uint16_t>(image, 18) != cuda_machine;
      return host ? link_input_kind::object : link_input_kind::cubin;
    }
    case image_kind::unknown: break;
  }
  return link_input_kind::unknown;
}

}  // namespace detail

/// A piece of compiled code to link with others, and its name in messages: a `compiled_program`, or
/// the bytes of PTX, a cubin, a fatbin, LTO-IR, a host object or an archive of those, which are
/// recognized by their first bytes. A value; copies share the bytes.
class link_input {
 public:
  /// A program, which should be compiled with `relocatable` or `link_time_optimization`. The linker
  /// gets its LTO-IR or else its machine code, or its PTX if that is for another device.
  link_input(const compiled_program& program, string_ref name = {})
      : kind_{link_input_kind::program},
        program_{program},
        name_{detail::required(name.to_text())} {}

  /// Copies the bytes.
  template <class Bytes>
    requires std::is_convertible_v<const Bytes&, bytes_ref>
  link_input(const Bytes& image, string_ref name = {})
      : kind_{detail::kind_of_link_input(image)}, name_{detail::required(name.to_text())} {
    const bytes_ref bytes = image;
    image_ = detail::required(text(bytes.characters(), bytes.size()));
  }

  /// Reads a file, whose path becomes the name in messages.
  /// **Errors**: `errc::file_error` with the path and the reason.
  static result<link_input> from_file(string_ref path,
                                      source_location where = source_location::current()) {
    text image;
    GPU_TRY(detail::read_file("gpu::link_input::from_file", path, image, where));
    return link_input(image, path);
  }

  link_input_kind kind() const noexcept { return kind_; }
  const text& name() const noexcept { return name_; }
  /// Returns the bytes it was made of; empty for a program.
  const text& image() const noexcept { return image_; }
  /// Returns the program it was made of, or an empty one.
  const compiled_program& program() const noexcept { return program_; }

 private:
  link_input_kind kind_;
  text image_;
  compiled_program program_;
  text name_;
};

}}  // namespace gpu::v1

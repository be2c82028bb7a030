#pragma once
/// \file
/// Cache entries: the names of the cache's files, and the envelope that proves one whole.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The kind of an entry.
enum class entry_kind : std::uint64_t { program = 1, summary, measurement, toolchain, archive };

/// The file name of an entry: the key, a dot, and a letter or digit for one of the key's entries.
struct entry_name {
  char characters[67];

  entry_name(const digest& key, char part) noexcept {
    const digest::hexadecimal digits = key.hex();
    __builtin_memcpy(characters, digits.digits, 64);
    characters[64] = '.';
    characters[65] = part;
    characters[66] = '\0';
  }
};

/// Number of the layout of entries. It changes with the layout, so that versions of the library
/// with different layouts do not read each other's entries.
inline constexpr std::uint64_t cache_format = 2;
inline constexpr char cache_magic[] = "gpucache";  // eight characters

/// Returns an entry: the contents with kind, key, and a digest of everything. The result is lost if
/// the contents are, or if memory runs out.
inline text seal(entry_kind kind, const digest& key, const text& contents) noexcept {
  const digest whole = (digest_builder() << cache_format << static_cast<std::uint64_t>(kind) << key
                                         << string_ref(contents))
                           .finish();
  return (byte_writer().raw(cache_magic, 8)
          << cache_format << static_cast<std::uint64_t>(kind) << key << whole << contents)
      .finish();
}

/// Sets `contents` to the contents of `sealed`, which they point into. Returns false if `seal` did
/// not make it for this kind and key.
inline bool unseal(string_ref sealed, entry_kind kind, const digest& key,
                   string_ref& contents) noexcept {
  byte_reader in(sealed);
  std::uint64_t format = 0, found_kind = 0, size = 0;
  digest found_key, whole;
  const string_ref magic = in.raw(8);
  in >> format >> found_kind >> found_key >> whole >> size;
  contents = in.raw(size);
  if (!in.ok() || !in.rest().empty() || !(magic == cache_magic) || format != cache_format ||
      found_kind != static_cast<std::uint64_t>(kind) || !(found_key == key)) {
    return false;
  }
  return whole == (digest_builder() << format << found_kind << key << contents).finish();
}

/// Reads kind, key and contents of an entry whose key is not known. Returns false if `seal` did not
/// make it.
inline bool read_seal(string_ref sealed, entry_kind& kind, digest& key,
                      string_ref& contents) noexcept {
  byte_reader in(sealed);
  std::uint64_t format = 0, found_kind = 0;
  in.raw(8);
  in >> format >> found_kind >> key;
  kind = static_cast<entry_kind>(found_kind);
  return in.ok() && unseal(sealed, kind, key, contents);
}

inline byte_writer& operator<<(byte_writer& out, architecture a) noexcept {
  return out << static_cast<std::uint64_t>(a.kind()) << static_cast<std::uint64_t>(a.number())
             << static_cast<std::uint64_t>(a.variant());
}
inline byte_reader& operator>>(byte_reader& in, architecture& a) noexcept {
  std::uint64_t kind = 0, number = 0, variant = 0;
  in >> kind >> number >> variant;
  const auto sm = static_cast<int>(number);
  const auto letter = static_cast<char>(variant);
  const bool real = kind == static_cast<std::uint64_t>(architecture::kind_type::real);
  a = real ? architecture::sm(sm, letter) : architecture::compute(sm, letter);
  return in;
}

}}}  // namespace gpu::v1::detail

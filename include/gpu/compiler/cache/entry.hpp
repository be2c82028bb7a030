#pragma once
/// \file
/// The cache's files: what a stored program looks like in bytes, and the envelope that proves it
/// whole.

#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/nvrtc/compile_once.hpp>

namespace gpu::inline v0::detail {

/// What a file of the cache holds.
enum class entry_kind : std::uint64_t { program = 1, summary, measurement, toolchain, archive };

/// The name of a file: the key, a dot, and a letter or digit that tells the files of a key apart.
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

/// Changes with the layout of the files, so that no version of the library reads what another one
/// wrote in another layout.
inline constexpr std::uint64_t cache_format = 2;
inline constexpr char cache_magic[] = "gpucache";  // eight characters

/// Contents with what it takes to check them later: kind, key, and a digest of everything. Lost if
/// the contents are, or if memory runs out.
inline text seal(entry_kind kind, const digest& key, const text& contents) noexcept {
  const digest whole = (digest_builder() << cache_format << static_cast<std::uint64_t>(kind) << key
                                         << string_ref(contents))
                           .finish();
  return (byte_writer().raw(cache_magic, 8)
          << cache_format << static_cast<std::uint64_t>(kind) << key << whole << contents)
      .finish();
}

/// Sets `contents` to what `sealed` holds; it points into it. False for anything that `seal` did
/// not make, for this kind and key.
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

/// The key of what was sealed, for those who only have the file; false for what `seal` did not
/// make.
inline bool read_seal(string_ref sealed, entry_kind& kind, digest& key,
                      string_ref& contents) noexcept {
  byte_reader in(sealed);
  std::uint64_t format = 0, found_kind = 0;
  in.raw(8);
  in >> format >> found_kind >> key;
  kind = static_cast<entry_kind>(found_kind);
  return in.ok() && unseal(sealed, kind, key, contents);
}

inline byte_writer& operator<<(byte_writer& out, const name_pair& name) noexcept {
  return out << name.written << name.lowered;
}
inline byte_reader& operator>>(byte_reader& in, name_pair& name) {
  return in >> name.written >> name.lowered;
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
inline byte_writer& operator<<(byte_writer& out, const compiled_state& s) noexcept {
  return out << s.ptx << s.cubin << s.lto_ir << s.log << s.ptxas_log << s.architecture << s.names
             << s.options << s.headers << std::uint64_t{s.headers_complete};
}
inline byte_reader& operator>>(byte_reader& in, compiled_state& s) {
  std::uint64_t complete = 0;
  in >> s.ptx >> s.cubin >> s.lto_ir >> s.log >> s.ptxas_log >> s.architecture >> s.names >>
      s.options >> s.headers >> complete;
  s.headers_complete = complete != 0;
  return in;
}

/// What is stored of a program: under which conditions it holds, what it is called, what it is.
inline text write_program(const cache_conditions& conditions, const text& name,
                          const compiled_state& state) noexcept {
  byte_writer out;
  out << conditions << name << state;
  return out.finish();
}

/// The first part of a stored program, before the compiled code; `in` is left there.
inline bool read_conditions(byte_reader& in, cache_conditions& conditions, text& name) {
  in >> conditions >> name;
  return in.ok();
}

/// The compiled code; empty where the bytes end early.
inline compiled_program read_code(byte_reader& in) {
  auto* state = new compiled_state;
  compiled_program made = compiled_program_access::adopt(state);
  in >> *state;
  return in.ok() && in.rest().empty() ? made : compiled_program();
}

/// What makes two compilations the same as far as the caller says it: source, names, headers given
/// as text, instances, options and architecture; and what the environment says to NVRTC. Compiler
/// and files are conditions under it.
inline digest key_of(const compile_request& request) {
  const program& p = request.source;
  digest_builder key;
  key << cache_format << static_cast<std::uint64_t>(request.architecture.kind())
      << static_cast<std::uint64_t>(request.architecture.number())
      << static_cast<std::uint64_t>(request.architecture.variant()) << string_ref(p.name())
      << string_ref(p.source());
  key << mark_of_library_headers() << std::uint64_t{p.headers().size()};
  for (const program_header& header : p.headers()) {
    key << string_ref(header.name) << string_ref(header.source);
  }
  key << std::uint64_t{p.instances().size()};
  for (const option_text& instance : p.instances()) key << string_ref(instance);
  for (const sequence<text>* list : {&request.options, &request.variables}) {
    key << std::uint64_t{list->size()};
    for (const text& word : *list) key << string_ref(word);
  }
  return key.finish();
}

/// The folders where a compilation looks for headers, in order.
inline sequence<text> folders_of(const compile_request& request) {
  sequence<text> folders = request.folders;
  for (const text& folder : request.found_folders) folders.push_back(folder);
  return folders;
}

}  // namespace gpu::inline v0::detail

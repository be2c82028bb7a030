#pragma once
/// \file
/// `library_facts`: the version and build of a library, for two builds of one version may make
/// different code. They may be known without opening the library, which takes several
/// milliseconds.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/system/library_table.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

// The parts of a 64-bit ELF file that are needed here; <elf.h> would define hundreds of macros.
struct elf_header {
  unsigned char identity[16];
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, segments, sections;
  std::uint32_t flags;
  std::uint16_t header_size, segment_size, segment_count;
};
struct elf_segment {
  std::uint32_t kind, flags;
  std::uint64_t offset, address, physical_address, file_size, memory_size, alignment;
};
struct elf_note {
  std::uint32_t name_size, content_size, type;
};

/// Returns the build identifier in the notes between two addresses, as hexadecimal digits; empty if
/// they do not contain one.
inline text build_identifier(std::uintptr_t first, std::uintptr_t last) {
  constexpr std::uint32_t gnu_build_identifier = 3;
  constexpr char gnu[] = "GNU";
  const auto aligned = [](std::size_t size) { return (size + 3) / 4 * 4; };
  while (last - first >= sizeof(elf_note) + sizeof gnu) {
    const auto& note = *reinterpret_cast<const elf_note*>(first);
    const auto* name = reinterpret_cast<const char*>(&note + 1);
    const auto* content = reinterpret_cast<const unsigned char*>(name + aligned(note.name_size));
    const std::size_t size = sizeof note + aligned(note.name_size) + aligned(note.content_size);
    if (size > last - first) return {};
    if (note.type == gnu_build_identifier && note.name_size == sizeof gnu &&
        std::memcmp(name, gnu, sizeof gnu) == 0) {
      text_builder digits;
      for (std::size_t i = 0; i < note.content_size && i < 8; ++i) {
        digits << "0123456789abcdef"[content[i] >> 4] << "0123456789abcdef"[content[i] & 15];
      }
      return required(digits.finish());
    }
    first += size;
  }
  return {};
}

/// Returns the build identifier of the library that contains `function`; empty if it has none.
inline text build_of_library(const void* function) {
  constexpr char elf_of_64_bits[] = "\177ELF\2";
  constexpr std::uint16_t fixed_address = 2;  // the type of an executable without relocations
  constexpr std::uint32_t notes_segment = 4;
  Dl_info info{};
  if (::dladdr(function, &info) == 0 || info.dli_fbase == nullptr) return {};
  const auto& header = *static_cast<const elf_header*>(info.dli_fbase);
  if (std::memcmp(header.identity, elf_of_64_bits, sizeof elf_of_64_bits - 1) != 0) return {};
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  const std::uintptr_t load_offset = header.type == fixed_address ? 0 : base;
  const auto* segments = reinterpret_cast<const elf_segment*>(base + header.segments);
  for (unsigned i = 0; i < header.segment_count; ++i) {
    if (segments[i].kind != notes_segment) continue;
    const std::uintptr_t notes = load_offset + segments[i].address;
    text found = build_identifier(notes, notes + segments[i].memory_size);
    if (!found.empty()) return found;
  }
  return {};
}

/// Returns a library's version and build, as in `NVRTC 13.0, build 65be0db342ad51a0`, or with its
/// path, size and time in place of a build. `function` is one of its own.
inline text library_identity(const char* name, int major, int minor, const void* function) {
  text_builder out;
  out << name << ' ' << major << '.' << minor << ", build ";
  const text build = build_of_library(function);
  if (!build.empty()) {
    out << build;
    return required(out.finish());
  }
  Dl_info info{};
  struct stat about{};
  if (::dladdr(function, &info) != 0 && ::stat(info.dli_fname, &about) == 0) {
    out << info.dli_fname << ' ' << about.st_size << ' ' << about.st_mtim.tv_sec << '.'
        << about.st_mtim.tv_nsec;
  } else {
    out << "unknown";
  }
  return required(out.finish());
}

/// The version, build and abilities of the library in use.
struct library_facts {
  text identity = {};  ///< version and build; empty without a library
  text library = {};   ///< the path of its file
  int major = 0, minor = 0;
  sequence<int> architectures = {};  ///< that a compiler supports, 90 for `sm_90`, ascending

  bool present() const noexcept { return !identity.empty(); }
};

/// Fills in the identity and the path, from the version and one of the library's functions.
template <class Library> void identify_library(library_facts& facts, const void* function) {
  facts.identity = library_identity(Library::name, facts.major, facts.minor, function);
  Dl_info info{};
  if (::dladdr(function, &info) != 0) facts.library = required(text(info.dli_fname));
}

/// Returns the environment variables that change a library's output, as `NAME=value`: as they are
/// set now and, if that differs, as they were set when the library was loaded.
template <class Library> sequence<text> library_variables() {
  sequence<text> set;
  const auto add = [&](const auto&... pieces) {
    text_builder out;
    (out << ... << pieces);
    set.push_back(required(out.finish()));
  };
  const char* now = environment_variable(generator_variable);
  if (now != nullptr) add(generator_variable, "=", now);
  if (library_table_in_force<Library>() == nullptr) return set;
  const noted_variable& before = library_state<Library>::of_process().generator;
  if (!before.noted) return set;
  if (!before.set) {
    if (now != nullptr) add("no ", generator_variable, " when it was loaded");
  } else if (now == nullptr || string_ref(before.value) != now) {
    add(generator_variable, "=", string_ref(before.value), " when it was loaded");
  }
  return set;
}

/// The facts that `recalled_library` returns, before the library is opened.
template <class Library> const library_facts*& recalled_facts() noexcept {
  static const library_facts* facts = nullptr;
  return facts;
}

/// Returns the facts that an earlier process noted about the library that this process would open;
/// null if not known, and once the library is open.
template <class Library> const library_facts* recalled_library() noexcept {
  if (library_table_in_force<Library>() != nullptr) return nullptr;
  return atomic_load<memory_order::acquire>(recalled_facts<Library>());
}

}}}  // namespace gpu::v1::detail

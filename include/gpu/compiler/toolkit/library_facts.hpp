#pragma once
/// \file
/// `library_facts`: the version and build of a library, for two builds of one version may make
/// different code. They may be known without opening the library, which takes several
/// milliseconds.

#include <gpu/compiler/toolkit/library_table.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>

namespace gpu::inline v0::detail {

/// Returns the build identifier in the notes of an ELF file between two addresses, as hexadecimal
/// digits; empty if there is none.
inline text build_identifier(std::uintptr_t first, std::uintptr_t last) {
  while (last - first >= sizeof(Elf64_Nhdr) + sizeof ELF_NOTE_GNU) {
    const auto aligned = [](std::size_t size) { return (size + 3) / 4 * 4; };
    const auto* note = reinterpret_cast<const Elf64_Nhdr*>(first);
    const auto* name = reinterpret_cast<const char*>(note + 1);
    const auto* content = reinterpret_cast<const unsigned char*>(name + aligned(note->n_namesz));
    const std::size_t size = sizeof *note + aligned(note->n_namesz) + aligned(note->n_descsz);
    if (size > last - first) return {};
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      text_builder digits;
      for (std::size_t i = 0; i < note->n_descsz && i < 8; ++i) {
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
  Dl_info info{};
  if (::dladdr(function, &info) == 0 || info.dli_fbase == nullptr) return {};
  const auto* header = static_cast<const Elf64_Ehdr*>(info.dli_fbase);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  const std::uintptr_t load_offset = header->e_type == ET_EXEC ? 0 : base;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    const std::uintptr_t notes = load_offset + segments[i].p_vaddr;
    text found = build_identifier(notes, notes + segments[i].p_memsz);
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
  text identity = {};  ///< version and build; empty if there is no library
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
/// null if there are none, and once the library is open.
template <class Library> const library_facts* recalled_library() noexcept {
  if (library_table_in_force<Library>() != nullptr) return nullptr;
  return __atomic_load_n(&recalled_facts<Library>(), __ATOMIC_ACQUIRE);
}

}  // namespace gpu::inline v0::detail

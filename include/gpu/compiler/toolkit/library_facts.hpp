#pragma once
/// \file
/// `library_facts`: which library this is, to the build, for two of one version may make different
/// code. It may be known without opening it, which takes several milliseconds.

#include <gpu/compiler/toolkit/library_table.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <dlfcn.h>
#include <sys/stat.h>

namespace gpu::inline v0::detail {

/// The build identifier that the linker wrote into the library that has `function`, as hexadecimal
/// digits; empty where there is none.
inline text build_of_library(const void* function) {
  Dl_info info{};
  if (::dladdr(function, &info) == 0 || info.dli_fbase == nullptr) return {};
  const auto* base = static_cast<const char*>(info.dli_fbase);
  const auto read = [](const char* from, auto& number) {
    __builtin_memcpy(&number, from, sizeof number);
  };
  // The few fields of an ELF file that are needed, by their offsets: <elf.h> is long.
  constexpr char magic[] = "\177ELF\2\1";
  if (__builtin_memcmp(base, magic, sizeof magic - 1) != 0) return {};
  std::uint16_t type = 0, entry_size = 0, count = 0;
  std::uint64_t table = 0;
  read(base + 16, type);
  read(base + 32, table);
  read(base + 54, entry_size);
  read(base + 56, count);
  constexpr std::uint16_t fixed_address = 2;
  const char* const start = type == fixed_address ? nullptr : base;
  for (std::uint16_t i = 0; i < count; ++i) {
    const char* segment = base + table + std::size_t{entry_size} * i;
    std::uint32_t kind = 0;
    std::uint64_t address = 0, size = 0;
    read(segment, kind);
    read(segment + 16, address);
    read(segment + 40, size);
    constexpr std::uint32_t notes = 4, build_identifier = 3;
    if (kind != notes) continue;
    const char* note = start + address;
    const char* const end = note + size;
    while (end - note >= 16) {
      std::uint32_t name_size = 0, size_of_content = 0, note_type = 0;
      read(note, name_size);
      read(note + 4, size_of_content);
      read(note + 8, note_type);
      const std::size_t content = 12 + (std::size_t{name_size} + 3) / 4 * 4;
      const std::size_t whole = content + (std::size_t{size_of_content} + 3) / 4 * 4;
      if (whole > static_cast<std::size_t>(end - note)) break;
      if (note_type == build_identifier && name_size == 4 &&
          __builtin_memcmp(note + 12, "GNU", 4) == 0) {
        text_builder digits;
        for (std::size_t byte = 0; byte < size_of_content && byte < 8; ++byte) {
          const auto value = static_cast<unsigned char>(note[content + byte]);
          digits << "0123456789abcdef"[value >> 4] << "0123456789abcdef"[value & 15];
        }
        return required(digits.finish());
      }
      note += whole;
    }
  }
  return {};
}

/// A library by version and build, as in `NVRTC 13.0, build 65be0db342ad51a0`. `function` is one of
/// its own.
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

/// What is known of the library in use.
struct library_facts {
  text identity = {};  ///< version and build; empty where there is none
  text library = {};   ///< the path of its file
  int major = 0, minor = 0;
  sequence<int> architectures = {};  ///< that a compiler compiles for, as in `sm_90`, ascending

  bool present() const noexcept { return !identity.empty(); }
};

/// Fills in what follows from the version and from a function of the library.
template <class Library> void identify_library(library_facts& facts, const void* function) {
  facts.identity = library_identity(Library::name, facts.major, facts.minor, function);
  Dl_info info{};
  if (::dladdr(function, &info) != 0) facts.library = required(text(info.dli_fname));
}

/// The variables of the environment that a library obeys, where they are set, in words.
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
  if (!before.noted ||
      (before.set ? now != nullptr && string_ref(before.value) == now : now == nullptr)) {
    return set;
  }
  constexpr const char* when = " when it was loaded";
  before.set ? add(generator_variable, "=", static_cast<const char*>(before.value), when)
             : add("no ", generator_variable, when);
  return set;
}

/// Where `recalled_library` keeps them.
template <class Library> const library_facts*& recalled_facts() noexcept {
  static const library_facts* facts = nullptr;
  return facts;
}

/// What an earlier process found out of the library that this one would open; null where that is
/// not known, and once the library is open.
template <class Library> const library_facts* recalled_library() noexcept {
  if (library_table_in_force<Library>() != nullptr) return nullptr;
  return __atomic_load_n(&recalled_facts<Library>(), __ATOMIC_ACQUIRE);
}

}  // namespace gpu::inline v0::detail

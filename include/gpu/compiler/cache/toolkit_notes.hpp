#pragma once
/// \file
/// `toolkit_notes`: notes in the cache's folder about NVRTC and nvJitLink, so that a process knows
/// which one it would open without opening it, if nothing that the search depends on has changed.

#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/environment.hpp>
#include <gpu/system/made_once.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Adds the state of a folder or file to a digest.
inline void add_state(digest_builder& state, const char* path) noexcept {
  struct stat about{};
  state << string_ref(path);
  if (::stat(path, &about) != 0) {
    state << std::uint64_t{0};
    return;
  }
  const file_identity identity = identity_of(about);
  state << identity.device << identity.inode << identity.modified << identity.changed;
}

/// Adds the folders where the system's loader looks for a library that this code opens by name.
/// Returns false if they are not known.
inline bool add_search_path(digest_builder& state) noexcept {
#if defined(__GLIBC__)
  Dl_info info{};
  void* object = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&add_state), &info, &object, RTLD_DL_LINKMAP) == 0) {
    return false;
  }
  Dl_serinfo size{};
  if (object == nullptr || ::dlinfo(object, RTLD_DI_SERINFOSIZE, &size) != 0) return false;
  auto* paths = static_cast<Dl_serinfo*>(std::malloc(size.dls_size));
  bool known = paths != nullptr && ::dlinfo(object, RTLD_DI_SERINFOSIZE, paths) == 0 &&
               ::dlinfo(object, RTLD_DI_SERINFO, paths) == 0;
  for (unsigned i = 0; known && i < paths->dls_cnt; ++i)
    add_state(state, paths->dls_serpath[i].dls_name);
  std::free(paths);
  return known;
#else
  static_cast<void>(state);
  return false;
#endif
}

/// Sets `made` to a digest of everything that decides which file is opened: variables of the
/// environment, and the folders that are searched, each with the time of its last change. Returns
/// false if that cannot be known, or if such a library is open already.
inline bool library_search_state(const toolkit_library& files, digest& made) noexcept {
  for (const char* name : files.file_names) {
    if (void* open = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
      ::dlclose(open);
      return false;
    }
  }
  digest_builder state;
  for (const char* variable : {files.override_variable, "LD_LIBRARY_PATH", "VIRTUAL_ENV",
                               "CUDA_PATH", "CUDA_HOME", "CUDAToolkit_ROOT"}) {
    const char* value = environment_variable(variable);
    state << string_ref(variable) << string_ref(value);
  }
  if (const char* path = environment_variable(files.override_variable)) add_state(state, path);
  bool known = true;
  for_each_toolkit_folder(files, [&](const char* folder) {
    if (folder == nullptr) {
      known = add_search_path(state);
      add_state(state, "/etc/ld.so.cache");
      return !known;
    }
    glob_t found{};
    if (::glob(folder, 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) add_state(state, found.gl_pathv[i]);
    }
    ::globfree(&found);
    return false;
  });
  if (known) made = state.finish();
  return known;
}

/// The notes about a library in a cache's folder. A template because the library's table and its
/// search are known by its type.
template <class Library> class toolkit_notes {
 public:
  /// Reads the note in the folder `path`, once per process and only before the library is opened.
  static void read_before_use(const text& path) {
    if (library_table_in_force<Library>() != nullptr) return;
    const state* const search = made_once(search_of_process(), [&] { return look(path); });
    if (search == nullptr || search->facts == nullptr) return;
    atomic_store<memory_order::release>(recalled_facts<Library>(), search->facts);
  }

  /// Writes a note after the library was opened, if none was found before. `get_facts()` returns
  /// the facts.
  static void write_after_use(const cache_folder& folder, library_facts (*get_facts)()) {
    state* const search = atomic_load<memory_order::acquire>(search_of_process());
    if (search == nullptr || !search->known || library_table_in_force<Library>() == nullptr) return;
    if (atomic_exchange<memory_order::acq_rel>(search->written, true)) return;
    const library_facts facts = get_facts();
    struct stat about{};
    if (!facts.present() || ::stat(facts.library.c_str(), &about) != 0) return;
    byte_writer out;
    out << facts.identity << facts.library << static_cast<std::uint64_t>(facts.major)
        << static_cast<std::uint64_t>(facts.minor);
    const file_identity identity = identity_of(about);
    out << identity.inode << identity.size << identity.modified << identity.changed
        << std::uint64_t{facts.architectures.size()};
    for (const int number : facts.architectures) out << static_cast<std::uint64_t>(number);
    text trouble;
    const entry_name name(search->key, 't');
    const text sealed = seal(entry_kind::toolchain, search->key, out.finish());
    if (!sealed.lost()) folder.write(name.characters, sealed, trouble);
  }

 private:
  /// The result of the search for a note.
  struct state {
    state() noexcept = default;
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() { delete facts; }

    digest key = {};
    bool known = false, written = false;
    library_facts* facts = nullptr;
  };
  static state*& search_of_process() noexcept {
    static state* search = nullptr;
    return search;
  }

  static state* look(const text& path) {
    auto* const made = new (std::nothrow) state;
    if (made != nullptr) look(path, *made);
    return made;
  }
  static void look(const text& path, state& now) {
    now.known = library_search_state(Library::files, now.key);
    text trouble, sealed;
    const cache_folder folder = cache_folder::open(path, false, trouble);
    if (!now.known || !folder) return;
    const entry_name name(now.key, 't');
    string_ref contents;
    if (folder.read(name.characters, sealed) != cache_folder::reading::done ||
        !unseal(sealed, entry_kind::toolchain, now.key, contents)) {
      return;
    }
    library_facts found;
    if (!read(contents, found)) return;
    auto* facts = new (std::nothrow) library_facts(std::move(found));
    if (facts == nullptr) return;
    folder.touch(name.characters);
    now.written = true;
    now.facts = facts;
  }

  static bool read(string_ref contents, library_facts& facts) {
    byte_reader in(contents);
    file_identity identity;
    std::uint64_t major = 0, minor = 0, count = 0;
    in >> facts.identity >> facts.library >> major >> minor >> identity.inode >> identity.size >>
        identity.modified >> identity.changed >> count;
    facts.major = static_cast<int>(major);
    facts.minor = static_cast<int>(minor);
    for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
      std::uint64_t number = 0;
      in >> number;
      facts.architectures.push_back(static_cast<int>(number));
    }
    struct stat about{};
    if (!in.ok() || ::stat(facts.library.c_str(), &about) != 0) return false;
    identity.device = about.st_dev;
    return identity_of(about) == identity;
  }
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Lists and empties a cache's folder, and moves its programs to another machine in one file.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/disk.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache/usage.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/system/read_file.hpp>

#include <fcntl.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace gpu { inline namespace v1 {

/// A program in a cache's folder.
struct cached_program {
  text name;                       ///< the program's name, or `link of` and the names of the inputs
  gpu::architecture architecture;  ///< that it was compiled or linked for
  sequence<text> options;          ///< of NVRTC or nvJitLink, that it was made with
  text compiler;                   ///< version and build of NVRTC or the linker
  std::size_t files = 0;           ///< number of files that its compilation opened
  std::uint64_t size = 0;          ///< of its file in the folder, in bytes
  std::int64_t last_use = 0;       ///< in seconds since 1970, with a precision of an hour
};

namespace detail {

inline cuda_error cache_error(const char* function, text sentence, source_location where) noexcept {
  return refusal(errc::file_error, function, std::move(sentence), where);
}

/// Opens the folder of a cache, for a function that needs one.
inline result<cache_folder> folder_for(const char* function, const compile_cache& cache, bool make,
                                       source_location where) {
  text trouble;
  if (cache.use() != cache_use::disk) {
    return fail(cache_error(function,
                            text("the cache has no folder: it is set to memory or off. "
                                 "Set one in cache_settings or GPU_CACHE_DIR."),
                            where));
  }
  cache_folder folder = cache_folder::open(cache.folder(), make, trouble);
  if (folder.refused()) return fail(cache_error(function, trouble, where));
  return folder;
}

/// Calls `visit(file, key, sealed, contents)` for each undamaged program in the folder.
template <class Visit> void for_each_program(const cache_folder& folder, Visit visit) {
  if (!folder) return;
  for (const cached_file& file : files_of(folder)) {
    text sealed;
    entry_kind kind{};
    digest key;
    string_ref contents;
    const auto state = folder.read(file.name, sealed);
    sealed = required(std::move(sealed));  // a lack of memory must not hide a program
    if (state != cache_folder::reading::done || !read_seal(sealed, kind, key, contents) ||
        kind != entry_kind::program) {
      continue;
    }
    visit(file, key, sealed, contents);
  }
}

}  // namespace detail

/// Lists the programs in a cache's folder, in no particular order. Leaves out damaged ones. A
/// folder that does not exist yet is empty.
/// **Errors**: `errc::file_error` if the cache has no folder or must not use it;
/// `errc::out_of_host_memory`.
inline result<sequence<cached_program>> list_programs(
    const compile_cache& cache, source_location where = source_location::current()) {
  return detail::catch_bad_alloc(
      "gpu::list_programs", where, [&]() -> result<sequence<cached_program>> {
        sequence<cached_program> programs;
        const detail::cache_folder folder =
            GPU_TRY(detail::folder_for("gpu::list_programs", cache, false, where));
        detail::for_each_program(folder, [&](const detail::cached_file& file, const detail::digest&,
                                             string_ref, string_ref contents) {
          detail::byte_reader in(contents);
          detail::cache_conditions conditions;
          text name;
          if (!detail::read_conditions(in, conditions, name)) return;
          const compiled_program code = detail::read_code(in);
          programs.push_back({name, code.architecture(), code.options(), conditions.compiler,
                              conditions.files.size(), file.size, file.last_use});
        });
        return programs;
      });
}

/// Removes all programs from a cache, in memory and in its folder.
/// **Errors**: as `list_programs`.
inline result<> purge(compile_cache& cache, source_location where = source_location::current()) {
  return detail::catch_bad_alloc("gpu::purge", where, [&]() -> result<> {
    cache.forget();
    const detail::cache_folder folder =
        GPU_TRY(detail::folder_for("gpu::purge", cache, false, where));
    if (!folder) return {};
    for (const detail::cached_file& file : detail::files_of(folder)) folder.remove(file.name);
    detail::write_usage(folder, 0);
    return {};
  });
}

/// Writes all programs in a cache's folder to one file, for `import_programs` on another machine,
/// so that a product can ship compiled kernels. Returns the number of programs.
/// **Errors**: as `list_programs`, and `errc::file_error` if the file cannot be written.
inline result<std::size_t> export_programs(const compile_cache& cache, string_ref path,
                                           source_location where = source_location::current()) {
  return detail::catch_bad_alloc("gpu::export_programs", where, [&]() -> result<std::size_t> {
    constexpr const char* function = "gpu::export_programs";
    const detail::cache_folder folder = GPU_TRY(detail::folder_for(function, cache, false, where));
    sequence<text> programs;
    detail::for_each_program(
        folder, [&](const detail::cached_file&, const detail::digest&, const text& sealed,
                    string_ref) { programs.push_back(sealed); });
    detail::byte_writer contents;
    contents << programs;
    const text sealed =
        detail::required(detail::seal(detail::entry_kind::archive, {}, contents.finish()));
    const text name = detail::required(path.to_text());
    auto file = file_descriptor::adopt(
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file || !detail::write_whole(file.native(), sealed) || !detail::close_file(file)) {
      detail::text_builder out;
      out << '"' << name << "\" could not be written: " << std::strerror(errno)
          << ". Check the path and the free space there.";
      return detail::fail(detail::cache_error(function, out.finish(), where));
    }
    return programs.size();
  });
}

/// Adds the programs of a file that `export_programs` wrote to a cache's folder. Returns the number
/// of programs in the file. Only import files that you trust: the digest of a file detects damage,
/// but not malice.
/// **Errors**: `errc::file_error` if the file cannot be read, is damaged or of another version of
/// the library, or the folder cannot be written.
inline result<std::size_t> import_programs(compile_cache& cache, string_ref path,
                                           source_location where = source_location::current()) {
  return detail::catch_bad_alloc("gpu::import_programs", where, [&]() -> result<std::size_t> {
    constexpr const char* function = "gpu::import_programs";
    const detail::cache_folder folder = GPU_TRY(detail::folder_for(function, cache, true, where));
    text bytes;
    GPU_TRY(detail::read_file(function, path, bytes, where));
    const auto refuse = [&](const char* reason) {
      detail::text_builder out;
      out << '"' << path << "\" " << reason;
      return detail::fail(detail::cache_error(function, out.finish(), where));
    };
    string_ref contents;
    if (!detail::unseal(bytes, detail::entry_kind::archive, {}, contents)) {
      return refuse(
          "is damaged, or was not made by export_programs of this version of the library. "
          "Export it again.");
    }
    sequence<text> programs;
    detail::byte_reader in(contents);
    in >> programs;
    for (const text& sealed : programs) {
      detail::entry_kind kind{};
      detail::digest key;
      string_ref program;
      if (!detail::read_seal(sealed, kind, key, program) || kind != detail::entry_kind::program) {
        return refuse("holds something that is not a program. Export it again.");
      }
      text trouble;
      const detail::program_disk disk(folder, key,
                                      detail::compile_cache_access::programs(cache).events());
      const std::uint64_t stored = disk.put(sealed, cache.folder_limit(), trouble);
      if (stored == 0) return detail::fail(detail::cache_error(function, trouble, where));
      disk.account(stored, cache.folder_limit());
    }
    return programs.size();
  });
}

}}  // namespace gpu::v1

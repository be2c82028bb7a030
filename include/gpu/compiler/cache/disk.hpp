#pragma once
/// \file
/// `program_disk`: the programs in a cache's folder.

#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/cache_request.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/events.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache/usage.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

/// The programs of one key in a folder: up to eight, which differ in their conditions, such as the
/// compiler or the contents of headers.
class program_disk {
 public:
  program_disk(const cache_folder& folder, const digest& key, cache_events& events) noexcept
      : folder_{folder}, key_{key}, events_{events} {}

  /// Finds a program whose conditions are met. If stored ones cannot be used, sets `reason` to why.
  bool find(const cache_request& request, kept_program& found, text& reason) const {
    text compiler_reason, file_reason, unreadable;
    bool damaged = false;
    for (unsigned slot = 0; slot < slots; ++slot) {
      const entry_name name = name_of(slot);
      text sealed;
      const auto state = folder_.read(name.characters, sealed);
      if (state == cache_folder::reading::unreadable) {
        text_builder out;
        out << "the stored program could not be read: " << std::strerror(errno);
        unreadable = out.finish();
      }
      if (state == cache_folder::reading::missing || state == cache_folder::reading::unreadable) {
        continue;
      }
      string_ref contents;
      text name_of_program;
      byte_reader in{string_ref()};
      bool whole = state == cache_folder::reading::done &&
                   unseal(sealed, entry_kind::program, key_, contents);
      if (whole) {
        in = byte_reader(contents);
        whole = read_conditions(in, found.conditions, name_of_program);
      }
      if (whole) {
        if (!request.accepts_compiler(found.conditions, compiler_reason) ||
            !files_meet(found.conditions, request.compiler.empty(), found.seen, file_reason)) {
          continue;
        }
        found.program = read_code(in);
        whole = compiled_program_access::has_state(found.program) &&
                request.missing_product(compiled_program_access::state(found.program)) == nullptr;
      }
      if (whole) {
        folder_.touch(name.characters);
        return true;
      }
      damaged = true;
      events_.add(cache_event::damaged);
      folder_.remove(name.characters);
    }
    const text why = !file_reason.empty()       ? file_reason
                     : !compiler_reason.empty() ? compiler_reason
                     : damaged                  ? text("the stored program was damaged")
                                                : unreadable;
    if (!why.empty()) reason = why;
    return false;
  }

  /// Stores a program. Returns its size in bytes, or 0 with the reason in `trouble`.
  std::uint64_t store(const kept_program& made, const text& name, std::uint64_t limit,
                      text& trouble) const {
    const compiled_state& state = compiled_program_access::state(made.program);
    const text sealed =
        seal(entry_kind::program, key_, write_program(made.conditions, name, state));
    if (sealed.lost()) {
      trouble = text("the host had no memory left to write it");
      return 0;
    }
    return put(sealed, limit, trouble);
  }

  /// Stores a program that is sealed already, unless it is there.
  std::uint64_t put(const text& sealed, std::uint64_t limit, text& trouble) const {
    if (sealed.size() > limit / 2) {
      text_builder out;
      out << "it takes " << sealed.size() << " bytes, more than half of the cache's limit of "
          << limit << ". Set GPU_CACHE_SIZE to more";
      trouble = out.finish();
      return 0;
    }
    for (unsigned slot = 0; slot < slots; ++slot) {
      text before;
      if (folder_.read(name_of(slot).characters, before) == cache_folder::reading::done &&
          before == sealed) {
        return sealed.size();
      }
    }
    if (!folder_.write(name_of(slot_to_fill()).characters, sealed, trouble)) return 0;
    events_.add(cache_event::stored);
    return sealed.size();
  }

  /// Records that `bytes` were stored, and keeps the folder below its limit.
  void account(std::uint64_t bytes, std::uint64_t limit) const {
    events_.add(cache_event::evicted, record_stored(folder_, bytes, limit));
  }

 private:
  static constexpr unsigned slots = 8;

  entry_name name_of(unsigned slot) const noexcept { return {key_, static_cast<char>('0' + slot)}; }

  /// Returns the first free slot, or else the least recently used one.
  unsigned slot_to_fill() const noexcept {
    unsigned oldest = 0;
    std::uint64_t time = ~std::uint64_t{0};
    for (unsigned slot = 0; slot < slots; ++slot) {
      struct stat about{};
      if (::fstatat(folder_.native(), name_of(slot).characters, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return slot;
      }
      if (nanoseconds(about.st_mtim) >= time) continue;
      time = nanoseconds(about.st_mtim);
      oldest = slot;
    }
    return oldest;
  }

  const cache_folder& folder_;
  const digest& key_;
  cache_events& events_;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Programs in the cache's folder: finding one whose conditions are met, and storing one.

#include <gpu/compiler/cache/memory.hpp>
#include <gpu/compiler/cache/summary.hpp>
#include <gpu/compiler/cache/usage.hpp>

namespace gpu::inline v0 {

/// What a cache did so far in this process.
struct cache_counters {
  std::uint64_t from_memory = 0;  ///< programs that this process had already
  std::uint64_t from_disk = 0;    ///< programs that the folder had
  std::uint64_t compiled = 0;     ///< programs that had to be compiled or linked
  std::uint64_t waited = 0;   ///< of the first two, those that another thread or process just made
  std::uint64_t stored = 0;   ///< programs put into the folder
  std::uint64_t damaged = 0;  ///< files that were not what they should be, and were taken away
  std::uint64_t evicted = 0;  ///< files taken away to stay below the limit
};

namespace detail {

inline void count_one(std::uint64_t& counter, std::uint64_t by = 1) noexcept {
  __atomic_fetch_add(&counter, by, __ATOMIC_RELAXED);
}

/// The programs of one folder. Up to eight are kept that differ in the conditions alone: compiler,
/// contents of headers.
template <class Builder = text_builder> class basic_program_disk {
 public:
  basic_program_disk(const cache_folder& folder, const digest& key,
                     cache_counters& counters) noexcept
      : folder_{folder}, key_{key}, counters_{counters} {}

  /// Finds a program that holds now. `work` tells whether another compiler's will do, and has none
  /// on a machine without. Otherwise `reason` says what keeps the stored ones from being used; it
  /// stays as it is where there is none.
  template <class Work> bool find(const Work& work, kept_program& found, text& reason) const {
    text compiler_reason, file_reason, unreadable;
    bool damaged = false;
    for (unsigned slot = 0; slot < slots; ++slot) {
      const entry_name name = name_of(slot);
      text sealed;
      const auto state = folder_.read(name.characters, sealed);
      if (state == cache_folder::reading::unreadable) {
        Builder out;
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
        if (!work.compiler_will_do(found.conditions, compiler_reason) ||
            !files_meet(found.conditions, work.compiler().empty(), found.seen, file_reason)) {
          continue;
        }
        found.program = read_code(in);
        whole = compiled_program_access::has_state(found.program) &&
                work.missing_product(compiled_program_access::state(found.program)) == nullptr;
      }
      if (whole) {
        folder_.touch(name.characters);
        return true;
      }
      damaged = true;
      count_one(counters_.damaged);
      folder_.remove(name.characters);
    }
    const text why = !file_reason.empty()       ? file_reason
                     : !compiler_reason.empty() ? compiler_reason
                     : damaged                  ? text("the stored program was damaged")
                                                : unreadable;
    if (!why.empty()) reason = why;
    return false;
  }

  /// Stores a program. Returns how many bytes it takes, or 0 where `trouble` says why not.
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

  /// Stores a program that is in its envelope, unless it is there.
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
    count_one(counters_.stored);
    return sealed.size();
  }

  /// Adds what was stored to what the folder holds, and keeps that below its limit.
  void account(std::uint64_t bytes, std::uint64_t limit) const {
    count_one(counters_.evicted, note_stored(folder_, bytes, limit));
  }

 private:
  static constexpr unsigned slots = 8;

  entry_name name_of(unsigned slot) const noexcept { return {key_, static_cast<char>('0' + slot)}; }

  /// The first that is free, else the one that was not used for longest.
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
  cache_counters& counters_;
};
using program_disk = basic_program_disk<>;

}  // namespace detail
}  // namespace gpu::inline v0

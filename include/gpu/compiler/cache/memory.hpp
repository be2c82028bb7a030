#pragma once
/// \file
/// `program_memory`: the programs that this process has, and those that are being made.

#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/detail/request_key.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The programs of one cache in memory. It is locked during a lookup, but not while a program is
/// compiled or read.
class program_memory {
 public:
  program_memory() noexcept = default;
  program_memory(const program_memory&) = delete;
  program_memory& operator=(const program_memory&) = delete;
  ~program_memory() { clear(); }

  /// A program that is kept or being made.
  struct entry {
    digest key = {};
    kept_program kept = {};
    std::size_t bytes = 0;
    std::uint64_t last_use = 0;
    unsigned owners = 1;  // the memory itself is one
    bool ready = false, dropped = false;
  };

  /// Returns the entry of a key, which the caller has to `release`. Waits if another thread is
  /// making its program. If the entry is missing, creates one for the caller to fill, and sets
  /// `mine`. Returns null if it waited for a thread that failed.
  entry* acquire(const digest& key, bool& mine, bool& waited) {
    const guard lock(*this);
    mine = waited = false;
    for (entry* found : entries_) {
      if (!(found->key == key)) continue;
      ++found->owners;
      while (!found->ready && !found->dropped) {
        waited = true;
        changed_.wait(mutex_);
      }
      if (found->ready) {
        found->last_use = ++uses_;
        return found;
      }
      drop_reference(found);
      return nullptr;
    }
    entries_.reserve(entries_.size() + 1);
    auto* made = new entry{key};
    made->owners = 2;
    entries_.push_back(made);
    mine = true;
    return made;
  }

  /// Fills an entry that is `mine`, and forgets the least recently used programs beyond `limit`
  /// bytes.
  void publish(entry* filled, kept_program&& kept, std::size_t limit) {
    const guard lock(*this);
    filled->kept = std::move(kept);
    const compiled_state& state = compiled_program_access::state(filled->kept.program);
    filled->bytes = sizeof(entry) + state.ptx.size() + state.cubin.size() + state.lto_ir.size() +
                    state.log.size() + state.ptxas_log.size() + 2048;
    filled->ready = true;
    filled->last_use = ++uses_;
    changed_.notify_all();
    if (!filled->dropped) bytes_ += filled->bytes;
    while (bytes_ > limit) {
      entry* oldest = nullptr;
      for (entry* e : entries_) {
        if (e->ready && (oldest == nullptr || e->last_use < oldest->last_use)) oldest = e;
      }
      if (oldest == nullptr) break;
      forget(oldest);
    }
  }

  /// Finds a program by a key that `add` got. Checks no conditions.
  bool find(const request_key& key, compiled_program& found) noexcept {
    const std::uint64_t hash = key.hash();
    const guard lock(*this);
    const std::size_t mask = key_index_.size() - 1;
    for (std::size_t at = hash & mask; !key_index_.empty(); at = (at + 1) & mask) {
      if (key_index_[at] == 0) break;
      const known_key& known = keys_[key_index_[at] - 1];
      if (known.hash != hash || !known.key->equals(key)) continue;
      known.kept->last_use = ++uses_;
      found = known.kept->kept.program;
      return true;
    }
    return false;
  }

  /// Has `find` return an entry's program for a key, unless the program depends on files or on the
  /// working folder, or there are many keys already.
  void add(entry* filled, const request_key& key) {
    const guard lock(*this);
    const cache_conditions& conditions = filled->kept.conditions;
    if (!filled->ready || filled->dropped || conditions.on_files()) return;
    if (!conditions.working_folder.empty()) return;
    if (keys_.size() >= 4 * entries_.size() + 64) return;
    std::size_t size = 64;
    while (size < 2 * (keys_.size() + 1)) size *= 2;
    sequence<std::size_t> index(size);
    keys_.push_back(known_key(key, filled));
    key_index_.swap(index);
    index_keys();
  }

  /// Removes an entry that failed or does not hold any more.
  void drop(entry* stale) noexcept {
    const guard lock(*this);
    if (!stale->dropped) forget(stale);
    changed_.notify_all();
  }
  void release(entry* used) noexcept {
    const guard lock(*this);
    drop_reference(used);
  }
  void refresh(entry* checked, sequence<file_identity>&& seen) noexcept {
    const guard lock(*this);
    checked->kept.seen = std::move(seen);
  }
  sequence<file_identity> seen(const entry* e) {
    const guard lock(*this);
    return e->kept.seen;
  }
  void clear() noexcept {
    const guard lock(*this);
    keys_.clear();
    key_index_.clear();
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (entries_[i]->ready) forget(entries_[i]);
    }
  }

 private:
  class guard {
   public:
    /// In a forked child, starts with an empty memory and leaks that of the parent, which another
    /// thread may have left half changed.
    explicit guard(program_memory& memory) noexcept : memory_{memory} {
      memory.mutex_.lock();
      if (memory.forks_ == fork_count()) return;
      memory.forks_ = fork_count();
      ::new (static_cast<void*>(&memory.entries_)) sequence<entry*>;
      ::new (static_cast<void*>(&memory.keys_)) sequence<known_key>;
      ::new (static_cast<void*>(&memory.key_index_)) sequence<std::size_t>;
      memory.bytes_ = 0;
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() { memory_.mutex_.unlock(); }

   private:
    program_memory& memory_;
  };

  void forget(entry* e) noexcept {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i] != e) continue;
      entries_[i] = entries_.back();
      entries_.pop_back();
      break;
    }
    const std::size_t before = keys_.size();
    for (std::size_t i = before; i-- > 0;) {
      if (keys_[i].kept != e) continue;
      keys_[i] = std::move(keys_.back());
      keys_.pop_back();
    }
    if (keys_.size() != before) index_keys();
    if (e->ready) bytes_ -= e->bytes;
    e->dropped = true;
    drop_reference(e);
  }
  /// Fills the index again. That takes little time compared to the compilation before it.
  void index_keys() noexcept {
    const std::size_t size = key_index_.size();
    for (std::size_t& slot : key_index_) slot = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::size_t at = keys_[i].hash & (size - 1);
      while (key_index_[at] != 0) at = (at + 1) & (size - 1);
      key_index_[at] = i + 1;
    }
  }
  static void drop_reference(entry* e) noexcept {
    if (--e->owners == 0) delete e;
  }

  /// A key that `find` knows. Owns its copy of the key.
  struct known_key {
    std::uint64_t hash;
    entry* kept;
    request_key* key;

    known_key(const request_key& k, entry* e) : hash{k.hash()}, kept{e}, key{k.copy()} {}
    known_key(known_key&& other) noexcept
        : hash{other.hash}, kept{other.kept}, key{std::exchange(other.key, nullptr)} {}
    known_key& operator=(known_key&& other) noexcept {
      hash = other.hash;
      kept = other.kept;
      request_key* const mine = key;
      key = other.key;
      other.key = mine;
      return *this;
    }
    ~known_key() { delete key; }
  };

  mutex mutex_;
  condition changed_;
  std::uint32_t forks_ = 0;  // `fork_count` when the lock was last taken
  sequence<entry*> entries_;
  sequence<known_key> keys_;
  sequence<std::size_t> key_index_;  // hash table: positions in keys_, from 1; 0 is free
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// Programs that this process has already, and which of them are being compiled or linked.

#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/options/recent_request.hpp>
#include <gpu/system/mutex.hpp>

namespace gpu::inline v0::detail {

/// A compiled program with the conditions under which it holds, as memory and disk exchange it.
struct kept_program {
  compiled_program program;
  cache_conditions conditions;
  sequence<file_identity> seen;  // of the conditions' files
  bool storable = true;          // false: it may not be used again at all
  text asked_of;                 // the compiler or linker that was there when it was asked for
};

/// The table of one cache. It is locked while something is looked up, never while anything is
/// compiled or read.
template <class Builder = text_builder> class basic_program_memory {
 public:
  basic_program_memory() noexcept = default;
  basic_program_memory(const basic_program_memory&) = delete;
  basic_program_memory& operator=(const basic_program_memory&) = delete;
  ~basic_program_memory() { clear(); }

  /// One request that is remembered, or being compiled.
  struct entry {
    digest request = {};
    kept_program kept = {};
    std::size_t bytes = 0;
    std::uint64_t last_use = 0;
    unsigned owners = 1;  // the table is one
    bool ready = false, dropped = false;
  };

  /// Finds the entry of a request, and waits for it where another thread is at work on it. Where
  /// there is none, makes one, for the caller to fill: `mine` says so. Null where a thread that was
  /// waited for gave up. The caller has to `release` the entry.
  entry* acquire(const digest& request, bool& mine, bool& waited) {
    const guard lock(*this);
    mine = waited = false;
    for (entry* found : entries_) {
      if (!(found->request == request)) continue;
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
    auto* made = new entry{request};
    made->owners = 2;
    entries_.push_back(made);
    mine = true;
    return made;
  }

  /// Gives an entry that is `mine` its program, and forgets the least used beyond `limit` bytes.
  void publish(entry* filled, kept_program&& kept, std::size_t limit) {
    const guard lock(*this);
    filled->kept = detail::move(kept);
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

  /// Finds a program by what was said in place of a settled request. Nothing about it is checked,
  /// so `add_quick` takes only what depends on no file or folder.
  bool find_quick(const recent_request& request, compiled_program& found) noexcept {
    const std::uint64_t hash = request.hash();
    const guard lock(*this);
    const std::size_t mask = quick_index_.size() - 1;
    for (std::size_t at = hash & mask; !quick_index_.empty(); at = (at + 1) & mask) {
      if (quick_index_[at] == 0) break;
      const quick_slot& slot = quick_[quick_index_[at] - 1];
      if (slot.hash != hash || !slot.said.is(request)) continue;
      slot.kept->last_use = ++uses_;
      found = slot.kept->kept.program;
      return true;
    }
    return false;
  }

  /// Has `find_quick` find an entry. At most a few ways to say it are kept of each.
  void add_quick(entry* filled, const recent_request& request) {
    const guard lock(*this);
    const cache_conditions& conditions = filled->kept.conditions;
    if (!filled->ready || filled->dropped || conditions.on_files()) return;
    if (!conditions.working_folder.empty()) return;
    if (quick_.size() >= 4 * entries_.size() + 64) return;
    std::size_t size = 64;
    while (size < 2 * (quick_.size() + 1)) size *= 2;
    sequence<std::size_t> index(size);
    quick_.push_back({request.hash(), filled, remembered_request(request)});
    quick_index_.swap(index);
    index_quick();
  }

  /// Takes an entry out of the table: it failed, or does not hold any more.
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
    checked->kept.seen = detail::move(seen);
  }
  sequence<file_identity> seen(const entry* e) {
    const guard lock(*this);
    return e->kept.seen;
  }
  void clear() noexcept {
    const guard lock(*this);
    quick_.clear();
    quick_index_.clear();
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (entries_[i]->ready) forget(entries_[i]);
    }
  }

 private:
  class guard {
   public:
    /// In a forked child the table starts empty, and the other is left where it is.
    explicit guard(basic_program_memory& memory) noexcept : memory_{memory} {
      memory.mutex_.lock();
      if (memory.forks_ == fork_count()) return;
      memory.forks_ = fork_count();
      ::new (static_cast<void*>(&memory.entries_)) sequence<entry*>;
      ::new (static_cast<void*>(&memory.quick_)) sequence<quick_slot>;
      ::new (static_cast<void*>(&memory.quick_index_)) sequence<std::size_t>;
      memory.bytes_ = 0;
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() { memory_.mutex_.unlock(); }

   private:
    basic_program_memory& memory_;
  };

  void forget(entry* e) noexcept {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i] != e) continue;
      entries_[i] = entries_.back();
      entries_.pop_back();
      break;
    }
    const std::size_t before = quick_.size();
    for (std::size_t i = before; i-- > 0;) {
      if (quick_[i].kept != e) continue;
      quick_[i] = detail::move(quick_.back());
      quick_.pop_back();
    }
    if (quick_.size() != before) index_quick();
    if (e->ready) bytes_ -= e->bytes;
    e->dropped = true;
    drop_reference(e);
  }
  /// Fills the index anew: that is soon done, beside the compilation that it follows.
  void index_quick() noexcept {
    const std::size_t size = quick_index_.size();
    for (std::size_t& slot : quick_index_) slot = 0;
    for (std::size_t i = 0; i < quick_.size(); ++i) {
      std::size_t at = quick_[i].hash & (size - 1);
      while (quick_index_[at] != 0) at = (at + 1) & (size - 1);
      quick_index_[at] = i + 1;
    }
  }
  static void drop_reference(entry* e) noexcept {
    if (--e->owners == 0) delete e;
  }

  struct quick_slot {
    std::uint64_t hash;
    entry* kept;
    remembered_request said;
  };

  mutex mutex_;
  condition changed_;
  std::uint32_t forks_ = 0;  // `fork_count` when the lock was last taken
  sequence<entry*> entries_;
  sequence<quick_slot> quick_;
  sequence<std::size_t> quick_index_;  // by hash, a position in quick_, from 1; 0 is free
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};
using program_memory = basic_program_memory<>;

}  // namespace gpu::inline v0::detail

#pragma once
/// \file
/// Compiled programs that this process has already, and which of them are being compiled.

#include <gpu/compiler/cache_conditions.hpp>
#include <gpu/compiler/fork_mutex.hpp>
#include <gpu/compiler/nvrtc_compile.hpp>
#include <gpu/compiler/text_set.hpp>

namespace gpu::detail {

/// What was asked for, kept to be compared with what is asked for later.
class remembered_request {
 public:
  explicit remembered_request(const compile_request& r)
      : source_{r.source},
        architecture_{r.architecture},
        options_{r.options},
        folders_{r.folders},
        found_folders_{r.found_folders} {}

  bool is(const compile_request& r) const noexcept {
    const program& p = r.source;
    if (!(source_.source() == p.source() && source_.name() == p.name() &&
          architecture_ == r.architecture && same(source_.instances(), p.instances()) &&
          same(options_, r.options) && same(folders_, r.folders) &&
          same(found_folders_, r.found_folders) &&
          source_.headers().size() == p.headers().size())) {
      return false;
    }
    for (std::size_t i = 0; i < p.headers().size(); ++i) {
      const program_header &a = source_.headers()[i], &b = p.headers()[i];
      if (!(string_ref(a.name) == string_ref(b.name) &&
            string_ref(a.source) == string_ref(b.source)))
        return false;
    }
    return true;
  }

  static std::uint64_t hash_of(const compile_request& r) noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(r.architecture.number());
    hash = quick_hash(r.source.source(), hash);
    for (const program_header& header : r.source.headers()) hash = quick_hash(header.source, hash);
    for (const option_text& instance : r.source.instances()) hash = quick_hash(instance, hash);
    for (const text& option : r.options) hash = quick_hash(option, hash);
    return hash;
  }

 private:
  template <class List> static bool same(const List& a, const List& b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(string_ref(a[i]) == string_ref(b[i]))) return false;
    }
    return true;
  }

  program source_;
  gpu::architecture architecture_;
  std::vector<text> options_, folders_, found_folders_;
};

/// A compiled program with the conditions under which it holds, as memory and disk exchange it.
struct kept_program {
  compiled_program program;
  cache_conditions conditions;
  std::vector<file_identity> seen;  // of the conditions' files
  bool storable = true;             // false: it may not be used again at all
  const void* nvrtc = nullptr;      // the table of functions that was in force
};

/// The table of one cache. It is locked while something is looked up, never while anything is
/// compiled or read.
class program_memory {
 public:
  program_memory() noexcept = default;
  program_memory(const program_memory&) = delete;
  program_memory& operator=(const program_memory&) = delete;
  ~program_memory() { clear(); }

  /// One request that is remembered, or being compiled.
  struct entry {
    remembered_request request;
    kept_program kept = {};
    std::size_t bytes = 0;
    std::uint64_t last_use = 0;
    unsigned owners = 1;  // the table is one
    bool ready = false, dropped = false;
  };

  /// Finds the entry of a request, and waits for it where another thread is compiling it. Where
  /// there is none, makes one, for the caller to fill: `mine` says so. Null where a thread that was
  /// waited for gave up. The caller has to `release` the entry.
  entry* acquire(const compile_request& request, bool& mine, bool& waited) {
    const std::uint64_t hash = remembered_request::hash_of(request);
    const guard lock(*this);
    mine = waited = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entry* found = entries_[i].kept;
      if (entries_[i].hash != hash || !found->request.is(request)) continue;
      ++found->owners;
      while (!found->ready && !found->dropped) {
        waited = true;
        mutex_.wait();
      }
      if (found->ready) {
        found->last_use = ++uses_;
        return found;
      }
      drop_reference(found);
      return nullptr;
    }
    entries_.reserve(entries_.size() + 1);
    auto* made = new entry{remembered_request(request)};
    made->owners = 2;
    entries_.push_back({hash, made});
    mine = true;
    return made;
  }

  /// Gives an entry that is `mine` its program, and forgets the least used beyond `limit` bytes.
  void publish(entry* filled, kept_program&& kept, std::size_t limit) {
    const guard lock(*this);
    filled->kept = std::move(kept);
    const compiled_state& state = compiled_program_access::state(filled->kept.program);
    filled->bytes = sizeof(entry) + state.ptx.size() + state.cubin.size() + state.lto_ir.size() +
                    state.log.size() + state.ptxas_log.size() + 2048;
    filled->ready = true;
    filled->last_use = ++uses_;
    mutex_.notify();
    if (!filled->dropped) bytes_ += filled->bytes;
    while (bytes_ > limit) {
      entry* oldest = nullptr;
      for (const slot& s : entries_) {
        entry* e = s.kept;
        if (e->ready && (oldest == nullptr || e->last_use < oldest->last_use)) oldest = e;
      }
      if (oldest == nullptr) break;
      forget(oldest);
    }
  }

  /// Takes an entry out of the table: it failed, or does not hold any more.
  void drop(entry* stale) noexcept {
    const guard lock(*this);
    if (!stale->dropped) forget(stale);
    mutex_.notify();
  }
  void release(entry* used) noexcept {
    const guard lock(*this);
    drop_reference(used);
  }
  void refresh(entry* checked, std::vector<file_identity>&& seen) noexcept {
    const guard lock(*this);
    checked->kept.seen = std::move(seen);
  }
  std::vector<file_identity> seen(const entry* e) {
    const guard lock(*this);
    return e->kept.seen;
  }
  void clear() noexcept {
    const guard lock(*this);
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (entries_[i].kept->ready) forget(entries_[i].kept);
    }
  }

 private:
  class guard {
   public:
    /// In a forked child the table starts empty, and the other is left where it is.
    explicit guard(program_memory& memory) noexcept : memory_{memory} {
      if (!memory.mutex_.lock()) return;
      ::new (static_cast<void*>(&memory.entries_)) std::vector<slot>;
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
      if (entries_[i].kept != e) continue;
      entries_[i] = entries_.back();
      entries_.pop_back();
      break;
    }
    if (e->ready) bytes_ -= e->bytes;
    e->dropped = true;
    drop_reference(e);
  }
  static void drop_reference(entry* e) noexcept {
    if (--e->owners == 0) delete e;
  }

  struct slot {
    std::uint64_t hash;
    entry* kept;
  };

  fork_mutex mutex_;
  std::vector<slot> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace gpu::detail

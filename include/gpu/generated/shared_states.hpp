#pragma once
/// \file
/// `find_shared`: what the library's functions generate kernels from, found by what is asked for.
///
/// A generated kernel is found in two steps. `find_shared` returns a state: the description of a
/// family of kernels with a `kernel_store`; its key is the function and its types, and a text or
/// the structure of an expression. The store returns the kernel of a form on a device. States of
/// the library's functions are kept until the process ends, so their number is that of different
/// requests; objects such as `elementwise` own theirs. Kernels belong to a device, not to a
/// context. `known_launches` stands before both steps.

#include <gpu/compiler/detail/text_set.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>

#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// The properties in which kernels of one function for the same types differ.
struct shared_key {
  string_ref code;    ///< a text of the caller's, or other bytes
  bool wide = false;  ///< counts have 64 bits
};

/// States that are found by a key and kept until the process ends. Lookups take no lock. If two
/// threads make one state at the same time, one of the two is dropped.
///
/// The entries are a tree: those whose hashes go on with the same two bits are below one of four.
template <class State> class shared_states {
 public:
  struct entry {
    text code;
    bool wide;
    std::uint64_t hash;
    State state = {};
    entry* below[4] = {};

    bool is_of(const shared_key& key, std::uint64_t wanted) const noexcept {
      return hash == wanted && wide == key.wide && string_ref(code) == key.code;
    }
  };

  constexpr shared_states() noexcept = default;
  shared_states(const shared_states&) = delete;
  shared_states& operator=(const shared_states&) = delete;

  /// Returns the entry of a key. On the first call, `describe(state)` fills in a new state and
  /// returns a `result<>`.
  /// **Errors**: those of `describe`; `errc::out_of_host_memory`.
  template <class Describe>
  result<entry*> find(const char* function, const shared_key& key, source_location where,
                      Describe describe) {
    const std::uint64_t hash = quick_hash(key.code, 0);
    entry** slot;
    if (entry* const known = look_up(key, hash, slot)) return known;
    return catch_bad_alloc(function, where, [&]() -> result<entry*> {
      unique_handle<entry*, delete_entry> made(new (std::nothrow)
                                                   entry{key.code.to_text(), key.wide, hash});
      if (made.get() == nullptr || made.get()->code.lost())
        return fail(out_of_host_memory_error(function, sizeof(entry), where));
      GPU_TRY(describe(made.get()->state));
      for (;;) {
        entry* empty = look_up(key, hash, slot);
        if (empty != nullptr) return empty;  // another thread was faster
        if (atomic_compare_exchange_strong<memory_order::release, memory_order::relaxed>(
                *slot, empty, made.get()))
          return made.release();
      }
    });
  }

 private:
  struct delete_entry {
    void operator()(entry* each) const noexcept { delete each; }
  };

  /// Returns the entry of a key, or null, and sets `slot` to where it is or would be.
  entry* look_up(const shared_key& key, std::uint64_t hash, entry**& slot) noexcept {
    slot = &first_;
    for (std::uint64_t bits = hash;; bits = bits >> 2 | bits << 62) {
      entry* const here = atomic_load<memory_order::acquire>(*slot);
      if (here == nullptr || here->is_of(key, hash)) return here;
      slot = &here->below[bits & 3];
    }
  }

  entry* first_ = nullptr;
};

/// Returns the states of a `Family` of types, which are never destroyed.
template <class Family, class State> shared_states<State>& states_of() noexcept {
  static constinit shared_states<State> states;  // no guard, so no lock in a fork
  return states;
}

/// Returns the `State` that belongs to a key. On the first call, `describe(state)` fills in a new
/// one and returns a `result<>`. Each `Family` of types has its own.
/// **Errors**: those of `describe`; `errc::out_of_host_memory`.
template <class Family, class State, class Describe>
result<State*> find_shared(const char* function, const shared_key& key, source_location where,
                           Describe describe) {
  return &GPU_TRY((states_of<Family, State>().find(function, key, where, describe)))->state;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `intern`: texts that live as long as the process, so that expressions can point at them.

#include <gpu/compiler/detail/text_set.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// A text in a tree: those whose hashes go on with the same two bits are below one of the four.
struct interned_text {
  text characters;
  std::uint64_t hash;
  interned_text* below[4] = {};
};

/// Returns the text with these characters, which is made on first use and never destroyed; null if
/// the host is out of memory. Each different text takes about 80 bytes and its characters until the
/// process ends.
/// **Threads**: takes no lock. **Cost**: a look at as many texts as the number of all has digits,
/// to the base of 4.
inline const interned_text* intern(string_ref characters) noexcept {
  static interned_text* first = nullptr;  // constant initialization: no lock in a fork
  const std::uint64_t hash = quick_hash(characters, 0);
  interned_text** slot = &first;
  interned_text* made = nullptr;
  for (unsigned bits = 0;; bits += 2) {
    interned_text* here = atomic_load<memory_order::acquire>(*slot);
    if (here == nullptr) {
      if (made == nullptr) made = new (std::nothrow) interned_text{characters.to_text(), hash};
      if (made == nullptr || made->characters.lost()) {
        delete made;
        return nullptr;
      }
      if (atomic_compare_exchange_strong<memory_order::release, memory_order::acquire>(*slot, here,
                                                                                       made))
        return made;
    }
    // Another thread may have put one here meanwhile.
    if (here->hash == hash && string_ref(here->characters) == characters) {
      delete made;
      return here;
    }
    slot = &here->below[hash >> bits % 64 & 3];
  }
}

}}}  // namespace gpu::v1::detail

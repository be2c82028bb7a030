#pragma once
/// \file
/// `intern`: texts that live as long as the process, so that expressions can point at them.

#include <gpu/core/string_ref.hpp>
#include <gpu/system/made_once.hpp>

namespace gpu::inline v1::detail {

struct interned_text {
  text characters;
  const interned_text* next;
};

/// Returns the text with these characters, which is made on first use and never destroyed; null if
/// the host is out of memory. Texts are found in a list: a program has few formulas and names.
/// **Threads**: takes no lock. Two threads that intern one text at the same time may make two.
inline const interned_text* intern(string_ref characters) noexcept {
  static const interned_text* first = nullptr;  // constant initialization: no lock in a fork
  const interned_text* head = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
  for (const interned_text* each = head; each != nullptr; each = each->next) {
    if (string_ref(each->characters) == characters) return each;
  }
  auto* const made = new (std::nothrow) interned_text{characters.to_text(), head};
  if (made == nullptr || made->characters.lost()) {
    delete made;
    return nullptr;
  }
  while (!__atomic_compare_exchange_n(&first, &made->next, static_cast<const interned_text*>(made),
                                      true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  return made;
}

}  // namespace gpu::inline v1::detail

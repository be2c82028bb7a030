#pragma once
/// \file
/// Generated kernels that the library's own functions share, found by a text.

#include <gpu/algorithm/detail/element_type.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/catch_bad_alloc.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// The properties in which kernels of one function for the same types differ.
struct shared_key {
  string_ref code;    ///< of the caller's
  bool wide = false;  ///< counts have 64 bits
};

/// Returns the `State` that belongs to a key. On the first call, `describe(state)` fills in a
/// new one and returns a `result<>`. Each `Family` of types has its own. They are never destroyed:
/// their kernels are kept until the process ends. Lookups take no lock; if two threads make one
/// state at the same time, both are kept and one is used.
/// **Errors**: those of `describe`; `errc::out_of_host_memory`.
template <class Family, class State, class Describe>
result<State*> find_shared(const char* function, const shared_key& key, source_location where,
                           Describe describe) {
  struct entry {
    text code;
    bool wide;
    State state;
    entry* next;
  };
  struct delete_entry {
    void operator()(entry* each) const noexcept { delete each; }
  };
  static entry* first = nullptr;  // constant initialization: no guard, so no lock in a fork
  entry* head = atomic_load<memory_order::acquire>(first);
  for (entry* each = head; each != nullptr; each = each->next) {
    if (each->wide == key.wide && string_ref(each->code) == key.code) return &each->state;
  }
  return catch_bad_alloc(function, where, [&]() -> result<State*> {
    unique_handle<entry*, delete_entry> made(
        new entry{required(key.code.to_text()), key.wide, {}, head});
    GPU_TRY(describe(made.get()->state));
    while (!atomic_compare_exchange_weak<memory_order::release, memory_order::relaxed>(
        first, made.get()->next, made.get())) {
    }
    return &made.release()->state;
  });
}

/// Zeros for a scan of items that are not larger than `T`, or than 16 bytes, and whose neutral
/// value is never used.
template <class T> struct zero_value {
  alignas(16) static constexpr unsigned char bytes[sizeof(T) < 16 ? 16 : sizeof(T)] = {};
};

/// The type in which sums of `T` are computed: float if `T` has 16 bits.
template <class T> constexpr element_type sum_type_of() noexcept {
  constexpr element_type own = element_type_of<T>();
  if (own.name == string_ref("gpu::half") || own.name == string_ref("gpu::bfloat16"))
    return element_type_of<float>();
  return own;
}

}}}  // namespace gpu::v1::detail

#pragma once
/// \file
/// `interposed_table`: a driver table each of whose functions asks a hook first. Fault injection
/// and tracing are hooks; they work over any table, and over each other.

#include <gpu/driver/entry_points.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace gpu::testing {

/// Wraps `inner`, so that every call goes to `Hook::intercept<Index>(function, arguments...)`,
/// which decides whether to call `function`. Functions that `inner` lacks stay missing.
///
/// A driver function carries no closure, so the hook in force is found through one variable for
/// each hook type: of one type a single table lives at a time, and making a second one ends the
/// program with a sentence. Different hook types stack freely.
template <class Hook> class interposed_table {
 public:
  interposed_table(const driver::entry_points& inner, Hook& hook) : table_{inner} {
    Hook* none = nullptr;
    if (!active_.compare_exchange_strong(none, &hook)) {
      std::fputs(
          "gpu::testing: a second table of the same kind was made while the first one lives; "
          "destroy the first, or put all rules into one.\n",
          stderr);
      std::abort();
    }
#define GPU_DRIVER_ENTRY(member, function, version)  \
  table_.member = wrap<index::member>(inner.member); \
  originals_<decltype(inner.member), index::member> = inner.member;
#include <gpu/driver/entry_points.inc>
  }
  interposed_table(const interposed_table&) = delete;
  interposed_table& operator=(const interposed_table&) = delete;
  ~interposed_table() { active_.store(nullptr); }

  const driver::entry_points& entry_points() const noexcept { return table_; }

 private:
  enum index : std::size_t {
#define GPU_DRIVER_ENTRY(member, function, version) member,
#include <gpu/driver/entry_points.inc>
  };

  template <class Function, std::size_t Index> static inline Function originals_ = nullptr;

  template <std::size_t Index, class... Arguments>
  static CUresult CUDAAPI enter(Arguments... arguments) {
    const auto original = originals_<CUresult(CUDAAPI*)(Arguments...), Index>;
    return active_.load(std::memory_order_acquire)
        ->template intercept<Index>(original, arguments...);
  }

  template <std::size_t Index, class... Arguments>
  static auto wrap(CUresult(CUDAAPI* inner)(Arguments...)) -> CUresult(CUDAAPI*)(Arguments...) {
    return inner == nullptr ? nullptr : &enter<Index, Arguments...>;
  }

  static inline std::atomic<Hook*> active_{nullptr};
  driver::entry_points table_;
};

}  // namespace gpu::testing

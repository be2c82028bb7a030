#pragma once
/// \file
/// `interposed_table`: a driver table that passes each call to a hook. Fault injection and tracing
/// are hooks; they work over any table, and over each other.

#include <gpu/driver/detail/entry_point_table.hpp>

#include <cuda.h>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace gpu { inline namespace v1 { namespace testing {

namespace detail {
/// The indices of the functions in the table and in `driver::entry_point_list`, as constants: to
/// find them by name takes a compiler seconds.
struct entry_point_position {
  enum : std::size_t {
#define GPU_DRIVER_ENTRY(member, function, version) member,
#include <gpu/driver/detail/entry_points.inc>
  };
};
}  // namespace detail

/// Wraps `inner`: every call goes to `Hook::intercept<Index>(function, arguments...)`, which
/// decides whether to call `function`. Functions that `inner` lacks stay missing.
///
/// A driver function has no context argument, so there is one variable for each hook type that
/// points to the hook. Therefore only one table of each hook type may be alive at a time: creating
/// a second one aborts the program with a message. Tables of different hook types can be stacked.
///
/// The constructor instantiates a function for each function of the driver. To compile it only
/// once, a program of many sources declares `extern template class` in all but one of them.
template <class Hook> class interposed_table {
 public:
  interposed_table(const driver::entry_points& inner, Hook& hook);
  interposed_table(const interposed_table&) = delete;
  interposed_table& operator=(const interposed_table&) = delete;
  ~interposed_table() { active_.store(nullptr); }

  const driver::entry_points& entry_points() const noexcept { return table_; }

 private:
  template <std::size_t Index, class... Arguments>
  static CUresult CUDAAPI enter(Arguments... arguments) {
    const auto original = reinterpret_cast<CUresult(CUDAAPI*)(Arguments...)>(originals_[Index]);
    return active_.load(std::memory_order_acquire)
        ->template intercept<Index>(original, arguments...);
  }

  template <std::size_t Index, class... Arguments>
  static void wrap(CUresult(CUDAAPI*& member)(Arguments...)) {
    originals_[Index] = reinterpret_cast<void (*)()>(member);
    if (member != nullptr) member = &enter<Index, Arguments...>;
  }

  static inline std::atomic<Hook*> active_{nullptr};
  static inline void (*originals_[driver::entry_point_count])() = {};
  driver::entry_points table_;
};

// Defined outside of the class, so that it is not inline.
template <class Hook>
interposed_table<Hook>::interposed_table(const driver::entry_points& inner, Hook& hook)
    : table_{inner} {
  Hook* none = nullptr;
  if (!active_.compare_exchange_strong(none, &hook)) {
    std::fputs(
        "gpu::testing: a second table of the same kind was created while the first one is alive; "
        "destroy the first one, or put all rules into one.\n",
        stderr);
    std::abort();
  }
#define GPU_DRIVER_ENTRY(member, function, version) \
  wrap<detail::entry_point_position::member>(table_.member);
#include <gpu/driver/detail/entry_points.inc>
}

}}}  // namespace gpu::v1::testing

#pragma once
/// \file
/// `fault_injection`: a driver table that makes chosen calls fail, over any other table; and
/// `sweep_faults`, which runs an operation once for each driver call it makes, failing each in
/// turn.

#include <gpu/core/result.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/testing/interposed_table.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpu::inline v0::testing {

/// Makes driver calls fail with a chosen code, and counts them.
///
///     gpu::testing::fault_injection faults(gpu::driver::current_entry_points());
///     gpu::driver::scoped_entry_points in_force(faults.entry_points());
///     faults.fail_call("cuMemAllocAsync", 2, CUDA_ERROR_OUT_OF_MEMORY);
///
/// A failing call is not passed on, with one exception: calls that end a lifetime
/// (`ends_a_lifetime`) do their work and then report failure, as the driver does when it hands out
/// an older error there.
/// **Threads**: calls may come from any thread; rules may change at any time.
/// **Errors**: a rule that can never do what it says (a name that is no function of the driver,
/// CUDA_SUCCESS, a share outside of 0 to 1) ends the program with a sentence: the test that made it
/// would pass without testing anything.
class fault_injection {
 public:
  explicit fault_injection(const driver::entry_points& inner)
      : current_{inner.ctx_get_current}, table_{inner, *this} {}

  /// The table to put in force; lives as long as this object.
  const driver::entry_points& entry_points() const noexcept { return table_.entry_points(); }

  /// Fails the call number `nth` from now, whichever it is; 0 is the next one.
  void fail_call(std::size_t nth, CUresult code) {
    add({rule::kind::any_call, 0, calls_.load() + nth, code, 0});
  }
  /// Fails call number `nth` from now of the function `name`, as in cuda.h and without a version:
  /// "cuMemAlloc".
  void fail_call(std::string_view name, std::size_t nth, CUresult code) {
    const std::size_t index = position_of(name);
    add({rule::kind::named_call, index, calls_of_[index].load() + nth, code, 0});
  }
  /// Fails a random share of all calls, 0 to 1, the same ones for the same seed and call order.
  void fail_share(double share, std::uint64_t seed, CUresult code) {
    if (!(share >= 0 && share <= 1)) {
      std::fprintf(stderr, "gpu::testing: fail_share(%g, ...): a share is 0 to 1.\n", share);
      std::abort();
    }
    add({rule::kind::share, 0, seed, code, share});
  }
  /// Forgets all rules; the counts go on.
  void clear() {
    std::lock_guard lock(mutex_);
    rules_.clear();
    armed_.store(false);
  }

  /// How many calls came in, failed ones included: all of them, or those of one function.
  std::size_t calls() const noexcept { return calls_.load(); }
  std::size_t calls(std::string_view name) const { return calls_of_[position_of(name)].load(); }
  /// How many calls were made to fail, and the name of the last of them, or "".
  std::size_t injected() const noexcept { return injected_.load(); }
  const char* last_injected() const noexcept { return last_injected_.load(); }

  /// Called by the table for every call.
  template <std::size_t Index, class Function, class... Arguments>
  CUresult intercept(Function original, Arguments... arguments) {
    const CUresult code = decide(Index);
    if (code == CUDA_SUCCESS) return original(arguments...);
    if (ends_a_lifetime(driver::entry_point_list[Index].name)) original(arguments...);
    return code;
  }

  /// The context that is current in the calling thread, without a call that counts or fails; null
  /// where there is none.
  CUcontext current_context() const {
    CUcontext context = nullptr;
    if (current_ != nullptr) (void)current_(&context);
    return context;
  }

  /// Where `driver::entry_point_list` has the function of that name; ends the program where it is
  /// none.
  static std::size_t position_of(std::string_view name) {
    for (std::size_t i = 0; i < driver::entry_point_count; ++i)
      if (name == driver::entry_point_list[i].name) return i;
    std::fprintf(stderr,
                 "gpu::testing: \"%.*s\" is no function that the library calls; write the name as "
                 "cuda.h has it, without _v2: \"cuMemAlloc\".\n",
                 static_cast<int>(name.size()), name.data());
    std::abort();
  }

  /// Whether the function of that name destroys, frees, unloads, unregisters, unmaps, releases,
  /// closes or pops.
  static bool ends_a_lifetime(std::string_view name) noexcept {
    for (std::string_view verb :
         {"Destroy", "Free", "Unload", "Unregister", "Unmap", "Release", "Close", "Pop"}) {
      if (name.find(verb) != name.npos) return true;
    }
    return false;
  }

 private:
  struct rule {
    enum class kind : std::uint8_t { any_call, named_call, share } what;
    std::size_t index;     // of the function in the table
    std::uint64_t number;  // of the call that fails; for a share, the seed
    CUresult code;
    double share;
  };

  void add(rule r) {
    if (r.code == CUDA_SUCCESS) {
      std::fputs("gpu::testing: a call cannot fail with CUDA_SUCCESS; choose an error.\n", stderr);
      std::abort();
    }
    std::lock_guard lock(mutex_);
    rules_.push_back(r);
    armed_.store(true, std::memory_order_release);
  }

  // SplitMix64 (Steele, Lea, Flood 2014): decides from seed and call number alone.
  static double uniform(std::uint64_t seed, std::uint64_t number) noexcept {
    std::uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

  /// Counts a call of that function; the code that it is to fail with, or success.
  CUresult decide(std::size_t index) {
    const std::size_t number = calls_.fetch_add(1);
    const std::size_t own_number = calls_of_[index].fetch_add(1);
    if (!armed_.load(std::memory_order_acquire)) return CUDA_SUCCESS;
    std::lock_guard lock(mutex_);
    for (const rule& r : rules_) {
      const bool hit = r.what == rule::kind::any_call ? r.number == number
                       : r.what == rule::kind::named_call
                           ? r.number == own_number && r.index == index
                           : uniform(r.number, number) < r.share;
      if (!hit) continue;
      injected_.fetch_add(1);
      last_injected_.store(driver::entry_point_list[index].name);
      return r.code;
    }
    return CUDA_SUCCESS;
  }

  mutable std::mutex mutex_;
  std::vector<rule> rules_;
  std::atomic<bool> armed_{false};
  std::atomic<std::size_t> calls_{0};
  std::atomic<std::size_t> injected_{0};
  std::atomic<const char*> last_injected_{""};
  std::array<std::atomic<std::size_t>, driver::entry_point_count> calls_of_{};
  CUresult(CUDAAPI* current_)(CUcontext*);  // of the table below
  interposed_table<fault_injection> table_;
};

/// What `sweep_faults` found wrong: nothing, where `problems` is empty.
struct fault_sweep {
  std::size_t calls = 0;              ///< driver calls that one run of the operation makes
  std::vector<std::string> problems;  ///< a sentence each

  bool clean() const noexcept { return calls > 0 && problems.empty(); }
  std::string text() const {
    if (calls == 0) return "the operation made no driver call";
    std::string all;
    for (const std::string& problem : problems) all += problem + '\n';
    return all;
  }
};

struct fault_sweep_options {
  /// The code that calls fail with; one that no operation expects.
  CUresult code = CUDA_ERROR_UNKNOWN;
  /// Functions whose failure the operation may survive, because it has another way.
  std::vector<std::string_view> may_survive = {};
  /// Waits for all work and counts what is held, to see leaks:
  /// `[&] { return driver.held_count(); }`.
  std::function<std::size_t()> live = {};
};

namespace detail {
inline std::atomic<std::size_t>& reported_errors() noexcept {
  static std::atomic<std::size_t> count{0};
  return count;
}
inline void count_reported_error(const cuda_error&) { reported_errors().fetch_add(1); }
}  // namespace detail

/// Runs `operation`, which returns a `result`, once for each driver call it makes, with that call
/// failing, and looks for trouble: success all the same; an error that is not the injected one, or
/// that names another call; a next attempt that fails; another current context after a run, and
/// objects left alive after the next attempt, or where nothing fails. Failures of calls that end a
/// lifetime arrive at the error reporter rather than as a result, and have to arrive there.
///
/// `faults` must be in force. Objects that the operation makes must be gone when it returns; what
/// its first run leaves behind for good, such as loaded kernels, is no leak.
/// **Threads**: uses the process-wide error reporter while it runs.
template <class Operation>
fault_sweep sweep_faults(fault_injection& faults, Operation operation,
                         const fault_sweep_options& options = {}) {
  fault_sweep sweep;
  faults.clear();
  const auto problem = [&](std::size_t n, std::string_view call, const std::string& what) {
    const std::string where = call.empty() ? "" : ' ' + std::string(call);
    sweep.problems.push_back("call " + std::to_string(n) + where + ": " + what);
  };
  for (std::string_view name : options.may_survive) (void)fault_injection::position_of(name);
  // The first run fills caches (primary contexts, loaded kernels), whose calls do not come again.
  if (auto warm = operation(); !warm.has_value()) {
    sweep.problems.push_back("fails with nothing injected: " +
                             std::string(warm.error().message().c_str()));
    return sweep;
  }
  std::size_t held = options.live ? options.live() : 0;
  CUcontext current = faults.current_context();
  const auto check_context = [&](const auto& tell) {
    const CUcontext context = faults.current_context();
    if (context != current) tell("another context is current than before");
    current = context;
  };
  const auto check_held = [&](const auto& tell) {
    const std::size_t now = options.live ? options.live() : 0;
    if (now > held) tell("something is left alive");
    if (now < held) tell("something that was there before is gone");
    held = now;
  };
  const std::size_t start = faults.calls();
  const auto tell_of_second = [&](const char* what) {
    sweep.problems.push_back(std::string("the second run, with nothing injected: ") + what);
  };
  if (!operation().has_value()) tell_of_second("it fails");
  sweep.calls = faults.calls() - start;
  check_context(tell_of_second);
  check_held(tell_of_second);

  for (std::size_t n = 0; n < sweep.calls; ++n) {
    const std::size_t injected_before = faults.injected();
    detail::reported_errors() = 0;
    const error_reporter reporter = set_error_reporter(&detail::count_reported_error);
    faults.fail_call(n, options.code);
    auto outcome = operation();
    faults.clear();
    set_error_reporter(reporter);
    const std::string_view call = faults.last_injected();
    if (faults.injected() == injected_before) {
      problem(n, "", "the operation makes fewer calls than before");
    } else if (outcome.has_value()) {
      bool excused = fault_injection::ends_a_lifetime(call) && detail::reported_errors() > 0;
      for (std::string_view name : options.may_survive) excused = excused || name == call;
      if (!excused) problem(n, call, "the operation succeeds all the same, and nobody is told");
    } else if (outcome.error().domain() != error_domain::driver ||
               outcome.error().code() != static_cast<int>(options.code) ||
               call != outcome.error().call()) {
      problem(n, call, "gives another error: " + std::string(outcome.error().message().c_str()));
    }
    const auto tell = [&](const char* what) { problem(n, call, what); };
    check_context(tell);
    // A failing call may leave work undone, and a cache emptier or fuller than it was: the one is
    // waited for, the other is mended by the next attempt.
    if (options.live) (void)options.live();
    if (!operation().has_value()) problem(n, call, "the next attempt fails");
    check_context(tell);
    check_held(tell);
  }
  return sweep;
}

}  // namespace gpu::inline v0::testing

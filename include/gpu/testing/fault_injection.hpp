#pragma once
/// \file
/// `fault_injection`: a driver table that makes chosen calls of any other table fail; and
/// `sweep_faults`, which runs an operation once for each driver call that it makes, with that call
/// failing.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/written_number.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/driver_errors.hpp>  // IWYU pragma: keep
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/testing/interposed_table.hpp>

#include <cuda.h>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace gpu { inline namespace v1 { namespace testing {

/// Makes driver calls fail with a chosen code, and counts them.
///
///     gpu::testing::fault_injection faults(gpu::driver::current_entry_points());
///     gpu::driver::scoped_entry_points in_force(faults.entry_points());
///     faults.fail_call("cuMemAllocAsync", 2, CUDA_ERROR_OUT_OF_MEMORY);
///
/// A failing call is not passed on, with one exception: calls that end a lifetime
/// (`ends_a_lifetime`) do their work and then return the error, as the driver does when it reports
/// an earlier error.
/// **Threads**: calls may come from any thread; rules may change at any time.
/// **Errors**: a rule that cannot work (an unknown function name, CUDA_SUCCESS, a share that is not
/// between 0 and 1) aborts the program with a message: the test would pass without testing
/// anything.
class fault_injection {
 public:
  explicit fault_injection(const driver::entry_points& inner)
      : current_{inner.ctx_get_current}, table_{inner, *this} {}

  /// Returns the table to use, valid as long as this object.
  const driver::entry_points& entry_points() const noexcept { return table_.entry_points(); }

  /// Makes one call fail: number `nth` from now, of any function; 0 is the next call.
  void fail_call(std::size_t nth, CUresult code) {
    add({rule::kind::any_call, 0, calls_.load() + nth, code, 0});
  }
  /// Makes one call of a function fail: number `nth` from now. `name` is the name in cuda.h,
  /// without a version: "cuMemAlloc".
  void fail_call(std::string_view name, std::size_t nth, CUresult code) {
    const std::size_t index = index_of(name);
    add({rule::kind::named_call, index, calls_of_[index].load() + nth, code, 0});
  }
  /// Makes a random share of all calls fail, 0 to 1; the same ones for the same seed and call
  /// order.
  void fail_share(double share, std::uint64_t seed, CUresult code) {
    const gpu::detail::ieee_number number = share;
    if (!(number >= 0 && number <= 1)) {
      gpu::detail::text_builder out;
      out << "gpu::testing: fail_share(" << number
          << ", ...): the share must be between 0 and 1.\n";
      std::fputs(out.finish().c_str(), stderr);
      std::abort();
    }
    add({rule::kind::share, 0, seed, code, share});
  }
  /// Removes all rules. Does not reset the counts.
  void clear() {
    std::lock_guard lock(mutex_);
    rules_.clear();
    armed_.store(false);
  }

  /// Returns the number of calls, including failed ones: of all functions, or of one.
  std::size_t calls() const noexcept { return calls_.load(); }
  std::size_t calls(std::string_view name) const { return calls_of_[index_of(name)].load(); }
  /// Returns the number of calls that were made to fail, and the function of the last one, or "".
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

  /// Returns the calling thread's current context, or null; the query neither counts nor fails.
  CUcontext current_context() const {
    CUcontext context = nullptr;
    if (current_ != nullptr) (void)current_(&context);
    return context;
  }

  /// Returns the index of a function in `driver::entry_point_list`. Aborts the program if the name
  /// is not in the list.
  static std::size_t index_of(std::string_view name) {
    for (std::size_t i = 0; i < driver::entry_point_count; ++i)
      if (name == driver::entry_point_list[i].name) return i;
    std::fprintf(
        stderr,
        "gpu::testing: \"%.*s\" is not a driver function that the library calls; write the "
        "name as in cuda.h, without _v2: \"cuMemAlloc\".\n",
        static_cast<int>(name.size()), name.data());
    std::abort();
  }

  /// Returns whether the function destroys, frees, unloads, unregisters, unmaps, releases, closes
  /// or pops something.
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

  // SplitMix64 (Steele, Lea, Flood 2014): depends on the seed and the call number only.
  static double uniform(std::uint64_t seed, std::uint64_t number) noexcept {
    std::uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

  /// Counts a call of a function. Returns the code that it must fail with, or CUDA_SUCCESS.
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

/// The result of `sweep_faults`: no problem was found if `problems` is empty.
struct fault_sweep {
  std::size_t calls = 0;              ///< driver calls that one run of the operation makes
  std::vector<std::string> problems;  ///< one sentence for each

  bool clean() const noexcept { return calls > 0 && problems.empty(); }
  std::string text() const {
    if (calls == 0) return "the operation makes no driver calls";
    std::string all;
    for (const std::string& problem : problems) all += problem + '\n';
    return all;
  }
};

struct fault_sweep_options {
  /// The code that calls fail with. Choose one that the operation does not expect.
  CUresult code = CUDA_ERROR_UNKNOWN;
  /// Functions whose failure the operation may survive, because it has an alternative.
  std::vector<std::string_view> may_survive = {};
  /// Waits for all work and returns the number of live objects, to find leaks:
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

/// Runs `operation`, which returns a `result`, once for each driver call that it makes, with that
/// call failing, and looks for problems: the operation succeeds anyway; it returns another error
/// than the injected one, or one that names another call; the next run fails; the current context
/// has changed; or objects are still alive, or were destroyed too early. The error of a call that
/// ends a lifetime must reach the error reporter instead.
///
/// `faults` must be the table in use. Objects that the operation creates must be destroyed when it
/// returns; what its first run leaves behind permanently, such as loaded kernels, is not a leak.
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
  for (std::string_view name : options.may_survive) (void)fault_injection::index_of(name);
  // The first run fills caches (primary contexts, loaded kernels) with calls that do not recur.
  if (auto warm = operation(); !warm.has_value()) {
    sweep.problems.push_back("the operation fails although no fault was injected: " +
                             std::string(warm.error().message().c_str()));
    return sweep;
  }
  std::size_t held = options.live ? options.live() : 0;
  CUcontext current = faults.current_context();
  const auto check_context = [&](const auto& add_problem) {
    const CUcontext context = faults.current_context();
    if (context != current) add_problem("the current context has changed");
    current = context;
  };
  const auto check_held = [&](const auto& add_problem) {
    const std::size_t now = options.live ? options.live() : 0;
    if (now > held) add_problem("objects were not released");
    if (now < held) add_problem("objects that existed before were destroyed");
    held = now;
  };
  const std::size_t start = faults.calls();
  const auto add_second_problem = [&](const char* what) {
    sweep.problems.push_back(std::string("the second run, without a fault: ") + what);
  };
  if (!operation().has_value()) add_second_problem("it fails");
  sweep.calls = faults.calls() - start;
  check_context(add_second_problem);
  check_held(add_second_problem);

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
      problem(n, "", "the operation makes fewer driver calls than before");
    } else if (outcome.has_value()) {
      bool excused = fault_injection::ends_a_lifetime(call) && detail::reported_errors() > 0;
      for (std::string_view name : options.may_survive) excused = excused || name == call;
      if (!excused) problem(n, call, "the operation succeeds, and the error is not reported");
    } else if (outcome.error().domain() != error_domain::driver ||
               outcome.error().code() != static_cast<int>(options.code) ||
               call != outcome.error().call()) {
      problem(
          n, call,
          "the operation returns another error: " + std::string(outcome.error().message().c_str()));
    }
    const auto add_problem = [&](const char* what) { problem(n, call, what); };
    check_context(add_problem);
    // A failing call may leave work unfinished, and a cache with more or fewer entries. So wait for
    // the work, and run again, which restores the cache.
    if (options.live) (void)options.live();
    if (!operation().has_value()) problem(n, call, "the next run fails");
    check_context(add_problem);
    check_held(add_problem);
  }
  return sweep;
}

}}}  // namespace gpu::v1::testing

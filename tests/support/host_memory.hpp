#pragma once
/// \file
/// Host memory that runs out: each allocation of an operation that may fail, failing in turn. Those
/// are the ones by operator new, which host_memory.cpp replaces in the test program.

#include "support/drivers.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace test {

/// Selects the allocations of a thread that fail.
struct memory_failures {
  bool lasting = false;   ///< also all that come after the first that fails
  bool throwing = false;  ///< also those by the operator new that throws
};

/// Lets one allocation of this thread fail, number `nth` from now, until it goes out of scope.
class failing_allocation {
 public:
  explicit failing_allocation(std::size_t nth, memory_failures which = {});
  failing_allocation(const failing_allocation&) = delete;
  failing_allocation& operator=(const failing_allocation&) = delete;
  ~failing_allocation();

  /// Returns whether one has failed.
  bool happened() const;

  /// Whether there is such a thing in this program: Clang's sanitizers bring operators of their
  /// own.
  static bool possible();
  /// Whether it can fail those that throw: not under a sanitizer, nor without exceptions.
  static bool possible_for_throwing();
};

/// Lets allocation number `nth` from now fail, by whichever operator new and thread, and where
/// `lasting` all after it, until it goes out of scope. One at a time.
class failing_anywhere {
 public:
  failing_anywhere(std::size_t nth, bool lasting);
  failing_anywhere(const failing_anywhere&) = delete;
  failing_anywhere& operator=(const failing_anywhere&) = delete;
  ~failing_anywhere();

  bool happened() const;
  static bool possible() { return failing_allocation::possible_for_throwing(); }
};

/// Spares the allocations of this thread for a scope: those of a driver, or of the test itself.
class spared_allocations {
 public:
  spared_allocations();
  spared_allocations(const spared_allocations&) = delete;
  spared_allocations& operator=(const spared_allocations&) = delete;
  ~spared_allocations();
};

/// A driver's table over another, whose allocations are spared: what fails is the library's.
class sparing_table {
 public:
  explicit sparing_table(const gpu::driver::entry_points& inner);
  sparing_table(const sparing_table&) = delete;
  sparing_table& operator=(const sparing_table&) = delete;
  ~sparing_table();

  const gpu::driver::entry_points& entry_points() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// What `operation` returns; errc::out_of_host_memory where it throws std::bad_alloc.
gpu::result<> run_contained(const std::function<gpu::result<>()>& operation);

/// Runs `operation` with each of its allocations failing, alone and then together with all that
/// come after it, and again with none failing. It has to succeed or to say that the host is out of
/// memory, to work the next time, and to leave `held()` as it was. Returns what is wrong, or an
/// empty string.
std::string sweep_all_allocations(const std::function<gpu::result<>()>& operation,
                                  const std::function<std::size_t()>& held);

/// Runs `operation`, which returns a result, with each of its allocations failing in turn, on a CPU
/// driver of its own. It has to say that the host is out of memory, leave nothing alive, and work
/// the next time. Returns what is wrong, or an empty string.
template <class Operation>
std::string sweep_host_memory(Operation operation, cpu_driver_options cpu = {}) {
  if (!failing_allocation::possible()) return {};
  own_cpu_driver driver(cpu);
  if (auto warm = operation(); !warm.has_value())
    return "fails with memory left: " + std::string(warm.error().message().c_str());
  const std::size_t alive = driver.live_objects();
  std::string wrong;
  for (std::size_t n = 0;; ++n) {
    const std::string name = "allocation " + std::to_string(n) + ": ";
    {
      const failing_allocation failing(n);
      const auto outcome = operation();
      if (!failing.happened()) return n == 0 ? "the operation allocates nothing" : wrong;
      const spared_allocations spared;
      if (outcome.has_value()) {
        wrong += name + "the operation succeeds all the same\n";
      } else if (!(outcome.error() == gpu::errc::out_of_host_memory)) {
        wrong += name + "gives another error: " + outcome.error().message().c_str() + '\n';
      }
    }
    if (driver.live_objects() != alive) wrong += name + "leaves alive:\n" + driver.live_list();
    if (!operation().has_value()) wrong += name + "the next attempt fails\n";
  }
}

}  // namespace test

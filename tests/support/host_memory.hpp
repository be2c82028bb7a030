#pragma once
/// \file
/// Host memory that runs out: each allocation of an operation that may fail, failing in turn. Those
/// are the ones by `new (std::nothrow)`, which host_memory.cpp replaces in the test program.

#include "support/results.hpp"

#include <cstddef>
#include <string>

namespace test {

/// Lets one allocation of this thread fail, number `nth` from now, until it goes out of scope.
class failing_allocation {
 public:
  explicit failing_allocation(std::size_t nth);
  failing_allocation(const failing_allocation&) = delete;
  failing_allocation& operator=(const failing_allocation&) = delete;
  ~failing_allocation();

  /// Whether it has come to that.
  bool happened() const;

  /// Whether there is such a thing in this program: Clang's sanitizers bring operators of their
  /// own.
  static bool possible();
};

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

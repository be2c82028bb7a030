#pragma once
/// \file
/// Library calls that fail in turn: for tables of functions that stand in for a library.

#include "support/catch.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"

#include <gpu/core/result.hpp>

namespace test {

/// The calls that stand-ins have made so far, and the number of the one that is to fail.
struct library_calls {
  int made = 0;
  int failing = -1;

  /// Returns whether the call that asks is to fail. Each call asks once.
  bool fails() { return made++ == failing; }
};
inline library_calls& calls_of_library() {
  static library_calls calls;
  return calls;
}

/// A call of a stand-in, for as long as it runs. What it allocates is the library's, and does not
/// fail.
class library_call {
 public:
  bool fails() const { return fails_; }

 private:
  spared_allocations spared_;
  bool fails_ = calls_of_library().fails();
};

/// Waits until what a stand-in has copied to the device is there. A copy from pageable memory
/// returns as soon as the driver has read that memory, and streams that do not block do not wait
/// for it.
inline void wait_for_copies() { static_cast<void>(driver().stream_synchronize(nullptr)); }

/// Runs `operation`, which returns a result, with each of its library calls failing in turn, and
/// then without. `check(error, number)` looks at each error. Returns how many calls there are.
template <class Operation, class Check> int sweep_library(Operation operation, Check check) {
  library_calls& calls = calls_of_library();
  calls = {};
  for (int number = 0; number < 1000; ++number) {
    calls = {0, number};
    const gpu::result<> done = operation();
    if (calls.made <= number) {
      calls = {};
      CHECK(done.has_value());
      return number;
    }
    check(done, number);
  }
  FAIL("the operation does not end");
  return 0;
}

}  // namespace test

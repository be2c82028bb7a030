#pragma once
/// \file
/// The driver that the test program runs on, and CPU drivers of their own for tests that need one.
/// Only drivers.cpp includes the CPU driver itself, which is dear to compile.

#include <gpu/driver/entry_points.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace test {

/// The drivers that the test program can run on.
enum class driver_kind {
  gpu,           ///< libcuda and a real device
  cpu_eager,     ///< the CPU driver; work runs when it is queued
  cpu_deferred,  ///< the CPU driver; work runs as late as the ordering rules allow
  cpu_threads,   ///< the CPU driver; each stream works on a thread of its own
};

/// Puts the driver named by GPU_TEST_DRIVER in force: `gpu`, `cpu`, `cpu-deferred`, `cpu-threads`,
/// or `auto`, which is also what is meant when it is not set: a GPU where there is one, else the
/// CPU driver.
/// Returns what is wrong, or an empty string. Called once, by main.
std::string choose_driver();

/// The driver that `choose_driver` put in force.
driver_kind chosen_driver();

/// Its name as GPU_TEST_DRIVER spells it.
const char* driver_name();

/// Returns whether the tests run on a real device. A test that makes sense only there is tagged
/// [hardware], one that makes sense only on the CPU driver [cpu]; main leaves them out elsewhere.
bool on_hardware();

/// Returns the number of devices. A test that takes two is tagged [two_devices], and main leaves it
/// out where there is one.
int device_count();

/// The table that the tests run on, for tests that wrap it or hold our results against it.
const gpu::driver::entry_points& driver();

/// Options of a CPU driver for one test. Those that it does not set are as in the driver that the
/// test program runs on.
struct cpu_driver_options {
  int devices = 1;
  std::size_t memory_per_device = std::size_t{256} << 20;
  bool deferred = chosen_driver() == driver_kind::cpu_deferred;
  bool threads = chosen_driver() == driver_kind::cpu_threads;
};

class cpu_driver;

/// A CPU driver of the test's own, in force from construction to destruction. Independent of the
/// one that the other tests run on: nothing is allocated in it yet.
class own_cpu_driver {
 public:
  explicit own_cpu_driver(cpu_driver_options options = {});
  own_cpu_driver(const own_cpu_driver&) = delete;
  own_cpu_driver& operator=(const own_cpu_driver&) = delete;
  ~own_cpu_driver();

  const gpu::driver::entry_points& table() const;
  /// Returns the driver itself, for a `cost_collection`.
  const cpu_driver& itself() const;
  /// Returns the number of live handles and allocations; 0 means that nothing leaked.
  std::size_t live_objects() const;
  /// The same once all work is done, and retains of primary contexts and contexts that this thread
  /// has pushed.
  std::size_t held() const;
  /// The same as a list for the message of a failed test, a line each; with the place that made it
  /// where GPU_TEST_PLACES is set.
  std::string live_list() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace test

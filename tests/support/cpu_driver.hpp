#pragma once
/// \file
/// `gpu::testing::cpu_driver` for tests: the same object, whose code is dear to compile, behind a
/// pointer. drivers.cpp alone includes the CPU driver itself.

#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cpu_driver_options.hpp>
#include <gpu/testing/kernel_costs.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpu::testing {
class cost_collection;
class cpu_driver;
}  // namespace gpu::testing

namespace test {

class cpu_driver {
 public:
  explicit cpu_driver(gpu::testing::cpu_driver_options options = {});
  cpu_driver(const cpu_driver&) = delete;
  cpu_driver& operator=(const cpu_driver&) = delete;
  ~cpu_driver();

  /// The number that may be alive at once.
  static std::size_t limit();

  const gpu::driver::entry_points& entry_points() const;
  /// Lists the live objects, one line each.
  std::vector<std::string> live() const;
  std::size_t live_count() const;
  std::size_t held_count() const;
  /// Prints it to stderr, and returns how much it is.
  std::size_t report_leaks() const;
  /// Returns the number of mistakes that it found since the last call.
  std::size_t take_findings() const;

 private:
  friend class cost_collection;

  std::unique_ptr<gpu::testing::cpu_driver> driver_;
};

/// `gpu::testing::cost_collection`.
class cost_collection {
 public:
  explicit cost_collection(const cpu_driver& driver);
  cost_collection(const cost_collection&) = delete;
  cost_collection& operator=(const cost_collection&) = delete;
  ~cost_collection();

  gpu::testing::cost_report report() const;

 private:
  std::unique_ptr<gpu::testing::cost_collection> collection_;
};

/// Returns the number of mistakes that the test program's driver found since the last call.
std::size_t take_findings_of_process();

/// `gpu::testing::use_cpu_driver`, which the test program has called already.
void use_cpu_driver_again(gpu::testing::cpu_driver_options options);

}  // namespace test

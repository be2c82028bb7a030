#pragma once
/// \file
/// A CPU driver for one test, with its table at hand and what it reported.

#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cpu_driver_options.hpp>

#include "support/catch.hpp"
#include "support/sanitizers.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace test {

/// Options of a driver that does its work at once and goes on after what it only reports, and that
/// knows what made each object, and of one that does not: it takes seconds to tell, and in some
/// programs a minute (see `places_known`).
inline gpu::testing::cpu_driver_options with_places() {
  gpu::testing::cpu_driver_options options;
  options.mode = gpu::testing::execution::eager;
  options.checks = nogpu::machine::checks::only_reported();
  return options;
}
inline gpu::testing::cpu_driver_options without_places() {
  gpu::testing::cpu_driver_options options = with_places();
  options.record_locations = false;
  return options;
}

/// Whether a text names this place, or cannot know it.
inline bool names_place(const std::string& text, const char* place) {
  return !places_known || text.find(place) != std::string::npos;
}

/// A driver whose device 0 has its primary context current on the thread that made the fixture.
class driver_fixture {
 public:
  explicit driver_fixture(gpu::testing::cpu_driver_options options = without_places());
  ~driver_fixture();
  driver_fixture(const driver_fixture&) = delete;
  driver_fixture& operator=(const driver_fixture&) = delete;

  /// What the driver reported until now, and what kernels printed.
  std::string reports() const;
  std::string prints() const;
  /// How many mistakes it found since the last call.
  std::size_t take_findings() const;
  /// What is alive, one line each.
  std::vector<std::string> live() const;
  /// What `report_leaks` prints.
  std::string print_leaks() const;

 private:
  struct state;
  std::unique_ptr<state> state_;

 public:
  const gpu::driver::entry_points& cu;
  CUcontext context = nullptr;
};

inline gpu::testing::cpu_driver_options deferred() {
  gpu::testing::cpu_driver_options options = without_places();
  options.mode = gpu::testing::execution::deferred;
  return options;
}

inline gpu::testing::cpu_driver_options with_threads(gpu::testing::cpu_driver_options options) {
  options.stream_threads = true;
  return options;
}

/// Every way in which a driver can do its work.
inline std::vector<gpu::testing::cpu_driver_options> all_modes() {
  return {without_places(), deferred(), with_threads(without_places()), with_threads(deferred())};
}

}  // namespace test

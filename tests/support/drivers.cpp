#include "support/drivers.hpp"

#include "support/cpu_driver.hpp"
#include "support/sanitizers.hpp"

#include <gpu/driver/detail/library_pools.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/cost_collection.hpp>
#include <gpu/testing/cpu_driver.hpp>
#include <gpu/testing/cpu_driver_options.hpp>
#include <gpu/testing/kernel_costs.hpp>
#include <gpu/testing/live_object.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace test {
namespace {

gpu::testing::cpu_driver_options adjusted(gpu::testing::cpu_driver_options options) {
  options.record_locations = options.record_locations && places_known;
  return options;
}

driver_kind chosen = driver_kind::gpu;

gpu::testing::cpu_driver_options as_options(const cpu_driver_options& wanted) {
  gpu::testing::cpu_driver_options options;
  options.devices = static_cast<unsigned>(wanted.devices);
  options.memory_per_device = wanted.memory_per_device;
  options.mode =
      wanted.deferred ? gpu::testing::execution::deferred : gpu::testing::execution::eager;
  options.stream_threads = wanted.threads;
  // It takes seconds to tell.
  options.record_locations = std::getenv("GPU_TEST_PLACES") != nullptr;
  return options;
}

/// Asks a table of its own, so that looking for a GPU leaves the process as it was.
bool gpu_is_here() {
  static gpu::driver::entry_points table{};
  static char detail[256];
  gpu::detail::load_entry_points(table, detail, sizeof detail);
  const bool is_nogpu = table.unavailable_detail == nullptr;
  int devices = 0;
  return !is_nogpu && table.init != nullptr && table.init(0) == CUDA_SUCCESS &&
         table.device_get_count(&devices) == CUDA_SUCCESS && devices > 0;
}

}  // namespace

std::string choose_driver() {
  const char* asked = std::getenv("GPU_TEST_DRIVER");
  const std::string name = asked != nullptr && *asked != '\0' ? asked : "auto";
  if (name == "gpu" || name == "auto") {
    if (gpu_is_here()) return {};
    if (name == "gpu") return "GPU_TEST_DRIVER=gpu, but no GPU answers";
  }
  if (name != "auto" && name != "cpu" && name != "cpu-deferred" && name != "cpu-threads")
    return "GPU_TEST_DRIVER=" + name + ": expected auto, gpu, cpu, cpu-deferred or cpu-threads";
  chosen = name == "cpu-deferred"  ? driver_kind::cpu_deferred
           : name == "cpu-threads" ? driver_kind::cpu_threads
                                   : driver_kind::cpu_eager;
  cpu_driver_options options;
  options.devices = 2;
  options.memory_per_device = std::size_t{4} << 30;
  gpu::testing::cpu_driver_options of_process = as_options(options);
  // Tests make mistakes on purpose, and check those.
  of_process.fail_at_exit = std::getenv("GPU_TEST_FINDINGS") != nullptr;
  of_process.report_leaks_at_end = std::getenv("GPU_TEST_LEAKS") != nullptr;
  gpu::testing::use_cpu_driver(std::move(of_process));
  return {};
}

driver_kind chosen_driver() { return chosen; }

const char* driver_name() {
  switch (chosen) {
    case driver_kind::gpu: return "gpu";
    case driver_kind::cpu_deferred: return "cpu-deferred";
    case driver_kind::cpu_threads: return "cpu-threads";
    case driver_kind::cpu_eager: break;
  }
  return "cpu";
}

bool on_hardware() { return chosen == driver_kind::gpu; }

int device_count() {
  int count = 0;
  return driver().device_get_count(&count) == CUDA_SUCCESS ? count : 0;
}

const gpu::driver::entry_points& driver() { return gpu::driver::current_entry_points(); }

/// Restores the library's pools of the driver before: after another driver it would make new ones.
struct kept_pools {
  gpu::detail::library_pool of_device[gpu::detail::library_pools::capacity];

  kept_pools() { std::ranges::copy(pools(), of_device); }
  kept_pools(const kept_pools&) = delete;
  kept_pools& operator=(const kept_pools&) = delete;
  ~kept_pools() { std::ranges::copy(of_device, pools()); }

 private:
  using all = gpu::detail::library_pool (&)[gpu::detail::library_pools::capacity];
  static all pools() { return gpu::detail::library_pools::of_process().of_device; }
};

struct own_cpu_driver::state {
  kept_pools before;
  cpu_driver driver;
  gpu::driver::scoped_entry_points in_force{driver.entry_points()};

  explicit state(const cpu_driver_options& options) : driver(as_options(options)) {}
};

own_cpu_driver::own_cpu_driver(cpu_driver_options options)
    : state_{std::make_unique<state>(options)} {}
own_cpu_driver::~own_cpu_driver() = default;

const gpu::driver::entry_points& own_cpu_driver::table() const {
  return state_->driver.entry_points();
}
const cpu_driver& own_cpu_driver::itself() const { return state_->driver; }
std::size_t own_cpu_driver::live_objects() const { return state_->driver.live_count(); }
std::size_t own_cpu_driver::held() const { return state_->driver.held_count(); }
std::string own_cpu_driver::live_list() const {
  std::string list;
  for (const std::string& line : state_->driver.live()) list += line + '\n';
  return list;
}

cpu_driver::cpu_driver(gpu::testing::cpu_driver_options options)
    : driver_{std::make_unique<gpu::testing::cpu_driver>(adjusted(std::move(options)))} {}
cpu_driver::~cpu_driver() = default;

std::size_t cpu_driver::limit() { return gpu::testing::cpu_driver::limit(); }
const gpu::driver::entry_points& cpu_driver::entry_points() const {
  return driver_->entry_points();
}
std::vector<std::string> cpu_driver::live() const {
  std::vector<std::string> lines;
  for (const gpu::testing::live_object& each : driver_->live()) lines.push_back(each.text());
  return lines;
}
std::size_t cpu_driver::live_count() const { return driver_->live_count(); }
std::size_t cpu_driver::held_count() const { return driver_->held_count(); }
std::size_t cpu_driver::report_leaks() const { return driver_->report_leaks(); }
std::size_t cpu_driver::take_findings() const { return driver_->take_findings(); }

cost_collection::cost_collection(const cpu_driver& driver)
    : collection_{std::make_unique<gpu::testing::cost_collection>(*driver.driver_)} {}
cost_collection::~cost_collection() = default;
gpu::testing::cost_report cost_collection::report() const { return collection_->report(); }

std::size_t take_findings_of_process() { return gpu::testing::use_cpu_driver().take_findings(); }

void use_cpu_driver_again(gpu::testing::cpu_driver_options options) {
  (void)gpu::testing::use_cpu_driver(std::move(options));
}

}  // namespace test

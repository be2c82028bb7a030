#include "support/drivers.hpp"

#include <gpu/driver/process_state.hpp>

#include <cstdlib>
#include <cstring>

#if __has_include(<gpu/testing/cpu_driver.hpp>)
#  include <gpu/testing/cpu_driver.hpp>
#  define GPU_TEST_HAS_CPU_DRIVER 1
#endif

namespace test {
namespace {

driver_kind chosen = driver_kind::gpu;

/// A driver table of its own, so that looking for a GPU leaves the process as it was.
bool gpu_is_here() {
  static gpu::driver::entry_points table{};
  static char detail[256];
  gpu::detail::load_entry_points(table, detail, sizeof detail);
  int devices = 0;
  return table.init != nullptr && table.init(0) == CUDA_SUCCESS &&
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
  if (name != "auto" && name != "cpu" && name != "cpu-deferred")
    return "GPU_TEST_DRIVER=" + name + ": expected auto, gpu, cpu or cpu-deferred";
  chosen = name == "cpu-deferred" ? driver_kind::cpu_deferred : driver_kind::cpu_eager;
#if defined(GPU_TEST_HAS_CPU_DRIVER)
#endif
  return {};
}

driver_kind chosen_driver() { return chosen; }

const char* driver_name() {
  switch (chosen) {
    case driver_kind::gpu:
      return "gpu";
    case driver_kind::cpu_deferred:
      return "cpu-deferred";
    case driver_kind::cpu_eager:
      break;
  }
  return "cpu";
}

bool on_hardware() { return chosen == driver_kind::gpu; }

const gpu::driver::entry_points& driver() { return gpu::driver::current_entry_points(); }

}  // namespace test

#include "settings.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <system_error>

namespace nogpu::libcuda {
namespace {

/// Reads a whole number, with K, M or G for powers of 1024 behind it if `with_unit`. Returns
/// whether that is all of the text.
bool read_number(std::string_view text, bool with_unit, std::uint64_t& number) {
  unsigned shift = 0;
  if (with_unit && !text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K': shift = 10; break;
      case 'm':
      case 'M': shift = 20; break;
      case 'g':
      case 'G': shift = 30; break;
      default: break;
    }
    if (shift != 0) text.remove_suffix(1);
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return false;
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return false;
  number <<= shift;
  return true;
}

/// A variable of the environment that is a number.
struct setting {
  const char* variable;
  std::uint64_t least, most;
  bool with_unit;
  const char* rule;       // what the value has to be
  const char* otherwise;  // what is done without it
};

/// Returns the value, or `otherwise` if the variable is not set or cannot be used.
std::uint64_t read(const setting& wanted, std::uint64_t otherwise) {
  const char* const text = std::getenv(wanted.variable);
  if (text == nullptr || *text == '\0') return otherwise;
  std::uint64_t number = 0;
  if (read_number(text, wanted.with_unit, number) && number >= wanted.least &&
      number <= wanted.most)
    return number;
  std::fprintf(stderr, "nogpu: %s is \"%s\", but it must be %s; %s\n", wanted.variable, text,
               wanted.rule, wanted.otherwise);
  return otherwise;
}

constexpr std::uint64_t most_memory = std::uint64_t{1} << 46;

constexpr setting devices{"NOGPU_DEVICES",    0, 64, false, "a number of devices from 0 to 64",
                          "there is 1 device"};
constexpr setting memory{"NOGPU_MEMORY",
                         std::uint64_t{1} << 20,
                         most_memory,
                         true,
                         "a number of bytes from 1M to 65536G, such as 8G",
                         "each device has 4G"};
constexpr setting threads{"NOGPU_THREADS",
                          1,
                          1024,
                          false,
                          "a number of threads from 1 to 1024",
                          "there is one for each core"};
constexpr setting strict{"NOGPU_STRICT", 0,        1,
                         false,          "0 or 1", "mistakes in kernels are only reported"};

}  // namespace

gpu::testing::cpu_driver_options settings_of_environment() {
  gpu::testing::cpu_driver_options options;
  options.initialized = false;
  options.fail_at_exit = false;
  // Kernels of other people wait for the host, and work begins without a call that waits for it.
  options.stream_threads = true;
  options.devices = static_cast<unsigned>(read(devices, options.devices));
  options.memory_per_device = read(memory, options.memory_per_device);
  options.block_threads = static_cast<unsigned>(read(threads, options.block_threads));
  options.mode = gpu::testing::execution::eager;
  if (read(strict, 0) == 0) {
    // As on a GPU: a mistake that does no harm is no error, and nothing takes too long.
    options.checks = nogpu::machine::checks::only_reported();
    options.instruction_budget = 0;
    options.value_wait_limit = std::chrono::hours(24 * 365);
  }
  return options;
}

}  // namespace nogpu::libcuda

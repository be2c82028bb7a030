#include "driver.hpp"

#include "settings.hpp"

#include <gpu/testing/cpu_driver.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include <pthread.h>

namespace nogpu::libcuda {
namespace {

using gpu::testing::cpu_driver;

// Never destroyed: kernels may still run, and destructors of the program may call the driver, while
// the process ends.
std::atomic<const table*> in_force{nullptr};
std::atomic<bool> initialized{false};
std::mutex starting;

constexpr table no_functions{};

const table& start() noexcept try {
  const std::lock_guard lock(starting);
  if (const table* made = in_force.load(std::memory_order_acquire)) return *made;
  const auto& made = *new cpu_driver(settings_of_environment());
  in_force.store(&made.entry_points(), std::memory_order_release);
  return made.entry_points();
} catch (const std::bad_alloc&) {
  return no_functions;  // the next call tries again
}

/// What NVIDIA's driver does: a child of a process that has initialized the driver cannot use it,
/// and is told the meaning of error codes all the same. Locks of the parent's driver may have been
/// held by threads that the child does not have, so the child never calls that driver.
void refuse_child() noexcept try {
  static table of_child{};
  in_force.store(&of_child, std::memory_order_release);
  gpu::testing::cpu_driver_options options;
  options.devices = 0;
  const table& fresh = (new cpu_driver(std::move(options)))->entry_points();
  of_child.driver_get_version = fresh.driver_get_version;
  of_child.get_error_name = fresh.get_error_name;
  of_child.get_error_string = fresh.get_error_string;
} catch (const std::bad_alloc&) {
}

void before_fork() noexcept { starting.lock(); }
void after_fork_in_parent() noexcept { starting.unlock(); }
void after_fork_in_child() noexcept {
  if (initialized.load()) {
    refuse_child();
  } else {
    in_force.store(nullptr);  // the child starts a driver of its own
  }
  starting.unlock();
}

[[maybe_unused]] const int watches_forks =
    pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);

}  // namespace

const table& driver() noexcept {
  const table* const made = in_force.load(std::memory_order_acquire);
  return made != nullptr ? *made : start();
}

CUresult init(unsigned flags) noexcept {
  const CUresult answer = ask<&table::init>(flags);
  if (answer == CUDA_SUCCESS) initialized.store(true);
  return answer;
}

CUresult refuse(const char* function) noexcept try {
  static std::mutex guard;
  static auto& told = *new std::set<std::string_view>;
  const std::lock_guard lock(guard);
  if (told.insert(function).second)
    std::fprintf(stderr, "nogpu: %s is not implemented; it returned CUDA_ERROR_NOT_SUPPORTED\n",
                 function);
  return CUDA_ERROR_NOT_SUPPORTED;
} catch (const std::bad_alloc&) {
  return CUDA_ERROR_OUT_OF_MEMORY;
}

}  // namespace nogpu::libcuda

#pragma once
/// \file
/// Taking values out of results in tests, and failing every driver call of an operation in turn.

#include "support/catch.hpp"
#include "support/drivers.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/testing/fault_injection.hpp>
#include <gpu/testing/interposed_table.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A function for each function of the driver: results.cpp has them, for all the tests.
extern template class gpu::testing::interposed_table<gpu::testing::fault_injection>;

namespace test {

/// The value; fails the test with the error's message where there is none.
template <class T> T value_of(gpu::result<T> outcome) {
  if (!outcome.has_value()) FAIL(outcome.error().message().c_str());
  if constexpr (!std::is_void_v<T>) return *std::move(outcome);
}

/// The error's message; fails the test where there is no error.
template <class T> gpu::cuda_error error_of(gpu::result<T> outcome) {
  if (outcome.has_value()) FAIL("there is no error");
  return std::move(outcome).error();
}

/// Returns whether a message contains all of these parts.
template <class... Parts> bool says(const gpu::cuda_error& error, Parts... parts) {
  const gpu::text message = error.message();
  const bool all = (message.contains(parts) && ...);
  if (!all) WARN(message.c_str());
  return all;
}

/// Device 0, which every driver of the tests has.
inline gpu::device first_device() { return value_of(gpu::device::get(0)); }

namespace detail {
std::string sweep(const std::function<gpu::result<>()>& operation,
                  std::vector<std::string_view> may_survive, const cpu_driver_options& cpu,
                  bool allocations);
}

/// Runs `operation`, which returns a result, with each of its driver calls failing in turn, and
/// then each allocation of the host's memory (see `sweep_all_allocations`), on a CPU driver of its
/// own that shows what is left alive. Returns what is wrong, or an empty string.
template <class Operation>
std::string sweep(Operation operation, std::vector<std::string_view> may_survive = {},
                  cpu_driver_options cpu = {}) {
  const auto outcome = [&]() -> gpu::result<> {
    static_cast<void>(GPU_TRY(operation()));
    return {};
  };
  return detail::sweep(outcome, std::move(may_survive), cpu, true);
}

/// The same without the allocations: for what asks a real compiler or linker each time.
inline std::string sweep_calls(const std::function<gpu::result<>()>& operation,
                               std::vector<std::string_view> may_survive = {},
                               cpu_driver_options cpu = {}) {
  return detail::sweep(operation, std::move(may_survive), cpu, false);
}

/// Collects what destructors report, from construction to destruction.
class reported_errors {
 public:
  reported_errors() : before_{gpu::set_error_reporter(&note)} { messages().clear(); }
  reported_errors(const reported_errors&) = delete;
  reported_errors& operator=(const reported_errors&) = delete;
  ~reported_errors() { gpu::set_error_reporter(before_); }

  std::size_t count() const { return messages().size(); }
  std::string last() const { return messages().empty() ? std::string() : messages().back(); }

 private:
  static std::vector<std::string>& messages() {
    static std::vector<std::string> all;
    return all;
  }
  static void note(const gpu::cuda_error& error) {
    messages().emplace_back(error.message().c_str());
  }

  gpu::error_reporter before_;
};

}  // namespace test

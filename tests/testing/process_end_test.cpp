// Processes that end while other threads use the CPU driver, or while work is queued.

#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/array.hpp>
#include <gpu/compiler.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace process_end_test { namespace {

/// Ends the process as the environment says, or returns so that main does.
void end_process() {
  const std::string how = std::getenv("END_BY");
  if (how == "exit") std::exit(0);
  if (how == "quick_exit") std::quick_exit(0);
}

TEST_CASE("child: ends while detached threads use the driver", "[.child]") {
  static const gpu::device device = test::first_device();
  static std::atomic<int> begun{0};
  const auto forever = [](auto work) {
    std::thread([work] {
      const auto stream = gpu::stream::create(device).value();
      ++begun;
      while (work(stream).has_value()) {
      }
      for (;;) ::pause();  // once exit has begun, the driver is left alone
    }).detach();
  };
  const auto first = gpu::stream::create(device).value();
  const auto x = std::make_shared<gpu::array<float>>(gpu::arange<float>(first, 4096.0f).value());
  first.synchronize().value();  // other streams read `x`
  for (int i = 0; i < 2; ++i)
    forever([x](const gpu::stream& stream) { return gpu::evaluate(stream, 2 * *x + 1); });
  forever([](const gpu::stream& stream) { return stream.synchronize(); });
  forever([](const gpu::stream& stream) -> gpu::result<> {
    auto buffer = GPU_TRY(gpu::device_buffer<int>::create(device, 1000));
    std::vector<int> host(1000, 7);
    GPU_TRY(gpu::copy(host, buffer));
    GPU_TRY(gpu::copy(buffer, host));
    return stream.synchronize();
  });
  forever([n = std::make_shared<int>(0)](const gpu::stream&) {
    return gpu::compile("__device__ int x = " + std::to_string(++*n) + ";",
                        {.architecture = gpu::architecture::sm(90)});
  });
  while (begun < 5) std::this_thread::yield();
  ::usleep(300'000);
  end_process();
}

TEST_CASE("child: ends while kernels without an end are queued", "[.child]") {
  const gpu::module module =
      test::value_of(gpu::module::load(".version 7.0\n.target sm_70\n.address_size 64\n"
                                       ".visible .entry spins() { L: bra L; }\n"));
  const gpu::kernel<> spins = test::value_of(module.kernel<>("spins"));
  static const gpu::stream stream = gpu::stream::create(test::first_device()).value();
  REQUIRE(gpu::launch(stream, {.grid = 64, .block = 1024}, spins).has_value());
  end_process();
}

/// Runs one of them on a driver of that name, which looks for mistakes at the end.
test::program_outcome run(const char* child, const char* driver, const char* end) {
  return test::run_child(child,
                         {{"GPU_TEST_DRIVER", driver}, {"END_BY", end}, {"GPU_TEST_FINDINGS", "1"}},
                         std::chrono::seconds(60));
}

TEST_CASE("a process ends while detached threads use the CPU driver", "[cpu][threads]") {
  for (const auto& [driver, end] :
       {std::pair("cpu", "exit"), std::pair("cpu", "return"), std::pair("cpu", "quick_exit"),
        std::pair("cpu-deferred", "exit"), std::pair("cpu-deferred", "return"),
        std::pair("cpu-threads", "exit"), std::pair("cpu-threads", "return")}) {
    const auto child = run("child: ends while detached threads use the driver", driver, end);
    INFO(driver << ' ' << end << " status " << child.exit_code << " signal " << child.signal << ": "
                << child.output);
    CHECK(child.succeeded());
  }
}

TEST_CASE("a process ends while a kernel never does", "[cpu][threads]") {
  for (const char* driver : {"cpu-deferred", "cpu-threads"}) {
    const auto child = run("child: ends while kernels without an end are queued", driver, "exit");
    INFO(driver << ": " << child.output);
    CHECK(child.succeeded());
    CHECK(child.output.find("the process ends before all queued work has run") !=
          std::string::npos);
  }
}

}}  // namespace process_end_test

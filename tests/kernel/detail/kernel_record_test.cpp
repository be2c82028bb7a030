// The records of kernels in a module, if the host runs out of memory.

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/kernel/occupancy.hpp>

#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <functional>
#include <string>

namespace kernel_record_test { namespace {

/// PTX of a kernel of that name, with more parameters than a record has room for at first.
std::string kernel_text(const std::string& name) {
  std::string parameters;
  for (int i = 0; i < 20; ++i)
    parameters += (i == 0 ? "" : ", ") + std::string(".param .u32 p") + std::to_string(i);
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry " + name + "(" +
         parameters + ") { ret; }\n";
}

using twenty_numbers = void(int, int, int, int, int, int, int, int, int, int, int, int, int, int,
                            int, int, int, int, int, int);

/// A name that was not used before: what a device allows a kernel is kept by its name.
std::string fresh_name() {
  static int made = 0;
  return "kernel_" + std::to_string(++made);
}

TEST_CASE("a kernel may have many parameters", "[kernel][module]") {
  const std::string name = fresh_name(), text = kernel_text(name);
  const gpu::module module = test::value_of(gpu::module::load(text));
  CHECK(module.kernel<twenty_numbers>(name).has_value());
  CHECK(module.kernel<int>(name).error().limit() == 20);
}

TEST_CASE("each allocation of a module and of a first launch may fail", "[kernel][module]") {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const std::string name = fresh_name(), text = kernel_text(name);
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream_ref stream = GPU_TRY(gpu::stream_ref::legacy_default(device));
          const gpu::module module = GPU_TRY(gpu::module::load(text));
          const auto kernel = GPU_TRY(module.kernel<twenty_numbers>(name));
          for (const unsigned shared : {0u, 60'000u}) {
            GPU_TRY(gpu::launch(stream, {1, 1, shared}, kernel, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                12, 13, 14, 15, 16, 17, 18, 19, 20));
          }
          return stream.synchronize();
        }) == "");
}

TEST_CASE("a kernel's limits without room on the host are told by the function that was called",
          "[kernel][module][occupancy]") {
  if (!test::failing_allocation::possible()) return;
  const gpu::device device = test::first_device();
  const auto stream = test::value_of(gpu::stream_ref::legacy_default(device));
  struct asking {
    const char* function;
    std::function<gpu::result<>(const gpu::kernel<>&)> ask;
  };
  // In each, 60,000 bytes of shared memory need the opt-in, after which limits are kept again.
  const gpu::launch_config config{.grid = 1, .block = 32, .shared_bytes = 60'000};
  const auto nothing = [](const auto& answer) -> gpu::result<> {
    if (!answer.has_value()) return gpu::unexpected(answer.error());
    return {};
  };
  const asking all[] = {
      {"gpu::max_active_blocks",
       [&](const auto& k) { return nothing(gpu::max_active_blocks(k, device, 32, 60'000)); }},
      {"gpu::get_occupancy",
       [&](const auto& k) { return nothing(gpu::get_occupancy(k, device, 32, 60'000)); }},
      {"gpu::suggest_block_size",
       [&](const auto& k) {
         return nothing(gpu::suggest_block_size(k, device, {.dynamic_shared = 60'000}));
       }},
      {"gpu::available_dynamic_shared",
       [&](const auto& k) { return nothing(gpu::available_dynamic_shared(k, device, 1, 32)); }},
      {"gpu::max_cluster_size",
       [&](const auto& k) { return nothing(gpu::max_cluster_size(k, device, config)); }},
      {"gpu::max_active_clusters",
       [&](const auto& k) { return nothing(gpu::max_active_clusters(k, device, config)); }},
      {"gpu::launch", [&](const auto& k) { return gpu::launch(stream, config, k); }}};
  for (const asking& one : all) {
    INFO(one.function);
    const std::string name = fresh_name();
    const gpu::module module = test::value_of(
        gpu::module::load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry " + name +
                          "() { ret; }\n"));
    const auto kernel = test::value_of(module.kernel<>(name));
    for (int limits = 0; limits < 2; ++limits) {
      const test::failing_allocation failing(limits == 0 ? 0 : 1);
      const gpu::cuda_error error = test::error_of(one.ask(kernel));
      CHECK(failing.happened());
      CHECK(error == gpu::errc::out_of_host_memory);
      CHECK(test::says(error, one.function));
    }
    CHECK(one.ask(kernel).has_value());
  }
  CHECK(stream.synchronize().has_value());
}

TEST_CASE("kernels of one name and the same limits take room on the host once",
          "[kernel][module]") {
  if (!test::failing_allocation::possible()) return;
  const auto stream = test::value_of(gpu::stream_ref::legacy_default(test::first_device()));
  const std::string name = fresh_name();
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry " + name + "() { ret; }\n";
  for (int loaded = 0; loaded < 3; ++loaded) {
    const gpu::module module = test::value_of(gpu::module::load(text));
    const auto kernel = test::value_of(module.kernel<>(name));
    const test::failing_allocation failing(0);
    CHECK(gpu::launch(stream, {1, 1}, kernel).has_value() == (loaded != 0));
    CHECK(failing.happened() == (loaded == 0));
    if (loaded == 0) CHECK(gpu::launch(stream, {1, 1}, kernel).has_value());
  }
  CHECK(stream.synchronize().has_value());
}

TEST_CASE("each allocation of a load with options may fail", "[kernel][module][jit]") {
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const std::string name = fresh_name(), text = kernel_text(name);
          GPU_TRY(gpu::module::load(text, {.max_registers = 32}));
          return {};
        }) == "");
}

TEST_CASE("each allocation of loading a program with names may fail", "[kernel][module]") {
  const gpu::compiled_program program = test::value_of(
      gpu::compile(gpu::program("template <class T> __global__ void set(T* x) { *x = 3; }")
                       .instance("set<int>")
                       .instance("set<float>")));
  CHECK(test::sweep_host_memory([&]() -> gpu::result<> {
          const gpu::module module = GPU_TRY(gpu::module::load(program));
          GPU_TRY(module.kernel<int*>("set<int>"));
          return {};
        }) == "");
}

}}  // namespace kernel_record_test

// What a module keeps of its kernels, where the host runs out of memory.

#include <gpu/compiler.hpp>
#include <gpu/kernel.hpp>

#include "support/host_memory.hpp"

#include <string>

namespace {

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

}  // namespace

// Linking where there is no nvJitLink: with the driver's own linker.

#include "compiler/link_support.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/linked_program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/kernel/module.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace driver_link_test { namespace {

using test::compile;
using test::kernels;
using test::math;
using test::ptx_of;
using test::run;
using test::value_of;
using test::without_nvjitlink;

TEST_CASE("the driver links where there is no nvJitLink", "[compiler][link]") {
  const without_nvjitlink scope;
  const gpu::linked_program linked =
      value_of(gpu::link({ptx_of(math), compile(kernels, false, gpu::architecture::compute(80))},
                         {.max_registers = 64, .verbose = true}));
  CHECK(run(value_of(gpu::module::load(linked))) == 52);
  CHECK(linked.cubin().size() > 64);
}

TEST_CASE("what only nvJitLink does is refused without it, with where it was looked for",
          "[compiler][link]") {
  const gpu::compiled_program a = compile(math, true), b = compile(kernels, true);
  const without_nvjitlink scope;
  const gpu::cuda_error lto = test::error_of(gpu::link({a, b}));
  CHECK(lto == gpu::errc::no_nvjitlink);
  CHECK(test::says(lto, "LTO-IR", "looked in", "relocatable = true"));
  const gpu::cuda_error extra = test::error_of(gpu::link({ptx_of(math)}, {.extra = {"-time"}}));
  CHECK(extra == gpu::errc::no_nvjitlink);
  CHECK(test::says(extra, "link_options::extra", "leave the options out"));
}

/// A driver whose linker notes what it is given, and makes of it what it is told to.
struct noting_linker {
  struct notes {
    std::vector<CUjitInputType> kinds;
    std::vector<CUjit_option> options;
    std::vector<std::uint64_t> values;
    std::size_t size = 64;
  };
  static notes& taken() {
    static notes all;
    return all;
  }
  static gpu::driver::entry_points make() {
    taken() = {};
    gpu::driver::entry_points table = gpu::driver::current_entry_points();
    table.link_create = [](unsigned count, CUjit_option* options, void** values,
                           CUlinkState* state) {
      for (unsigned i = 0; i < count; ++i) {
        taken().options.push_back(options[i]);
        taken().values.push_back(reinterpret_cast<std::uintptr_t>(values[i]));
      }
      *state = reinterpret_cast<CUlinkState>(&taken());
      return CUDA_SUCCESS;
    };
    table.link_add_data = [](CUlinkState, CUjitInputType kind, void*, std::size_t, const char*,
                             unsigned, CUjit_option*, void**) {
      taken().kinds.push_back(kind);
      return CUDA_SUCCESS;
    };
    table.link_complete = [](CUlinkState, void** image, std::size_t* size) {
      static char bytes[64] = {};
      *image = bytes;
      *size = taken().size;
      return CUDA_SUCCESS;
    };
    table.link_destroy = [](CUlinkState) { return CUDA_SUCCESS; };
    return table;
  }
  /// The value of an option, or -1 where it was not given.
  static std::int64_t value(CUjit_option option) {
    for (std::size_t i = 0; i < taken().options.size(); ++i) {
      if (taken().options[i] == option) return static_cast<std::int64_t>(taken().values[i]);
    }
    return -1;
  }
  gpu::driver::entry_points table = make();
  gpu::driver::scoped_entry_points scope{table};
};

TEST_CASE("the driver's linker is told what each input is, and the options", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  std::string object(64, '\0'), fatbin(16, '\0');
  object.replace(0, 4, "\177ELF");
  object[18] = 62;  // a machine that is no GPU
  const std::uint32_t magic = 0xba55ed50;
  std::memcpy(fatbin.data(), &magic, sizeof magic);
  fatbin[4] = 1;
  fatbin[6] = 16;
  const gpu::compiled_program program = compile(math, false, target);
  gpu::compile_cache off({.use = gpu::cache_use::off});
  const without_nvjitlink scope;
  const noting_linker driver;
  const auto linked = value_of(gpu::link(
      {ptx_of(kernels), program, {fatbin, "fatbin"}, {object, "object"}, {"!<arch>\n", "library"}},
      {.architecture = target,
       .optimize = false,
       .max_registers = 40,
       .compiler_threads = 0,
       .cache = &off}));
  CHECK(linked.cubin().size() == 64);
  CHECK(noting_linker::taken().kinds ==
        std::vector<CUjitInputType>{CU_JIT_INPUT_PTX, CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_FATBINARY,
                                    CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_LIBRARY});
  CHECK(noting_linker::value(CU_JIT_MAX_REGISTERS) == 40);
  CHECK(noting_linker::value(CU_JIT_OPTIMIZATION_LEVEL) == 0);
  CHECK(noting_linker::value(CU_JIT_SPLIT_COMPILE) == 0);
  CHECK(noting_linker::value(CU_JIT_TARGET) == 90);

  // More than any host has.
  noting_linker::taken().size = std::size_t{1} << 60;
  const gpu::cuda_error none =
      test::error_of(gpu::link({program}, {.architecture = target, .cache = &off}));
  CHECK(none == gpu::errc::out_of_host_memory);
  CHECK(test::says(none, "1152921504606846976 bytes", "Free host memory"));
}

}}  // namespace driver_link_test

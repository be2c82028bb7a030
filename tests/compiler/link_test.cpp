// Linking with the real nvJitLink and with the driver's linker: what comes of it is run; mistakes
// are named.

#include "compiler/link_support.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/link/nvjitlink_link.hpp>
#include <gpu/compiler/link/plan.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/linked_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace linker_test { namespace {

using test::compile;
using test::kernels;
using test::math;
using test::ptx_of;
using test::run;
using test::value_of;
using test::without_nvjitlink;

TEST_CASE("functions and variables of one program are used by another", "[compiler][link]") {
  for (const bool lto : {false, true}) {
    for (const auto target : {gpu::architecture(), gpu::architecture::compute(80)}) {
      CAPTURE(lto, target.number());
      const gpu::compiled_program a = compile(math, lto, target), b = compile(kernels, lto, target);
      const gpu::linked_program linked = value_of(gpu::link({a, b}));
      CHECK(linked.cubin().size() > 64);
      CHECK(linked.ptx().empty());
      CHECK(linked.architecture().kind() == gpu::architecture::kind_type::real);
      CHECK(run(value_of(gpu::module::load(linked))) == 52);
      const gpu::linked_program other_order = value_of(gpu::link({b, a}));
      CHECK(run(value_of(gpu::module::load(other_order))) == 52);
    }
  }
}

TEST_CASE("instances are asked for by the names that their programs gave", "[compiler][link]") {
  const gpu::compiled_program a =
      value_of(gpu::compile(gpu::program(math).instance("fill<float>"), {.relocatable = true}));
  const gpu::linked_program linked = value_of(gpu::link({a, compile(kernels, false)}));
  CHECK_FALSE(linked.lowered_name("fill<float>").empty());
  CHECK(linked.lowered_name("fill<int>").empty());
  const gpu::module module = value_of(gpu::module::load(linked));
  CHECK(module.kernel<float*, float>("fill<float>").has_value());
}

TEST_CASE("a virtual architecture gives PTX, by link-time optimization alone", "[compiler][link]") {
  const auto target = gpu::architecture::compute(80);
  const gpu::compiled_program a = compile(math, true, target), b = compile(kernels, true, target);
  const gpu::linked_program linked = value_of(gpu::link({a, b}, {.architecture = target}));
  CHECK(linked.cubin().empty());
  CHECK(linked.ptx().contains(".target sm_80"));
  CHECK_FALSE(linked.ptx().contains("call"));  // add_one is inlined across the sources
  CHECK(run(value_of(gpu::module::load(linked))) == 52);

  const gpu::cuda_error error =
      test::error_of(gpu::link({ptx_of(math), ptx_of(kernels)}, {.architecture = target}));
  CHECK(error == gpu::errc::not_supported);
  CHECK(test::says(error, "compute_80", "link_time_optimization"));
}

TEST_CASE("LTO-IR and PTX are linked together", "[compiler][link]") {
  const gpu::linked_program linked =
      value_of(gpu::link({compile(kernels, true), {ptx_of(math), "math"}}));
  CHECK(run(value_of(gpu::module::load(linked))) == 52);
}

TEST_CASE("options reach nvJitLink", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  const gpu::compiled_program a = compile(math, true, target), b = compile(kernels, true, target);
  const auto link_verbosely = [&] {
    return value_of(gpu::link({a, b}, {.architecture = target, .verbose = true}));
  };
  const gpu::linked_program verbose = link_verbosely();
  CHECK(verbose.log().contains("registers"));
  CHECK(link_verbosely().log().contains("registers"));  // not from the driver's cache
  CHECK(value_of(gpu::link({a, b}, {.architecture = target})).log().empty());
  // Kernels that nobody will ask for are gone.
  const gpu::linked_program none =
      value_of(gpu::link({a, b}, {.architecture = target, .kernels_used = {"other"}}));
  CHECK(none.cubin().size() < verbose.cubin().size());

  const auto options = [&](gpu::link_options chosen) {
    const gpu::detail::link_plan plan{chosen, target, true};
    std::string all;
    for (const gpu::text& each : gpu::detail::nvjitlink_options(plan, false)) {
      all += std::string(each.c_str()) + ' ';
    }
    return all;
  };
  CHECK(options({}) == "-arch=sm_90 -lto ");
  CHECK(options({.optimize = false,
                 .max_registers = 32,
                 .line_info = true,
                 .debug = true,
                 .verbose = true,
                 .fast_math = true,
                 .fused_multiply_add = false,
                 .kernels_used = {"a", "b"},
                 .variables_used = {"v"},
                 .drop_unused_variables = true,
                 .compiler_threads = 2,
                 .extra = {"-Xptxas=-v"}}) ==
        "-arch=sm_90 -lto -O0 -maxrregcount=32 -lineinfo -g -verbose -split-compile=2 -ftz=1 "
        "-prec-div=0 -prec-sqrt=0 -fma=0 -kernels-used=a -kernels-used=b -variables-used=v "
        "-optimize-unused-variables -Xptxas=-v ");
  // And it takes them all.
  CHECK(gpu::link({a, b}, {.architecture = target,
                           .optimize = false,
                           .max_registers = 32,
                           .line_info = true,
                           .verbose = true,
                           .fast_math = true,
                           .fused_multiply_add = false,
                           .kernels_used = {"k"},
                           .variables_used = {"base"},
                           .drop_unused_variables = true,
                           .compiler_threads = 2,
                           .extra = {"-Xptxas=-v"}})
            .has_value());

  const gpu::cuda_error unknown =
      test::error_of(gpu::link({a, b}, {.architecture = target, .extra = {"-frobnicate"}}));
  CHECK(unknown.domain() == gpu::error_domain::nvjitlink);
  CHECK(test::says(unknown, "UNRECOGNIZED_OPTION", "-frobnicate"));
}

TEST_CASE("arithmetic is chosen with LTO-IR only", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  for (const gpu::link_options& options :
       {gpu::link_options{.architecture = target, .fast_math = true},
        gpu::link_options{.architecture = target, .precise_division = false}}) {
    const gpu::cuda_error error =
        test::error_of(gpu::link({ptx_of(math), ptx_of(kernels)}, options));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, "compile_options"));
  }
  constexpr const char* divide = "extern \"C\" __global__ void d(float* x) { x[0] = x[1] / x[2]; }";
  const gpu::compiled_program code = compile(divide, true, gpu::architecture::compute(90));
  const auto ptx = [&](bool precise) {
    return value_of(gpu::link({code}, {.architecture = gpu::architecture::compute(90),
                                       .precise_division = precise}))
        .ptx();
  };
  CHECK(ptx(true).contains("div.rn.f32"));
  CHECK_FALSE(ptx(false).contains("div.rn.f32"));
}

TEST_CASE("code for another device is refused with both names", "[compiler][link]") {
  const gpu::compiled_program newer = compile(math, false, gpu::architecture::sm(100));
  const gpu::cuda_error error =
      test::error_of(gpu::link({{newer, "math"}}, {.architecture = gpu::architecture::sm(90)}));
  CHECK(error == gpu::errc::link_failed);
  CHECK(error.asked() == 100);
  CHECK(error.limit() == 90);
  CHECK(test::says(error, "math was compiled for sm_100", "for sm_90"));
  const gpu::compiled_program special = compile(math, false, gpu::architecture::sm(90, 'a'));
  CHECK(
      test::says(test::error_of(gpu::link({special}, {.architecture = gpu::architecture::sm(100)})),
                 "sm_90a", "sm_100"));
  // Machine code of an older device gives way to its PTX.
  const gpu::compiled_program older = compile(math, false, gpu::architecture::sm(80));
  CHECK(gpu::link({older, compile(kernels, false, gpu::architecture::sm(90))},
                  {.architecture = gpu::architecture::sm(90)})
            .has_value());
  const gpu::cuda_error unknown =
      test::error_of(gpu::link({older}, {.architecture = gpu::architecture::sm(999)}));
  CHECK(unknown.domain() == gpu::error_domain::nvjitlink);
}

TEST_CASE("threads link at the same time", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  const gpu::compiled_program a = compile(math, true, target), b = compile(kernels, true, target);
  const gpu::text expected = value_of(gpu::link({a, b}, {.architecture = target})).cubin();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) {
        const auto linked = gpu::link({a, b}, {.architecture = target});
        if (linked.has_value() && linked->cubin() == expected) ++good;
        const auto undefined = gpu::link({b}, {.architecture = target});
        if (!undefined.has_value() && undefined.error() == gpu::errc::link_failed) ++good;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(good == 40);
}

TEST_CASE("numbers that no linker can take are refused with theirs", "[compiler][link]") {
  const gpu::text a = ptx_of(math);
  const gpu::cuda_error large = test::error_of(gpu::link({a}, {.max_registers = 256}));
  CHECK(large.asked() == 256);
  CHECK(large.limit() == 255);
  for (const int registers : {-1, 256, 100000}) {
    const gpu::cuda_error error = test::error_of(gpu::link({a}, {.max_registers = registers}));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, "link_options::max_registers is ", std::to_string(registers).c_str(),
                     "from 1 to 255"));
  }
  const gpu::cuda_error threads = test::error_of(gpu::link({a}, {.compiler_threads = -2}));
  CHECK(threads == gpu::errc::invalid_argument);
  CHECK(test::says(threads, "link_options::compiler_threads is -2", "0 for as many"));
}

TEST_CASE("each driver call of a link and of its loading may fail", "[compiler][link]") {
  for (const bool lto : {false, true}) {
    const auto target = gpu::architecture::sm(90);
    const gpu::compiled_program a = compile(math, lto, target), b = compile(kernels, lto, target);
    // The machine code is refused by the CPU driver, and the context may be left then.
    CHECK(test::sweep_calls(
              [&]() -> gpu::result<> {
                const gpu::linked_program linked = GPU_TRY(gpu::link({a, b}));
                const gpu::module module = GPU_TRY(gpu::module::load(linked));
                GPU_TRY(module.kernel<int*>("k"));
                return {};
              },
              {"cuCtxPopCurrent"}) == "");
  }
  const gpu::text a = ptx_of(math), b = ptx_of(kernels);
  const without_nvjitlink scope;
  CHECK(test::sweep_calls([&]() -> gpu::result<> {
          const gpu::linked_program linked = GPU_TRY(gpu::link({a, b}));
          GPU_TRY(gpu::module::load(linked));
          return {};
        }) == "");
}

TEST_CASE("each call of nvJitLink may fail", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  const gpu::compiled_program a = compile(math, true, target), b = compile(kernels, true, target);
  static const gpu::nvjitlink::entry_points* inner;
  inner = &gpu::nvjitlink::current_entry_points();
  const auto link = [&] { return gpu::link({a, b}, {.architecture = target}); };
  const auto fails = [&](auto member, auto replacement, const char* name) {
    gpu::nvjitlink::entry_points failing = *inner;
    failing.*member = replacement;
    const gpu::nvjitlink::scoped_entry_points in_force(failing);
    const gpu::cuda_error error = test::error_of(link());
    CHECK(error.domain() == gpu::error_domain::nvjitlink);
    CHECK(error.code() == 6);
    CHECK(std::string(error.call()) == name);
  };
  using table = gpu::nvjitlink::entry_points;
  using handle = gpu::nvjitlink::nvjitlink_handle;
  fails(
      &table::create, [](handle*, std::uint32_t, const char* const*) { return 6; },
      "nvJitLinkCreate");
  fails(
      &table::add_data, [](handle, int, const void*, std::size_t, const char*) { return 6; },
      "nvJitLinkAddData");
  fails(&table::complete, [](handle) { return 6; }, "nvJitLinkComplete");
  fails(
      &table::get_linked_cubin_size, [](handle, std::size_t*) { return 6; },
      "nvJitLinkGetLinkedCubinSize");
  fails(&table::get_linked_cubin, [](handle, char*) { return 6; }, "nvJitLinkGetLinkedCubin");
  {
    table huge = *inner;
    huge.get_linked_cubin_size = [](handle, std::size_t* size) {
      *size = std::size_t{1} << 60;
      return 0;
    };
    const gpu::nvjitlink::scoped_entry_points in_force(huge);
    const gpu::cuda_error error = test::error_of(link());
    CHECK(error == gpu::errc::out_of_host_memory);
    CHECK(test::says(error, "no 1152921504606846976 bytes left for the output of nvJitLink"));
  }
  // Without its logs a link is as good.
  table silent = *inner;
  silent.get_error_log_size = [](handle, std::size_t*) { return 6; };
  silent.get_info_log_size = [](handle, std::size_t*) { return 6; };
  const gpu::nvjitlink::scoped_entry_points in_force(silent);
  CHECK(link().has_value());
}

}}  // namespace linker_test

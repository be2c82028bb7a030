// Loading with the options of the driver's compiler: what reaches the driver, what comes back from
// it, and what is refused before it is asked.

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>

#include "support/results.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace jit_options_test { namespace {

const std::string ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry f(.param .u64 p) { .reg .u64 %rd<2>; ld.param.u64 %rd1, [p]; "
    "st.global.u64 [%rd1], %rd1; ret; }\n";
const std::string broken =
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry f() { add.no %r; }";

/// The options that cuLibraryLoadData was given last, but for logs and clock.
std::map<CUjit_option, std::uint64_t>& given() {
  static std::map<CUjit_option, std::uint64_t> options;
  return options;
}

/// A table that notes them.
gpu::driver::entry_points noting_table() {
  static const gpu::driver::entry_points* inner;
  inner = &gpu::driver::current_entry_points();
  gpu::driver::entry_points noting = *inner;
  noting.library_load_data = [](CUlibrary* library, const void* image, CUjit_option* names,
                                void** values, unsigned count, CUlibraryOption* options,
                                void** option_values, unsigned option_count) {
    given().clear();
    for (unsigned i = 0; i < count; ++i) {
      const bool output =
          names[i] >= CU_JIT_WALL_TIME && names[i] <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
      if (!output) given()[names[i]] = reinterpret_cast<std::uintptr_t>(values[i]);
    }
    return inner->library_load_data(library, image, names, values, count, options, option_values,
                                    option_count);
  };
  return noting;
}

TEST_CASE("every option reaches the driver, and what is not set is left to it", "[kernel][jit]") {
  const gpu::driver::entry_points noting = noting_table();
  const gpu::driver::scoped_entry_points in_force(noting);
  test::value_of(gpu::module::load(ptx, gpu::jit_options{}));
  CHECK(given().empty());
  test::value_of(gpu::module::load(ptx, {.max_registers = 32,
                                         .max_threads_per_block = 128,
                                         .min_blocks_per_multiprocessor = 2,
                                         .override_directives = true,
                                         .optimization_level = 0,
                                         .fallback = gpu::jit_fallback::prefer_binary,
                                         .cache_mode = gpu::jit_cache_mode::l1,
                                         .debug = true,
                                         .line_info = true,
                                         .position_independent = true,
                                         .compiler_threads = 0,
                                         .verbose = true}));
  using options = std::map<CUjit_option, std::uint64_t>;
  CHECK(given() == options{{CU_JIT_MAX_REGISTERS, 32},
                           {CU_JIT_MAX_THREADS_PER_BLOCK, 128},
                           {CU_JIT_MIN_CTA_PER_SM, 2},
                           {CU_JIT_OVERRIDE_DIRECTIVE_VALUES, 1},
                           {CU_JIT_OPTIMIZATION_LEVEL, 0},
                           {CU_JIT_FALLBACK_STRATEGY, CU_PREFER_BINARY},
                           {CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CA},
                           {CU_JIT_GENERATE_DEBUG_INFO, 1},
                           {CU_JIT_GENERATE_LINE_INFO, 1},
                           {CU_JIT_POSITION_INDEPENDENT_CODE, 1},
                           {CU_JIT_SPLIT_COMPILE, 0},
                           {CU_JIT_LOG_VERBOSE, 1}});
  test::value_of(gpu::module::load(ptx, {.threads_per_block = 256}));
  CHECK(given() == options{{CU_JIT_THREADS_PER_BLOCK, 256}});
}

TEST_CASE("the enumerators are the driver's", "[kernel][jit]") {
  CHECK(static_cast<unsigned>(gpu::jit_target::compute_90) == 90);
  CHECK(static_cast<unsigned>(gpu::jit_target::compute_90a) == 0x10000 + 90);
  CHECK(static_cast<unsigned>(gpu::jit_target::compute_121f) == 0x20000 + 121);
  CHECK(static_cast<unsigned>(gpu::jit_fallback::prefer_ptx) == CU_PREFER_PTX);
  CHECK(static_cast<unsigned>(gpu::jit_cache_mode::l2_only) == CU_JIT_CACHE_OPTION_CG);
}

TEST_CASE("a report tells the time and the logs", "[kernel][jit]") {
  gpu::jit_report report;
  // Text that no driver has compiled before, so that none takes the code from its cache.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string fresh = std::string(ptx) + "\n// " + std::to_string(now) + "\n";
  const gpu::module loaded = test::value_of(
      gpu::module::load(fresh, {.threads_per_block = 256, .verbose = true, .report = &report}));
  CHECK(report.milliseconds > 0);
  CHECK(report.milliseconds < 60'000);
  CHECK(report.errors.empty());
  CHECK(report.threads_per_block == 256);
  CHECK(loaded.kernel<void*>("f").has_value());

  const auto refused = gpu::module::load(broken, {.report = &report});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == CUDA_ERROR_INVALID_PTX);
  CHECK(refused.error().details().contains(report.errors.c_str()));
  CHECK_FALSE(report.errors.empty());
  const auto short_log = gpu::module::load(broken, {.log_capacity = 20, .report = &report});
  REQUIRE_FALSE(short_log.has_value());
  CHECK(report.errors.size() < 20);
  CHECK_FALSE(report.errors.empty());
}

TEST_CASE("both logs come as the driver wrote them", "[kernel][jit]") {
  static std::map<CUjit_option, void*> outputs;
  outputs.clear();
  static const gpu::driver::entry_points* inner;
  inner = &gpu::driver::current_entry_points();
  gpu::driver::entry_points writing = *inner;
  writing.library_load_data = [](CUlibrary* library, const void* image, CUjit_option* names,
                                 void** values, unsigned count, CUlibraryOption* options,
                                 void** option_values, unsigned option_count) {
    for (unsigned i = 0; i < count; ++i) outputs[names[i]] = values[i];
    const CUresult code = inner->library_load_data(library, image, names, values, count, options,
                                                   option_values, option_count);
    // To the last byte that it may write to, without a zero.
    const auto fill = [](CUjit_option buffer, CUjit_option size, char letter) {
      const auto room = reinterpret_cast<std::uintptr_t>(outputs[size]);
      std::memset(outputs[buffer], letter, room);
    };
    fill(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 'i');
    fill(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 'e');
    return code;
  };
  const gpu::driver::scoped_entry_points in_force(writing);
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{2}, std::size_t{100}}) {
    gpu::jit_report report;
    test::value_of(gpu::module::load(ptx, {.log_capacity = capacity, .report = &report}));
    const std::size_t room = capacity == 100 ? 99 : 1;  // the smallest log has one character
    CHECK(std::string(report.info.c_str()) == std::string(room, 'i'));
    CHECK(std::string(report.errors.c_str()) == std::string(room, 'e'));
  }
}

TEST_CASE("options that contradict each other are refused by name", "[kernel][jit]") {
  for (const int level : {-1, 5}) {
    const gpu::cuda_error error =
        test::error_of(gpu::module::load(ptx, {.optimization_level = level}));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(error.limit() == 4);
    CHECK(test::says(error, "optimization_level", std::to_string(level).c_str()));
  }
  const gpu::cuda_error both = test::error_of(
      gpu::module::load(ptx, {.threads_per_block = 256, .target = gpu::jit_target::compute_90}));
  CHECK(both == gpu::errc::invalid_argument);
  CHECK(test::says(both, "threads_per_block (256)", "target"));
  const gpu::cuda_error alone =
      test::error_of(gpu::module::load(ptx, {.min_blocks_per_multiprocessor = 2}));
  CHECK(alone == gpu::errc::invalid_argument);
  CHECK(test::says(alone, "max_threads_per_block"));
  const auto refuses = [](const gpu::jit_options& options, const char* sentence) {
    const gpu::cuda_error error = test::error_of(gpu::module::load(ptx, options));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, sentence, "pass one of its enumerators"));
  };
  refuses({.target = static_cast<gpu::jit_target>(7)}, "7 is not a valid gpu::jit_target");
  refuses({.fallback = static_cast<gpu::jit_fallback>(8)}, "8 is not a valid gpu::jit_fallback");
  refuses({.cache_mode = static_cast<gpu::jit_cache_mode>(9)},
          "9 is not a valid gpu::jit_cache_mode");
  CHECK(gpu::module::load("nonsense", gpu::jit_options{}).error() == gpu::errc::invalid_image);
  CHECK(gpu::module::load_file("/nowhere/x.ptx", gpu::jit_options{}).error() ==
        gpu::errc::file_error);
}

TEST_CASE("a target that is not the device's is refused by the driver", "[kernel][jit]") {
  const int sm = test::value_of(test::first_device().compute_capability()).sm();
  const auto target = sm == 90 ? gpu::jit_target::compute_100 : gpu::jit_target::compute_90;
  CHECK_FALSE(gpu::module::load(ptx, {.target = target}).has_value());
  if (sm == 90) {
    CHECK(gpu::module::load(ptx, {.target = gpu::jit_target::compute_90}).has_value());
  }
}

TEST_CASE("a program is loaded with options from its PTX, under its names", "[kernel][jit]") {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string source =
      "template <class T> __global__ void set(T* x) { *x = 3; }"
      "__device__ long long made_at = " +
      std::to_string(now) + ";";
  const gpu::compiled_program program =
      test::value_of(gpu::compile(gpu::program(source).instance("set<int>")));
  gpu::jit_report report;
  const gpu::module loaded =
      test::value_of(gpu::module::load(program, {.max_registers = 64, .report = &report}));
  CHECK(report.milliseconds > 0);
  const auto set = test::value_of(loaded.kernel<int*>("set<int>"));
  const gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  std::vector<int> x(1);
  test::value_of(gpu::launch(stream, {1, 1}, set, gpu::out(x)));
  CHECK(x[0] == 3);
}

TEST_CASE("LTO-IR is not loaded but told to be linked", "[kernel][jit]") {
  const char bytes[] = "\xed\x43\x4e\x7f and the rest";
  const auto raw = gpu::module::load(gpu::bytes_ref(bytes, sizeof bytes));
  CHECK(raw.error() == gpu::errc::invalid_image);
  CHECK(test::says(raw.error(), "LTO-IR", "gpu::link"));
  CHECK(test::says(gpu::module::load(gpu::bytes_ref(bytes, 4)).error(),
                   "the image of 4 bytes is LTO-IR"));
  const auto program = test::value_of(
      gpu::compile("extern \"C\" __global__ void f() {}",
                   {.architecture = gpu::architecture::sm(90), .link_time_optimization = true}));
  const auto loaded = gpu::module::load(program);
  CHECK(loaded.error() == gpu::errc::invalid_image);
  CHECK(test::says(loaded.error(), "LTO-IR", "gpu::link"));
}

TEST_CASE("each driver call of a load with options may fail", "[kernel][jit]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          gpu::jit_report report;
          const gpu::module loaded =
              GPU_TRY(gpu::module::load(ptx, {.max_registers = 32, .report = &report}));
          GPU_TRY(loaded.kernel<void*>("f"));
          return {};
        }) == "");
}

}}  // namespace jit_options_test

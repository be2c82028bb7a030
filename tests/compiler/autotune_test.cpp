// Choosing the fastest of several variants, and remembering it.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/autotune.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/device_buffer.hpp>

#include "compiler/cache_support.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace autotune_test { namespace {

using test::error_of;
using test::says;
using test::temporary_folder;
using test::value_of;

const char* const source = R"(
extern "C" __global__ void spin(int* x) {
  int sum = 1;
  for (int i = 0; i < ROUNDS; ++i) {
    sum = sum * 1664525 + 1013904223;
    *x = sum;
    __threadfence();
  }
})";

struct loaded_kernel {
  gpu::module module;
  gpu::kernel<int*> kernel;
  int rounds = 0;
};

/// While it lives, the driver says that a launch of the workbench's took three, two or one
/// milliseconds in turn for each round: a machine under load cannot upset the order.
class dictated_times {
 public:
  static inline int rounds;  ///< of the last launch

 private:
  static gpu::driver::entry_points table() {
    measured = gpu::driver::current_entry_points().event_elapsed_time;
    calls = 0;
    gpu::driver::entry_points table = gpu::driver::current_entry_points();
    table.event_elapsed_time = [](float* milliseconds, CUevent start, CUevent stop) {
      const CUresult code = measured(milliseconds, start, stop);
      *milliseconds = static_cast<float>(rounds) * static_cast<float>(3 - calls++ % 3);
      return code;
    };
    return table;
  }

  static inline decltype(gpu::driver::entry_points::event_elapsed_time) measured;
  static inline unsigned calls;

  gpu::driver::entry_points table_ = table();
  gpu::driver::scoped_entry_points in_force_{table_};
};

/// Everything that a test tunes with; counts the calls.
struct workbench {
  dictated_times times;
  temporary_folder folder;
  gpu::compile_cache cache{{.use = gpu::cache_use::disk, .folder = folder.path()}};
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  gpu::device_buffer<int> data = value_of(gpu::device_buffer<int>::create(stream, 1));
  int prepared = 0, launched = 0;

  gpu::tuning_settings settings(const char* problem = "test") {
    return {.problem = problem, .code = source, .repetitions = 3, .cache = &cache};
  }
  gpu::result<loaded_kernel> prepare(int rounds) {
    ++prepared;
    // A number of rounds below zero stands for a variant that does not compile.
    const char* const text = rounds < 0 ? "nonsense" : source;
    const gpu::compiled_program made =
        GPU_TRY(gpu::compile(text, {.defines = {{"ROUNDS", rounds}}, .cache = &cache}));
    gpu::module module = GPU_TRY(gpu::module::load(made));
    auto kernel = GPU_TRY(module.kernel<int*>("spin"));
    return loaded_kernel{std::move(module), kernel, rounds};
  }
  gpu::result<> launch(const loaded_kernel& loaded) {
    ++launched;
    dictated_times::rounds = loaded.rounds;
    return gpu::launch(stream, {1, 1}, loaded.kernel, data.data());
  }
  template <class Variants>
  gpu::result<gpu::tuned<loaded_kernel>> tune(const Variants& variants,
                                              const gpu::tuning_settings& how) {
    return gpu::autotune(
        stream, how, variants, [&](int rounds) { return prepare(rounds); },
        [&](loaded_kernel& kernel, int) { return launch(kernel); });
  }
};

TEST_CASE("the fastest variant is chosen and remembered", "[compiler][cache][autotune]") {
  workbench bench;
  const std::vector<int> variants{200, 10, 50};
  const auto first = value_of(bench.tune(variants, bench.settings()));
  CHECK(first.chosen == 1);
  CHECK_FALSE(first.remembered);
  CHECK(bench.prepared == 3);
  CHECK(bench.launched == 3 * (1 + 3));
  REQUIRE(first.timings.size() == 3);
  CHECK(first.timings[0].variant == "200");
  // The median of the three times.
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(first.timings[i].time ==
          gpu::elapsed_time::from_milliseconds(2.0F * static_cast<float>(variants[i])));
  CHECK(first.timings[0].error.empty());
  CHECK(gpu::launch(bench.stream, {1, 1}, first.best.kernel, bench.data.data()).has_value());

  bench.prepared = bench.launched = 0;
  const auto second = value_of(bench.tune(variants, bench.settings()));
  CHECK(second.remembered);
  CHECK(second.chosen == 1);
  CHECK(bench.prepared == 1);
  CHECK(bench.launched == 0);
  REQUIRE(second.timings.size() == 3);
  CHECK(second.timings[0].time == first.timings[0].time);
  value_of(bench.stream.synchronize());
}

TEST_CASE("another problem, other code and other variants are tuned again",
          "[compiler][cache][autotune]") {
  workbench bench;
  const std::vector<int> variants{50, 10};
  value_of(bench.tune(variants, bench.settings()));
  CHECK(value_of(bench.tune(variants, bench.settings())).remembered);
  CHECK_FALSE(value_of(bench.tune(variants, bench.settings("larger"))).remembered);
  gpu::tuning_settings other_code = bench.settings();
  other_code.code = "other";
  CHECK_FALSE(value_of(bench.tune(variants, other_code)).remembered);
  CHECK_FALSE(value_of(bench.tune(std::vector<int>{10, 50}, bench.settings())).remembered);
  CHECK(value_of(bench.tune(std::vector<int>{10, 50}, bench.settings())).chosen == 0);
}

TEST_CASE("another process remembers, and another device or driver is tuned again",
          "[compiler][cache][autotune]") {
  workbench bench;
  const std::vector<int> variants{300, 10};
  value_of(bench.tune(variants, bench.settings()));
  // A cache of its own on the same folder is all that another process has.
  const auto remembered = [&] {
    gpu::compile_cache other({.use = gpu::cache_use::disk, .folder = bench.folder.path()});
    gpu::tuning_settings settings = bench.settings();
    settings.cache = &other;
    return value_of(bench.tune(variants, settings)).remembered;
  };
  CHECK(remembered());
  {
    gpu::driver::entry_points table = gpu::driver::current_entry_points();
    table.device_get_name = [](char* name, int size, CUdevice) {
      std::snprintf(name, static_cast<std::size_t>(size), "another device");
      return CUDA_SUCCESS;
    };
    const gpu::driver::scoped_entry_points in_force(table);
    CHECK_FALSE(remembered());
    CHECK(remembered());
  }
  {
    gpu::driver::entry_points table = gpu::driver::current_entry_points();
    table.driver_get_version = [](int* version) {
      *version = 99000;
      return CUDA_SUCCESS;
    };
    const gpu::driver::scoped_entry_points in_force(table);
    CHECK_FALSE(remembered());
    CHECK(remembered());
  }
  CHECK(remembered());
}

TEST_CASE("a variant that fails is skipped, with its error", "[compiler][cache][autotune]") {
  workbench bench;
  const auto made = value_of(bench.tune(std::vector<int>{-1, 500, 5}, bench.settings()));
  CHECK(made.chosen == 2);
  CHECK(made.timings[0].error.contains("compile_failed"));
  CHECK(made.timings[0].time == gpu::elapsed_time());
  CHECK(made.timings[1].error.empty());
  const auto again = value_of(bench.tune(std::vector<int>{-1, 500, 5}, bench.settings()));
  CHECK(again.remembered);
  CHECK(again.timings[0].error == made.timings[0].error);
}

TEST_CASE("if all variants fail, the first error is returned", "[compiler][cache][autotune]") {
  workbench bench;
  const gpu::cuda_error error = error_of(bench.tune(std::vector<int>{-1, -2}, bench.settings()));
  CHECK(error == gpu::errc::compile_failed);
  CHECK(error_of(bench.tune(std::vector<int>{-1, -2}, bench.settings())) ==
        gpu::errc::compile_failed);
}

TEST_CASE("a launch that is rejected skips its variant", "[compiler][cache][autotune]") {
  workbench bench;
  const auto made = value_of(gpu::autotune(
      bench.stream, bench.settings(), {32, 100000}, [&](int) { return bench.prepare(5); },
      [&](loaded_kernel& loaded, int block) {
        return gpu::launch(bench.stream, {1, static_cast<unsigned>(block)}, loaded.kernel,
                           bench.data.data());
      }));
  CHECK(made.chosen == 0);
  CHECK(made.timings[1].error.contains("100000"));
}

TEST_CASE("variants may be strings or structures with a name", "[compiler][cache][autotune]") {
  workbench bench;
  const auto launch = [&](loaded_kernel& kernel, const auto&) { return bench.launch(kernel); };
  const auto by_string = value_of(gpu::autotune(
      bench.stream, bench.settings(), {"slow", "fast"},
      [&](const char* name) { return bench.prepare(*name == 's' ? 200 : 5); }, launch));
  CHECK(by_string.chosen == 1);
  CHECK(by_string.timings[1].variant == "fast");
  struct shape {
    std::string name;
    int rounds;
  };
  const std::vector<shape> shapes{{"wide", 5}, {"deep", 200}};
  const auto by_name = value_of(gpu::autotune(
      bench.stream, bench.settings(), shapes,
      [&](const shape& s) { return bench.prepare(s.rounds); }, launch));
  CHECK(by_name.chosen == 0);
  CHECK(by_name.timings[0].variant == "wide");
}

TEST_CASE("tuning without variants or repetitions is rejected", "[compiler][cache][autotune]") {
  workbench bench;
  CHECK(says(error_of(bench.tune(std::vector<int>{}, bench.settings())), "there are 0 variants"));
  gpu::tuning_settings none = bench.settings();
  none.repetitions = 0;
  CHECK(says(error_of(bench.tune(std::vector<int>{1}, none)), "0 repetitions"));
  gpu::tuning_settings negative = bench.settings();
  negative.warm_up = -1;
  CHECK(says(error_of(bench.tune(std::vector<int>{1}, negative)), "-1 launches to warm up"));
  CHECK(bench.prepared == 0);
  gpu::tuning_settings least = bench.settings();
  least.repetitions = 1;
  least.warm_up = 0;
  CHECK(value_of(bench.tune(std::vector<int>{1}, least)).chosen == 0);
  CHECK(bench.launched == 1);
}

TEST_CASE("a damaged record of a tuning is measured again", "[compiler][cache][autotune]") {
  workbench bench;
  const std::vector<int> variants{300, 10};
  value_of(bench.tune(variants, bench.settings()));
  const std::vector<std::string> records = test::names_in(bench.folder.path(), ".m");
  REQUIRE(records.size() == 1);
  const std::string path = bench.folder / records[0];
  std::string contents = test::read_file(path);
  for (std::size_t at = 0; at < contents.size(); at += 7) {
    std::string flipped = contents;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    test::write_file(path, flipped);
    gpu::detail::tuning_outcome outcome;
    gpu::detail::digest key;
    gpu::detail::entry_kind kind{};
    gpu::string_ref inside;
    REQUIRE(gpu::detail::read_seal(contents, kind, key, inside));
    if (gpu::detail::tuning_record(bench.cache, key).find(outcome)) FAIL_CHECK("byte " << at);
  }
  CHECK_FALSE(value_of(bench.tune(variants, bench.settings())).remembered);
  CHECK(value_of(bench.tune(variants, bench.settings())).remembered);
}

TEST_CASE("what is remembered counts towards the folder's limit", "[compiler][cache][autotune]") {
  workbench bench;
  gpu::compile_cache full(
      {.use = gpu::cache_use::disk, .folder = bench.folder.path(), .folder_limit = 1});
  gpu::tuning_settings settings = bench.settings();
  settings.cache = &full;
  CHECK_FALSE(value_of(bench.tune(std::vector<int>{10}, settings)).remembered);
  CHECK(test::names_in(bench.folder.path(), ".m").empty());
}

TEST_CASE("without a folder nothing is remembered", "[compiler][cache][autotune]") {
  workbench bench;
  gpu::compile_cache memory({.use = gpu::cache_use::memory});
  gpu::tuning_settings settings = bench.settings();
  settings.cache = &memory;
  const std::vector<int> variants{300, 10};
  CHECK_FALSE(value_of(bench.tune(variants, settings)).remembered);
  CHECK_FALSE(value_of(bench.tune(variants, settings)).remembered);
}

TEST_CASE("autotune reports each driver call that fails", "[compiler][cache][autotune]") {
  const gpu::compiled_program made =
      gpu::compile(source,
                   {.architecture = gpu::architecture::compute(80), .defines = {{"ROUNDS", 3}}})
          .value();
  gpu::compile_cache memory({.use = gpu::cache_use::memory});
  CHECK(test::sweep([&]() -> gpu::result<> {
          const gpu::stream stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
          auto data = GPU_TRY(gpu::device_buffer<int>::create(stream, 1));
          const gpu::tuning_settings settings{
              .problem = "sweep", .repetitions = 2, .cache = &memory};
          GPU_TRY(gpu::autotune(
              stream, settings, {1},
              [&](int) -> gpu::result<loaded_kernel> {
                gpu::module module = GPU_TRY(gpu::module::load(made));
                auto kernel = GPU_TRY(module.kernel<int*>("spin"));
                return loaded_kernel{std::move(module), kernel};
              },
              [&](loaded_kernel& loaded, int) {
                return gpu::launch(stream, {1, 1}, loaded.kernel, data.data());
              }));
          return stream.synchronize();
        }) == "");
}

}}  // namespace autotune_test

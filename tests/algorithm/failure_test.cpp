// Each operation with everything failing in turn, cold and warm; on memory with anything in it; and
// called by several threads.

#include "algorithm/algorithm_fixture.hpp"
#include "support/host_memory.hpp"

#include <gpu/algorithm.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace failure_test {

using algorithm_test::fixture;

/// Device memory that operations read and write.
struct workplace {
  gpu::stream_ref stream;
  gpu::device_buffer<float>& x;
  gpu::device_buffer<int>& flags;
  gpu::device_buffer<float>& out;
  gpu::device_buffer<int>& more;
  gpu::device_buffer<unsigned long long>& count;
};
struct operation {
  const char* name;
  gpu::result<> (*run)(const workplace&);
};

/// Each public operation that does not wait for a result; objects are made anew by each call.
const operation operations[] = {
    {"elementwise",
     [](const workplace& at) -> gpu::result<> {
       const auto kernel = GPU_TRY((gpu::elementwise<const float*, const int*, float*>::create(
           "x, k, y", "y[i] = x[i] * 2 + k[i]")));
       return kernel(at.stream, at.x, at.flags, at.out);
     }},
    {"reduction",
     [](const workplace& at) -> gpu::result<> {
       const auto sum = GPU_TRY((gpu::reduction<float, const float*>::create(
           {.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0})));
       GPU_TRY(sum.into(at.stream, at.out.span().first(1), at.x));
       return sum.into(at.stream, at.out.span().first(3000), at.x);
     }},
    {"scan",
     [](const workplace& at) -> gpu::result<> {
       const auto scan = GPU_TRY((gpu::scan<float, const float*, const int*, float*>::create(
           {.parameters = "x, k, y",
            .map = "x[i]",
            .combine = "a + b",
            .store = "y[i] = item",
            .neutral = 0,
            .segment_start = "k[i] == 3"})));
       return scan(at.stream, at.x, at.flags, at.out);
     }},
    {"inclusive_scan",
     [](const workplace& at) { return gpu::inclusive_scan(at.stream, at.x, at.out); }},
    {"exclusive_scan",
     [](const workplace& at) { return gpu::exclusive_scan(at.stream, at.x, at.out, 2.0f); }},
    {"selection",
     [](const workplace& at) -> gpu::result<> {
       const auto positive = GPU_TRY((gpu::selection<float, const float*>::create(
           {.parameters = "x", .condition = "x[i] > 0", .value = "x[i]"})));
       return positive.into(at.stream, at.out, at.count, at.x);
     }},
    {"select",
     [](const workplace& at) { return gpu::select(at.stream, at.x, at.flags, at.out, at.count); }},
    {"partition",
     [](const workplace& at) {
       return gpu::partition(at.stream, at.x, at.flags, at.out, at.count);
     }},
    {"unique", [](const workplace& at) { return gpu::unique(at.stream, at.x, at.out, at.count); }},
    {"run_length",
     [](const workplace& at) {
       return gpu::run_length(at.stream, at.x, at.out, at.more, at.count);
     }},
    {"reduce_by_key",
     [](const workplace& at) {
       return gpu::reduce_by_key(at.stream, at.flags, at.x, at.more, at.out, at.count);
     }},
    {"sort",
     [](const workplace& at) -> gpu::result<> {
       GPU_TRY(gpu::copy(at.stream, at.x, at.out));
       return gpu::sort(at.stream, at.out);
     }},
    {"sort_pairs",
     [](const workplace& at) -> gpu::result<> {
       GPU_TRY(gpu::copy(at.stream, at.x, at.out));
       GPU_TRY(gpu::copy(at.stream, at.flags, at.more));
       return gpu::sort_pairs(at.stream, at.out, at.more);
     }},
    {"argsort", [](const workplace& at) { return gpu::argsort(at.stream, at.x, at.more); }},
    {"sort_segments",
     [](const workplace& at) -> gpu::result<> {
       GPU_TRY(gpu::copy(at.stream, at.x, at.out));
       GPU_TRY(gpu::fill(at.stream, at.more, 0));
       const int third = static_cast<int>(at.x.size() / 3);
       GPU_TRY(gpu::fill(at.stream, at.more.span().subspan(1), third));
       return gpu::sort_segments(at.stream, at.out, at.more.span().first(5));
     }},
    {"top_k",
     [](const workplace& at) {
       return gpu::top_k(at.stream, at.x, at.out.span().first(500), at.more.span().first(500));
     }},
};

constexpr std::size_t elements = 21'000;

/// With as many the sorts make as many driver calls as with `elements`, and take less time.
constexpr std::size_t few_elements = 6'000;

/// Runs an operation on new memory for so many elements and waits.
gpu::result<> run_alone(const operation& each, std::size_t n) {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, n));
  auto flags = GPU_TRY(gpu::device_buffer<int>::create(stream, n));
  auto out = GPU_TRY(gpu::device_buffer<float>::create(stream, n));
  auto more = GPU_TRY(gpu::device_buffer<int>::create(stream, n));
  auto count = GPU_TRY(gpu::device_buffer<unsigned long long>::create(stream, 1));
  GPU_TRY(gpu::fill(stream, x, 1.5f));
  GPU_TRY(gpu::fill(stream, flags, 3));
  GPU_TRY(each.run({stream, x, flags, out, more, count}));
  return stream.synchronize();
}

TEST_CASE("each allocation of each algorithm may fail", "[algorithm][cpu][thorough]") {
  for (const operation& each : operations) {
    CAPTURE(each.name);
    for (int k = 0; k < 2; ++k) test::value_of(run_alone(each, elements));
    // The texts of an object are the caller's, and throw where they cannot be copied.
    const auto run = [&] { return test::run_contained([&] { return run_alone(each, elements); }); };
    const std::string wrong = test::sweep_host_memory(run);
    if (wrong != "the operation allocates nothing") CHECK(wrong == "");
  }
}

TEST_CASE("each allocation of the description of shared kernels may fail", "[algorithm][cpu]") {
  std::string combine = "a + b";
  const auto find = [&]() -> gpu::result<> {
    {
      const test::spared_allocations spared;
      combine += ' ';  // another text each time
    }
    GPU_TRY((gpu::detail::find_reduce_by_key<int, float, float, int>(1000, combine, {})));
    return {};
  };
  CHECK(test::sweep_host_memory(find) == "");
}

TEST_CASE("each call of each algorithm may fail", "[algorithm][cpu][thorough]") {
  for (const operation& each : operations) {
    const std::string name = each.name;  // the others have tests of their own
    if (name != "exclusive_scan" && name != "selection" && name != "sort_pairs" &&
        name != "argsort" && name != "sort_segments")
      continue;
    CAPTURE(name);
    const std::size_t n = name.find("sort") == std::string::npos ? elements : few_elements;
    for (int k = 0; k < 3; ++k) test::value_of(run_alone(each, n));
    CHECK(test::sweep_calls([&] { return run_alone(each, n); },
                            {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
  }
}

/// Results of all operations on `host`, over outputs that hold `garbage`.
std::vector<std::vector<std::uint32_t>> results_over(std::uint8_t garbage) {
  const fixture f;
  std::mt19937 random(11);
  std::vector<float> host(elements);
  std::vector<int> host_flags(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    host[i] = static_cast<float>(static_cast<int>(random() % 300) - 100) * 0.37f;
    host_flags[i] = random() % 3 == 0 ? 3 : 0;
  }
  std::vector<std::vector<std::uint32_t>> all;
  for (const operation& each : operations) {
    // Workspace that is allocated next has this in it.
    for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{1} << 14}) {
      auto used = test::value_of(gpu::detail::allocate_workspace(f.stream, bytes, {}));
      test::value_of(gpu::fill(f.stream, used, garbage));
    }
    auto x = f.upload(host), out = f.make<float>(elements);
    auto flags = f.upload(host_flags), more = f.make<int>(elements);
    auto count = f.upload(std::vector<unsigned long long>{0});
    // What is not written must not differ, so the outputs begin alike.
    test::value_of(gpu::fill(f.stream, out, 0.0f));
    test::value_of(gpu::fill(f.stream, more, 0));
    test::value_of(each.run({f.stream, x, flags, out, more, count}));
    test::value_of(f.stream.synchronize());
    const auto found = f.download(out);
    const auto found_more = f.download(more);
    std::vector<std::uint32_t> bits;
    for (const float v : found) bits.push_back(std::bit_cast<std::uint32_t>(v));
    for (const int v : found_more) bits.push_back(static_cast<std::uint32_t>(v));
    bits.push_back(static_cast<std::uint32_t>(f.download(count)[0]));
    all.push_back(bits);
  }
  return all;
}

/// A digest of numbers, so that a test can have it (FNV-1a).
std::uint64_t digest(const std::vector<std::uint32_t>& bits) {
  std::uint64_t made = 0xcbf29ce484222325;
  for (const std::uint32_t each : bits) made = (made ^ each) * 0x100000001b3;
  return made;
}

TEST_CASE("results do not depend on what memory held before", "[algorithm][thorough]") {
  const auto zeros = results_over(0x00), ones = results_over(0xff), some = results_over(0x41);
  for (std::size_t each = 0; each < zeros.size(); ++each) {
    CAPTURE(operations[each].name);
    CHECK((zeros[each] == ones[each]));
    CHECK((zeros[each] == some[each]));
  }
}

TEST_CASE("results have the bits that were recorded", "[algorithm]") {
  // Of the CPU driver: every device gives the same.
  const std::uint64_t recorded[] = {
      0x87e90dfa9f479380, 0x832b184ad6767119, 0x224fa89e82b0b8d4, 0x4bd52199ef06c12e,
      0x6b16a4b3a06c9f2f, 0x1fbe4fe2aed0ad,   0x47caeec1a2f4f42c, 0xa2d2026e4f3f2c7e,
      0x1da981790158e867, 0x3271e7ad8d5103c7, 0x8ae2bd5eda7b9c60, 0xceb35c954d54f450,
      0xf1cd0428a6ddcd8e, 0x75c41318a5e1e73b, 0x895b73b79681617e, 0x2a386433d0f5bf26};
  const auto found = results_over(0x5a);
  REQUIRE(std::size(recorded) == found.size());
  for (std::size_t each = 0; each < found.size(); ++each) {
    CAPTURE(operations[each].name);
    CHECK(digest(found[each]) == recorded[each]);
  }
}

TEST_CASE("several threads call every algorithm at once", "[algorithm][threads]") {
  // Each function's kernels are shared, and some are made by whoever comes first.
  for (int k = 0; k < 2; ++k) {
    std::vector<std::thread> threads;
    std::vector<std::string> wrong(4);
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t each = 0; each < std::size(operations); ++each) {
          const operation& own = operations[(each + 4 * t) % std::size(operations)];
          const auto outcome = run_alone(own, elements);
          if (!outcome.has_value()) wrong[t] += outcome.error().message().c_str();
        }
      });
    }
    for (std::thread& each : threads) each.join();
    for (const std::string& each : wrong) CHECK(each == "");
  }
}

TEST_CASE("every algorithm that does not wait is captured", "[algorithm]") {
  const fixture f;
  for (const operation& each : operations) {
    CAPTURE(each.name);
    auto x = f.upload(std::vector<float>(elements, 1.5f));
    auto out = f.upload(std::vector<float>(elements, 0));
    auto flags = f.upload(std::vector<int>(elements, 3)),
         more = f.upload(std::vector<int>(elements, 0));
    auto count = f.make<unsigned long long>(1);
    const workplace at{f.stream, x, flags, out, more, count};
    test::value_of(each.run(at));
    test::value_of(f.stream.synchronize());
    const auto expected = f.download(out);
    const auto expected_more = f.download(more);
    auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
    test::value_of(each.run(at));
    const auto graph = test::value_of(capture.end());
    const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
    test::value_of(gpu::fill(f.stream, out, 0.0f));
    test::value_of(gpu::fill(f.stream, more, 0));
    for (int k = 0; k < 2; ++k) test::value_of(gpu::launch(f.stream, executable));
    test::value_of(f.stream.synchronize());
    CHECK((f.download(out) == expected));
    CHECK((f.download(more) == expected_more));
  }
}

TEST_CASE("a layout that is first needed during capture is captured", "[algorithm]") {
  const fixture f;
  const auto twice = test::value_of(
      gpu::elementwise<const float*, float*>::create("x, y", "y[i] = 2 * x[i] + 0.125f"));
  auto x = f.upload(std::vector<float>(500, 1.0f)), y = f.upload(std::vector<float>(500, 0.0f));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(twice(f.stream, x.span().subspan(1), y.span().subspan(1)));  // compiles
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(y)[0] == 0);
  CHECK(f.download(y)[499] == 2.125f);
}

}  // namespace failure_test

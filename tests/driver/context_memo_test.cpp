// Values that are made once for each context and key.

#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_memo.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/device.hpp>

#include "support/results.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace context_memo_test {

using test::error_of;
using test::value_of;

TEST_CASE("context_memo: a value is made once for each context and key", "[driver][context]") {
  const gpu::device device = test::first_device();
  const gpu::context own = value_of(gpu::context::create(device));
  gpu::context_memo<std::string, int> memo;
  int made = 0;
  const auto get = [&](gpu::context_or_device on, int key) {
    return *value_of(memo.get(on, key, [&]() -> gpu::result<std::string> {
      return std::to_string(key) + '/' + std::to_string(++made);
    }));
  };
  CHECK(get(device, 5) == "5/1");
  CHECK(get(device, 6) == "6/2");
  CHECK(get(own, 5) == "5/3");
  CHECK(get(device, 5) == "5/1");
  CHECK(get(value_of(gpu::context::primary(device)), 6) == "6/2");  // the device's own
  CHECK(memo.size() == 3);

  value_of(memo.clear(device));
  CHECK(memo.size() == 1);
  CHECK(get(own, 5) == "5/3");
  CHECK(get(device, 5) == "5/4");
  memo.clear();
  CHECK(memo.size() == 0);
  CHECK(get(own, 5) == "5/5");
}

TEST_CASE("context_memo: a later context does not get an earlier one's values",
          "[driver][context]") {
  const gpu::device device = test::first_device();
  gpu::context_memo<int> memo;
  for (int round = 0; round < 8; ++round) {  // the driver uses addresses again
    const gpu::context own = value_of(gpu::context::create(device));
    CHECK(*value_of(memo.get(own, [&]() -> gpu::result<int> { return round; })) == round);
  }
  CHECK(memo.size() == 8);
}

TEST_CASE("context_memo: all memos can be cleared at once", "[driver][context]") {
  const gpu::device device = test::first_device();
  const auto witness = std::make_shared<int>(7);
  const auto make = [&]() -> gpu::result<std::shared_ptr<int>> { return witness; };
  gpu::context_memo<std::shared_ptr<int>> first;
  {
    gpu::context_memo<std::shared_ptr<int>> second, third;
    value_of(first.get(device, make));
    value_of(second.get(device, make));
    value_of(third.get(device, make));
    CHECK(witness.use_count() == 4);
    gpu::clear_context_memos();
    CHECK(witness.use_count() == 1);
    value_of(second.get(device, make));
  }
  CHECK(witness.use_count() == 1);
  value_of(first.get(device, make));
  gpu::clear_context_memos();  // two memos are gone
  CHECK(first.size() == 0);
}

TEST_CASE("context_memo: a failure is returned and not kept", "[driver][context]") {
  const gpu::device device = test::first_device();
  gpu::context_memo<int> memo;
  CHECK(error_of(memo.get(device, []() -> gpu::result<int> {
          return gpu::unexpected(error_of(gpu::device::get(-1)));
        })) == gpu::errc::index_out_of_range);
  CHECK(memo.size() == 0);
  CHECK(error_of(memo.get(gpu::context_ref(), []() -> gpu::result<int> { return 1; })) ==
        gpu::errc::empty_handle);
  CHECK(error_of(memo.clear(gpu::context_ref())) == gpu::errc::empty_handle);
  CHECK(*value_of(memo.get(device, []() -> gpu::result<int> { return 1; })) == 1);
}

TEST_CASE("context_memo: threads that make a value at once get the same one",
          "[driver][context][threads]") {
  const gpu::device device = test::first_device();
  gpu::context_memo<int> memo;
  std::vector<int*> seen(8);
  std::vector<std::thread> threads;
  for (int*& mine : seen) {
    threads.emplace_back([&] {
      const auto found = memo.get(device, []() -> gpu::result<int> { return 3; });
      if (found.has_value()) mine = *found;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(memo.size() == 1);
  for (const int* each : seen) CHECK(each == seen[0]);
}

TEST_CASE("context_memo: each call and allocation that fails is told", "[driver][context]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          gpu::context_memo<int> memo;
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          GPU_TRY(memo.get(device, []() -> gpu::result<int> { return 3; }));
          GPU_TRY(memo.clear(device));
          return {};
        }) == "");
}

}  // namespace context_memo_test

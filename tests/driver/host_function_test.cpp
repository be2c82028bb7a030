#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace host_function_test {

using test::error_of;
using test::value_of;

TEST_CASE("host function: any callable runs in the order of its stream", "[driver][host]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  std::string order;
  value_of(gpu::launch_host_function(stream, [&] { order += 'a'; }));
  auto owned = std::make_unique<char>('b');
  value_of(
      gpu::launch_host_function(stream, [&order, mine = std::move(owned)] { order += *mine; }));
  struct counted {
    std::string* order;
    void operator()() { *order += 'c'; }
  };
  const counted third{&order};
  value_of(gpu::launch_host_function(stream, third));
  value_of(stream.synchronize());
  CHECK(order == "abc");
}

TEST_CASE("host function: the callable is destroyed once it has run", "[driver][host]") {
  const auto shared = std::make_shared<int>(0);
  {
    const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
    value_of(gpu::launch_host_function(stream, [shared] { ++*shared; }));
    value_of(stream.synchronize());
    // The driver's thread may still be on its way out of the callable.
    for (int i = 0; i < 1000 && shared.use_count() != 1; ++i)
      value_of(gpu::launch_host_function(stream, [] {})), value_of(stream.synchronize());
  }
  CHECK(*shared == 1);
  CHECK(shared.use_count() == 1);
}

TEST_CASE("host function: a graph that it was captured to keeps the callable, and destroys it",
          "[driver][host][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto shared = std::make_shared<int>(0);
  {
    auto capture = value_of(gpu::stream_capture::begin(stream));
    value_of(gpu::launch_host_function(stream, [shared] { ++*shared; }));
    const gpu::graph graph = value_of(capture.end());
    const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
    for (int launch = 0; launch < 2; ++launch) value_of(gpu::launch(stream, exec));
    value_of(stream.synchronize());
    CHECK(*shared == 2);
    CHECK(shared.use_count() == 2);
  }
  // A device's driver may tell late that a graph is gone.
  for (int i = 0; i < 1000 && shared.use_count() != 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(shared.use_count() == 1);
}

TEST_CASE("host function: where the context has a fault it is destroyed without having run",
          "[driver][host][cpu]") {
  constexpr const char* faulty = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry fault() {
  .reg .b64 %a; .reg .b32 %x;
  mov.u64 %a, 16; mov.u32 %x, 1; st.global.u32 [%a], %x; ret;
})";
  for (const bool deferred : {false, true}) {
    test::cpu_driver_options options;
    options.deferred = deferred;
    test::own_cpu_driver driver(options);
    const gpu::device device = test::first_device();
    const gpu::module code = value_of(gpu::module::load(faulty));
    const auto fault = value_of(code.kernel<>("fault"));
    const gpu::stream stream = value_of(gpu::stream::create(device));
    const auto shared = std::make_shared<int>(0);
    value_of(gpu::launch(stream, {1, 1}, fault));
    const auto queued = gpu::launch_host_function(stream, [shared] { ++*shared; });
    CHECK_FALSE(stream.synchronize().has_value());
    CHECK(queued.has_value());
    CHECK(*shared == 0);
    CHECK(shared.use_count() == 1);
    // The driver refuses the next one at once.
    CHECK_FALSE(gpu::launch_host_function(stream, [shared] { ++*shared; }).has_value());
    CHECK(shared.use_count() == 1);
  }
}

#if defined(__cpp_exceptions)
TEST_CASE("host function: what it throws goes to the error reporter", "[driver][host]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  test::reported_errors reported;
  bool later = false;
  value_of(gpu::launch_host_function(stream, [] { throw std::runtime_error("no more paper"); }));
  value_of(gpu::launch_host_function(stream, [&] { later = true; }));
  value_of(stream.synchronize());
  CHECK(later);
  REQUIRE(reported.count() == 1);
  CHECK(reported.last().find("no more paper. Catch exceptions inside it.") != std::string::npos);
  CHECK(reported.last().find("host_function_test.cpp") != std::string::npos);
  CHECK(reported.last().find("gpu::launch_host_function: ") == 0);
  value_of(gpu::launch_host_function(stream, [] { throw 7; }));
  value_of(stream.synchronize());
  CHECK(reported.count() == 2);
  CHECK(reported.last().find("not a std::exception. Catch exceptions inside it.") !=
        std::string::npos);
}

TEST_CASE("host function: one that cannot be copied is refused", "[driver][host]") {
  struct careful {
    bool lacks_memory;
    explicit careful(bool lacking) : lacks_memory{lacking} {}
    careful(const careful& from) : lacks_memory{from.lacks_memory} {
      if (lacks_memory) throw std::bad_alloc();
      throw std::runtime_error("no more ink");
    }
    void operator()() const {}
  };
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const careful function(false);
  const gpu::cuda_error error = error_of(gpu::launch_host_function(stream, function));
  CHECK(error == gpu::errc::callback_threw);
  CHECK(test::says(error, "no more ink. Move it in", "gpu::launch_host_function"));
  const careful lacking(true);
  CHECK(error_of(gpu::launch_host_function(stream, lacking)) == gpu::errc::out_of_host_memory);
  value_of(stream.synchronize());
}

TEST_CASE("host function: what a node of a graph throws is said to be the node's",
          "[driver][host]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  test::reported_errors reported;
  gpu::graph graph = value_of(gpu::graph::create(stream.context()));
  value_of(graph.add({}, gpu::host_node([] { throw std::runtime_error("no more ink"); })));
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  value_of(gpu::launch(stream, exec));
  value_of(stream.synchronize());
  REQUIRE(reported.count() == 1);
  CHECK(reported.last().find("gpu::host_node: ") == 0);
  CHECK(reported.last().find("no more ink. Catch exceptions inside it.") != std::string::npos);
  CHECK(reported.last().find("host_function_test.cpp") != std::string::npos);
}
#endif

TEST_CASE("host function: an error that it returns goes to the error reporter", "[driver][host]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  test::reported_errors reported;
  value_of(gpu::launch_host_function(stream, []() -> gpu::result<int> { return 3; }));
  value_of(gpu::launch_host_function(
      stream, []() -> gpu::result<> { return gpu::stream_ref{}.synchronize(); }));
  value_of(stream.synchronize());
  REQUIRE(reported.count() == 1);
  CHECK(reported.last().find("stream is empty") != std::string::npos);
}

TEST_CASE("host function: it works on the default streams, and an empty one is refused",
          "[driver][host]") {
  const gpu::device device = test::first_device();
  const gpu::stream_ref streams[] = {value_of(gpu::stream_ref::legacy_default(device)),
                                     value_of(gpu::stream_ref::per_thread_default(device))};
  int calls = 0;
  for (const gpu::stream_ref stream : streams) {
    value_of(gpu::launch_host_function(stream, [&] { ++calls; }));
    value_of(stream.synchronize());
  }
  CHECK(calls == 2);
  const auto shared = std::make_shared<int>(0);
  const gpu::cuda_error error = error_of(gpu::launch_host_function(gpu::stream_ref{}, [shared] {}));
  CHECK(error == gpu::errc::empty_handle);
  CHECK(test::says(error, "gpu::launch_host_function"));
  CHECK(shared.use_count() == 1);
}

TEST_CASE("host function: where there is no memory to keep it, that is said",
          "[driver][host][faults][cpu]") {
  const auto shared = std::make_shared<int>(0);
  CHECK(test::sweep_host_memory([&]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          GPU_TRY(gpu::launch_host_function(stream, [shared] { ++*shared; }));
          return stream.synchronize();
        }) == "");
  CHECK(shared.use_count() == 1);
}

TEST_CASE("host function: each driver call may fail", "[driver][host][faults][cpu]") {
  // Where a wait failed, another stream's may run at the same time.
  const auto shared = std::make_shared<std::atomic<int>>(0);
  CHECK(test::sweep(
            [&]() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              GPU_TRY(gpu::launch_host_function(stream, [shared] { ++*shared; }));
              const gpu::stream_ref legacy = GPU_TRY(gpu::stream_ref::legacy_default(device));
              GPU_TRY(gpu::launch_host_function(legacy, [shared] { ++*shared; }));
              GPU_TRY(legacy.synchronize());
              GPU_TRY(stream.synchronize());
              return {};
            },
            {"cuCtxGetDevice"}) == "");
  CHECK(*shared > 0);
  CHECK(shared.use_count() == 1);
}

}  // namespace host_function_test

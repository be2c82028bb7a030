// An engine that counts in device memory, alone and in graphs.

#include "algorithm/algorithm_fixture.hpp"
#include "support/catch.hpp"
#include "support/results.hpp"

#include <gpu/array/creation.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random.hpp>

#include <utility>
#include <vector>

namespace device_philox_test { namespace {

using algorithm_test::fixture;

TEST_CASE("an engine on the device goes on at each evaluation", "[random]") {
  const fixture f;
  gpu::philox host(21, 4, 6);
  auto engine = test::value_of(gpu::device_philox::create(f.stream, host));
  CHECK(engine.seed() == 21);
  CHECK(engine.sequence() == 4);
  const auto numbers = gpu::uniform<float>(engine, gpu::shape{10});
  std::vector<float> expected;
  gpu::philox from(21, 4, 8);  // behind the block of four in which the other is
  for (int k = 0; k < 3; ++k) {
    const auto same = f.download(
        test::value_of(gpu::evaluate(f.stream, gpu::uniform<float>(from, gpu::shape{10}))));
    from.skip(2);
    CHECK(f.download(test::value_of(gpu::evaluate(f.stream, numbers))) == same);
  }
  CHECK(test::value_of(engine.position(f.stream)) == gpu::philox(21, 4, 44));
  // Doubles have an order of their own, from a multiple of its range on.
  gpu::philox doubles(21, 4, 44);
  const auto expected_doubles = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::normal<double>(doubles, gpu::shape{9}))));
  CHECK(f.download(test::value_of(gpu::evaluate(
            f.stream, gpu::normal<double>(engine, gpu::shape{9})))) == expected_doubles);
  CHECK(test::value_of(engine.position(f.stream)) == doubles);
  const auto counts = f.download(
      test::value_of(gpu::evaluate(f.stream, gpu::poisson<int>(doubles, gpu::shape{7}, 30))));
  CHECK(f.download(test::value_of(
            gpu::evaluate(f.stream, gpu::poisson<int>(engine, gpu::shape{7}, 30)))) == counts);
}

TEST_CASE("a graph draws new numbers at each launch if the engine is on the device", "[random]") {
  const fixture f;
  gpu::philox host(22);
  auto engine = test::value_of(gpu::device_philox::create(f.stream, host));
  auto x = test::value_of(gpu::empty<float>(f.stream, gpu::shape{100}));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::assign(f.stream, x, gpu::normal<float>(engine, x.shape())));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int k = 0; k < 3; ++k) {
    test::value_of(gpu::launch(f.stream, executable));
    test::value_of(f.stream.synchronize());
    CHECK(f.download(x) ==
          f.download(test::value_of(gpu::evaluate(f.stream, gpu::normal<float>(host, x.shape())))));
  }
}

TEST_CASE("an engine on the device that goes on behind 2^64 numbers is used up", "[random]") {
  const fixture f;
  auto engine = test::value_of(gpu::device_philox::create(f.stream, gpu::philox(1, 0, ~0ull - 7)));
  const auto numbers = gpu::random_bits<unsigned>(engine, gpu::shape{4});
  const auto last = f.download(test::value_of(gpu::evaluate(f.stream, numbers)));
  CHECK(test::value_of(engine.position(f.stream)).offset() == ~0ull - 3);
  for (int k = 0; k < 2; ++k) {
    CHECK(f.download(test::value_of(gpu::evaluate(f.stream, numbers))) != last);
    gpu::philox here = test::value_of(engine.position(f.stream));
    CHECK(test::says(
        test::error_of(gpu::evaluate(f.stream, gpu::uniform<float>(here, gpu::shape{1}))),
        "would pass 2^64"));
  }
}

TEST_CASE("an engine on the device that was moved from is refused", "[random]") {
  const fixture f;
  auto engine = test::value_of(gpu::device_philox::create(f.stream, gpu::philox(1)));
  const auto moved = std::move(engine);
  const auto error =
      test::error_of(gpu::evaluate(f.stream, gpu::uniform<float>(engine, gpu::shape{3})));
  CHECK(error == gpu::errc::empty_handle);
}

TEST_CASE("each call of an engine on the device may fail", "[random][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto engine = GPU_TRY(gpu::device_philox::create(stream, gpu::philox(1)));
    GPU_TRY(gpu::evaluate(stream, gpu::uniform<float>(engine, gpu::shape{40})));
    GPU_TRY(engine.position(stream));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}}  // namespace device_philox_test

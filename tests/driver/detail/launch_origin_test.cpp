// Faults of kernels name the launches that may be behind them.

#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/copy_batch.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/prefetch_batch.hpp>
#include <gpu/memory/stream_memory_operation.hpp>

#include "kernel/test_programs.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace launch_origin_test { namespace {

using gpu::detail::launch_label;
using gpu::detail::launch_ring;
using gpu::detail::launches;
using gpu::detail::note_launch;

CUstream stream_number(std::uintptr_t n) { return reinterpret_cast<CUstream>(n << 12); }

std::string origins(CUstream stream) { return gpu::detail::list_origins(stream).c_str(); }

/// Rules out all that other tests launched.
void forget_all() {
  for (CUdevice device : {0, 100, 101}) {
    gpu::detail::note_synchronization(gpu::detail::launches(),
                                      gpu::detail::launches_so_far(gpu::detail::launches()),
                                      nullptr, device, true);
  }
}

const launch_label alpha{"alpha", 100}, beta{"beta", 100}, gamma_label{"gamma", 101};

gpu::source_location at(const char* file, int line) {
  return gpu::source_location::current(file, line);
}

TEST_CASE("the launches that have not finished are listed, earliest first", "[launch_origin]") {
  forget_all();
  note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 10));
  note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 10));
  note_launch(launches(), &beta, stream_number(2), at("b.cpp", 20));
  note_launch(launches(), &gamma_label, stream_number(3), at("c.cpp", 30));
  const std::string words = origins(stream_number(1));
  INFO(words);
  // gamma ran on another device.
  CHECK(words.find("alpha at a.cpp:10 (2 times), beta at b.cpp:20") != std::string::npos);
  CHECK(words.find("gamma") == std::string::npos);
  CHECK(origins(stream_number(3)).find("gamma at c.cpp:30") != std::string::npos);
  CHECK(origins(stream_number(3)).find("alpha") == std::string::npos);
}

TEST_CASE("a synchronization rules out what was launched before it", "[launch_origin]") {
  forget_all();
  CHECK(origins(stream_number(1)).empty());
  note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 1));
  const std::uint64_t before = gpu::detail::launches_so_far(gpu::detail::launches());
  note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 2));
  note_launch(launches(), &beta, stream_number(2), at("b.cpp", 3));
  gpu::detail::note_synchronization(gpu::detail::launches(), before, stream_number(1), -1, false);
  const std::string words = origins(stream_number(1));
  INFO(words);
  CHECK(words.find("a.cpp:1") == std::string::npos);
  CHECK(words.find("a.cpp:2") != std::string::npos);
  CHECK(words.find("b.cpp:3") != std::string::npos);
  gpu::detail::note_synchronization(gpu::detail::launches(),
                                    gpu::detail::launches_so_far(gpu::detail::launches()), nullptr,
                                    100, true);
  CHECK(origins(stream_number(1)).empty());
}

TEST_CASE("copies and fills are listed among launches, with the device of their stream",
          "[launch_origin]") {
  forget_all();
  note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 10));
  note_launch(launches(), &gpu::detail::copy_label, stream_number(2), at("b.cpp", 20), 100);
  note_launch(launches(), &gpu::detail::fill_label, stream_number(3), at("c.cpp", 30), 101);
  note_launch(launches(), &gpu::detail::copy_label, stream_number(2), at("b.cpp", 20), 100);
  note_launch(launches(), &gpu::detail::copy_label, stream_number(2), at("b.cpp", 20), 100);
  CHECK(origins(stream_number(2))
            .find("earliest first: alpha at a.cpp:10, a copy at b.cpp:20 (3 "
                  "times)") != std::string::npos);
  CHECK(origins(stream_number(3)).find("earliest first: a fill at c.cpp:30") != std::string::npos);
  // A context's synchronization rules out the work of its device alone.
  gpu::detail::note_synchronization(gpu::detail::launches(),
                                    gpu::detail::launches_so_far(gpu::detail::launches()), nullptr,
                                    100, true);
  const std::string words = origins(stream_number(2));
  CHECK(words.find("a copy") == std::string::npos);
  CHECK(origins(stream_number(3)).find("a fill at c.cpp:30") != std::string::npos);
}

TEST_CASE("polling does not push launches out, and a full ring says so", "[launch_origin]") {
  forget_all();
  note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 1));
  for (int i = 0; i < 2000; ++i) {
    gpu::detail::note_synchronization(gpu::detail::launches(),
                                      gpu::detail::launches_so_far(gpu::detail::launches()),
                                      stream_number(9), -1, false);
  }
  CHECK(origins(stream_number(1)).find("a.cpp:1") != std::string::npos);
  for (int i = 0; i < 300; ++i) {
    note_launch(launches(), &beta, stream_number(1), at("b.cpp", 100 + i));
  }
  const std::string words = origins(stream_number(1));
  INFO(words);
  CHECK(words.find("a.cpp:1") == std::string::npos);
  CHECK(words.find("before the latest 256") != std::string::npos);
  CHECK(words.find("248 later") != std::string::npos);
  CHECK(words.find("b.cpp:144") != std::string::npos);
}

TEST_CASE("polling several streams in turns does not push launches out", "[launch_origin]") {
  forget_all();
  const auto poll = [](CUstream stream, std::uint64_t finished) {
    gpu::detail::note_synchronization(launches(), finished, stream, -1, false);
  };
  const auto now = [] { return gpu::detail::launches_so_far(launches()); };
  note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 1));
  for (int i = 0; i < 2000; ++i) poll(stream_number(static_cast<std::uintptr_t>(2 + i % 5)), now());
  CHECK(origins(stream_number(1)).find("a.cpp:1") != std::string::npos);
  // What is launched on one of them meanwhile is ruled out by the poll that follows.
  note_launch(launches(), &beta, stream_number(3), at("b.cpp", 2));
  poll(stream_number(2), now());
  CHECK(origins(stream_number(1)).find("b.cpp:2") != std::string::npos);
  poll(stream_number(3), now());
  CHECK(origins(stream_number(1)).find("b.cpp:2") == std::string::npos);
  CHECK(origins(stream_number(1)).find("a.cpp:1") != std::string::npos);
  // A poll that began before a launch leaves it, and the next one does not.
  const std::uint64_t began = now();
  note_launch(launches(), &beta, stream_number(4), at("b.cpp", 3));
  poll(stream_number(4), began);
  poll(stream_number(2), now());
  CHECK(origins(stream_number(1)).find("b.cpp:3") != std::string::npos);
  poll(stream_number(4), now());
  CHECK(origins(stream_number(1)).find("b.cpp:3") == std::string::npos);
}

TEST_CASE("what was captured has not run, and is behind no fault", "[launch_origin]") {
  const gpu::stream stream = test::new_stream(), other = test::new_stream();
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  auto y = test::value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  test::value_of(stream.context().synchronize());
  const auto listed = [&](gpu::stream_ref on) {
    return origins(on.native()).find("a fill at ") != std::string::npos;
  };
  {
    auto capture =
        test::value_of(gpu::stream_capture::begin(stream, gpu::capture_mode::thread_local_));
    test::value_of(gpu::fill(stream, x, 1));
    test::value_of(capture.end());
    CHECK_FALSE(listed(stream));
  }
  {
    const auto dropped =
        test::value_of(gpu::stream_capture::begin(stream, gpu::capture_mode::thread_local_));
    test::value_of(gpu::fill(other, y, 1));
    test::value_of(gpu::fill(stream, x, 1));
  }
  // Beside what another stream did meanwhile.
  CHECK(listed(stream));
  test::value_of(other.synchronize());
  CHECK_FALSE(listed(stream));
}

TEST_CASE("each thread's default stream is one of its own", "[launch_origin]") {
  const gpu::device device = test::first_device();
  const auto own = test::value_of(gpu::stream_ref::per_thread_default(device));
  auto x = test::value_of(gpu::device_buffer<int>::create(device, 4));
  const auto listed = [&] { return origins(own.native()).find("a fill at ") != std::string::npos; };
  test::value_of(own.context().synchronize());
  test::value_of(gpu::fill(own, x, 1));
  std::thread([&] { test::value_of(own.synchronize()); }).join();
  CHECK(listed());
  test::value_of(own.synchronize());
  CHECK_FALSE(listed());
}

TEST_CASE("waiting for one context of a device leaves the records of another", "[launch_origin]") {
  const gpu::stream stream = test::new_stream();
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  const auto listed = [&] {
    return origins(stream.native()).find("a fill at ") != std::string::npos;
  };
  test::value_of(stream.synchronize());
  {
    gpu::context own = test::value_of(gpu::context::create(stream.device()));
    test::value_of(gpu::fill(stream, x, 1));
    test::value_of(own.synchronize());
    CHECK(listed());
    // Whoever owns it then has to be asked.
    own = gpu::context::adopt(own.release());
    test::value_of(own.synchronize());
    CHECK(listed());
  }
  test::value_of(stream.context().synchronize());
  CHECK_FALSE(listed());
}

TEST_CASE("a launch that the driver refused is taken back", "[launch_origin]") {
  forget_all();
  const std::uint64_t ticket = note_launch(launches(), &alpha, stream_number(1), at("a.cpp", 1));
  CHECK(gpu::detail::forget_launch(launches(), ticket));
  CHECK_FALSE(gpu::detail::forget_launch(launches(), ticket));
  CHECK(origins(stream_number(1)).empty());
}

TEST_CASE("many threads may launch while one reads", "[launch_origin]") {
  static const launch_label own[4] = {{"t0", 50}, {"t1", 51}, {"t2", 52}, {"t3", 53}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 1; i <= 2000; ++i) {
        note_launch(launches(), &own[t], stream_number(static_cast<std::uintptr_t>(t) + 50),
                    at("t.cpp", i));
      }
    });
  }
  // An entry is read whole or not at all: label and stream belong together.
  for (int i = 0; i < 200; ++i) {
    const gpu::detail::launch_history history(launches());
    for (std::size_t r = 0; r < history.count; ++r) {
      const auto& record = history.records[r];
      if (record.label < own || record.label >= own + 4) continue;
      REQUIRE(record.stream == stream_number(static_cast<std::uintptr_t>(record.label - own) + 50));
      REQUIRE((record.line >= 1 && record.line <= 2000));
    }
  }
  for (std::thread& thread : threads) thread.join();
}

constexpr const char* faulty = R"(
extern "C" __global__ void fine(int* x) { x[0] = 1; }
extern "C" __global__ void wild(int* x) { x[threadIdx.x + 0x100000000000ull] = 1; }
)";

TEST_CASE("child: a kernel writes where there is nothing", "[.child]") {
  const gpu::stream stream = test::new_stream();
  const gpu::module module = test::load_source(faulty);
  const auto fine = test::value_of(module.kernel<int*>("fine"));
  const auto wild = test::value_of(module.kernel<int*>("wild"));
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 1));
  test::value_of(gpu::launch(stream, {1, 1}, fine, x));
  test::value_of(stream.synchronize());
  const gpu::result<> launched = gpu::launch(stream, {1, 32}, wild, x);
  const int line = __LINE__ - 1;
  const gpu::result<> seen = launched.has_value() ? stream.synchronize() : launched;
  REQUIRE_FALSE(seen.has_value());
  INFO(seen.error().message().c_str());
  CHECK(seen.error().code() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(seen.error().is_sticky());
  const std::string details = seen.error().details().c_str();
  CHECK(details.find("wild at ") != std::string::npos);
  CHECK(details.find("launch_origin_test.cpp:" + std::to_string(line)) != std::string::npos);
  CHECK(details.find("fine") == std::string::npos);
  // Sticky: later calls give it again, and what cleans up stays quiet.
  CHECK(stream.synchronize().error().code() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(gpu::launch(stream, {1, 1}, fine, x).error().is_sticky());
  gpu::set_error_reporter([](const gpu::cuda_error&) { std::abort(); });
}

TEST_CASE("child: a fill writes to memory that is gone", "[.child]") {
  const gpu::stream stream = test::new_stream();
  const gpu::stream other = test::new_stream();
  const gpu::module module = test::load_source(faulty);
  const auto fine = test::value_of(module.kernel<int*>("fine"));
  auto word = test::value_of(gpu::pinned_vector<unsigned>::create(stream.device(), 1));
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 1));
  auto gone = test::value_of(gpu::device_buffer<int>::create(other, 4));
  test::value_of(other.synchronize());
  test::value_of(gpu::fill(stream, x, 0));
  test::value_of(stream.synchronize());
  test::value_of(gpu::launch(stream, {1, 1}, fine, x));
  test::value_of(gpu::perform(stream, gpu::memory_operation::wait(word, 1u)));
  test::value_of(gpu::fill(stream, gone, 7));
  const int line = __LINE__ - 1;
  {
    const auto freed = std::move(gone);
  }
  test::value_of(other.synchronize());
  __atomic_store_n(&word[0], 1u, __ATOMIC_SEQ_CST);
  const gpu::result<> seen = stream.synchronize();
  REQUIRE_FALSE(seen.has_value());
  REQUIRE(seen.error().is_sticky());
  const std::string details = seen.error().details().c_str();
  INFO(details);
  const std::string place = "launch_origin_test.cpp:";
  CHECK(details.find("earliest first: fine at ") != std::string::npos);
  CHECK(details.find(", a fill at ") != std::string::npos);
  CHECK(details.find(place + std::to_string(line)) != std::string::npos);
  // What was filled before is done, and what is refused since is not behind it.
  CHECK(details.find("a fill at ") == details.rfind("a fill at "));
  const gpu::result<> later = gpu::fill(stream, x, 7);
  REQUIRE_FALSE(later.has_value());
  CHECK(later.error().details() == seen.error().details());
  gpu::set_error_reporter([](const gpu::cuda_error&) { std::abort(); });
}

// A device's pool leaves the memory where it is.
TEST_CASE("the fault of a fill names the fill, beside the kernel that may be behind it too",
          "[launch_origin][cpu]") {
  const test::program_outcome outcome =
      test::run_child("child: a fill writes to memory that is gone");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

TEST_CASE("everything that is queued and may fault leaves a record until it is done",
          "[launch_origin]") {
  const gpu::stream stream = test::new_stream();
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 64));
  auto y = test::value_of(gpu::device_buffer<int>::create(stream.device(), 64));
  auto plane = test::value_of(gpu::pitched_buffer<int>::create(stream.device(), {8, 8}));
  auto other = test::value_of(gpu::pitched_buffer<int>::create(stream.device(), {8, 8}));
  auto word = test::value_of(gpu::device_buffer<unsigned>::create(stream.device(), 1));
  gpu::graph graph = test::value_of(gpu::graph::create(stream.device()));
  test::value_of(graph.add({}, gpu::fill_node(x, 1)));
  const gpu::graph_exec exec = test::value_of(gpu::graph_exec::instantiate(graph));
  const auto check = [&](const char* name, const gpu::result<>& queued) {
    INFO(name);
    test::value_of(queued);
    CHECK(origins(stream.native()).find(name) != std::string::npos);
    test::value_of(stream.synchronize());
    CHECK(origins(stream.native()).find(name) == std::string::npos);
  };
  test::value_of(stream.synchronize());
  check("a fill at ", gpu::fill(stream, x, 1));
  check("a fill at ", gpu::fill(stream, plane.span(), 1));
  check("a copy at ", gpu::copy(stream, x, y));
  check("a copy at ", gpu::copy(stream, plane.span(), other.span()));
  check("a batch of copies at ", gpu::copy(stream, {gpu::range_copy(x, y)}));
  check("a stream memory operation at ",
        gpu::perform(stream, gpu::memory_operation::write(word, 5u)));
  check("a graph at ", gpu::launch(stream, exec));
  check("a host function at ", gpu::launch_host_function(stream, [] {}));
  auto managed = test::value_of(gpu::managed_buffer<int>::create(stream.device(), 64));
  check("a prefetch at ", gpu::prefetch(stream, managed, stream.device()));
  check("an attachment of managed memory at ", gpu::attach(stream, managed));
  check("a batch of prefetches at ",
        gpu::prefetch(stream, {gpu::range_prefetch(managed, stream.device())}));
  check("a batch of discards at ", gpu::discard(stream, {gpu::range_discard(managed)}));
  check("a batch of discards at ",
        gpu::discard_and_prefetch(stream, {gpu::range_discard(managed, stream.device())}));
}

TEST_CASE("waiting for a stream leaves the records of others, and for a context it leaves none",
          "[launch_origin]") {
  const gpu::stream stream = test::new_stream(), other = test::new_stream();
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  auto y = test::value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  const auto listed = [&] {
    return origins(stream.native()).find("a fill at ") != std::string::npos;
  };
  test::value_of(stream.context().synchronize());
  test::value_of(gpu::fill(other, y, 1));
  test::value_of(gpu::fill(stream, x, 1));
  test::value_of(other.synchronize());
  CHECK(listed());
  test::value_of(stream.context().synchronize());
  CHECK_FALSE(listed());
}

TEST_CASE("waiting for a default stream leaves the records of another device's",
          "[launch_origin][two_devices]") {
  const gpu::device device = test::value_of(gpu::device::get(0));
  const gpu::device other_device = test::value_of(gpu::device::get(1));
  auto x = test::value_of(gpu::device_buffer<int>::create(device, 4));
  auto y = test::value_of(gpu::device_buffer<int>::create(other_device, 4));
  const auto check = [&](gpu::stream_ref stream, gpu::stream_ref other) {
    const auto listed = [&] {
      return origins(other.native()).find("a fill at ") != std::string::npos;
    };
    test::value_of(other.context().synchronize());
    test::value_of(gpu::fill(stream, x, 1));
    test::value_of(gpu::fill(other, y, 1));
    test::value_of(stream.synchronize());
    CHECK(listed());
    test::value_of(other.synchronize());
    CHECK_FALSE(listed());
  };
  check(test::value_of(gpu::stream_ref::legacy_default(device)),
        test::value_of(gpu::stream_ref::legacy_default(other_device)));
  check(test::value_of(gpu::stream_ref::per_thread_default(device)),
        test::value_of(gpu::stream_ref::per_thread_default(other_device)));
}

TEST_CASE("asking a stream leaves the records of what it has not done yet", "[launch_origin]") {
  const gpu::stream stream = test::new_stream();
  auto word = test::value_of(gpu::pinned_vector<unsigned>::create(stream.device(), 1));
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  const auto listed = [&] {
    return origins(stream.native()).find("a fill at ") != std::string::npos;
  };
  word[0] = 0;
  test::value_of(gpu::perform(stream, gpu::memory_operation::wait(word, 1u)));
  test::value_of(gpu::fill(stream, x, 1));
  CHECK_FALSE(test::value_of(stream.is_done()));
  CHECK(listed());
  __atomic_store_n(&word[0], 1u, __ATOMIC_SEQ_CST);
  while (!test::value_of(stream.is_done())) std::this_thread::yield();
  CHECK_FALSE(listed());
}

TEST_CASE("codes of the driver that are faults name what may be behind them, and others do not",
          "[launch_origin]") {
  const gpu::stream stream = test::new_stream();
  auto x = test::value_of(gpu::device_buffer<int>::create(stream.device(), 4));
  test::value_of(gpu::fill(stream, x, 1));
  static CUresult answer;
  gpu::driver::entry_points table = test::driver();
  table.stream_synchronize = [](CUstream) { return answer; };
  const auto names_it = [&](CUresult code) {
    const gpu::driver::scoped_entry_points in_force(table);
    answer = code;
    const gpu::cuda_error error = test::error_of(stream.synchronize());
    CHECK(error.code() == code);
    return error.details().contains("a fill at ");
  };
  for (const CUresult code :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT,
        CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_CONTAINED, CUDA_ERROR_TENSOR_MEMORY_LEAK}) {
    CAPTURE(code);
    CHECK(names_it(code));
  }
  for (const CUresult code :
       {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE}) {
    CAPTURE(code);
    CHECK_FALSE(names_it(code));
  }
}

TEST_CASE("the fault of a kernel names its launch and its place", "[launch_origin]") {
  const test::program_outcome outcome =
      test::run_child("child: a kernel writes where there is nothing");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("gpu: cu") == std::string::npos);
}

}}  // namespace launch_origin_test

// Streams, events and host functions: what waits for what.

#include "driver_fixture.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace streams_test {

using test::all_modes;
using test::driver_fixture;

namespace {

/// Host functions that write down the order in which they are called.
struct diary {
  std::vector<int> entries;
  void write(int entry) { entries.push_back(entry); }
};

struct note {
  diary* where;
  int what;
  static void CUDA_CB write(void* data) {
    const auto* self = static_cast<note*>(data);
    self->where->write(self->what);
  }
};

CUstream make_stream(const driver_fixture& f, unsigned flags = CU_STREAM_NON_BLOCKING) {
  CUstream stream = nullptr;
  REQUIRE(f.cu.stream_create(&stream, flags) == CUDA_SUCCESS);
  return stream;
}

CUevent make_event(const driver_fixture& f, unsigned flags = CU_EVENT_DISABLE_TIMING) {
  CUevent event = nullptr;
  REQUIRE(f.cu.event_create(&event, flags) == CUDA_SUCCESS);
  return event;
}

}  // namespace

TEST_CASE("a stream does its work in order", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUstream stream = make_stream(f);
    diary book;
    std::vector<note> notes;
    for (int i = 0; i < 50; ++i) notes.push_back({&book, i});
    for (note& each : notes)
      CHECK(f.cu.launch_host_func(stream, note::write, &each) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    REQUIRE(book.entries.size() == 50);
    for (int i = 0; i < 50; ++i) CHECK(book.entries[static_cast<std::size_t>(i)] == i);
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
  }
}

TEST_CASE("an event makes one stream wait for another", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUstream first = make_stream(f);
    const CUstream second = make_stream(f);
    const CUevent event = make_event(f);
    diary book;
    note early{&book, 1};
    note late{&book, 2};
    CHECK(f.cu.launch_host_func(first, note::write, &early) == CUDA_SUCCESS);
    CHECK(f.cu.event_record(event, first) == CUDA_SUCCESS);
    CHECK(f.cu.stream_wait_event(second, event, 0) == CUDA_SUCCESS);
    CHECK(f.cu.launch_host_func(second, note::write, &late) == CUDA_SUCCESS);
    // Both are gone before the work is: it is done all the same.
    CHECK(f.cu.event_destroy(event) == CUDA_SUCCESS);
    CHECK(f.cu.stream_destroy(first) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(second) == CUDA_SUCCESS);
    CHECK(book.entries == std::vector<int>{1, 2});
  }
}

TEST_CASE("waiting for one stream leaves the work of others alone, in deferred mode", "[cpu]") {
  driver_fixture f(test::deferred());
  const CUstream first = make_stream(f);
  const CUstream second = make_stream(f);
  diary book;
  note one{&book, 1};
  note two{&book, 2};
  CHECK(f.cu.launch_host_func(first, note::write, &one) == CUDA_SUCCESS);
  CHECK(f.cu.launch_host_func(second, note::write, &two) == CUDA_SUCCESS);
  CHECK(book.entries.empty());
  CHECK(f.cu.stream_synchronize(second) == CUDA_SUCCESS);
  CHECK(book.entries == std::vector<int>{2});
  CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
  CHECK(book.entries == std::vector<int>{2, 1});
}

TEST_CASE("the default stream waits for blocking streams and they for it", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUstream blocking = make_stream(f, CU_STREAM_DEFAULT);
    diary book;
    note one{&book, 1};
    note two{&book, 2};
    note three{&book, 3};
    CHECK(f.cu.launch_host_func(blocking, note::write, &one) == CUDA_SUCCESS);
    CHECK(f.cu.launch_host_func(nullptr, note::write, &two) == CUDA_SUCCESS);
    CHECK(f.cu.launch_host_func(blocking, note::write, &three) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(blocking) == CUDA_SUCCESS);
    CHECK(book.entries == std::vector<int>{1, 2, 3});
  }
  // A non-blocking stream does not take part.
  driver_fixture f(test::deferred());
  const CUstream stream = make_stream(f);
  diary book;
  note one{&book, 1};
  note two{&book, 2};
  CHECK(f.cu.launch_host_func(stream, note::write, &one) == CUDA_SUCCESS);
  CHECK(f.cu.launch_host_func(nullptr, note::write, &two) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(nullptr) == CUDA_SUCCESS);
  CHECK(book.entries == std::vector<int>{2});
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
}

TEST_CASE("asking the default stream asks the blocking streams, too", "[cpu]") {
  driver_fixture f(test::deferred());
  const CUstream blocking = make_stream(f, CU_STREAM_DEFAULT);
  const CUstream other = make_stream(f);
  diary book;
  note one{&book, 1};
  note two{&book, 2};
  CHECK(f.cu.stream_query(nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.launch_host_func(other, note::write, &two) == CUDA_SUCCESS);
  CHECK(f.cu.stream_query(nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.launch_host_func(blocking, note::write, &one) == CUDA_SUCCESS);
  CHECK(f.cu.stream_query(nullptr) == CUDA_ERROR_NOT_READY);
  for (int i = 0; i < 1000 && f.cu.stream_query(nullptr) != CUDA_SUCCESS; ++i) {
  }
  CHECK(f.cu.stream_query(nullptr) == CUDA_SUCCESS);
  CHECK(book.entries == std::vector<int>{1});
  CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
}

TEST_CASE("each thread has a default stream of its own under the other name", "[cpu]") {
  driver_fixture f(test::deferred());
  diary book;
  note one{&book, 1};
  unsigned long long mine = 0;
  unsigned long long other = 0;
  CHECK(f.cu.stream_get_id(CU_STREAM_PER_THREAD, &mine) == CUDA_SUCCESS);
  CHECK(f.cu.launch_host_func(CU_STREAM_PER_THREAD, note::write, &one) == CUDA_SUCCESS);
  std::thread([&] {
    CHECK(f.cu.ctx_push_current(f.context) == CUDA_SUCCESS);
    CHECK(f.cu.stream_get_id(CU_STREAM_PER_THREAD, &other) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
  }).join();
  CHECK(mine != other);
  CHECK(book.entries.empty());
  CHECK(f.cu.stream_synchronize(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
  CHECK(book.entries == std::vector<int>{1});
}

TEST_CASE("a host function must not call the driver", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUstream stream = make_stream(f);
    struct attempt {
      const gpu::driver::entry_points* cu;
      CUresult answer;
    } tried{&f.cu, CUDA_SUCCESS};
    const CUhostFn function = [](void* data) {
      auto* self = static_cast<attempt*>(data);
      CUdeviceptr memory = 0;
      self->answer = self->cu->mem_alloc(&memory, 4);
    };
    CHECK(f.cu.launch_host_func(stream, function, &tried) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(tried.answer == CUDA_ERROR_NOT_PERMITTED);
  }
}

TEST_CASE("a callback is told the stream and its state", "[cpu]") {
  driver_fixture f;
  const CUstream stream = make_stream(f);
  struct seen {
    CUstream stream = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
  } told;
  const CUstreamCallback callback = [](CUstream which, CUresult status, void* data) {
    *static_cast<seen*>(data) = {which, status};
  };
  CHECK(f.cu.stream_add_callback(stream, callback, &told, 0) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(told.stream == stream);
  CHECK(told.status == CUDA_SUCCESS);
  CHECK(f.cu.stream_add_callback(stream, nullptr, &told, 0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("an event is done when the work before it is", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUstream stream = make_stream(f);
    const CUevent event = make_event(f);
    CHECK(f.cu.event_query(event) == CUDA_SUCCESS);  // never recorded
    CHECK(f.cu.event_synchronize(event) == CUDA_SUCCESS);
    CUdeviceptr memory = 0;
    REQUIRE(f.cu.mem_alloc(&memory, 1 << 16) == CUDA_SUCCESS);
    CHECK(f.cu.memset_d8_async(memory, 1, 1 << 16, stream) == CUDA_SUCCESS);
    CHECK(f.cu.event_record(event, stream) == CUDA_SUCCESS);
    if (mode.mode == gpu::testing::execution::deferred)
      CHECK(f.cu.event_query(event) == CUDA_ERROR_NOT_READY);
    for (int i = 0; i < 100000 && f.cu.event_query(event) != CUDA_SUCCESS; ++i)
      std::this_thread::yield();
    CHECK(f.cu.event_query(event) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
  }
}

TEST_CASE("elapsed time is measured between two events that time", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const CUstream stream = make_stream(f);
    const CUevent start = make_event(f, CU_EVENT_DEFAULT);
    const CUevent end = make_event(f, CU_EVENT_DEFAULT);
    const CUevent untimed = make_event(f);
    float ms = -1;
    CHECK(f.cu.event_elapsed_time(&ms, start, end) == CUDA_ERROR_INVALID_HANDLE);  // not recorded
    const CUhostFn wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    CHECK(f.cu.event_record(start, stream) == CUDA_SUCCESS);
    CHECK(f.cu.launch_host_func(stream, wait, nullptr) == CUDA_SUCCESS);
    CHECK(f.cu.event_record(end, stream) == CUDA_SUCCESS);
    CHECK(f.cu.event_record(untimed, stream) == CUDA_SUCCESS);
    if (mode.mode == gpu::testing::execution::deferred && !mode.stream_threads)
      CHECK(f.cu.event_elapsed_time(&ms, start, end) == CUDA_ERROR_NOT_READY);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(f.cu.event_elapsed_time(&ms, start, end) == CUDA_SUCCESS);
    CHECK(ms >= 20.0f);
    CHECK(f.cu.event_elapsed_time(&ms, start, untimed) == CUDA_ERROR_INVALID_HANDLE);
  }
}

TEST_CASE("flags and priorities of streams and events are checked", "[cpu]") {
  driver_fixture f;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CHECK(f.cu.stream_create(&stream, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.stream_create(nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.event_create(&event, 8) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.event_create(&event, CU_EVENT_INTERPROCESS) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.stream_create_with_priority(&stream, CU_STREAM_NON_BLOCKING, -100) == CUDA_SUCCESS);
  int priority = 1;
  unsigned flags = 9;
  CUcontext context = nullptr;
  CHECK(f.cu.stream_get_priority(stream, &priority) == CUDA_SUCCESS);
  CHECK(priority == -5);  // clamped
  CHECK(f.cu.stream_get_flags(stream, &flags) == CUDA_SUCCESS);
  CHECK(flags == CU_STREAM_NON_BLOCKING);
  CHECK(f.cu.stream_get_ctx(stream, &context) == CUDA_SUCCESS);
  CHECK(context == f.context);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  CHECK(f.cu.stream_is_capturing(stream, &status) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
  CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_destroy(stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.stream_query(stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.stream_destroy(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  int rubbish = 0;
  CHECK(f.cu.stream_query(reinterpret_cast<CUstream>(&rubbish)) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.event_query(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.event_query(reinterpret_cast<CUevent>(stream)) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("an event of another context is not recorded, but waited for", "[cpu]") {
  driver_fixture f;
  const CUevent event = make_event(f);
  CHECK(f.cu.event_record(event, nullptr) == CUDA_SUCCESS);
  CUcontext other = nullptr;
  REQUIRE(f.cu.ctx_create(&other, nullptr, 0, 0) == CUDA_SUCCESS);
  const CUstream stream = make_stream(f);
  CHECK(f.cu.event_record(event, stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.stream_wait_event(stream, event, 0) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_destroy(other) == CUDA_SUCCESS);
}

TEST_CASE("many threads use many streams at once", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    constexpr int threads = 4;
    constexpr int rounds = 15;
    const CUevent shared = make_event(f);
    const CUstream common = make_stream(f);
    std::vector<std::thread> team;
    std::atomic<int> wrong{0};
    for (int t = 0; t < threads; ++t) {
      team.emplace_back([&, t] {
        const auto expect = [&](CUresult answer) {
          if (answer != CUDA_SUCCESS) wrong.fetch_add(1);
        };
        expect(f.cu.ctx_push_current(f.context));
        CUstream stream = nullptr;
        CUdeviceptr memory = 0;
        void* pinned = nullptr;
        expect(f.cu.stream_create(&stream, t % 2 == 0 ? CU_STREAM_NON_BLOCKING : 0));
        expect(f.cu.mem_alloc_host(&pinned, 4096));
        auto* numbers = static_cast<int*>(pinned);
        for (int round = 0; round < rounds; ++round) {
          expect(f.cu.mem_alloc_async(&memory, 4096, stream));
          expect(
              f.cu.memset_d32_async(memory, static_cast<unsigned>(t * 1000 + round), 1024, stream));
          expect(f.cu.event_record(shared, common));
          expect(f.cu.stream_wait_event(stream, shared, 0));
          expect(f.cu.memcpy_dtoh_async(pinned, memory, 4096, stream));
          expect(f.cu.mem_free_async(memory, stream));
          expect(f.cu.stream_synchronize(stream));
          for (int i = 0; i < 1024; ++i)
            if (numbers[i] != t * 1000 + round) wrong.fetch_add(1);
        }
        expect(f.cu.mem_free_host(pinned));
        expect(f.cu.stream_destroy(stream));
      });
    }
    for (std::thread& each : team) each.join();
    CHECK(wrong.load() == 0);
    CHECK(f.cu.stream_destroy(common) == CUDA_SUCCESS);
    CHECK(f.cu.event_destroy(shared) == CUDA_SUCCESS);
    CHECK(f.live().empty());
  }
}

}  // namespace streams_test

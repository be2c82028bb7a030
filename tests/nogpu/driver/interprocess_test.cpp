#include "nogpu/driver/driver_fixture.hpp"
#include "support/hex.hpp"
#include "support/subprocess.hpp"

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

namespace interprocess_test {

using gpu::testing::cpu_driver_options;
using test::driver_fixture;

namespace {

constexpr unsigned lazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
constexpr unsigned between = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

/// What a process hands to another one.
struct handles {
  CUipcMemHandle memory{};
  CUipcEventHandle event{};
  unsigned mode = 0;  // of all_modes()
};

test::program_outcome run_child(const char* name, const handles& with) {
  return test::run_child(name, {{"TEST_HANDLES", test::as_hex(with)}});
}

std::vector<unsigned char> counted(unsigned char first) {
  std::vector<unsigned char> bytes(5000);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

}  // namespace

TEST_CASE("cpu ipc: a child reads what it was handed, and answers", "[.child]") {
  const auto given = test::from_hex<handles>("TEST_HANDLES");
  driver_fixture f(test::all_modes()[given.mode]);
  CUdeviceptr memory = 0, again = 0;
  CUevent event = nullptr;
  CUstream stream = nullptr;
  REQUIRE(f.cu.ipc_open_mem_handle(&memory, given.memory, lazy) == CUDA_SUCCESS);
  REQUIRE(f.cu.ipc_open_mem_handle(&again, given.memory, lazy) == CUDA_SUCCESS);
  CHECK(again == memory);
  CHECK(f.cu.ipc_close_mem_handle(again) == CUDA_SUCCESS);
  REQUIRE(f.cu.ipc_open_event_handle(&event, given.event) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_wait_event(stream, event, 0) == CUDA_SUCCESS);
  std::vector<unsigned char> here(5000);
  REQUIRE(f.cu.memcpy_dtoh_async(here.data(), memory, 5000, stream) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(here == counted(3));
  CHECK(f.cu.event_synchronize(event) == CUDA_SUCCESS);
  CHECK(f.cu.event_query(event) == CUDA_SUCCESS);

  std::size_t size = 0;
  CHECK(f.cu.mem_get_address_range(nullptr, &size, memory) == CUDA_SUCCESS);
  CHECK(size == 5000);
  CHECK(f.cu.memcpy_dtoh(here.data(), memory + 1, 5000) == CUDA_ERROR_INVALID_VALUE);
  CUipcMemHandle further{};
  CHECK(f.cu.ipc_get_mem_handle(&further, memory) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free(memory) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mem_free_async(memory, stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.live().size() == 3);  // the memory, the event and the stream

  const auto answer = counted(7);
  REQUIRE(f.cu.memcpy_htod_async(memory, answer.data(), 5000, stream) == CUDA_SUCCESS);
  REQUIRE(f.cu.event_record(event, stream) == CUDA_SUCCESS);
  CHECK(f.cu.event_synchronize(event) == CUDA_SUCCESS);
  CHECK(f.cu.ipc_close_mem_handle(memory) == CUDA_SUCCESS);
  CHECK(f.cu.ipc_close_mem_handle(memory) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.live().size() == 2);
  CHECK(f.reports() == "");
}

TEST_CASE("memory and events have handles for other processes", "[cpu]") {
  handles made;
  for (const cpu_driver_options& options : test::all_modes()) {
    INFO("mode " << made.mode);
    driver_fixture f(options);
    CUdeviceptr memory = 0;
    CUevent event = nullptr;
    CUstream stream = nullptr;
    REQUIRE(f.cu.mem_alloc(&memory, 5000) == CUDA_SUCCESS);
    REQUIRE(f.cu.event_create(&event, between) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    // A part before the handle is made, a part after it; nobody here waits for either.
    const auto sent = counted(3);
    REQUIRE(f.cu.memcpy_htod_async(memory, sent.data(), 2000, stream) == CUDA_SUCCESS);
    REQUIRE(f.cu.ipc_get_mem_handle(&made.memory, memory) == CUDA_SUCCESS);
    REQUIRE(f.cu.ipc_get_event_handle(&made.event, event) == CUDA_SUCCESS);
    REQUIRE(f.cu.memcpy_htod_async(memory + 2000, sent.data() + 2000, 3000, stream) ==
            CUDA_SUCCESS);
    REQUIRE(f.cu.event_record(event, stream) == CUDA_SUCCESS);
    const auto other = run_child("cpu ipc: a child reads what it was handed, and answers", made);
    INFO(other.output);
    REQUIRE(other.succeeded());
    REQUIRE(f.cu.stream_wait_event(stream, event, 0) == CUDA_SUCCESS);
    std::vector<unsigned char> here(5000);
    REQUIRE(f.cu.memcpy_dtoh_async(here.data(), memory, 5000, stream) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(here == counted(7));
    REQUIRE(f.cu.event_record(event, stream) == CUDA_SUCCESS);  // once more, here
    CHECK(f.cu.event_synchronize(event) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
    CHECK(f.reports() == "");
    ++made.mode;
  }
}

TEST_CASE("cpu ipc: a child waits for what does not come", "[.child]") {
  const auto given = test::from_hex<handles>("TEST_HANDLES");
  cpu_driver_options options = test::all_modes()[given.mode];
  options.value_wait_limit = std::chrono::milliseconds(50);
  driver_fixture f(options);
  CUevent event = nullptr;
  REQUIRE(f.cu.ipc_open_event_handle(&event, given.event) == CUDA_SUCCESS);
  CHECK(f.cu.event_query(event) == CUDA_ERROR_NOT_READY);
  CHECK(f.cu.event_synchronize(event) == CUDA_ERROR_LAUNCH_TIMEOUT);
  CHECK(f.reports().find("an event of another process") != std::string::npos);
}

TEST_CASE("an event of another process that is not reached is given up", "[cpu]") {
  handles made;
  for (const cpu_driver_options& options : test::all_modes()) {
    INFO("mode " << made.mode);
    driver_fixture f(options);
    CUdeviceptr word = 0;
    CUevent event = nullptr;
    CUstream stream = nullptr;
    REQUIRE(f.cu.mem_alloc(&word, 4) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d32(word, 0, 1) == CUDA_SUCCESS);
    REQUIRE(f.cu.event_create(&event, between) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_wait_value_32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    REQUIRE(f.cu.event_record(event, stream) == CUDA_SUCCESS);
    REQUIRE(f.cu.ipc_get_event_handle(&made.event, event) == CUDA_SUCCESS);
    const auto other = run_child("cpu ipc: a child waits for what does not come", made);
    INFO(other.output);
    CHECK(other.succeeded());
    REQUIRE(f.cu.stream_write_value_32(nullptr, word, 1, 0) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(f.cu.event_query(event) == CUDA_SUCCESS);
    ++made.mode;
  }
}

TEST_CASE("what has no handle, and handles that lead nowhere, are refused", "[cpu]") {
  driver_fixture f;
  CUipcMemHandle memory_handle{};
  CUipcEventHandle event_handle{};
  CUdeviceptr memory = 0, pooled = 0, opened = 0;
  CUevent event = nullptr, own = nullptr;
  REQUIRE(f.cu.mem_alloc(&memory, 16) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_async(&pooled, 16, nullptr) == CUDA_SUCCESS);
  REQUIRE(f.cu.event_create(&own, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
  REQUIRE(f.cu.event_create(&event, between) == CUDA_SUCCESS);
  CHECK(f.cu.ipc_get_mem_handle(nullptr, memory) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ipc_get_mem_handle(&memory_handle, pooled) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ipc_get_mem_handle(&memory_handle, memory + 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ipc_get_event_handle(nullptr, event) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ipc_get_event_handle(&event_handle, own) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ipc_open_mem_handle(&opened, memory_handle, lazy) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ipc_open_event_handle(&own, event_handle) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(f.cu.ipc_get_mem_handle(&memory_handle, memory) == CUDA_SUCCESS);
  REQUIRE(f.cu.ipc_get_event_handle(&event_handle, event) == CUDA_SUCCESS);
  CHECK(f.cu.ipc_open_mem_handle(&opened, memory_handle, lazy) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.ipc_open_event_handle(&own, event_handle) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.ipc_open_mem_handle(&opened, memory_handle, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ipc_close_mem_handle(memory) == CUDA_ERROR_INVALID_VALUE);
  // No such process.
  memory_handle.reserved[16 + 3] ^= 0x7f;
  CHECK(f.cu.ipc_open_mem_handle(&opened, memory_handle, lazy) == CUDA_ERROR_INVALID_VALUE);
  int capable = 0;
  CHECK(f.cu.device_get_attribute(&capable, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0) ==
        CUDA_SUCCESS);
  CHECK(capable == 1);
}

}  // namespace interprocess_test

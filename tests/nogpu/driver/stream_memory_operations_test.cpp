// Streams that wait for values in memory, in every mode of the CPU driver.

#include "nogpu/driver/driver_fixture.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace stream_memory_operations_test {
namespace {

struct words {
  test::driver_fixture f;
  CUdeviceptr device = 0;
  CUstream first = nullptr;
  CUstream second = nullptr;
  std::atomic<unsigned>* pinned = nullptr;

  explicit words(const gpu::testing::cpu_driver_options& options) : f{options} {
    void* memory = nullptr;
    REQUIRE(f.cu.mem_alloc(&device, 64) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d32(device, 0, 16) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_create(&first, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_create(&second, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_host_alloc(&memory, 64, 0) == CUDA_SUCCESS);
    REQUIRE(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    pinned = new (memory) std::atomic<unsigned>(0);
  }
  CUdeviceptr pinned_word() const { return reinterpret_cast<CUdeviceptr>(pinned); }
  unsigned read() const {
    unsigned value = 0;
    REQUIRE(f.cu.memcpy_dtoh(&value, device, 4) == CUDA_SUCCESS);
    return value;
  }
};

CUstreamBatchMemOpParams write_of(CUdeviceptr address, unsigned value) {
  CUstreamBatchMemOpParams made{};
  made.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  made.writeValue.address = address;
  made.writeValue.value = value;
  made.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  return made;
}

}  // namespace

TEST_CASE("a stream that waits for a value goes on when another stream writes it", "[cpu]") {
  for (const auto& options : test::all_modes()) {
    words w(options);
    const auto& cu = w.f.cu;
    REQUIRE(cu.stream_wait_value_32(w.first, w.device, 5, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    REQUIRE(cu.stream_write_value_32(w.first, w.device, 6, 0) == CUDA_SUCCESS);
    CHECK(cu.stream_query(w.first) == CUDA_ERROR_NOT_READY);
    REQUIRE(cu.stream_write_value_32(w.second, w.device, 5, 0) == CUDA_SUCCESS);
    // Waiting for one stream makes the other go on, too: it may be what the first one waits for.
    REQUIRE(cu.stream_synchronize(w.first) == CUDA_SUCCESS);
    CHECK(w.read() == 6);
    CHECK(w.f.reports().empty());
  }
}

TEST_CASE("asking a stream makes the stream that it waits for go on", "[cpu]") {
  for (const auto& options : test::all_modes()) {
    words w(options);
    const auto& cu = w.f.cu;
    REQUIRE(cu.stream_wait_value_32(w.first, w.device, 5, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    REQUIRE(cu.stream_write_value_32(w.second, w.device, 5, 0) == CUDA_SUCCESS);
    CUresult answer = CUDA_ERROR_NOT_READY;
    for (int i = 0; i < 1000 && answer == CUDA_ERROR_NOT_READY; ++i) {
      answer = cu.stream_query(w.first);
      if (options.stream_threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(answer == CUDA_SUCCESS);
    CHECK(cu.stream_synchronize(w.second) == CUDA_SUCCESS);
  }
}

TEST_CASE("a stream that waits for a value goes on when the host writes it", "[cpu]") {
  for (const auto& options : test::all_modes()) {
    words w(options);
    const auto& cu = w.f.cu;
    REQUIRE(cu.stream_wait_value_32(w.first, w.pinned_word(), 1, CU_STREAM_WAIT_VALUE_GEQ) ==
            CUDA_SUCCESS);
    REQUIRE(cu.stream_write_value_32(w.first, w.device, 7, 0) == CUDA_SUCCESS);
    CHECK(cu.stream_query(w.first) == CUDA_ERROR_NOT_READY);
    std::thread host([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      w.pinned->store(3);
    });
    CHECK(cu.stream_synchronize(w.first) == CUDA_SUCCESS);
    host.join();
    CHECK(w.read() == 7);
  }
}

TEST_CASE("a wait that nothing can end is reported and given up", "[cpu]") {
  for (auto options : test::all_modes()) {
    options.value_wait_limit = std::chrono::milliseconds(20);
    words w(options);
    const auto& cu = w.f.cu;
    REQUIRE(cu.stream_wait_value_64(w.first, w.device + 8, 3, CU_STREAM_WAIT_VALUE_EQ) ==
            CUDA_SUCCESS);
    CHECK(cu.stream_synchronize(w.first) == CUDA_ERROR_LAUNCH_TIMEOUT);
    const std::string report = w.f.reports();
    CHECK(report.find("waits for the 8 bytes") != std::string::npos);
    CHECK(report.find("equal to 3, but they are 0") != std::string::npos);
    CHECK(report.find("8 bytes into the device allocation of 64 bytes") != std::string::npos);
    CHECK(cu.stream_synchronize(w.second) == CUDA_ERROR_LAUNCH_TIMEOUT);  // the context is lost
  }
}

TEST_CASE("conditions of waits are those of cuda.h", "[cpu]") {
  for (const auto& options : test::all_modes()) {
    words w(options);
    const auto& cu = w.f.cu;
    const auto satisfied = [&](unsigned word, unsigned value, unsigned condition) {
      w.pinned->store(word);
      REQUIRE(cu.stream_wait_value_32(w.first, w.pinned_word(), value, condition) == CUDA_SUCCESS);
      // A stream with a thread of its own takes its time.
      bool done = false;
      for (int i = 0; i < 100 && !done; ++i) {
        done = cu.stream_query(w.first) == CUDA_SUCCESS;
        if (!done && options.stream_threads) std::this_thread::yield();
        if (!done && i > 20) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      w.pinned->store(condition == CU_STREAM_WAIT_VALUE_NOR ? 0 : value);
      if (condition == CU_STREAM_WAIT_VALUE_NOR && value == ~0u) return done;
      REQUIRE(cu.stream_synchronize(w.first) == CUDA_SUCCESS);
      return done;
    };
    CHECK(satisfied(7, 7, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK_FALSE(satisfied(6, 7, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(satisfied(0, 0xffff'fff0, CU_STREAM_WAIT_VALUE_GEQ));  // it wrapped around
    CHECK_FALSE(satisfied(0xffff'ffff, 0x7fff'fff0, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK_FALSE(satisfied(8, 7, CU_STREAM_WAIT_VALUE_EQ));
    CHECK(satisfied(6, 3, CU_STREAM_WAIT_VALUE_AND));
    CHECK_FALSE(satisfied(8, 7, CU_STREAM_WAIT_VALUE_AND));
    CHECK(satisfied(1, 2, CU_STREAM_WAIT_VALUE_NOR));
    CHECK_FALSE(satisfied(0xffff'fffe, 1, CU_STREAM_WAIT_VALUE_NOR));
  }
}

TEST_CASE("memory operations are refused as a device refuses them", "[cpu]") {
  words w(gpu::testing::cpu_driver_options{});
  const auto& cu = w.f.cu;
  CUdeviceptr managed = 0, pooled = 0, freed = 0;
  unsigned local = 0;
  REQUIRE(cu.mem_alloc_managed(&managed, 64, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
  REQUIRE(cu.mem_alloc_async(&pooled, 64, w.first) == CUDA_SUCCESS);
  REQUIRE(cu.mem_alloc(&freed, 64) == CUDA_SUCCESS);
  REQUIRE(cu.mem_free(freed) == CUDA_SUCCESS);
  for (const CUdeviceptr address : {CUdeviceptr{0}, w.device + 2, w.device + 64, managed, pooled,
                                    freed, reinterpret_cast<CUdeviceptr>(&local)}) {
    CHECK(cu.stream_write_value_32(w.first, address, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu.stream_wait_value_32(w.first, address, 1, 0) == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(cu.stream_write_value_64(w.first, w.device + 4, 1, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.stream_write_value_32(w.first, w.device, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.stream_wait_value_32(w.first, w.device, 0, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.stream_wait_value_32(w.first, w.device, 0, CU_STREAM_WAIT_VALUE_FLUSH) ==
        CUDA_ERROR_NOT_SUPPORTED);

  std::vector<CUstreamBatchMemOpParams> all(256, write_of(w.device, 9));
  CHECK(cu.stream_batch_mem_op(w.first, 0, nullptr, 0) == CUDA_SUCCESS);
  CHECK(cu.stream_batch_mem_op(w.first, 256, all.data(), 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.stream_batch_mem_op(w.first, 1, all.data(), 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(w.read() == 0);
  CHECK(cu.stream_batch_mem_op(w.first, 255, all.data(), 0) == CUDA_SUCCESS);
  REQUIRE(cu.stream_synchronize(w.first) == CUDA_SUCCESS);
  CHECK(w.read() == 9);
  all[0].flushRemoteWrites.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  CHECK(cu.stream_batch_mem_op(w.first, 1, all.data(), 0) == CUDA_ERROR_NOT_SUPPORTED);
  all[0].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  all[0].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
  CHECK(cu.stream_batch_mem_op(w.first, 1, all.data(), 0) == CUDA_SUCCESS);
  all[0].operation = static_cast<CUstreamBatchMemOpType>(7);
  CHECK(cu.stream_batch_mem_op(w.first, 1, all.data(), 0) == CUDA_ERROR_INVALID_VALUE);
}

}  // namespace stream_memory_operations_test

// The pool's threads: work that throws, and a system that has no more threads.

#include <nogpu/machine/thread_pool.hpp>

#include "nogpu/driver/driver_fixture.hpp"
#include "support/catch.hpp"
#include "support/subprocess.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace thread_pool_test {

using nogpu::machine::thread_pool;

namespace {

/// Lets no thread start in this process any more: none gets the stack that it is to have.
bool refuse_threads() {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
  const bool done = ::pthread_setattr_default_np(&attributes) == 0;
  ::pthread_attr_destroy(&attributes);
  return done;
}

// store(p): p[block] = block + 1
constexpr const char* text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 p) {
  .reg .b64 %a, %o; .reg .b32 %x;
  ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a;
  mov.u32 %x, %ctaid.x; mul.wide.u32 %o, %x, 4; add.s64 %a, %a, %o; add.u32 %x, %x, 1;
  st.global.u32 [%a], %x; ret;
}
)";

CUresult launch_store(const test::driver_fixture& f, CUdeviceptr memory) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&function, module, "store") == CUDA_SUCCESS);
  void* arguments[] = {&memory};
  return f.cu.launch_kernel(function, 8, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
}

}  // namespace

#if defined(__cpp_exceptions)
TEST_CASE("a pool's run ends after the helpers have, whatever the work throws", "[cpu][machine]") {
  thread_pool pool(4);
  const auto caller = std::this_thread::get_id();
  for (const bool by_caller : {true, false}) {
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> entered{0}, active{0};
      CHECK_THROWS_AS(pool.run(4,
                               [&] {
                                 ++active;
                                 ++entered;
                                 while (entered < 4) std::this_thread::yield();
                                 const bool own = std::this_thread::get_id() == caller;
                                 if (own != by_caller)
                                   std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                 --active;
                                 if (own == by_caller) throw std::runtime_error("of the work");
                               }),
                      std::runtime_error);
      CHECK(active == 0);
    }
  }
  std::atomic<int> calls{0};
  pool.run(4, [&] {
    ++calls;
    while (calls < 4) std::this_thread::yield();
  });
  CHECK(calls == 4);
}
#endif

TEST_CASE("child: runs kernels in a process that can start no thread", "[.child]") {
  REQUIRE(refuse_threads());
  thread_pool pool(4);
  int calls = 0;
  pool.run(4, [&] { ++calls; });
  CHECK(calls == 1);

  gpu::testing::cpu_driver_options options = test::without_places();
  options.block_threads = 4;
  const test::driver_fixture f(options);
  CUdeviceptr memory = 0;
  REQUIRE(f.cu.mem_alloc(&memory, 32) == CUDA_SUCCESS);
  CHECK(launch_store(f, memory) == CUDA_SUCCESS);
  unsigned values[8] = {};
  CHECK(f.cu.memcpy_dtoh(values, memory, 32) == CUDA_SUCCESS);
  CHECK(values[7] == 8);

  const test::driver_fixture threads(test::with_threads(test::without_places()));
  REQUIRE(threads.cu.mem_alloc(&memory, 32) == CUDA_SUCCESS);
  CHECK(launch_store(threads, memory) == CUDA_ERROR_OPERATING_SYSTEM);
  CHECK(threads.cu.ctx_synchronize() == CUDA_SUCCESS);
  std::puts("[done]");
}

TEST_CASE("where no thread can be started, kernels run in the calling one, or are refused",
          "[cpu][machine]") {
  const auto child = test::run_child("child: runs kernels in a process that can start no thread");
  INFO(child.output);
  CHECK(child.succeeded());
  CHECK(child.output.find("[done]") != std::string::npos);
}

}  // namespace thread_pool_test

// The driver's options: which mistakes are faults and with what code, threads, devices, and
// the list of leaks at the end.

#include "nogpu/driver/driver_fixture.hpp"
#include "support/cpu_driver.hpp"
#include "support/drivers.hpp"
#include "support/subprocess.hpp"

#include <gpu/testing/cpu_driver_options.hpp>
#include <nogpu/machine/limits.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

namespace options_test {
namespace {

using test::driver_fixture;

constexpr const char* kernels = R"(
.version 8.3
.target sm_90
.address_size 64

.extern .func (.param .b64 got) malloc(.param .b64 size);

.visible .entry unwritten(.param .u64 p) {
  .reg .u64 %p; .reg .u32 %x;
  ld.param.u64 %p, [p];
  ld.global.u32 %x, [%p];
  st.global.u32 [%p+4], %x;
  ret;
}

.visible .entry race(.param .u64 p) {
  .shared .align 4 .u32 s;
  .reg .u32 %t;
  mov.u32 %t, %tid.x;
  st.shared.u32 [s], %t;
  ret;
}

.visible .entry stale(.param .u64 p) {
  .shared .align 4 .u32 earlier;
  .shared .align 4 .b8 later[8];
  .reg .u64 %p; .reg .u32 %x;
  ld.param.u64 %p, [p];
  mov.u32 %x, 1;
  st.shared.u32 [earlier], %x;
  st.shared.u32 [later], %x;
  ld.shared.u32 %x, [later+4];
  st.global.u32 [%p], %x;
  ret;
}

.visible .entry keeps(.param .u64 p) {
  .reg .u64 %n; .reg .u64 %p;
  mov.u64 %n, 40;
  { .param .b64 size; st.param.b64 [size], %n; .param .b64 got; call.uni (got), malloc, (size);
    ld.param.b64 %p, [got]; }
  ret;
}

.visible .entry apart(.param .u64 p) {
  .reg .u32 %t; .reg .pred %c;
  mov.u32 %t, %tid.x;
  setp.lt.u32 %c, %t, 32;
  @%c ret;
  bar.sync 0;
  ret;
}

.visible .entry outside(.param .u64 p) {
  .reg .u32 %t; .reg .u64 %p;
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  shfl.sync.down.b32 %t, %t, 1, 31, -1;
  st.global.u32 [%p], %t;
  ret;
}

.visible .entry meets(.param .u64 p) {
  .reg .u64 %p; .reg .u32 %x; .reg .pred %c;
  ld.param.u64 %p, [p];
  red.global.add.u32 [%p], 1;
again:
  ld.relaxed.gpu.global.u32 %x, [%p];
  setp.lt.u32 %c, %x, 4;
  @%c bra again;
  ret;
}
)";

/// Launches a kernel with eight bytes of memory and waits for it.
CUresult run(driver_fixture& f, const char* name, unsigned blocks, unsigned threads,
             bool written = false) {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr p = 0;
  REQUIRE(f.cu.module_load_data(&module, kernels) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&kernel, module, name) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&p, 8) == CUDA_SUCCESS);
  if (written) REQUIRE(f.cu.memset_d8(p, 0, 8) == CUDA_SUCCESS);
  void* parameters[] = {&p};
  REQUIRE(f.cu.launch_kernel(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters,
                             nullptr) == CUDA_SUCCESS);
  return f.cu.ctx_synchronize();
}

/// The process's driver, with the primary context of device 0 current.
const gpu::driver::entry_points& on_device_0() {
  CUcontext context = nullptr;
  REQUIRE(test::driver().device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(test::driver().ctx_push_current(context) == CUDA_SUCCESS);
  return test::driver();
}

/// The threads of this process, but for those that are ending: one that was joined stays listed
/// until the system has got round to it. Its flags, the seventh word after its name, say so.
std::size_t threads_of_process() {
  constexpr unsigned long is_ending = 4;
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(each.path() / "stat");
    std::string line;
    std::getline(file, line);  // an empty line: gone
    std::istringstream words(line.substr(line.rfind(')') + 1));
    std::string word;
    for (int i = 0; i < 7; ++i) words >> word;
    if (!word.empty() && (std::stoul(word) & is_ending) == 0) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("what is only reported is a fault where that is chosen, with the code of a device's",
          "[cpu]") {
  using nogpu::machine::checks;
  const struct {
    const char* kernel;
    unsigned threads;
    bool checks::* reported;
    bool checks::* is_a_fault;
    CUresult code;
    const char* says;
  } findings[] = {
      {"unwritten", 1, &checks::uninitialized_reads, &checks::uninitialized_reads_are_faults,
       CUDA_ERROR_LAUNCH_FAILED, "read of memory that was never written in kernel unwritten"},
      {"race", 64, &checks::shared_races, &checks::shared_races_are_faults,
       CUDA_ERROR_LAUNCH_FAILED,
       "byte 0 of s, written by thread (0,0,0) with no barrier in between"},
      {"stale", 1, &checks::uninitialized_reads, &checks::uninitialized_reads_are_faults,
       CUDA_ERROR_LAUNCH_FAILED, "reads 4 bytes at 0x408: byte 4 of later"},
      {"apart", 64, &checks::barrier_divergence, &checks::barrier_divergence_is_a_fault,
       CUDA_ERROR_LAUNCH_TIMEOUT, "barrier that not all threads reach in kernel apart"},
      {"outside", 20, &checks::mask_misuse, &checks::mask_misuse_is_a_fault,
       CUDA_ERROR_ILLEGAL_INSTRUCTION, "lane outside of the member mask in kernel outside"}};
  for (const auto& each : findings) {
    CAPTURE(each.kernel);
    gpu::testing::cpu_driver_options options = test::without_places();
    {
      driver_fixture f(options);
      CHECK(run(f, each.kernel, 1, each.threads) == CUDA_SUCCESS);
      CHECK(f.reports().find(each.says) != std::string::npos);
    }
    options.checks.*each.is_a_fault = true;
    {
      driver_fixture f(options);
      CHECK(run(f, each.kernel, 1, each.threads) == each.code);
      CHECK(f.reports().find(each.says) != std::string::npos);
    }
    {
      driver_fixture f;  // which only reports
      CHECK(f.take_findings() == 0);
      CHECK(run(f, each.kernel, 1, each.threads) == CUDA_SUCCESS);
      CHECK(f.take_findings() == 1);
      CHECK(f.take_findings() == 0);
    }
    options.checks.*each.is_a_fault = false;
    options.checks.*each.reported = false;
    {
      driver_fixture f(options);
      CHECK(run(f, each.kernel, 1, each.threads) == CUDA_SUCCESS);
      CHECK(f.reports() == "");
    }
  }
}

TEST_CASE("by default mistakes are faults, and work waits until the program waits for it",
          "[cpu]") {
  const gpu::testing::cpu_driver_options options;
  CHECK(options.mode == gpu::testing::execution::deferred);
  CHECK(options.checks.uninitialized_reads_are_faults);
  CHECK(options.checks.shared_races_are_faults);
  CHECK(options.checks.barrier_divergence_is_a_fault);
  CHECK(options.checks.mask_misuse_is_a_fault);
  CHECK(options.fail_at_exit);
  const auto reported = nogpu::machine::checks::only_reported();
  CHECK(reported.uninitialized_reads);
  CHECK_FALSE(reported.uninitialized_reads_are_faults);
}

namespace {

/// Reads memory that was never written, on the driver of the process.
void make_a_mistake() {
  const gpu::driver::entry_points& cu = on_device_0();
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr p = 0;
  REQUIRE(cu.module_load_data(&module, kernels) == CUDA_SUCCESS);
  REQUIRE(cu.module_get_function(&kernel, module, "unwritten") == CUDA_SUCCESS);
  REQUIRE(cu.mem_alloc(&p, 8) == CUDA_SUCCESS);
  void* parameters[] = {&p};
  REQUIRE(cu.launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) ==
          CUDA_SUCCESS);
}

}  // namespace

TEST_CASE("options: child that makes a mistake", "[.child]") { make_a_mistake(); }

TEST_CASE("options: child that expects its mistake", "[.child]") {
  make_a_mistake();
  CHECK(test::driver().ctx_synchronize() == CUDA_ERROR_LAUNCH_FAILED);
  CHECK(test::take_findings_of_process() == 1);
}

TEST_CASE("a process in which a mistake was found does not exit with status 0", "[cpu]") {
  const test::environment asked{{"GPU_TEST_FINDINGS", "1"}};
  const auto failed = test::run_child("options: child that makes a mistake", asked);
  INFO(failed.output);
  CHECK(failed.exit_code == 1);
  CHECK(failed.output.find("read of memory that was never written in kernel unwritten") <
        failed.output.find("gpu cpu driver: 1 mistake was found, see above; the process exits "
                           "with status 1\n"));
  CHECK(test::run_child("options: child that expects its mistake", asked).succeeded());
  CHECK(test::run_child("options: child that makes a mistake").succeeded());
}

TEST_CASE("blocks are spread over as many threads as is said", "[cpu]") {
  std::thread([] {}).join();  // with a process's first, a sanitizer starts one of its own
  for (const unsigned threads : {1u, 3u}) {
    gpu::testing::cpu_driver_options options = test::without_places();
    options.block_threads = threads;
    driver_fixture f(options);
    const std::size_t before = threads_of_process();
    CHECK(run(f, "meets", 4, 1, true) == CUDA_SUCCESS);  // each block waits for the others
    CHECK(threads_of_process() == before + threads - 1);
  }
}

TEST_CASE("the report of a kernel that runs for long comes when it was asked for", "[cpu]") {
  gpu::testing::cpu_driver_options options = test::without_places();
  CHECK(options.long_kernel_report == std::chrono::seconds(10));
  CHECK(options.instruction_budget == 1u << 24);
  options.long_kernel_report = std::chrono::milliseconds(1);
  options.instruction_budget = 1u << 20;
  driver_fixture f(options);
  CHECK(run(f, "meets", 1, 1, true) == CUDA_ERROR_LAUNCH_TIMEOUT);
  const std::string reports = f.reports();
  INFO(reports);
  const std::size_t told =
      reports.find("still running in kernel meets, block (0,0,0), thread (0,0,0)");
  CHECK(told == 0);
  CHECK(reports.find("PTX line ") != std::string::npos);
  CHECK(reports.find("instruction budget exhausted in kernel meets") != std::string::npos);
  CHECK(reports.find("still running", told + 1) == std::string::npos);  // once
}

TEST_CASE("what kernels allocate and do not free is listed, a line for each context", "[cpu]") {
  driver_fixture f;
  CHECK(run(f, "keeps", 1, 3) == CUDA_SUCCESS);
  std::size_t lines = 0;
  for (const std::string& each : f.live())
    lines += each.starts_with("3 blocks of malloc in kernels of 120 bytes at 0x") ? 1 : 0;
  CHECK(lines == 1);
}

TEST_CASE("64 devices are the most, and that is said", "[cpu]") {
  std::string reports;
  gpu::testing::cpu_driver_options options = test::without_places();
  options.devices = 65;
  options.report = [&](std::string_view text) { reports += text; };
  const test::cpu_driver driver(options);
  int count = 0;
  CHECK(driver.entry_points().device_get_count(&count) == CUDA_SUCCESS);
  CHECK(count == 64);
  CHECK(reports == "65 devices were asked for, but the limit is 64; the driver has that many");
}

TEST_CASE("options: child that leaves a stream behind", "[.child]") {
  gpu::testing::cpu_driver_options options = test::without_places();
  options.report_leaks_at_end = true;
  const test::cpu_driver driver(options);
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  REQUIRE(driver.entry_points().device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(driver.entry_points().ctx_push_current(context) == CUDA_SUCCESS);
  REQUIRE(driver.entry_points().stream_create(&stream, 0) == CUDA_SUCCESS);
}

TEST_CASE("what was not given back is printed when the driver ends", "[cpu]") {
  const auto outcome = test::run_child("options: child that leaves a stream behind");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("gpu cpu driver: 1 objects were not released:\n  stream at 0x") !=
        std::string::npos);
}

TEST_CASE("options: child that exits with a stream", "[.child]") {
  CUstream left = nullptr;
  REQUIRE(on_device_0().stream_create(&left, 0) == CUDA_SUCCESS);
  std::fputs("in the test\n", stderr);
}

TEST_CASE("options: child whose stream ends with the process", "[.child]") {
  static struct owner {
    CUstream stream = nullptr;
    CUresult made = on_device_0().stream_create(&stream, 0);
    ~owner() {
      if (test::driver().stream_destroy(stream) == CUDA_SUCCESS) std::fputs("given back\n", stderr);
    }
  } held;
  REQUIRE(held.made == CUDA_SUCCESS);
}

TEST_CASE("what was not given back to use_cpu_driver's is printed when the process exits",
          "[cpu][places]") {
  const std::string heading = " objects were not released:\n";
  const test::environment asked{{"GPU_TEST_LEAKS", "1"}, {"GPU_TEST_PLACES", "1"}};
  const char* leaks = "options: child that exits with a stream";
  const auto left = test::run_child(leaks, asked);
  INFO(left.output);
  CHECK(left.succeeded());
  const std::size_t told = left.output.find("gpu cpu driver: 1" + heading + "  stream at 0x");
  REQUIRE(told != std::string::npos);
  CHECK(told > left.output.find("in the test\n"));
  CHECK(left.output.find(", created at ", told) != std::string::npos);
  CHECK(left.output.find("options_test.cpp:", told) != std::string::npos);

  const auto not_asked = test::run_child(leaks);
  CHECK(not_asked.succeeded());
  CHECK(not_asked.output.find(heading) == std::string::npos);
}

TEST_CASE("what static objects give back is no leak, and then nothing is printed", "[cpu]") {
  const auto outcome = test::run_child("options: child whose stream ends with the process",
                                       {{"GPU_TEST_LEAKS", "1"}});
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("given back\n") != std::string::npos);
  CHECK(outcome.output.find("gpu cpu driver: ") == std::string::npos);
}

TEST_CASE("options: child that uses the driver again", "[.child]") {
  test::use_cpu_driver_again({});
  std::fputs("with defaults\n", stderr);
  gpu::testing::cpu_driver_options options;
  options.devices = 7;
  test::use_cpu_driver_again(options);
  int count = 0;
  CHECK(test::driver().device_get_count(&count) == CUDA_SUCCESS);
  CHECK(count == 2);
}

TEST_CASE("options of a second use_cpu_driver are not taken, and that is said", "[cpu]") {
  const auto outcome = test::run_child("options: child that uses the driver again");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  const char* said =
      "gpu: use_cpu_driver was called before; the options of this second call are ignored";
  CHECK(outcome.output.find(said) != std::string::npos);
  CHECK(outcome.output.find(said) > outcome.output.find("with defaults"));
}

}  // namespace options_test

// Modules, libraries and launches: PTX text in, results out.

#include "driver_fixture.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace kernels_test {

using test::all_modes;
using test::driver_fixture;

namespace {

/// y[i] = a * x[i] + y[i], and kernels that go wrong in one way each.
const char kernels[] = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .f32 factor = 0f40000000;

.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.u32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
DONE:
  ret;
}

.visible .entry count(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  mov.u64 %rd1, counter;
  atom.global.add.u32 %r1, [%rd1], 1;
  ld.param.u64 %rd2, [out];
  st.global.u32 [%rd2], %r1;
  ret;
}

.visible .entry fail()
{
  trap;
  ret;
}

.visible .entry mixed(.param .align 8 .b8 s[16], .param .u32 i, .param .f64 d, .param .u8 c,
                      .param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u8 %r1, [c];
  ld.param.u32 %r2, [i];
  add.s32 %r1, %r1, %r2;
  st.global.u32 [%rd1], %r1;
  ret;
}

.visible .entry paired() .reqnctapercluster 2 { ret; }

.visible .entry empty()
{
  ret;
}

.visible .entry dynamic()
.maxntid 256, 1, 1
{
  .shared .align 4 .b8 own[1024];
  .reg .b32 %r<2>;
  mov.u32 %r1, own;
  ret;
}
)";

struct loaded {
  explicit loaded(driver_fixture& f, const char* text = kernels) : cu{f.cu} {
    REQUIRE(cu.module_load_data(&module, text) == CUDA_SUCCESS);
  }
  CUfunction function(const char* name) const {
    CUfunction found = nullptr;
    REQUIRE(cu.module_get_function(&found, module, name) == CUDA_SUCCESS);
    return found;
  }
  const gpu::driver::entry_points& cu;
  CUmodule module = nullptr;
};

CUresult start(const gpu::driver::entry_points& cu, CUfunction function, CUstream stream,
               void** parameters = nullptr, unsigned grid = 1, unsigned block = 1,
               unsigned shared = 0) {
  return cu.launch_kernel(function, grid, 1, 1, block, 1, 1, shared, stream, parameters, nullptr);
}

}  // namespace

TEST_CASE("a kernel computes, in every mode", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const loaded code(f);
    constexpr unsigned n = 1000;
    std::vector<float> x(n);
    std::vector<float> y(n);
    for (unsigned i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i);
      y[i] = 0.5f;
    }
    CUstream stream = nullptr;
    CUdeviceptr dx = 0;
    CUdeviceptr dy = 0;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc_async(&dx, n * 4, stream) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc_async(&dy, n * 4, stream) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_htod_async(dx, x.data(), n * 4, stream) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_htod_async(dy, y.data(), n * 4, stream) == CUDA_SUCCESS);
    float a = 3.0f;
    unsigned count = n;
    void* parameters[] = {&dx, &dy, &a, &count};
    CHECK(start(f.cu, code.function("saxpy"), stream, parameters, 8, 128) == CUDA_SUCCESS);
    std::vector<float> result(n);
    CHECK(f.cu.memcpy_dtoh_async(result.data(), dy, n * 4, stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    bool right = true;
    for (unsigned i = 0; i < n; ++i) right = right && result[i] == 3.0f * x[i] + 0.5f;
    CHECK(right);
    CHECK(f.cu.mem_free_async(dx, stream) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free_async(dy, stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
    CHECK(f.cu.module_unload(code.module) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(f.live().empty());
    CHECK(f.reports().empty());
  }
}

TEST_CASE("a library serves every context, each with variables of its own", "[cpu]") {
  gpu::testing::cpu_driver_options options = test::with_places();
  options.devices = 2;
  driver_fixture f(options);
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  REQUIRE(f.cu.library_load_data(&library, kernels, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
          CUDA_SUCCESS);
  REQUIRE(f.cu.library_get_kernel(&kernel, library, "count") == CUDA_SUCCESS);
  CUcontext second = nullptr;
  REQUIRE(f.cu.device_primary_ctx_retain(&second, 1) == CUDA_SUCCESS);
  for (const CUcontext context : {f.context, second, f.context}) {
    REQUIRE(f.cu.ctx_push_current(context) == CUDA_SUCCESS);
    CUdeviceptr out = 0;
    REQUIRE(f.cu.mem_alloc(&out, 4) == CUDA_SUCCESS);
    void* parameters[] = {&out};
    CHECK(start(f.cu, reinterpret_cast<CUfunction>(kernel), nullptr, parameters) == CUDA_SUCCESS);
    unsigned before = 0;
    CHECK(f.cu.memcpy_dtoh(&before, out, 4) == CUDA_SUCCESS);
    static unsigned runs = 0;
    CHECK(before == (runs++ == 2 ? 8u : 7u));  // 7 at first in each context
    CUdeviceptr counter = 0;
    std::size_t bytes = 0;
    CHECK(f.cu.library_get_global(&counter, &bytes, library, "counter") == CUDA_SUCCESS);
    CHECK(bytes == 4);
    unsigned after = 0;
    CHECK(f.cu.memcpy_dtoh(&after, counter, 4) == CUDA_SUCCESS);
    CHECK(after == before + 1);
    CHECK(f.cu.mem_free(out) == CUDA_SUCCESS);
    REQUIRE(f.cu.ctx_pop_current(nullptr) == CUDA_SUCCESS);
  }
  CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
  CHECK(f.cu.library_unload(library) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.device_primary_ctx_release(1) == CUDA_SUCCESS);
}

TEST_CASE("a kernel's layout is told parameter by parameter", "[cpu]") {
  driver_fixture f;
  const loaded code(f);
  const CUfunction mixed = code.function("mixed");
  const std::vector<std::pair<std::size_t, std::size_t>> expected{
      {0, 16}, {16, 4}, {24, 8}, {32, 1}, {40, 8}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::size_t offset = 99;
    std::size_t size = 99;
    CHECK(f.cu.func_get_param_info(mixed, i, &offset, &size) == CUDA_SUCCESS);
    CHECK(std::pair(offset, size) == expected[i]);
  }
  std::size_t offset = 0;
  CHECK(f.cu.func_get_param_info(mixed, 5, &offset, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

// The offsets are those that an H100's driver told (580.159, CUDA 13.0): a device has parameters
// 0x210 bytes into a bank of constants, and aligns them there.
TEST_CASE("parameters are aligned where a device has them", "[cpu]") {
  driver_fixture f;
  struct layout {
    const char* parameters;
    std::vector<std::size_t> offsets;
  };
  const std::vector<layout> layouts{
      {".param .align 128 .b8 m[128], .param .u32 x", {112, 240}},
      {".param .u32 x, .param .align 128 .b8 m[128], .param .u64 p", {0, 112, 240}},
      {".param .align 64 .b8 m[128], .param .u32 x", {48, 176}},
      {".param .align 32 .b8 m[32], .param .u32 x", {16, 48}},
      {".param .u32 x, .param .align 16 .b8 m[16], .param .u32 y", {0, 16, 32}},
      {".param .align 128 .b8 m[128], .param .u32 y, .param .align 128 .b8 n[128], .param .u32 x",
       {112, 240, 368, 496}},
      {".param .u32 y, .param .align 256 .b8 n[256], .param .u32 x", {0, 240, 496}}};
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (std::size_t n = 0; n < layouts.size(); ++n)
    text += ".entry k" + std::to_string(n) + "(" + layouts[n].parameters + ") { ret; }\n";
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text.c_str()) == CUDA_SUCCESS);
  for (std::size_t n = 0; n < layouts.size(); ++n) {
    INFO(layouts[n].parameters);
    CUfunction kernel = nullptr;
    REQUIRE(f.cu.module_get_function(&kernel, module, ("k" + std::to_string(n)).c_str()) ==
            CUDA_SUCCESS);
    for (std::size_t i = 0; i < layouts[n].offsets.size(); ++i) {
      std::size_t offset = 99;
      CHECK(f.cu.func_get_param_info(kernel, i, &offset, nullptr) == CUDA_SUCCESS);
      CHECK(offset == layouts[n].offsets[i]);
    }
  }
}

TEST_CASE("the layout of a library's kernel is told in a context only", "[cpu]") {
  driver_fixture f;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  REQUIRE(f.cu.library_load_data(&library, kernels, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
          CUDA_SUCCESS);
  REQUIRE(f.cu.library_get_kernel(&kernel, library, "mixed") == CUDA_SUCCESS);
  std::size_t offset = 99;
  std::size_t size = 99;
  CHECK(f.cu.kernel_get_param_info(kernel, 1, &offset, &size) == CUDA_SUCCESS);
  CHECK(offset == 16);
  CHECK(size == 4);
  CHECK(f.cu.kernel_get_param_info(kernel, 5, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
  std::thread([&] {
    CHECK(f.cu.kernel_get_param_info(kernel, 1, &offset, &size) == CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
}

TEST_CASE("a library reads its code when that is first needed", "[cpu]") {
  driver_fixture f;
  char log[64] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlibrary library = nullptr;
  REQUIRE(f.cu.library_load_data(&library,
                                 ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry f() { add.nonsense %r1; ret; }\n",
                                 options, values, 2, nullptr, nullptr, 0) == CUDA_SUCCESS);
  CHECK(std::string(log).find("nonsense") != std::string::npos);
  CUmodule module = nullptr;
  CUkernel kernel = nullptr;
  CHECK(f.cu.library_get_module(&module, library) == CUDA_ERROR_INVALID_PTX);
  CHECK(f.cu.library_get_kernel(&kernel, library, "f") == CUDA_ERROR_INVALID_PTX);
  CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
  CHECK(f.live().empty());
}

TEST_CASE("constants beyond 64 KiB are refused where the log says so", "[cpu]") {
  driver_fixture f;
  char log[200] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  CHECK(f.cu.module_load_data_ex(&module,
                                 ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .const .align 4 .b8 v[80000];\n",
                                 2, options, values) == CUDA_ERROR_INVALID_PTX);
  CHECK(std::string(log).find("PTX line 4, column 1: the module declares 80000 bytes of constant "
                              "memory; there are at most 65536") == 0);
  CHECK(f.live().empty());
}

TEST_CASE("a packed parameter buffer has to end with the last parameter", "[cpu]") {
  driver_fixture f;
  const loaded code(f);
  CUdeviceptr out = 0;
  REQUIRE(f.cu.mem_alloc(&out, 4) == CUDA_SUCCESS);
  unsigned char buffer[64] = {};
  const int number = 40;
  const unsigned char letter = 2;
  std::memcpy(buffer + 16, &number, 4);
  std::memcpy(buffer + 32, &letter, 1);
  std::memcpy(buffer + 40, &out, 8);
  std::size_t size = 48;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const auto run = [&] {
    return f.cu.launch_kernel(code.function("mixed"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
  };
  CHECK(run() == CUDA_SUCCESS);
  int result = 0;
  CHECK(f.cu.memcpy_dtoh(&result, out, 4) == CUDA_SUCCESS);
  CHECK(result == 42);
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{47}, std::size_t{56}}) {
    size = wrong;
    CHECK(run() == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  }
}

TEST_CASE("launches outside the limits are refused", "[cpu]") {
  driver_fixture f;
  const loaded code(f);
  const CUfunction empty = code.function("empty");
  const CUfunction bounded = code.function("dynamic");
  const auto shape = [&](unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         unsigned bz) {
    return f.cu.launch_kernel(empty, gx, gy, gz, bx, by, bz, 0, nullptr, nullptr, nullptr);
  };
  CHECK(shape(0, 1, 1, 1, 1, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(1, 65536, 1, 1, 1, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(1, 1, 1, 1, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(1, 1, 1, 1, 1, 65) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(1, 1, 1, 1025, 1, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(1, 1, 1, 64, 32, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(shape(2, 2, 2, 1024, 1, 1) == CUDA_SUCCESS);
  CHECK(start(f.cu, bounded, nullptr, nullptr, 1, 256) == CUDA_SUCCESS);
  CHECK(start(f.cu, bounded, nullptr, nullptr, 1, 257) == CUDA_ERROR_INVALID_VALUE);
  // 48 KiB in total without asking, 227 KiB after.
  CHECK(start(f.cu, bounded, nullptr, nullptr, 1, 32, 47 * 1024) == CUDA_SUCCESS);
  CHECK(start(f.cu, bounded, nullptr, nullptr, 1, 32, 47 * 1024 + 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.func_set_attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                227 * 1024) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.func_set_attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                226 * 1024) == CUDA_SUCCESS);
  CHECK(start(f.cu, bounded, nullptr, nullptr, 1, 32, 226 * 1024) == CUDA_SUCCESS);
  CHECK(f.cu.launch_kernel(code.function("saxpy"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                           nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(start(f.cu, nullptr, nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.launch_cooperative_kernel(empty, 132 * 32 + 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr) ==
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CHECK(start(f.cu, code.function("paired"), nullptr, nullptr, 2) == CUDA_SUCCESS);
  CHECK(start(f.cu, code.function("paired"), nullptr, nullptr, 3) ==
        CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST_CASE("attributes of a launch are looked at one by one", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const loaded code(f);
    const CUfunction empty = code.function("empty");
    CUstream stream = nullptr;
    CUevent event = nullptr;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.event_create(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    const auto launch = [&](int id, CUlaunchAttributeValue value) {
      CUlaunchAttribute attribute{};
      attribute.id = static_cast<CUlaunchAttributeID>(id);
      attribute.value = value;
      CUlaunchConfig config{};
      config.gridDimX = config.gridDimY = config.gridDimZ = 1;
      config.blockDimX = config.blockDimY = config.blockDimZ = 1;
      config.hStream = stream;
      config.attrs = &attribute;
      config.numAttrs = 1;
      return f.cu.launch_kernel_ex(&config, empty, nullptr, nullptr);
    };
    CUlaunchAttributeValue value{};
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_PRIORITY, value) == CUDA_SUCCESS);
    value.clusterDim.x = value.clusterDim.y = value.clusterDim.z = 1;
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value) == CUDA_SUCCESS);
    value.clusterDim.y = 2;
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
    value = {};
    value.cooperative = 1;
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value) == CUDA_SUCCESS);
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, {}) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(launch(63, {}) == CUDA_ERROR_INVALID_VALUE);
    // An event of the launch is recorded with it.
    value = {};
    value.launchCompletionEvent.event = event;
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, value) == CUDA_SUCCESS);
    CHECK(f.cu.event_synchronize(event) == CUDA_SUCCESS);
    value = {};
    value.programmaticEvent.event = event;
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, value) == CUDA_SUCCESS);
    CHECK(f.cu.event_synchronize(event) == CUDA_SUCCESS);
    value.programmaticEvent.event = reinterpret_cast<CUevent>(stream);
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, value) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(launch(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, value) == CUDA_ERROR_INVALID_HANDLE);
    CUlaunchConfig without{};
    without.numAttrs = 1;
    CHECK(f.cu.launch_kernel_ex(&without, empty, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.launch_kernel_ex(nullptr, empty, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
  }
}

TEST_CASE("a fault shows at the next synchronization and stays", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const loaded code(f);
    CUstream stream = nullptr;
    CUdeviceptr memory = 0;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&memory, 16) == CUDA_SUCCESS);
    CHECK(start(f.cu, code.function("fail"), stream) == CUDA_SUCCESS);
    CHECK(start(f.cu, code.function("empty"), stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(start(f.cu, code.function("empty"), stream) == CUDA_ERROR_LAUNCH_FAILED);
    CUdeviceptr more = 0;
    CHECK(f.cu.mem_alloc(&more, 16) == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(f.cu.ctx_synchronize() == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(f.reports().find("fail") != std::string::npos);
    CHECK(f.reports().find("trap") != std::string::npos);
    // Cleaning up gives the same code, and gives back.
    CHECK(f.cu.mem_free(memory) == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(f.cu.stream_destroy(stream) == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(f.cu.module_unload(code.module) == CUDA_ERROR_LAUNCH_FAILED);
    CHECK(f.live().empty());

    // A context of its own is a fresh start.
    CUcontext other = nullptr;
    REQUIRE(f.cu.ctx_create(&other, nullptr, 0, 0) == CUDA_SUCCESS);
    CHECK(f.cu.mem_alloc(&more, 16) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(more) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_destroy(other) == CUDA_SUCCESS);
  }
}

TEST_CASE("bad accesses are found, and the report says where", "[cpu]") {
  // 40 bytes at y for n elements that begin `skew` bytes into it.
  const auto run = [](unsigned n, unsigned skew, CUresult expected) {
    constexpr std::size_t bytes = 40;
    driver_fixture f(test::with_places());
    const loaded code(f);
    CUdeviceptr x = 0;
    CUdeviceptr y = 0;
    REQUIRE(f.cu.mem_alloc(&x, 4096) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&y, bytes) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d8(x, 0, 4096) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d8(y, 0, bytes) == CUDA_SUCCESS);
    float a = 1;
    CUdeviceptr target = y + skew;
    void* parameters[] = {&x, &target, &a, &n};
    CHECK(start(f.cu, code.function("saxpy"), nullptr, parameters, 1, 64) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == expected);
    INFO(f.reports());
    CHECK(f.reports().find("saxpy") != std::string::npos);
    return f.reports();
  };
  const std::string overrun = run(11, 0, CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(overrun.find("40 bytes") != std::string::npos);         // the allocation,
  CHECK(test::names_place(overrun, "kernels_test.cpp"));        // who made it,
  CHECK(overrun.find("thread (10,0,0)") != std::string::npos);  // and who went too far
  const std::string skewed = run(1, 2, CUDA_ERROR_MISALIGNED_ADDRESS);
  CHECK(skewed.find("misaligned") != std::string::npos);
}

TEST_CASE("memory of another device takes peer access", "[cpu]") {
  for (const bool allowed : {false, true}) {
    gpu::testing::cpu_driver_options options = test::with_places();
    options.devices = 2;
    driver_fixture f(options);
    const loaded code(f);
    CUcontext other = nullptr;
    CUdeviceptr there = 0;
    REQUIRE(f.cu.device_primary_ctx_retain(&other, 1) == CUDA_SUCCESS);
    REQUIRE(f.cu.ctx_push_current(other) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&there, 4) == CUDA_SUCCESS);
    REQUIRE(f.cu.ctx_pop_current(nullptr) == CUDA_SUCCESS);
    if (allowed) REQUIRE(f.cu.ctx_enable_peer_access(other, 0) == CUDA_SUCCESS);
    // As an H200 does: the address tells who may use the memory, the flags say the same of all.
    CUdeviceptr reached = 0;
    unsigned flags = 0;
    CHECK(f.cu.pointer_get_attribute(&reached, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, there) ==
          (allowed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE));
    CHECK(reached == (allowed ? there : 0));
    CHECK(f.cu.pointer_get_attribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, there) ==
          CUDA_SUCCESS);
    CHECK(flags == CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    void* parameters[] = {&there};
    CHECK(start(f.cu, code.function("count"), nullptr, parameters) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == (allowed ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS));
    if (!allowed) CHECK(f.reports().find("another context") != std::string::npos);
    CHECK(f.cu.device_primary_ctx_release(1) == CUDA_SUCCESS);
  }
}

TEST_CASE("contexts of one device reach each other's memory", "[cpu]") {
  driver_fixture f;
  const loaded code(f);
  CUcontext other = nullptr;
  CUdeviceptr theirs = 0, ours = 0;
  REQUIRE(f.cu.mem_alloc(&ours, 4) == CUDA_SUCCESS);
  REQUIRE(f.cu.memset_d32(ours, 1, 1) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_create(&other, nullptr, 0, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&theirs, 4) == CUDA_SUCCESS);
  REQUIRE(f.cu.memset_d32(theirs, 1, 1) == CUDA_SUCCESS);
  const loaded code_of_other(f);
  void* parameters[] = {&ours};
  CHECK(start(f.cu, code_of_other.function("count"), nullptr, parameters) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
  CHECK(f.cu.ctx_pop_current(nullptr) == CUDA_SUCCESS);
  parameters[0] = &theirs;
  CHECK(start(f.cu, code.function("count"), nullptr, parameters) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
  CHECK(f.cu.ctx_destroy(other) == CUDA_SUCCESS);
  CHECK(start(f.cu, code.function("count"), nullptr, parameters) == CUDA_SUCCESS);
  CHECK(f.cu.ctx_synchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("a kernel reads page-locked memory before a later copy spoils it", "[cpu]") {
  driver_fixture f(test::deferred());
  const loaded code(f);
  CUstream stream = nullptr;
  void* pinned = nullptr;
  CUdeviceptr y = 0;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_host(&pinned, 4) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&y, 4) == CUDA_SUCCESS);
  auto* x = static_cast<float*>(pinned);
  *x = 5;
  float a = 2;
  unsigned n = 1;
  void* parameters[] = {&pinned, &y, &a, &n};
  CHECK(f.cu.memset_d32_async(y, 0, 1, stream) == CUDA_SUCCESS);
  CHECK(start(f.cu, code.function("saxpy"), stream, parameters) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh_async(pinned, y, 4, stream) == CUDA_SUCCESS);
  CHECK(*x != 10.0f);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(*x == 10.0f);
}

TEST_CASE("images that are no PTX are refused with the driver's codes", "[cpu]") {
  driver_fixture f;
  CUmodule module = nullptr;
  char log[512] = "untouched";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const auto load = [&](const void* image) {
    values[1] = reinterpret_cast<void*>(sizeof log);
    return f.cu.module_load_data_ex(&module, image, 2, names, values);
  };
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  CHECK(load((head + ".visible .entry k()\n{\n  frobnicate.u32 %r1;\n}\n").c_str()) ==
        CUDA_ERROR_INVALID_PTX);
  CHECK(std::string(log).find("line 6") != std::string::npos);
  CHECK(std::string(log).find("frobnicate") != std::string::npos);
  CHECK(reinterpret_cast<std::size_t>(values[1]) == std::string(log).size());
  CHECK(load(".version 99.0\n.target sm_90\n.address_size 64\n") ==
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CHECK(load("\x01\x02\x03\x04 and so on, sixty-four bytes of nothing in particular ....") ==
        CUDA_ERROR_INVALID_IMAGE);
  alignas(8) unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  cubin[18] = 190;
  CHECK(load(cubin) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(f.cu.module_load(&module, "/no/such/file") == CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(f.cu.module_load_data(&module, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CUlibrary library = nullptr;
  CHECK(f.cu.library_load_data(&library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
        CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(f.live().empty());
}

TEST_CASE("names and handles of code are checked", "[cpu]") {
  driver_fixture f;
  const loaded code(f);
  CUfunction function = nullptr;
  CHECK(f.cu.module_get_function(&function, code.module, "nobody") == CUDA_ERROR_NOT_FOUND);
  CHECK(f.cu.module_get_function(&function, nullptr, "empty") == CUDA_ERROR_INVALID_HANDLE);
  CUdeviceptr variable = 0;
  std::size_t bytes = 0;
  CHECK(f.cu.module_get_global(&variable, &bytes, code.module, "nobody") == CUDA_ERROR_NOT_FOUND);
  CHECK(f.cu.module_get_global(&variable, &bytes, code.module, "factor") == CUDA_SUCCESS);
  float factor = 0;
  CHECK(f.cu.memcpy_dtoh(&factor, variable, 4) == CUDA_SUCCESS);
  CHECK(factor == 2.0f);
  unsigned count = 0;
  CHECK(f.cu.module_get_function_count(&count, code.module) == CUDA_SUCCESS);
  CHECK(count == 7);
  const CUfunction empty = code.function("empty");
  CHECK(code.function("empty") == empty);
  const char* name = nullptr;
  CHECK(f.cu.func_get_name(&name, empty) == CUDA_SUCCESS);
  CHECK(std::string(name) == "empty");
  CHECK(f.cu.module_unload(code.module) == CUDA_SUCCESS);
  CHECK(f.cu.module_unload(code.module) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(start(f.cu, empty, nullptr) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("occupancy follows the device's limits", "[cpu]") {
  driver_fixture f;
  const loaded code(f);
  int blocks = 0;
  const CUfunction empty = code.function("empty");
  // 2048 threads and 32 blocks on a multiprocessor.
  CHECK(f.cu.occupancy_max_active_blocks_per_multiprocessor(&blocks, empty, 1024, 0) ==
        CUDA_SUCCESS);
  CHECK(blocks == 2);
  CHECK(f.cu.occupancy_max_active_blocks_per_multiprocessor(&blocks, empty, 32, 0) == CUDA_SUCCESS);
  CHECK(blocks == 32);
  // 228 KiB of shared memory, 1 KiB of each block's reserved.
  CHECK(f.cu.occupancy_max_active_blocks_per_multiprocessor(&blocks, empty, 32, 48 * 1024) ==
        CUDA_SUCCESS);
  CHECK(blocks == 4);
  CHECK(f.cu.occupancy_max_active_blocks_per_multiprocessor(&blocks, empty, 32, 48 * 1024 + 1) ==
        CUDA_SUCCESS);
  CHECK(blocks == 0);  // more has to be allowed first
  int grid = 0;
  int block = 0;
  CHECK(f.cu.occupancy_max_potential_block_size(&grid, &block, empty, nullptr, 0, 0) ==
        CUDA_SUCCESS);
  CHECK(block == 1024);
  CHECK(grid == 264);
}

}  // namespace kernels_test

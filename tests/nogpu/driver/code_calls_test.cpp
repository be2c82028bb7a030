// Queries about code: modules, libraries, functions and kernels, asked in every way.

#include "driver_fixture.hpp"

#include <unistd.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace code_calls_test {

using test::driver_fixture;

namespace {

const std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry square() .reqntid 8, 4 { ret; }
.visible .entry local() .maxntid 64
{
  .local .align 8 .b8 room[40]; .shared .align 4 .b8 block[24]; .reg .b32 %r<3>;
  mov.u32 %r1, room; mov.u32 %r2, block; ret;
}
)";

/// A file with `contents` that goes with this object.
struct temporary_file {
  explicit temporary_file(const std::string& contents)
      : path{std::filesystem::temp_directory_path() /
             ("gpu-code-calls-" + std::to_string(::getpid()))} {
    std::ofstream(path, std::ios::binary) << contents;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { (void)std::remove(path.c_str()); }
  std::string path;
};

}  // namespace

TEST_CASE("functions of a module are listed and tell their module", "[cpu]") {
  driver_fixture f;
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_fat_binary(&module, text.c_str()) == CUDA_SUCCESS);
  std::array<CUfunction, 4> functions{};
  CHECK(f.cu.module_enumerate_functions(functions.data(), 4, module) == CUDA_SUCCESS);
  CHECK(functions[3] == nullptr);
  std::set<std::string> names;
  for (std::size_t i = 0; i < 3; ++i) {
    const char* name = nullptr;
    CUmodule of = nullptr;
    CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
    CHECK(f.cu.func_get_name(&name, functions[i]) == CUDA_SUCCESS);
    CHECK(f.cu.func_get_module(&of, functions[i]) == CUDA_SUCCESS);
    CHECK(of == module);
    CHECK(f.cu.func_load(functions[i]) == CUDA_SUCCESS);
    CHECK(f.cu.func_is_loaded(&state, functions[i]) == CUDA_SUCCESS);
    CHECK(state == CU_FUNCTION_LOADING_STATE_LOADED);
    names.insert(name);
  }
  CHECK(names == std::set<std::string>{"plain", "square", "local"});
  CUfunction first = nullptr;
  CHECK(f.cu.module_enumerate_functions(&first, 1, module) == CUDA_SUCCESS);
  CHECK(first == functions[0]);
  CHECK(f.cu.module_enumerate_functions(functions.data(), 0, module) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.module_enumerate_functions(functions.data(), 3, nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.func_get_module(nullptr, first) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.func_is_loaded(nullptr, first) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.func_load(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CUmoduleLoadingMode mode{};
  CHECK(f.cu.module_get_loading_mode(&mode) == CUDA_SUCCESS);
  CHECK(mode == CU_MODULE_EAGER_LOADING);
  CHECK(f.cu.module_get_loading_mode(nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("modules that are left over are listed, those of libraries with the library alone",
          "[cpu]") {
  driver_fixture f(test::without_places());
  CUmodule module = nullptr;
  CUmodule inner = nullptr;
  CUlibrary library = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text.c_str()) == CUDA_SUCCESS);
  REQUIRE(f.live().size() == 1);
  CHECK(f.live()[0].find("module") != std::string::npos);
  CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
  REQUIRE(f.cu.library_load_data(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                                 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.library_get_module(&inner, library) == CUDA_SUCCESS);
  REQUIRE(f.live().size() == 1);
  CHECK(f.live()[0].find("library") != std::string::npos);
  CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
  CHECK(f.live().empty());
}

/// What ptxas 13.0 gives these kernels with -maxrregcount: the option counts for those that say
/// nothing about registers and threads themselves, and a thread has 24 at least.
TEST_CASE("a kernel has no more registers than its PTX or its loading allows", "[cpu]") {
  std::string body = "{ .reg .b64 %rd<3>; .reg .f32 %f<601>;\n ld.param.u64 %rd1, [out];\n";
  for (const char* access :
       {"ld.volatile.global.f32 %f#, [%rd1+@];\n", "st.volatile.global.f32 [%rd1+@], %f#;\n"})
    for (int i = 0; i < 600; ++i)
      for (const char* at = access; *at != '\0'; ++at)
        body += *at == '#'   ? std::to_string(i)
                : *at == '@' ? std::to_string(4 * i)
                             : std::string(1, *at);
  body += "ret; }\n";
  std::string code = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const struct {
    const char* name;
    const char* says;
    int alone, with_32, with_8;
  } kernels[] = {{"plain", "", 64, 32, 24},  // 1024 threads fit
                 {"resident", ".minnctapersm 1", 64, 32, 24},
                 {"threads", ".maxntid 64", 158, 158, 158},
                 {"required", ".reqntid 64", 158, 158, 158},
                 {"registers", ".maxnreg 40", 40, 40, 40},
                 {"few", ".maxnreg 16", 24, 24, 24},
                 {"both", ".maxntid 64 .maxnreg 40", 40, 40, 40}};
  for (const auto& each : kernels)
    code +=
        std::string(".visible .entry ") + each.name + "(.param .u64 out) " + each.says + " " + body;
  driver_fixture f;
  const auto registers = [&](CUfunction function) {
    int value = 0;
    CHECK(f.cu.func_get_attribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS);
    return value;
  };
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  for (const unsigned asked : {0u, 300u, 32u, 8u}) {
    void* value = reinterpret_cast<void*>(std::uintptr_t{asked});
    CUmodule direct = nullptr, linked = nullptr;
    CUlibrary library = nullptr;
    CUlinkState link = nullptr;
    void* image = nullptr;
    REQUIRE(f.cu.module_load_data_ex(&direct, code.c_str(), 1, &option, &value) == CUDA_SUCCESS);
    REQUIRE(f.cu.library_load_data(&library, code.c_str(), &option, &value, 1, nullptr, nullptr,
                                   0) == CUDA_SUCCESS);
    REQUIRE(f.cu.link_create(1, &option, &value, &link) == CUDA_SUCCESS);
    REQUIRE(f.cu.link_add_data(link, CU_JIT_INPUT_PTX, code.data(), code.size(), "code", 0, nullptr,
                               nullptr) == CUDA_SUCCESS);
    REQUIRE(f.cu.link_complete(link, &image, nullptr) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_load_data(&linked, image) == CUDA_SUCCESS);
    for (const auto& each : kernels) {
      CAPTURE(asked, each.name);
      const int expected = asked == 32 ? each.with_32 : asked == 8 ? each.with_8 : each.alone;
      CUfunction function = nullptr;
      for (const CUmodule module : {direct, linked}) {
        REQUIRE(f.cu.module_get_function(&function, module, each.name) == CUDA_SUCCESS);
        CHECK(registers(function) == expected);
      }
      CUkernel kernel = nullptr;
      REQUIRE(f.cu.library_get_kernel(&kernel, library, each.name) == CUDA_SUCCESS);
      CHECK(registers(reinterpret_cast<CUfunction>(kernel)) == expected);
      CUcontext other = nullptr;  // whose module is made when it is first needed
      REQUIRE(f.cu.ctx_create(&other, nullptr, 0, 0) == CUDA_SUCCESS);
      CHECK(registers(reinterpret_cast<CUfunction>(kernel)) == expected);
      REQUIRE(f.cu.ctx_destroy(other) == CUDA_SUCCESS);
    }
    CHECK(f.cu.link_destroy(link) == CUDA_SUCCESS);
    CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
    CHECK(f.cu.module_unload(direct) == CUDA_SUCCESS);
    CHECK(f.cu.module_unload(linked) == CUDA_SUCCESS);
  }
}

TEST_CASE("attributes of functions are those of their PTX", "[cpu]") {
  driver_fixture f;
  CUmodule module = nullptr;
  CUfunction local = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text.c_str()) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&local, module, "local") == CUDA_SUCCESS);
  const auto attribute = [&](CUfunction_attribute which) {
    int value = -1;
    CHECK(f.cu.func_get_attribute(&value, which, local) == CUDA_SUCCESS);
    return value;
  };
  CHECK(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) == 48);  // whole units of 16
  CHECK(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 24);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 64);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_PTX_VERSION) == 90);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION) == 90);
  int value = 0;
  CHECK(f.cu.func_get_attribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, local) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.func_get_attribute(&value, CU_FUNC_ATTRIBUTE_MAX, local) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.func_set_attribute(local, CU_FUNC_ATTRIBUTE_NUM_REGS, 8) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.func_set_attribute(local, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50) ==
        CUDA_SUCCESS);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) == 50);
  const auto set = [&](CUfunction_attribute which, int wanted) {
    return f.cu.func_set_attribute(local, which, wanted);
  };
  for (const int each : {-1, 0, 100})
    CHECK(set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, each) == CUDA_SUCCESS);
  for (const int each : {-2, 101})
    CHECK(set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, each) ==
          CUDA_ERROR_INVALID_VALUE);
  int most = 0;
  REQUIRE(f.cu.device_get_attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                    0) == CUDA_SUCCESS);
  for (const int each : {0, most - 24})
    CHECK(set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, each) == CUDA_SUCCESS);
  for (const int each : {-1, most - 23})
    CHECK(set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, each) == CUDA_ERROR_INVALID_VALUE);
  std::size_t shared = 0;
  const auto left = [&](int blocks, int threads) {
    return f.cu.occupancy_available_dynamic_smem_per_block(&shared, local, blocks, threads);
  };
  CHECK(left(1, 64) == CUDA_SUCCESS);
  CHECK(left(0, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(left(1, 0) == CUDA_ERROR_INVALID_VALUE);
  const auto set_cache_config = [&](int config) {
    return f.cu.func_set_cache_config(local, static_cast<CUfunc_cache>(config));
  };
  CHECK(set_cache_config(CU_FUNC_CACHE_PREFER_L1) == CUDA_SUCCESS);
  CHECK(set_cache_config(9) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a kernel that asks for a block of one shape runs in no other", "[cpu]") {
  driver_fixture f;
  CUmodule module = nullptr;
  CUfunction square = nullptr;
  REQUIRE(f.cu.module_load_data(&module, text.c_str()) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&square, module, "square") == CUDA_SUCCESS);
  const auto launch = [&](unsigned x, unsigned y) {
    return f.cu.launch_kernel(square, 1, 1, 1, x, y, 1, 0, nullptr, nullptr, nullptr);
  };
  CHECK(launch(8, 4) == CUDA_SUCCESS);
  CHECK(launch(8, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(16, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
}

TEST_CASE("a library comes out of a file, and its kernels know it", "[cpu]") {
  driver_fixture f;
  CUlibrary library = nullptr;
  {
    const temporary_file file(text);
    REQUIRE(f.cu.library_load_from_file(&library, file.path.c_str(), nullptr, nullptr, 0, nullptr,
                                        nullptr, 0) == CUDA_SUCCESS);
    CUmodule module = nullptr;
    CHECK(f.cu.module_load(&module, file.path.c_str()) == CUDA_SUCCESS);
    CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
  }
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  CUlibrary of = nullptr;
  REQUIRE(f.cu.library_get_kernel(&kernel, library, "plain") == CUDA_SUCCESS);
  CHECK(f.cu.kernel_get_library(&of, kernel) == CUDA_SUCCESS);
  CHECK(of == library);
  CHECK(f.cu.kernel_get_function(&function, kernel) == CUDA_SUCCESS);
  CHECK(f.cu.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
        CUDA_SUCCESS);
  CHECK(f.cu.kernel_get_library(nullptr, kernel) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.kernel_get_function(nullptr, kernel) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.kernel_get_function(&function, reinterpret_cast<CUkernel>(function)) ==
        CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.library_load_from_file(&of, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr,
                                    0) == CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(f.cu.library_load_from_file(nullptr, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr,
                                    0) == CUDA_ERROR_INVALID_VALUE);
  CUlibraryOption wrong = CU_LIBRARY_NUM_OPTIONS;
  void* value = nullptr;
  CHECK(f.cu.library_load_data(&of, text.c_str(), nullptr, nullptr, 0, &wrong, &value, 1) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
  CHECK(f.live().empty());
}

TEST_CASE("leaks are printed with a heading, and nothing is where there are none",
          "[cpu][places]") {
  driver_fixture f(test::with_places());
  CHECK(f.print_leaks() == "");
  CUevent event = nullptr;
  const int line = __LINE__ + 1;
  REQUIRE(f.cu.event_create(&event, 0) == CUDA_SUCCESS);
  const std::string printed = f.print_leaks();
  INFO(printed);
  CHECK(printed.find("gpu cpu driver: 1 objects were not released:\n  event at 0x") == 0);
  CHECK(printed.find("code_calls_test.cpp:" + std::to_string(line)) != std::string::npos);
}

TEST_CASE("code that is compiled as it stands has no fused products", "[cpu]") {
  // a * b - c where c is the rounded product: 0, or what the rounding took off.
  const std::string kernel = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u64 %p; .reg .f32 %a, %b, %m;
  ld.param.u64 %p, [p]; ld.global.f32 %a, [%p]; ld.global.f32 %b, [%p+4];
  mul.f32 %m, %a, %a; sub.f32 %m, %m, %b; st.global.f32 [%p+8], %m; ret; })";
  const struct {
    std::vector<CUjit_option> names;
    std::uintptr_t value;
    bool fused;
  } cases[] = {{{}, 0, true},
               {{CU_JIT_OPTIMIZATION_LEVEL}, 4, true},
               {{CU_JIT_OPTIMIZATION_LEVEL}, 0, false},
               {{CU_JIT_GENERATE_DEBUG_INFO}, 0, true},
               {{CU_JIT_GENERATE_DEBUG_INFO}, 1, false}};
  for (const auto& each : cases) {
    driver_fixture f;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    void* value = reinterpret_cast<void*>(each.value);
    auto names = each.names;
    REQUIRE(f.cu.module_load_data_ex(&module, kernel.c_str(), static_cast<unsigned>(names.size()),
                                     names.data(), &value) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_get_function(&function, module, "k") == CUDA_SUCCESS);
    const float a = 1.0f + 0x1p-12f, product = 1.0f + 0x1p-11f;
    float values[3] = {a, product, -1};
    CUdeviceptr p = 0;
    REQUIRE(f.cu.mem_alloc(&p, sizeof values) == CUDA_SUCCESS);
    REQUIRE(f.cu.memcpy_htod(p, values, sizeof values) == CUDA_SUCCESS);
    void* parameters[] = {&p};
    REQUIRE(f.cu.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) ==
            CUDA_SUCCESS);
    REQUIRE(f.cu.memcpy_dtoh(values, p, sizeof values) == CUDA_SUCCESS);
    CHECK(values[2] == (each.fused ? 0x1p-24f : 0.0f));
  }
}

}  // namespace code_calls_test

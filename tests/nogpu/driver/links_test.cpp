// The CPU driver's linker. The codes and the logs are what an H200 with driver 580 answered to the
// same calls.

#include "driver_fixture.hpp"
#include "nogpu/ptx/host_objects.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace links_test { namespace {

using test::driver_fixture;

std::string ptx(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + body;
}

const std::string caller = ptx(R"(
.extern .func (.param .b32 r) add_one(.param .b32 x);
.extern .global .align 4 .u32 shared_value;
.visible .entry k(.param .u64 out) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [shared_value];
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r1;
    call.uni (q), add_one, (p);
    ld.param.b32 %r2, [q]; }
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r2;
  ret;
}
)");
const std::string callee = ptx(R"(
.visible .global .align 4 .u32 shared_value = 41;
.visible .func (.param .b32 r) add_one(.param .b32 x) {
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [x];
  add.u32 %r2, %r1, 1;
  st.param.b32 [r], %r2;
  ret;
}
)");
const std::string empty_kernel = ptx(".visible .entry k() { ret; }\n");

/// A kernel that stores what f() returns, and one that stores the variable v.
const std::string call_f = R"(
.visible .entry k(.param .u64 out) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [out];
  { .param .b32 q;
    call.uni (q), f, ();
    ld.param.b32 %r2, [q]; }
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";
const std::string read_v = R"(
.visible .entry k(.param .u64 out) {
  .reg .u64 %rd<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [v];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";
std::string returning(const std::string& linkage, int value) {
  return linkage + " .func (.param .b32 r) f() { .reg .u32 %r<2>; mov.u32 %r1, " +
         std::to_string(value) + "; st.param.b32 [r], %r1; ret; }\n";
}
const std::string extern_f = ".extern .func (.param .b32 r) f();\n";

using unit = std::pair<std::string, std::string>;  // name and text

/// A link with a log for errors, and what came of each step.
struct tried_link {
  tried_link(driver_fixture& fixture, const std::vector<unit>& units,
             std::vector<std::pair<CUjit_option, unsigned>> more = {}, unsigned log_size = 4096)
      : f{fixture} {
    log.assign(4096, 'x');
    names = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    values = {log.data(), reinterpret_cast<void*>(std::uintptr_t{log_size})};
    for (const auto& [name, value] : more) {
      names.push_back(name);
      values.push_back(reinterpret_cast<void*>(std::uintptr_t{value}));
    }
    created =
        f.cu.link_create(static_cast<unsigned>(names.size()), names.data(), values.data(), &state);
    if (created != CUDA_SUCCESS) return;
    for (const unit& each : units) added.push_back(add(each.second, each.first));
    completed = f.cu.link_complete(state, &image, &size);
  }
  tried_link(const tried_link&) = delete;
  tried_link& operator=(const tried_link&) = delete;
  ~tried_link() {
    if (state != nullptr) CHECK(f.cu.link_destroy(state) == CUDA_SUCCESS);
  }

  CUresult add(std::string text, const std::string& name) {
    return f.cu.link_add_data(state, CU_JIT_INPUT_PTX, text.data(), text.size(),
                              name.empty() ? nullptr : name.c_str(), 0, nullptr, nullptr);
  }
  std::string errors() const { return log.c_str(); }
  std::size_t log_slot() const { return reinterpret_cast<std::size_t>(values[1]); }

  /// What kernel k stores.
  int run() {
    CUmodule module = nullptr;
    CUfunction k = nullptr;
    CUdeviceptr out = 0;
    REQUIRE(completed == CUDA_SUCCESS);
    REQUIRE(f.cu.module_load_data(&module, image) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_get_function(&k, module, "k") == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&out, 4) == CUDA_SUCCESS);
    void* arguments[] = {&out};
    CHECK(f.cu.launch_kernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
    int value = 0;
    CHECK(f.cu.func_get_attribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, k) == CUDA_SUCCESS);
    CHECK(value == 90);  // all units are for sm_90
    CHECK(f.cu.memcpy_dtoh(&value, out, 4) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(out) == CUDA_SUCCESS);
    CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
    return value;
  }

  driver_fixture& f;
  std::string log;
  std::vector<CUjit_option> names;
  std::vector<void*> values;
  CUlinkState state = nullptr;
  CUresult created = CUDA_SUCCESS;
  std::vector<CUresult> added;
  CUresult completed = CUDA_ERROR_UNKNOWN;
  void* image = nullptr;
  std::size_t size = 0;
};

TEST_CASE("functions and variables of other units are linked, in either order", "[cpu][link]") {
  driver_fixture f;
  {
    tried_link first(f, {{"caller.ptx", caller}, {"callee.ptx", callee}});
    CHECK(first.run() == 42);
    CHECK(first.errors().empty());
    CHECK(first.log_slot() == 0);
    CHECK(first.size > 64);
    tried_link second(f, {{"", callee}, {"", caller}});
    CHECK(second.run() == 42);
  }
  CHECK(f.live().empty());
}

TEST_CASE("a linked image is loaded as a library, in every context", "[cpu][link]") {
  driver_fixture f({.devices = 2});
  CUlibrary library = nullptr;
  {
    tried_link linked(f, {{"caller.ptx", caller}, {"callee.ptx", callee}});
    const std::string copy(static_cast<const char*>(linked.image), linked.size);
    REQUIRE(f.cu.library_load_data(&library, copy.data(), nullptr, nullptr, 0, nullptr, nullptr,
                                   0) == CUDA_SUCCESS);
  }
  CUcontext other = nullptr;
  REQUIRE(f.cu.device_primary_ctx_retain(&other, 1) == CUDA_SUCCESS);
  CUdeviceptr here = 0, there = 0;
  std::size_t bytes = 0;
  CHECK(f.cu.library_get_global(&here, &bytes, library, "shared_value") == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_push_current(other) == CUDA_SUCCESS);
  CHECK(f.cu.library_get_global(&there, &bytes, library, "shared_value") == CUDA_SUCCESS);
  CHECK(bytes == 4);
  CHECK(here != there);
  int value = 0;
  CHECK(f.cu.memcpy_dtoh(&value, there, 4) == CUDA_SUCCESS);
  CHECK(value == 41);
  CHECK(f.cu.ctx_pop_current(&other) == CUDA_SUCCESS);
  CHECK(f.cu.device_primary_ctx_release(1) == CUDA_SUCCESS);
  CHECK(f.cu.library_unload(library) == CUDA_SUCCESS);
}

TEST_CASE("undefined names fail the link and are in the log", "[cpu][link]") {
  driver_fixture f;
  void* image = nullptr;
  std::size_t size = 0;
  {
    tried_link link(f, {{"caller.ptx", caller}});
    CHECK(link.added == std::vector<CUresult>{CUDA_SUCCESS});
    CHECK(link.completed == CUDA_ERROR_INVALID_SOURCE);
    CHECK(link.errors() ==
          "error   : Undefined reference to 'add_one' in 'caller.ptx'\n"
          "error   : Undefined reference to 'shared_value' in 'caller.ptx'");
    CHECK(link.log_slot() == 122);
    CHECK(f.cu.link_complete(link.state, &image, &size) == CUDA_ERROR_INVALID_SOURCE);
    CHECK(link.add(callee, "late") == CUDA_ERROR_INVALID_VALUE);
  }
  {
    tried_link cut(f, {{"caller.ptx", caller}}, {}, 20);
    CHECK(cut.errors() == "error   : Undefined");
    CHECK(cut.log_slot() == 20);
  }
  {
    // A function that nobody calls need not be there; a variable has to.
    tried_link unused(f, {{"u.ptx", ptx(".extern .func nowhere();\n"
                                        ".extern .global .u32 nowhere_either;\n"
                                        ".visible .entry k() { ret; }\n")}});
    CHECK(unused.completed == CUDA_ERROR_INVALID_SOURCE);
    CHECK(unused.errors() == "error   : Undefined reference to 'nowhere_either' in 'u.ptx'");
  }
  {
    tried_link hidden(f, {{"a", ptx(extern_f + call_f)}, {"b", ptx(returning("", 2))}});
    CHECK(hidden.completed == CUDA_ERROR_INVALID_SOURCE);
    CHECK(hidden.errors() == "error   : Undefined reference to 'f' in 'a'");
  }
}

TEST_CASE("constants beyond 64 KiB are refused in a unit, and in what is linked", "[cpu][link]") {
  driver_fixture f;
  tried_link link(f, {{"a.ptx", ptx(".visible .const .b8 a[80000];\n")}});
  CHECK(link.added == std::vector<CUresult>{CUDA_ERROR_INVALID_PTX});
  CHECK(link.errors().find("80000 bytes of constant memory; there are at most 65536") !=
        std::string::npos);
  tried_link both(f, {{"a.ptx", ptx(".visible .const .b8 a[40000];\n")},
                      {"b.ptx", ptx(".visible .const .b8 b[40000];\n")}});
  REQUIRE(both.completed == CUDA_SUCCESS);
  CUmodule module = nullptr;
  CHECK(f.cu.module_load_data(&module, both.image) == CUDA_ERROR_INVALID_PTX);
}

TEST_CASE("what does not go together spoils the link when it is added", "[cpu][link]") {
  driver_fixture f;
  const auto spoilt = [&](const std::vector<unit>& units, const std::string& log) {
    tried_link link(f, units);
    REQUIRE(link.added.size() >= 2);
    CHECK(link.added[0] == CUDA_SUCCESS);
    for (std::size_t i = 1; i < link.added.size(); ++i) CHECK(link.added[i] == CUDA_ERROR_UNKNOWN);
    CHECK(link.completed == CUDA_ERROR_UNKNOWN);
    CHECK(link.errors() == log);
  };
  spoilt({{"a.ptx", callee}, {"b.ptx", callee}, {"c.ptx", caller}},
         "error   : Multiple definition of 'add_one' in 'b.ptx', first defined in 'a.ptx'\n"
         "error   : Multiple definition of 'shared_value' in 'b.ptx', first defined in 'a.ptx'");
  spoilt({{"a.ptx", empty_kernel}, {"b.ptx", empty_kernel}},
         "error   : Multiple definition of 'k' in 'b.ptx', first defined in 'a.ptx'");
  spoilt({{"a", ptx(extern_f + call_f)},
          {"b", ptx(".visible .func (.param .b32 r) f(.param .b64 x) { .reg .u32 %r<2>; "
                    "mov.u32 %r1, 7; st.param.b32 [r], %r1; ret; }\n")}},
         "error   : Prototype doesn't match for 'f' in 'b', first defined in 'b'");
  const std::string extern_v = ".extern .global .align 4 .u32 v;\n" + read_v;
  spoilt({{"a", ptx(extern_v)}, {"b", ptx(".visible .global .align 4 .b8 v[64] = {1,2,3,4};\n")}},
         "error   : Size doesn't match for 'v' in 'b', first specified in 'a'");
  spoilt({{"a", ptx(extern_v)}, {"b", ptx(".visible .const .align 4 .u32 v = 9;\n")}},
         "error   : Memory space doesn't match for 'v' in 'b', first specified in 'a'");
}

TEST_CASE("weak, common and internal names are resolved as a device linker does", "[cpu][link]") {
  driver_fixture f;
  const auto value = [&](const std::string& a, const std::string& b) {
    return tried_link(f, {{"a", ptx(a)}, {"b", ptx(b)}}).run();
  };
  CHECK(value(returning(".weak", 1) + call_f, returning(".visible", 2)) == 2);
  CHECK(value(returning(".visible", 1) + call_f, returning(".weak", 2)) == 1);
  CHECK(value(returning(".weak", 1) + call_f, returning(".weak", 2)) == 1);
  CHECK(value(returning("", 1) + call_f, returning(".visible", 2)) == 1);
  CHECK(value(".common .global .align 4 .b8 v[4];\n" + read_v,
              ".common .global .align 4 .b8 v[64];\n") == 0);
  CHECK(value(".common .global .align 4 .u32 v;\n" + read_v,
              ".visible .global .align 4 .u32 v = 9;\n") == 9);
  CHECK(value(".weak .global .align 4 .u32 v = 1;\n" + read_v,
              ".visible .global .align 4 .u32 v = 9;\n") == 9);
  CHECK(value(".global .align 4 .u32 v = 1;\n" + read_v,
              ".global .align 4 .u32 v = 9;\n.visible .func g() { ret; }\n") == 1);
  tried_link shared(f, {{"a", ptx(".extern .shared .align 4 .b8 s[];\n.visible .entry k() { .reg "
                                  ".u32 %r<2>; ld.shared.u32 %r1, [s]; ret; }\n")},
                        {"b", ptx(".extern .shared .align 4 .b8 s[];\n.visible .entry k2() { .reg "
                                  ".u32 %r<2>; ld.shared.u32 %r1, [s]; ret; }\n")}});
  CHECK(shared.completed == CUDA_SUCCESS);
}

TEST_CASE("aliases of other units are followed, and not round in circles", "[cpu][link]") {
  driver_fixture f;
  const auto declared = [](const std::string& name) {
    return ".visible .func (.param .b32 r) " + name + "();\n";
  };
  const auto defined = [](const std::string& linkage, const std::string& name, int value) {
    return linkage + " .func (.param .b32 r) " + name + "() { .reg .u32 %r<2>; mov.u32 %r1, " +
           std::to_string(value) + "; st.param.b32 [r], %r1; ret; }\n";
  };
  CHECK(tried_link(f, {{"a", ptx(extern_f + call_f)},
                       {"b", ptx(declared("f") + defined(".visible", "g", 5) + ".alias f, g;\n")}})
            .run() == 5);
  // Each unit defines one of two weakly and makes the other an alias of it.
  tried_link circle(
      f, {{"a", ptx(declared("f") + defined(".weak", "g", 1) + ".alias f, g;\n" + call_f)},
          {"b", ptx(declared("g") + defined(".weak", "f", 2) + ".alias g, f;\n")}});
  CUmodule module = nullptr;
  if (circle.completed == CUDA_SUCCESS)
    CHECK(f.cu.module_load_data(&module, circle.image) != CUDA_SUCCESS);
}

TEST_CASE("addresses of functions and variables of other units hold", "[cpu][link]") {
  driver_fixture f;
  // A table of addresses, filled by the linker: of a function of another unit, and of a variable.
  const std::string table = ptx(extern_f + R"(
.extern .global .align 4 .u32 v;
.visible .global .align 8 .u64 table[2] = {f, generic(v)};
.visible .entry k(.param .u64 out) {
  .reg .u64 %rd<5>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [out];
  ld.global.u64 %rd2, [table];
  ld.global.u64 %rd3, [table+8];
  ld.u32 %r1, [%rd3];
  { .param .b32 q;
    shape: .callprototype (.param .b32 _) _ ();
    call (q), %rd2, (), shape;
    ld.param.b32 %r2, [q]; }
  add.u32 %r3, %r1, %r2;
  cvta.to.global.u64 %rd4, %rd1;
  st.global.u32 [%rd4], %r3;
  ret;
}
)");
  tried_link link(
      f, {{"first", ptx(".global .u32 padding = 3, more = 4;\n" + returning("", 77))},
          {"table", table},
          {"last", ptx(".visible .global .align 4 .u32 v = 30;\n" + returning(".visible", 12))}});
  CHECK(link.run() == 42);
}

TEST_CASE("inputs that are no PTX leave the link usable", "[cpu][link]") {
  driver_fixture f;
  tried_link link(f, {{"broken.ptx", ptx(".visible .entry k() { this is wrong; }\n")},
                      {"garbage", "hello"},
                      {"new.ptx", ".version 99.0\n.target sm_90\n.address_size 64\n"},
                      {"other.ptx", ".version 8.0\n.target sm_120\n.address_size 64\n"},
                      {"good", empty_kernel}});
  CHECK(link.added == std::vector<CUresult>{CUDA_ERROR_INVALID_PTX, CUDA_ERROR_INVALID_IMAGE,
                                            CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                                            CUDA_ERROR_INVALID_PTX, CUDA_SUCCESS});
  CHECK(link.completed == CUDA_SUCCESS);
  CHECK(link.errors().find("line 4") != std::string::npos);
  void* image = nullptr;
  std::size_t size = 0;
  CHECK(f.cu.link_complete(link.state, &image, &size) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(link.add(empty_kernel, "late") == CUDA_ERROR_INVALID_VALUE);
  tried_link nothing(f, {});
  CHECK(nothing.completed == CUDA_SUCCESS);
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, nothing.image) == CUDA_SUCCESS);
  CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
}

TEST_CASE("wrong arguments of a link are refused", "[cpu][link]") {
  driver_fixture f;
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  std::string text = empty_kernel;
  const auto add = [&](CUlinkState to, int type, void* data, std::size_t bytes) {
    return f.cu.link_add_data(to, static_cast<CUjitInputType>(type), data, bytes, "k", 0, nullptr,
                              nullptr);
  };
  CHECK(f.cu.link_create(1, nullptr, nullptr, &state) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.link_create(0, nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.link_destroy(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(add(nullptr, CU_JIT_INPUT_PTX, text.data(), text.size()) == CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(f.cu.link_create(0, nullptr, nullptr, &state) == CUDA_SUCCESS);
  CHECK(f.live().size() == 1);
  CHECK(f.live()[0].find("link") == 0);
  CHECK(add(state, CU_JIT_INPUT_PTX, nullptr, 10) == CUDA_ERROR_INVALID_VALUE);
  CHECK(add(state, CU_JIT_INPUT_PTX, text.data(), 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(add(state, 99, text.data(), text.size()) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.link_add_file(state, CU_JIT_INPUT_PTX, "/nowhere/x.ptx", 0, nullptr, nullptr) ==
        CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(f.cu.link_add_file(state, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.link_complete(state, nullptr, &size) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.link_complete(state, &image, nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.link_destroy(state) == CUDA_SUCCESS);
  CHECK(f.cu.link_destroy(state) == CUDA_ERROR_INVALID_HANDLE);

  REQUIRE(f.cu.ctx_set_current(nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.link_create(0, nullptr, nullptr, &state) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.ctx_set_current(f.context) == CUDA_SUCCESS);
}

TEST_CASE("options of a link are checked, and its time is told", "[cpu][link]") {
  driver_fixture f;
  const auto created = [&](CUjit_option name, unsigned value) {
    return tried_link(f, {{"k", empty_kernel}}, {{name, value}}).created;
  };
  CHECK(created(CU_JIT_TARGET, 77) == CUDA_ERROR_INVALID_VALUE);
  CHECK(created(CU_JIT_TARGET, CU_TARGET_COMPUTE_90A) == CUDA_SUCCESS);
  CHECK(created(CU_JIT_FALLBACK_STRATEGY, CU_PREFER_BINARY) == CUDA_ERROR_INVALID_VALUE);
  CHECK(created(CU_JIT_NUM_OPTIONS, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(created(CU_JIT_OPTIMIZATION_LEVEL, 9) == CUDA_SUCCESS);

  tried_link timed(f, {{"k", empty_kernel}}, {{CU_JIT_WALL_TIME, 0}});
  const auto bits = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(timed.values[2]));
  float milliseconds = 0;
  std::memcpy(&milliseconds, &bits, sizeof milliseconds);
  CHECK(milliseconds > 0);
  CHECK(milliseconds < 10'000);

  tried_link other(f, {{"k", empty_kernel}}, {{CU_JIT_TARGET, CU_TARGET_COMPUTE_100}});
  CHECK(other.completed == CUDA_SUCCESS);
  CUmodule module = nullptr;
  CHECK(f.cu.module_load_data(&module, other.image) == CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE("a link reads files", "[cpu][link]") {
  driver_fixture f;
  char path[] = "/tmp/gpu_link_test_XXXXXX";
  const int file = ::mkstemp(path);
  REQUIRE(file >= 0);
  std::FILE* out = ::fdopen(file, "w");
  std::fwrite(empty_kernel.data(), 1, empty_kernel.size(), out);
  std::fclose(out);
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  REQUIRE(f.cu.link_create(0, nullptr, nullptr, &state) == CUDA_SUCCESS);
  CHECK(f.cu.link_add_file(state, CU_JIT_INPUT_PTX, path, 0, nullptr, nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.link_complete(state, &image, &size) == CUDA_SUCCESS);
  CUmodule module = nullptr;
  REQUIRE(f.cu.module_load_data(&module, image) == CUDA_SUCCESS);
  CUfunction k = nullptr;
  CHECK(f.cu.module_get_function(&k, module, "k") == CUDA_SUCCESS);
  CHECK(f.cu.link_destroy(state) == CUDA_SUCCESS);
  CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
  std::remove(path);
}

/// A link with a log for errors, of inputs of any kind.
struct archive_link {
  explicit archive_link(driver_fixture& fixture) : f{fixture} {
    REQUIRE(f.cu.link_create(2, names, values, &state) == CUDA_SUCCESS);
  }
  ~archive_link() { CHECK(f.cu.link_destroy(state) == CUDA_SUCCESS); }
  archive_link(const archive_link&) = delete;
  archive_link& operator=(const archive_link&) = delete;

  CUresult add(CUjitInputType type, std::string bytes, const char* name) {
    return f.cu.link_add_data(state, type, bytes.data(), bytes.size(), name, 0, nullptr, nullptr);
  }
  CUresult complete() { return f.cu.link_complete(state, &image, nullptr); }

  driver_fixture& f;
  std::string log = std::string(4096, '\0');
  CUjit_option names[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[2] = {log.data(), reinterpret_cast<void*>(std::uintptr_t{4096})};
  CUlinkState state = nullptr;
  void* image = nullptr;
};

int run_k(driver_fixture& f, const void* image) {
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  CUdeviceptr out = 0;
  int value = -1;
  REQUIRE(f.cu.module_load_data(&module, image) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&k, module, "k") == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&out, 4) == CUDA_SUCCESS);
  void* arguments[] = {&out};
  CHECK(f.cu.launch_kernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh(&value, out, 4) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(out) == CUDA_SUCCESS);
  CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
  return value;
}

TEST_CASE("objects and archives are linked by the PTX in them", "[cpu][link]") {
  using ptx_test::archive_of;
  using ptx_test::fatbin_of;
  using ptx_test::object_of;
  driver_fixture f;
  const auto object = [](const std::string& text, bool is_ptx = true) {
    return object_of({{".text", "host"}, {"__nv_relfatbin", fatbin_of(text, is_ptx)}});
  };
  const std::string f_calls_g = ptx(
      ".extern .func (.param .b32 r) g();\n.visible .func (.param .b32 r) f() { .reg .u32 %r<2>; "
      "call.uni (%r1), g, (); st.param.b32 [r], %r1; ret; }\n");
  std::string g = returning(".visible", 7);
  g.replace(g.find(" f()"), 4, " g()");
  const std::string library = archive_of({{"machine_code_of_a_device.o", object("code", false)},
                                          {"f.o", object(f_calls_g)},
                                          {"g.o", object(ptx(g))},
                                          {"host.o", object_of({{".text", "host"}})},
                                          {"wrong.o", object("this is no PTX")},
                                          {"k.o", object(empty_kernel)}});
  {
    archive_link link(f);
    CHECK(link.add(CU_JIT_INPUT_LIBRARY, library, "lib.a") == CUDA_SUCCESS);
    CHECK(link.add(CU_JIT_INPUT_OBJECT, object(ptx(extern_f + call_f)), "k.o") == CUDA_SUCCESS);
    REQUIRE(link.complete() == CUDA_SUCCESS);
    CHECK(run_k(f, link.image) == 7);
  }
  {
    archive_link link(f);  // f comes from another unit: neither f.o nor g.o is taken
    CHECK(link.add(CU_JIT_INPUT_PTX, ptx(extern_f + call_f), "k") == CUDA_SUCCESS);
    CHECK(link.add(CU_JIT_INPUT_LIBRARY, library, "lib.a") == CUDA_SUCCESS);
    CHECK(link.add(CU_JIT_INPUT_FATBINARY, fatbin_of(ptx(returning(".visible", 3))), "f") ==
          CUDA_SUCCESS);
    REQUIRE(link.complete() == CUDA_SUCCESS);
    CHECK(run_k(f, link.image) == 3);
  }
  {
    archive_link link(f);
    CHECK(link.add(CU_JIT_INPUT_PTX, caller, "caller.ptx") == CUDA_SUCCESS);
    CHECK(link.add(CU_JIT_INPUT_LIBRARY, library, "lib.a") == CUDA_SUCCESS);
    CHECK(link.complete() == CUDA_ERROR_INVALID_SOURCE);
    const std::string errors = link.log.c_str();
    CHECK(errors.find("Undefined reference to 'add_one' in 'caller.ptx'") != std::string::npos);
    CHECK(errors.find("'machine_code_of_a_device.o' of 'lib.a': this fat binary has no PTX for "
                      "compute capability 9.0: compile with -gencode "
                      "arch=compute_90,code=compute_90") != std::string::npos);
  }
  {
    archive_link link(f);
    CHECK(link.add(CU_JIT_INPUT_OBJECT, object("code", false), "code.o") ==
          CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK(link.add(CU_JIT_INPUT_OBJECT, "hello", "hello.o") == CUDA_ERROR_INVALID_IMAGE);
    CHECK(link.add(CU_JIT_INPUT_LIBRARY, "hello", "hello.a") == CUDA_ERROR_INVALID_IMAGE);
    CHECK(link.add(CU_JIT_INPUT_LIBRARY, "!<arch>\n", "empty.a") == CUDA_SUCCESS);
    CHECK(link.complete() == CUDA_SUCCESS);
  }
}

TEST_CASE("the device runtime's functions for cooperative groups run", "[cpu][link]") {
  driver_fixture f;
  const std::string text = ptx(R"(
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 r) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 r) cudaCGGetSize(.param .b64 a, .param .b64 b, .param .b64 handle);
.extern .func (.param .b32 r) cudaCGGetRank(.param .b64 a, .param .b64 b, .param .b64 handle);
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p; .local .align 4 .b8 own[16];
  ld.param.u64 %rd1, [out];
  { .param .b32 s; .param .b64 h; st.param.b32 [s], 1;
    call.uni (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %rd2, [h]; }
  mov.u64 %rd3, own; cvta.local.u64 %rd3, %rd3; add.u64 %rd4, %rd3, 4;
  add.u64 %rd5, %rd3, 8; add.u64 %rd6, %rd3, 12;
  call.uni (%r1), cudaCGGetSize, (%rd3, %rd4, %rd2);
  call.uni (%r2), cudaCGGetRank, (%rd5, %rd6, %rd2);
  ld.local.u32 %r3, [own]; ld.local.u32 %r4, [own+4]; ld.local.u32 %r5, [own+8];
  ld.local.u32 %r6, [own+12];
  mad.wide.u32 %rd7, %r5, 4, %rd1; add.u32 %r7, %r5, 1; st.global.u32 [%rd7], %r7;
  call.uni (%r8), cudaCGSynchronize, (%rd2, 0);
  // Each thread takes what the thread opposite wrote.
  sub.u32 %r9, %r3, %r5; sub.u32 %r9, %r9, 1; mad.wide.u32 %rd8, %r9, 4, %rd1;
  ld.global.u32 %r10, [%rd8];
  call.uni (%r11), cudaCGSynchronizeGrid, (%rd2, 0);
  or.b32 %r12, %r1, %r2; or.b32 %r12, %r12, %r8; or.b32 %r12, %r12, %r11;
  or.b32 %r12, %r12, %r6; mad.lo.u32 %r12, %r12, 100000, %r10; mul.lo.u32 %r12, %r12, %r4;
  st.global.u32 [%rd7], %r12; ret; })");
  std::vector<std::string> libraries = {ptx_test::archive_of(
      {{"cuda_device_runtime.o",
        ptx_test::object_of({{"__nv_relfatbin", ptx_test::fatbin_of("code", false)}})}})};
  const char* toolkit = std::getenv("CUDA_PATH");
  std::ifstream real(
      (toolkit != nullptr ? std::string(toolkit) : "/usr/local/cuda") + "/lib64/libcudadevrt.a",
      std::ios::binary);
  if (real)
    libraries.emplace_back(std::istreambuf_iterator<char>(real), std::istreambuf_iterator<char>());
  for (const std::string& library : libraries) {
    archive_link link(f);
    CHECK(link.add(CU_JIT_INPUT_PTX, text, "k") == CUDA_SUCCESS);
    CHECK(link.add(CU_JIT_INPUT_LIBRARY, library, "libcudadevrt.a") == CUDA_SUCCESS);
    REQUIRE(link.complete() == CUDA_SUCCESS);
    CUmodule module = nullptr;
    CUfunction k = nullptr;
    CUdeviceptr out = 0;
    std::vector<int> values(6 * 2 * 64), expected;
    for (std::size_t i = values.size(); i != 0; --i) expected.push_back(static_cast<int>(i));
    REQUIRE(f.cu.module_load_data(&module, link.image) == CUDA_SUCCESS);
    REQUIRE(f.cu.module_get_function(&k, module, "k") == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&out, values.size() * sizeof(int)) == CUDA_SUCCESS);
    void* arguments[] = {&out};
    CHECK(f.cu.launch_cooperative_kernel(k, 3, 2, 2, 8, 4, 2, 0, nullptr, arguments) ==
          CUDA_SUCCESS);
    CHECK(f.cu.memcpy_dtoh(values.data(), out, values.size() * sizeof(int)) == CUDA_SUCCESS);
    CHECK(values == expected);
    // A launch that is not cooperative has no grid to synchronize: the handle is null.
    CHECK(f.cu.launch_kernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(out) == CUDA_SUCCESS);
    CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
  }
  archive_link alone(f);
  CHECK(alone.add(CU_JIT_INPUT_PTX, text, "k") == CUDA_SUCCESS);
  CHECK(alone.complete() == CUDA_ERROR_INVALID_SOURCE);
}

/// As nvcc compiles child<<<1, 1>>>(p).
TEST_CASE("a kernel that launches kernels is refused by what is missing", "[cpu][link]") {
  driver_fixture f;
  for (const std::string prefix : {"__cudaCDP2", "cuda"}) {
    std::string text = ptx(R"(
.extern .func (.param .b64 r) @GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 grid[12],
  .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) @LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.visible .entry child(.param .u64 p) { ret; }
.visible .entry parent(.param .u64 p) {
  .reg .b64 %rd<5>; .reg .b32 %r<3>; .reg .pred %p1;
  mov.b64 %rd1, child;
  { .param .b64 a; .param .align 4 .b8 b[12]; .param .align 4 .b8 c[12]; .param .b32 d;
    .param .b64 r;
    st.param.b64 [a], %rd1; st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [c], 1; st.param.b32 [c+4], 1; st.param.b32 [c+8], 1; st.param.b32 [d], 0;
    call.uni (r), @GetParameterBufferV2, (a, b, c, d);
    ld.param.b64 %rd2, [r]; }
  { .param .b64 a; .param .b64 b; .param .b32 r;
    st.param.b64 [a], %rd2; st.param.b64 [b], 0;
    call.uni (r), @LaunchDeviceV2, (a, b);
    ld.param.b32 %r1, [r]; }
  ret; }
)");
    for (std::size_t at = text.find('@'); at != text.npos; at = text.find('@'))
      text.replace(at, 1, prefix);
    archive_link link(f);
    CHECK(link.add(CU_JIT_INPUT_PTX, text, "parent.ptx") == CUDA_SUCCESS);
    REQUIRE(link.complete() == CUDA_SUCCESS);
    for (const void* image :
         {static_cast<const void*>(text.c_str()), const_cast<const void*>(link.image)}) {
      CUmodule module = nullptr;
      CUfunction parent = nullptr, child = nullptr;
      CUdeviceptr p = 0;
      void* arguments[] = {&p};
      REQUIRE(f.cu.module_load_data(&module, image) == CUDA_SUCCESS);
      REQUIRE(f.cu.module_get_function(&parent, module, "parent") == CUDA_SUCCESS);
      REQUIRE(f.cu.module_get_function(&child, module, "child") == CUDA_SUCCESS);
      CHECK(f.cu.launch_kernel(child, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
            CUDA_SUCCESS);
      const std::size_t before = f.reports().size();
      CHECK(f.cu.launch_kernel(parent, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
            CUDA_ERROR_NOT_SUPPORTED);
      const std::string report = f.reports().substr(before);
      CHECK(report.find("kernel parent cannot be launched here") != std::string::npos);
      CHECK(report.find("this calls " + prefix +
                        "GetParameterBufferV2, and dynamic parallelism is "
                        "not implemented by the CPU driver: launch the kernel from the host") !=
            std::string::npos);
      CHECK(f.cu.module_unload(module) == CUDA_SUCCESS);
    }
  }
}

}}  // namespace links_test

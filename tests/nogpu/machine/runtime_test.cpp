// The device runtime: printf, malloc, free, assert.
#include <cstdio>

#include <nogpu/machine/printf_format.hpp>
#include "nogpu/machine/kernel_harness.hpp"

namespace runtime_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

/// Arguments as CUDA packs them.
struct packed {
  std::vector<std::byte> bytes;
  std::size_t at = 0;

  template <class... T> explicit packed(const T&... values) {
    (machine_test::detail::append_argument(bytes, values), ...);
  }
  bool operator()(void* to, std::size_t size) {
    at = (at + size - 1) / size * size;
    if (at + size > bytes.size()) return false;
    std::memcpy(to, bytes.data() + at, size);
    at += size;
    return true;
  }
};

template <class... T> std::string format(const char* text, const T&... values) {
  packed arguments(values...);
  std::string out;
  int count = 0;
  const auto string = [](std::uint64_t a) { return "<" + std::to_string(a) + ">"; };
  REQUIRE(format_device(
      text, [&](void* to, std::size_t n) { return arguments(to, n); }, string, out, count));
  CHECK(count == static_cast<int>(sizeof...(T)));
  return out;
}

}  // namespace

TEST_CASE("device formats give what the C library gives", "[machine]") {
  char expected[200];
  const long long big = -1234567890123;
  std::snprintf(expected, sizeof expected, "%d|%5u|%-6x|%+.3e|%08.3f|%c|%lld|%%|%#o|%*d|%.*f", -5,
                7u, 255, 12345.678, 3.14159, 'q', big, 8, 6, 42, 2, 2.5);
  CHECK(format("%d|%5u|%-6x|%+.3e|%08.3f|%c|%lld|%%|%#o|%*d|%.*f", -5, 7u, 255, 12345.678, 3.14159,
               int{'q'}, big, 8, 6, 42, 2, 2.5) == expected);
  CHECK(format("%s and %5s", std::uint64_t{7}, std::uint64_t{8}) == "<7> and   <8>");
  CHECK(format("%s", std::uint64_t{0}) == "(null)");
  CHECK(format("%hhd", 300) == "44");
  CHECK(format("%llx %lu", ~std::uint64_t{0}, std::uint64_t{5}) == "ffffffffffffffff 5");
  CHECK(format("100%% %y") == "100% %y");
  CHECK(format("ends in %") == "ends in %");
  CHECK(format("%99999999999d", 1).size() < 20000);
}

TEST_CASE("printf formats 32 arguments, and prints the conversions of others as they stand",
          "[machine]") {
  // "Additional arguments beyond this will be ignored, and the format specifier output as-is" (CUDA
  // C++ Programming Guide, Formatted Output).
  std::string conversions, expected;
  for (int k = 0; k < 31; ++k) {
    conversions += "%d ";
    expected += "7 ";
  }
  const auto print = [](const std::string& text) {
    packed arguments;
    for (int k = 0; k < 40; ++k) machine_test::detail::append_argument(arguments.bytes, 7);
    std::string out;
    int count = 0;
    CHECK(format_device(
        text, std::ref(arguments), [](std::uint64_t) { return std::string(); }, out, count));
    CHECK(count <= 32);
    return out;
  };
  CHECK(print(conversions + "%d") == expected + "7");
  CHECK(print(conversions + "%d %d|%-5.2f|%s %% %y") == expected + "7 %d|%-5.2f|%s % %y");
  // A width that is an argument is one of the 32.
  CHECK(print(conversions + "%*d|%d") == expected + "%*d|%d");
}

TEST_CASE("printf reaches the hook, lane by lane", "[machine]") {
  workbench bench(R"(
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.global .align 1 .b8 message[21] = {116,104,114,101,97,100,32,37,100,32,37,46,49,102,32,37,115,33,10,0};
.global .align 1 .b8 name[4] = {97,98,99};
.visible .entry k() {
  .local .align 8 .b8 depot[24];
  .reg .b64 %SP, %SPL, %rd<4>; .reg .b32 %r<4>; .reg .f64 %f;
  mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
  mov.u32 %r1, %tid.x; cvt.rn.f64.u32 %f, %r1;
  st.local.u32 [%SPL], %r1; st.local.f64 [%SPL+8], %f;
  mov.u64 %rd1, name; cvta.global.u64 %rd1, %rd1; st.local.u64 [%SPL+16], %rd1;
  mov.u64 %rd2, message; cvta.global.u64 %rd2, %rd2;
  { .param .b64 param0; st.param.b64 [param0], %rd2; .param .b64 param1; st.param.b64 [param1], %SP;
    .param .b32 retval0; call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r2, [retval0]; }
  ret; })");
  CHECK(bench.run_well("k", {}, {3, 1, 1}).printed ==
        "thread 0 0.0 abc!\nthread 1 1.0 abc!\nthread 2 2.0 abc!\n");
}

TEST_CASE("kernels allocate from the heap", "[machine]") {
  workbench bench(R"(
.extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);
.extern .func free(.param .b64 free_param_0);
.visible .entry k(.param .u64 out, .param .u64 size) {
  .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [size];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd3, %r1, 8, %rd1;
  { .param .b64 p; st.param.b64 [p], %rd2; .param .b64 r; call.uni (r), malloc, (p);
    ld.param.b64 %rd4, [r]; }
  setp.eq.u64 %p, %rd4, 0;
  @!%p st.u32 [%rd4], %r1;
  st.global.u64 [%rd3], %rd4; ret; }
.visible .entry f(.param .u64 block) {
  .reg .b64 %rd<3>; ld.param.u64 %rd1, [block];
  { .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); }
  ret; })");
  const address out = bench.allocate(64);
  bench.run_well("k", {}, {8, 1, 1}, out, std::uint64_t{100});
  const auto blocks = bench.download<address>(out, 8);
  for (u32 i = 0; i < 8; ++i) {
    CHECK(bench.download<u32>(blocks[i], 1)[0] == i);
    CHECK(bench.memory.find(blocks[i])->kind == memory_kind::device_heap);
  }
  CHECK(!bench.run("f", {}, {}, blocks[3]).error);
  CHECK(!bench.run("f", {}, {}, address{0}).error);
  CHECK(bench.run("f", {}, {}, blocks[3]).error->kind == fault_kind::use_after_free);
  bench.run_well("k", {}, {1, 1, 1}, out, std::uint64_t{1} << 20);
  CHECK(bench.download<address>(out, 1)[0] == 0);
}

TEST_CASE("a failed assertion prints what CUDA prints and ends the grid", "[machine]") {
  workbench bench(R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;
.global .align 1 .b8 what[6] = {120,32,62,32,48,0};
.global .align 1 .b8 file[5] = {97,46,99,117,0};
.global .align 1 .b8 function[2] = {102,0};
.visible .entry k() {
  .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .pred %p;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 2; @%p bra END;
  mov.u64 %rd1, what; mov.u64 %rd2, file; mov.u64 %rd3, function;
  { .param .b64 p0; st.param.b64 [p0], %rd1; .param .b64 p1; st.param.b64 [p1], %rd2;
    .param .b32 p2; st.param.b32 [p2], 12; .param .b64 p3; st.param.b64 [p3], %rd3;
    .param .b64 p4; st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4); }
END: ret; })");
  const auto result = bench.run("k", {}, {4, 1, 1});
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::assertion);
  CHECK(result.printed ==
        "a.cu:12: f: block: [0,0,0], thread: [2,0,0] Assertion `x > 0` failed.\n"
        "a.cu:12: f: block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed.\n");
  CHECK(result.error->thread[0] == 2);
  CHECK(result.error->detail ==
        "a.cu:12: f: block: [0,0,0], thread: [2,0,0] Assertion `x > 0` failed.");
}

}  // namespace runtime_test

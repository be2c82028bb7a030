// Jumps, calls, recursion, tables, local memory, the ends of threads.
#include "nogpu/machine/kernel_harness.hpp"

namespace control_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

std::vector<u32> run_each(workbench& bench, const char* kernel, u32 threads) {
  const address out = bench.allocate(threads * 4);
  bench.run_well(kernel, {}, {threads, 1, 1}, out);
  return bench.download<u32>(out, threads);
}

}  // namespace

TEST_CASE("divergent loops and branches keep every lane's own course", "[machine]") {
  workbench bench(R"(
.visible .entry collatz(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<8>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  add.u32 %r2, %r1, 1; mov.u32 %r3, 0;
LOOP:
  setp.eq.u32 %p1, %r2, 1;
  @%p1 bra DONE;
  and.b32 %r4, %r2, 1; setp.eq.u32 %p2, %r4, 0;
  add.u32 %r3, %r3, 1;
  @%p2 bra EVEN;
  mad.lo.u32 %r2, %r2, 3, 1;
  bra LOOP;
EVEN:
  shr.u32 %r2, %r2, 1;
  bra LOOP;
DONE:
  st.global.u32 [%rd2], %r3;
  ret;
})");
  const auto steps = run_each(bench, "collatz", 100);
  for (u32 i = 0; i < 100; ++i) {
    u32 n = i + 1, expected = 0;
    for (; n != 1; ++expected) n = n % 2 ? 3 * n + 1 : n / 2;
    CHECK(steps[i] == expected);
  }
}

TEST_CASE("branch tables", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  and.b32 %r2, %r1, 3;
  table: .branchtargets A, B, C, A;
  brx.idx %r2, table;
A: mov.u32 %r3, 10; bra END;
B: mov.u32 %r3, 20; bra END;
C: mov.u32 %r3, 30;
END: st.global.u32 [%rd2], %r3; ret;
})");
  const auto result = run_each(bench, "k", 40);
  const u32 expected[] = {10, 20, 30, 10};
  for (u32 i = 0; i < 40; ++i) CHECK(result[i] == expected[i % 4]);
}

TEST_CASE("a branch table may be for some of the lanes alone", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  and.b32 %r2, %r1, 1; and.b32 %r4, %r1, 4; setp.ne.u32 %p, %r4, 0;
  table: .branchtargets A, B;
  @%p brx.idx %r2, table;
  mov.u32 %r3, 5; bra END;
A: mov.u32 %r3, 10; bra END;
B: mov.u32 %r3, 20;
END: st.global.u32 [%rd2], %r3; ret;
})");
  const auto result = run_each(bench, "k", 40);
  for (u32 i = 0; i < 40; ++i) CHECK(result[i] == (i & 4 ? (i % 2 ? 20u : 10u) : 5u));
}

constexpr const char* functions = R"(
.func (.param .b32 result) fibonacci(.param .b32 n) {
  .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u32 %r1, [n];
  setp.lt.u32 %p, %r1, 2;
  mov.u32 %r2, %r1;
  @%p bra DONE;
  sub.u32 %r3, %r1, 1;
  { .param .b32 arg; .param .b32 got;
    st.param.b32 [arg], %r3; call.uni (got), fibonacci, (arg); ld.param.b32 %r4, [got]; }
  sub.u32 %r3, %r1, 2;
  { .param .b32 arg; .param .b32 got;
    st.param.b32 [arg], %r3; call.uni (got), fibonacci, (arg); ld.param.b32 %r5, [got]; }
  add.u32 %r2, %r4, %r5;
DONE:
  st.param.b32 [result], %r2;
  ret;
}
.func (.reg .b32 %out) twice(.reg .b32 %in) { add.u32 %out, %in, %in; ret; }
.func (.param .b32 result) plus_one(.param .b32 n) {
  .reg .b32 %r; ld.param.u32 %r, [n]; add.u32 %r, %r, 1; st.param.b32 [result], %r; ret; }
.func (.param .b32 result) times_ten(.param .b32 n) {
  .reg .b32 %r; ld.param.u32 %r, [n]; mul.lo.u32 %r, %r, 10; st.param.b32 [result], %r; ret; }
.global .u64 table[2] = {plus_one, times_ten};
.visible .entry recursive(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  and.b32 %r2, %r1, 7;
  { .param .b32 arg; .param .b32 got;
    st.param.b32 [arg], %r2; call.uni (got), fibonacci, (arg); ld.param.b32 %r3, [got]; }
  call (%r4), twice, (%r3);
  st.global.u32 [%rd2], %r4;
  ret;
}
.visible .entry indirect(.param .u64 out) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  and.b32 %r2, %r1, 1;
  mov.u64 %rd3, table; mad.wide.u32 %rd3, %r2, 8, %rd3;
  ld.global.u64 %rd4, [%rd3];
  { .param .b32 arg; .param .b32 got;
    shape: .callprototype (.param .b32 _) _ (.param .b32 _);
    st.param.b32 [arg], %r1; call (got), %rd4, (arg), shape; ld.param.b32 %r3, [got]; }
  st.global.u32 [%rd2], %r3;
  ret;
}
.visible .entry listed(.param .u64 out) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  { .param .b32 arg; .param .b32 got;
    targets: .calltargets plus_one, times_ten;
    ld.global.u64 %rd4, [table+8];
    st.param.b32 [arg], %r1; call (got), %rd4, (arg), targets; ld.param.b32 %r3, [got]; }
  st.global.u32 [%rd2], %r3;
  ret;
}
.visible .entry mistaken() {
  .reg .b64 %rd<8>;
  ld.global.u64 %rd4, [table];
  shape: .callprototype _ ();
  call %rd4, shape;
  ret;
}
.visible .entry nowhere(.param .u64 target) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [target];
  { .param .b32 arg; .param .b32 got;
    shape: .callprototype (.param .b32 _) _ (.param .b32 _);
    st.param.b32 [arg], 1; call (got), %rd1, (arg), shape; ld.param.b32 %r1, [got]; }
  ret;
}
.func deep(.param .b32 n) {
  .reg .b32 %r<3>; .local .b8 room[64];
  ld.param.u32 %r1, [n]; st.local.u32 [room], %r1; add.u32 %r1, %r1, 1;
  { .param .b32 arg; st.param.b32 [arg], %r1; call.uni deep, (arg); }
  ret;
}
.visible .entry endless() {
  { .param .b32 arg; st.param.b32 [arg], 0; call.uni deep, (arg); }
  ret;
})";

TEST_CASE("recursion, register parameters, divergent depth", "[machine]") {
  workbench bench(functions);
  const u32 fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13};
  const auto result = run_each(bench, "recursive", 70);
  for (u32 i = 0; i < 70; ++i) CHECK(result[i] == 2 * fibonacci[i % 8]);
}

TEST_CASE("indirect calls go where each lane's pointer says", "[machine]") {
  workbench bench(functions);
  const auto result = run_each(bench, "indirect", 40);
  for (u32 i = 0; i < 40; ++i) CHECK(result[i] == (i % 2 ? i * 10 : i + 1));
  for (const address wrong :
       {address{0}, address{0x1234}, code_window + 16 * 1000, code_window + 8})
    CHECK(bench.run("nowhere", {}, {}, wrong).error->kind == fault_kind::invalid_call_target);
  const auto listed = run_each(bench, "listed", 40);
  for (u32 i = 0; i < 40; ++i) CHECK(listed[i] == i * 10);
  const outcome mistaken = bench.run("mistaken", {}, {});
  REQUIRE(mistaken.error);
  CHECK(mistaken.error->kind == fault_kind::invalid_call_target);
  CHECK(mistaken.error->detail == "the function called has another signature");
}

TEST_CASE("a function called by two kernels finds the shared memory of each", "[machine]") {
  // `room` lies behind `first` in one kernel and at the beginning in the other, and `sum` is at one
  // place in both.
  workbench bench(R"(
.shared .align 4 .b8 first[64];
.shared .align 4 .b8 room[256];
.func (.reg .b32 %out) double(.reg .b32 %in) { add.u32 %out, %in, %in; ret; }
.func (.reg .b32 %out) through_room(.reg .b32 %in) {
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, room; mad.lo.u32 %r2, %r1, 4, %r2;
  st.shared.u32 [%r2], %in; ld.shared.u32 %r3, [%r2]; call (%out), double, (%r3); ret;
}
.visible .entry both(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  mov.u32 %r4, first; mad.lo.u32 %r4, %r1, 4, %r4;
  st.shared.u32 [%r4], 1000;
  call (%r2), through_room, (%r1);
  ld.shared.u32 %r3, [%r4]; add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd2], %r2; ret;
}
.visible .entry alone(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  call (%r2), through_room, (%r1); call (%r3), double, (%r2);
  st.global.u32 [%rd2], %r3; ret;
})");
  const auto both = run_each(bench, "both", 16);
  const auto alone = run_each(bench, "alone", 64);
  for (u32 i = 0; i < 16; ++i) CHECK(both[i] == 1000 + 2 * i);
  for (u32 i = 0; i < 64; ++i) CHECK(alone[i] == 4 * i);
  CHECK(bench.module->find_kernel("both")->static_shared_bytes == 320);
  CHECK(bench.module->find_kernel("alone")->static_shared_bytes == 256);
}

TEST_CASE("a pointer to an alias calls what the alias stands for", "[machine]") {
  workbench bench(R"(
.visible .func (.param .b32 result) other(.param .b32 n);
.visible .func (.param .b32 result) same(.param .b32 n) {
  .reg .b32 %r; ld.param.u32 %r, [n]; add.u32 %r, %r, 7; st.param.b32 [result], %r; ret; }
.alias other, same;
.global .u64 table[1] = {other};
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  mov.u64 %rd4, other; ld.global.u64 %rd5, [table];
  shape: .callprototype (.param .b32 _) _ (.param .b32 _);
  { .param .b32 arg; .param .b32 got;
    st.param.b32 [arg], %r1; call (got), other, (arg); ld.param.b32 %r3, [got]; }
  { .param .b32 arg; .param .b32 got;
    st.param.b32 [arg], %r3; call (got), %rd4, (arg), shape; ld.param.b32 %r3, [got]; }
  { .param .b32 arg; .param .b32 got;
    st.param.b32 [arg], %r3; call (got), %rd5, (arg), shape; ld.param.b32 %r3, [got]; }
  st.global.u32 [%rd2], %r3; ret;
})");
  const auto result = run_each(bench, "k", 40);
  for (u32 i = 0; i < 40; ++i) CHECK(result[i] == i + 21);
}

TEST_CASE("endless recursion overflows the stack", "[machine]") {
  workbench bench(functions);
  const auto result = bench.run("endless", {}, {});
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::stack_overflow);
  CHECK(result.error->function == "deep");
  CHECK(result.error->text.find("raise the stack limit") != std::string::npos);
}

TEST_CASE("local memory belongs to its thread", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .local .align 8 .b8 __local_depot0[64];
  .reg .b64 %SP, %SPL; .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p;
  mov.u64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  mov.u32 %r2, 0;
L: mad.wide.u32 %rd3, %r2, 4, %SP;
  mad.lo.u32 %r3, %r1, 100, %r2;
  st.u32 [%rd3], %r3;
  add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 16; @%p bra L;
  and.b32 %r4, %r1, 15; mad.wide.u32 %rd4, %r4, 4, %SPL;
  ld.local.u32 %r5, [%rd4];
  st.global.u32 [%rd2], %r5;
  ret;
})");
  const auto result = run_each(bench, "k", 64);
  for (u32 i = 0; i < 64; ++i) CHECK(result[i] == i * 100 + i % 16);
}

TEST_CASE("alloca takes from the stack and gives back", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out, .param .u32 size) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [size];
  cvt.u64.u32 %rd2, %r1;
  stacksave.u64 %rd3;
  alloca.u64 %rd4, %rd2, 16;
  st.local.u32 [%rd4+4], 77; ld.local.u32 %r2, [%rd4+4];
  stackrestore.u64 %rd3;
  stacksave.u64 %rd5; sub.u64 %rd5, %rd5, %rd3; cvt.u32.u64 %r3, %rd5;
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd1], %r2; ret;
}
.visible .entry aligned(.param .u64 out) {
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  alloca.u64 %rd2, 3; alloca.u64 %rd3, 3; alloca.u64 %rd4, 3, 128;
  st.global.v2.u64 [%rd1], {%rd3, %rd4}; ret;
}
.visible .entry greedy() {
  .reg .b64 %rd<3>; .reg .b32 %r1; .reg .pred %p;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 2; selp.b64 %rd1, 16, 1048576, %p;
  alloca.u64 %rd2, %rd1; ret;
})");
  const address out = bench.allocate(16);
  bench.run_well("k", {}, {}, out, 256u);
  CHECK(bench.download<u32>(out, 1)[0] == 77);
  CHECK(bench.run("k", {}, {}, out, 1u << 20).error->kind == fault_kind::stack_overflow);
  const u32 all = bench.what.limit.stack_bytes;
  bench.run_well("k", {}, {}, out, all);
  CHECK(bench.run("k", {}, {}, out, all + 1).error->kind == fault_kind::stack_overflow);
  bench.run_well("aligned", {}, {}, out);
  const auto places = bench.download<std::uint64_t>(out, 2);
  CHECK(places[0] % 8 == 0);
  CHECK(places[1] % 128 == 0);
  const auto greedy = bench.run("greedy", {}, {4, 1, 1});
  REQUIRE(greedy.error);
  CHECK(greedy.error->thread[0] == 2);  // the first that asks for too much
}

TEST_CASE("an endless loop exhausts its budget", "[machine]") {
  workbench bench(".visible .entry k() { L: bra L; }");
  bench.what.limit.instructions_per_thread = 100000;
  const auto result = bench.run("k", {2, 1, 1}, {64, 1, 1});
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::instruction_budget);
  CHECK(result.error->ptx_line == 4);
}

TEST_CASE("an endless loop with a barrier in it exhausts its budget", "[machine]") {
  workbench bench(".visible .entry k() { L: bar.sync 0; bra L; }");
  bench.what.limit.instructions_per_thread = 1000;
  const auto result = bench.run("k", {2, 1, 1}, {40, 1, 1});
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::instruction_budget);
}

/// Blocks that work one after the other: each waits until `turn` is its index, by one of many
/// loops, then changes memory again and again, and lets the next one work.
std::string relay(const std::string& wait) {
  return R"(
.visible .entry k(.param .u64 state, .param .u32 rounds) {
  .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .pred %p<3>; .local .align 4 .b8 own[4];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [state]; ld.param.u32 %r7, [rounds];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0;
  @%p1 bra JOIN;
  WAIT:
)" + wait +
         R"(
  setp.ne.u32 %p2, %r3, %r1;
  @%p2 bra WAIT;
  JOIN: bar.sync 0;
  @%p1 bra END;
  mov.u32 %r4, 0;
  WORK: add.u32 %r4, %r4, 1; ld.global.u32 %r5, [%rd1+4]; add.u32 %r5, %r5, 1;
  st.global.u32 [%rd1+4], %r5; setp.lt.u32 %p2, %r4, %r7;
  @%p2 bra WORK;
  add.u32 %r6, %r1, 1; st.release.gpu.global.u32 [%rd1], %r6;
  END: ret; })";
}

TEST_CASE("waiting in a loop does not count while others work, and ends when nobody does",
          "[machine]") {
  const char* const waits[] = {
      "ld.volatile.global.u32 %r3, [%rd1];",
      "ld.acquire.gpu.global.u32 %r3, [%rd1]; st.local.u32 [own], %r3; ld.local.u32 %r3, [own];",
      "atom.global.add.u32 %r3, [%rd1], 0;",
      "atom.global.cas.b32 %r3, [%rd1], %r1, %r1;",
      "nanosleep.u32 20; ld.relaxed.gpu.global.u32 %r3, [%rd1];",
      // Two ways through the loop: lanes diverge in every round.
      "ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 77; @%p2 bra JOIN;",
  };
  for (const char* wait : waits) {
    CAPTURE(wait);
    workbench bench(relay(wait), 2);
    bench.what.cooperative = true;
    bench.what.limit.instructions_per_thread = 10'000;
    const std::uint32_t blocks = 12, rounds = 1500;  // the last block waits for 90,000 instructions
    const address state = bench.upload(std::vector<u32>{0, 0});
    const auto good = bench.run("k", {blocks, 1, 1}, {64, 1, 1}, state, rounds);
    INFO((good.error ? good.error->text : ""));
    CHECK(!good.error);
    CHECK(bench.download<u32>(state, 2) == std::vector<u32>{blocks, blocks * rounds});
    // Nobody is block 100; each of the blocks waits for it.
    const address never = bench.upload(std::vector<u32>{100, 0});
    const auto stuck = bench.run("k", {blocks, 1, 1}, {64, 1, 1}, never, rounds);
    REQUIRE(stuck.error);
    CHECK(stuck.error->kind == fault_kind::instruction_budget);
    // All but the first wait for a turn that is skipped.
    const address skipped = bench.upload(std::vector<u32>{1, 0});
    CHECK(bench.run("k", {blocks, 1, 1}, {64, 1, 1}, skipped, rounds).error);
    // A worker's own changes of memory are no excuse.
    const address begun = bench.upload(std::vector<u32>{0, 0});
    const auto greedy = bench.run("k", {blocks, 1, 1}, {64, 1, 1}, begun, u32{10'000});
    REQUIRE(greedy.error);
    CHECK(greedy.error->kind == fault_kind::instruction_budget);
  }
}

TEST_CASE("an endless loop that seldom changes memory exhausts its budget", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<4>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, 0;
  L: add.u32 %r1, %r1, 1; rem.u32 %r2, %r1, 5000; setp.eq.u32 %p1, %r2, 0;
  @%p1 st.global.u32 [%rd1], %r1;
  bra L; })");
  bench.what.limit.instructions_per_thread = 100'000;
  const address p = bench.upload(std::vector<u32>{0});
  const auto result = bench.run("k", {}, {}, p);
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::instruction_budget);
  CHECK(bench.download<u32>(p, 1)[0] == 20'000);  // rounds of five instructions
}

TEST_CASE("the default budget ends a loop, and who waits for it is told before", "[machine]") {
  workbench bench(".visible .entry k() { L: bra L; }");
  CHECK(bench.what.limit.instructions_per_thread == 1u << 24);
  CHECK(bench.what.limit.told_after == std::chrono::seconds(10));
  bench.what.limit.told_after = std::chrono::milliseconds(1);
  const auto result = bench.run("k", {}, {});
  REQUIRE(result.error);
  CHECK(result.error->detail.find("more than 16777216 instructions") != std::string::npos);
  REQUIRE(result.reports.size() == 1);
  const fault& told = result.reports.front();
  CHECK(told.kind == fault_kind::still_running);
  CHECK(told.kernel == "k");
  CHECK(told.ptx_line == 4);
  CHECK(told.detail.find(
            "it has run for more than 1 ms and continues; this thread has executed ") == 0);
  CHECK(told.detail.find(" of the 16777216 of its budget") != std::string::npos);
}

TEST_CASE("nobody is told of a kernel that runs for long where that is not wanted", "[machine]") {
  workbench bench(".visible .entry k() { L: bra L; }");
  bench.what.limit.instructions_per_thread = 1 << 20;
  bench.what.limit.told_after = {};
  CHECK(bench.run("k", {}, {}).reports.empty());
}

TEST_CASE("a launch can be canceled", "[machine]") {
  workbench bench(".visible .entry k() { L: bra L; }");
  std::atomic<bool> canceled{true};
  bench.what.canceled = &canceled;
  CHECK(!bench.run("k", {}, {}).error);
}

TEST_CASE("trap and exit", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u32 n) {
  .reg .b32 %r<3>; .reg .pred %p;
  ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
  setp.lt.u32 %p, %r2, %r1;
  @%p exit;
  trap;
})");
  CHECK(!bench.run("k", {}, {32, 1, 1}, 32u).error);
  const auto result = bench.run("k", {}, {32, 1, 1}, 5u);
  REQUIRE(result.error);
  CHECK(result.error->kind == fault_kind::trap);
  CHECK(result.error->thread[0] == 5);
  CHECK(result.error->instruction == "trap;");
}

}  // namespace control_test

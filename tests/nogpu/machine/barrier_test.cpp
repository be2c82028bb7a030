// Barriers of a block and of a grid, races between them, threads that never come.
#include "nogpu/machine/kernel_harness.hpp"

#include <algorithm>

namespace barrier_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

fault_kind kind_of(const outcome& o) { return o.error ? o.error->kind : fault_kind::none; }

/// Block-wide sum by halves; `barrier` stands between the steps.
std::string reduction(const std::string& barrier) {
  return R"(
.visible .entry sum(.param .u64 in, .param .u64 out) {
  .shared .align 4 .b8 room[1024];
  .reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd3, %r1, 4, %rd1;
  ld.global.u32 %r2, [%rd3];
  shl.b32 %r3, %r1, 2; mov.u32 %r4, room; add.u32 %r3, %r3, %r4;
  st.shared.u32 [%r3], %r2;
  mov.u32 %r5, 128;
STEP:
)" + barrier +
         R"(
  setp.ge.u32 %p1, %r1, %r5;
  @%p1 bra NEXT;
  shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r3;
  ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r3];
  add.u32 %r8, %r8, %r7; st.shared.u32 [%r3], %r8;
NEXT:
  shr.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0;
  @%p2 bra STEP;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.global.u32 [%rd2], %r8;
  ret; })";
}

auto race_in(const std::vector<fault>& reports) {
  return std::find_if(reports.begin(), reports.end(),
                      [](const fault& f) { return f.kind == fault_kind::shared_race; });
}

}  // namespace

TEST_CASE("a block reduction is right with its barrier and a race without", "[machine]") {
  for (const bool good : {true, false}) {
    workbench bench(reduction(good ? "bar.sync 0;" : ""));
    std::vector<u32> in;
    u32 sum = 0;
    for (u32 i = 0; i < 256; ++i) sum += in.emplace_back(i * i);
    const address a = bench.upload(in), out = bench.allocate(4);
    const auto result = bench.run("sum", {}, {256, 1, 1}, a, out);
    if (good) {
      CHECK(kind_of(result) == fault_kind::none);
      CHECK(bench.download<u32>(out, 1)[0] == sum);
    } else {
      // Hardware goes on, and so does the grid; the race is reported.
      CHECK(kind_of(result) == fault_kind::none);
      const auto race = race_in(result.reports);
      REQUIRE(race != result.reports.end());
      CHECK(race->detail.find("with no barrier in between") != std::string::npos);
      bench.what.check.shared_races_are_faults = true;
      CHECK(kind_of(bench.run("sum", {}, {256, 1, 1}, a, out)) == fault_kind::shared_race);
      bench.what.check.shared_races = bench.what.check.shared_races_are_faults = false;
      const auto unchecked = bench.run("sum", {}, {256, 1, 1}, a, out);
      CHECK(kind_of(unchecked) == fault_kind::none);
      CHECK(race_in(unchecked.reports) == unchecked.reports.end());
    }
  }
}

TEST_CASE("warp-synchronous exchange needs a warp barrier", "[machine]") {
  for (const bool good : {true, false}) {
    workbench bench(std::string(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b8 room[128];
  .reg .b64 %rd<4>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  mov.u32 %r5, room; mad.lo.u32 %r2, %r1, 4, %r5;
  st.shared.u32 [%r2], %r1;
)") + (good ? "bar.warp.sync -1;" : "") +
                    R"(
  xor.b32 %r3, %r2, 124; ld.shared.u32 %r4, [%r3];
  st.global.u32 [%rd2], %r4; ret; })");
    const address out = bench.allocate(128);
    bench.what.check.shared_races_are_faults = true;
    const auto result = bench.run("k", {}, {32, 1, 1}, out);
    CHECK(kind_of(result) == (good ? fault_kind::none : fault_kind::shared_race));
    if (good)
      for (u32 i = 0; i < 32; ++i) CHECK(bench.download<u32>(out, 32)[i] == 31 - i);
  }
}

TEST_CASE("a message orders two warps if it is released and acquired, and only then", "[machine]") {
  const struct {
    bool orders;
    const char *send, *receive;
  } ways[] = {
      {true, "st.release.gpu.global.u32 [flag], 1;", "ld.acquire.gpu.global.u32 %r3, [flag];"},
      {true, "st.release.gpu.global.u32 [flag], 1;",
       "ld.relaxed.gpu.global.u32 %r3, [flag]; "
       "fence.acq_rel.gpu;"},
      {true, "atom.release.gpu.global.exch.b32 %r4, [flag], 1;",
       "atom.acquire.gpu.global.or.b32 %r3, [flag], 0;"},
      {false, "st.global.u32 [flag], 1;", "ld.global.u32 %r3, [flag];"},
      {false, "st.relaxed.gpu.global.u32 [flag], 1;", "ld.relaxed.gpu.global.u32 %r3, [flag];"},
      {false, "atom.relaxed.gpu.global.exch.b32 %r4, [flag], 1;",
       "atom.relaxed.gpu.global.or.b32 %r3, [flag], 0;"},
  };
  for (const auto& way : ways) {
    CAPTURE(way.send, way.receive);
    workbench bench(std::string(R"(
.global .align 4 .u32 flag;
.visible .entry k() {
  .shared .align 4 .b8 room[4];
  .reg .b32 %r<6>; .reg .pred %p;
  mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 32; @%p bra WAIT;
  setp.ne.u32 %p, %r1, 0; @%p bra END;
  st.shared.u32 [room], 7;
  )") + way.send + R"(
  bra END;
WAIT: )" + way.receive +
                    R"(
  setp.eq.u32 %p, %r3, 0; @%p bra WAIT;
  ld.shared.u32 %r5, [room];
END: ret; })");
    const auto result = bench.run_well("k", {}, {33, 1, 1});
    CHECK((race_in(result.reports) == result.reports.end()) == way.orders);
  }
}

TEST_CASE("a barrier that not every thread reaches is reported, or passes as on hardware",
          "[machine]") {
  workbench bench(R"(
.visible .entry early(.param .u32 n) {
  .reg .b32 %r<3>; .reg .pred %p;
  ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1;
  @%p bra END;
  bar.sync 0;
END: ret; }
.visible .entry apart() {
  .reg .b32 %r<3>; .reg .pred %p;
  mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, 32;
  @%p bra OTHER;
  bar.sync 1; ret;
OTHER: bar.sync 2; ret; })");
  CHECK(kind_of(bench.run("early", {}, {64, 1, 1}, 64u)) == fault_kind::none);
  {  // Hardware goes on, and so does the grid; it is reported, once for all blocks.
    const auto result = bench.run("early", {3, 1, 1}, {64, 1, 1}, 40u);
    CHECK(kind_of(result) == fault_kind::none);
    REQUIRE(result.reports.size() == 1);
    CHECK(result.reports[0].kind == fault_kind::barrier_divergence);
    CHECK(result.reports[0].detail ==
          "24 of the 64 threads have exited before barrier 0; the others pass it, as on hardware");
    CHECK(result.reports[0].instruction == "bar.sync 0;");
    CHECK(bench.run("early", {}, {64, 1, 1}, 64u).reports.empty());
  }
  {
    bench.what.check.barrier_divergence_is_a_fault = true;
    const auto result = bench.run("early", {}, {64, 1, 1}, 40u);
    REQUIRE(kind_of(result) == fault_kind::barrier_divergence);
    CHECK(result.error->detail ==
          "barrier 0 waits for 64 threads; 40 arrived, 0 wait elsewhere, 24 have exited");
    CHECK(result.error->instruction == "bar.sync 0;");
  }
  bench.what.check = {.barrier_divergence = false};
  const auto unchecked = bench.run("early", {}, {64, 1, 1}, 40u);
  CHECK(kind_of(unchecked) == fault_kind::none);
  CHECK(unchecked.reports.empty());
  // Nobody exits: on hardware, too, these threads wait for ever.
  CHECK(kind_of(bench.run("apart", {}, {64, 1, 1})) == fault_kind::barrier_divergence);
}

TEST_CASE("named barriers pass from producers to consumers", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b8 room[128];
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;
  mov.u32 %r5, room; mad.lo.u32 %r3, %r2, 4, %r5;
  setp.ge.u32 %p, %r1, 32;
  @%p bra CONSUMER;
  mul.lo.u32 %r4, %r2, 3; st.shared.u32 [%r3], %r4;
  bar.arrive 3, 64;
  ret;
CONSUMER:
  bar.sync 3, 64;
  ld.shared.u32 %r4, [%r3]; mad.wide.u32 %rd2, %r2, 4, %rd1; st.global.u32 [%rd2], %r4;
  ret; })");
  const address out = bench.allocate(128);
  bench.run_well("k", {}, {64, 1, 1}, out);
  for (u32 i = 0; i < 32; ++i) CHECK(bench.download<u32>(out, 32)[i] == 3 * i);
}

TEST_CASE("wrong barriers are faults that say why", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u32 number, .param .u32 threads) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [number]; ld.param.u32 %r2, [threads]; bar.sync %r1, %r2; ret; }
.visible .entry differing() {
  .reg .b32 %r<3>; .reg .pred %p;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 32; selp.u32 %r2, 64, 96, %p; bar.sync 3, %r2; ret; })");
  const auto detail = [&](const outcome& o) {
    REQUIRE(o.error);
    CHECK(o.error->kind == fault_kind::illegal_instruction);
    return o.error->detail;
  };
  CHECK(kind_of(bench.run("k", {}, {64, 1, 1}, 15u, 64u)) == fault_kind::none);
  CHECK(detail(bench.run("k", {}, {64, 1, 1}, 16u, 64u)) ==
        "barrier 16; there are barriers 0 to 15");
  CHECK(detail(bench.run("k", {}, {64, 1, 1}, 1u, 33u)) ==
        "a barrier for 33 threads, which is not a multiple of 32");
  CHECK(detail(bench.run("differing", {}, {96, 1, 1})) ==
        "threads wait at barrier 3 with different thread counts");
}

TEST_CASE("without clusters each block is one", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b8 room[256];
  .reg .b64 %rd<6>; .reg .b32 %r<20>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, room; mad.lo.u32 %r3, %r1, 4, %r2;
  mov.u32 %r4, %ctaid.x; mad.lo.u32 %r5, %r4, 1000, %r1; st.shared.u32 [%r3], %r5;
  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
  xor.b32 %r6, %r1, 63; mad.lo.u32 %r6, %r6, 4, %r2;
  mapa.shared::cluster.u32 %r7, %r6, 0; ld.shared::cluster.u32 %r8, [%r7];
  getctarank.shared::cluster.u32 %r9, %r7; add.u32 %r8, %r8, %r9;
  mov.u32 %r10, %cluster_ctaid.x; add.u32 %r8, %r8, %r10;
  mov.u32 %r10, %cluster_ctarank; add.u32 %r8, %r8, %r10;
  mov.u32 %r10, %cluster_nctaid.x; mad.lo.u32 %r8, %r10, 100000, %r8;
  mov.u32 %r10, %cluster_nctarank; mad.lo.u32 %r8, %r10, 1000000, %r8;
  mov.pred %p1, %is_explicit_cluster; @%p1 add.u32 %r8, %r8, 7;
  mov.u32 %r11, %clusterid.x; mov.u32 %r12, %nclusterid.x; mov.u32 %r13, %nctaid.x;
  setp.ne.u32 %p2, %r11, %r4; @%p2 add.u32 %r8, %r8, 9;
  setp.ne.u32 %p2, %r12, %r13; @%p2 add.u32 %r8, %r8, 11;
  mad.lo.u32 %r14, %r4, 64, %r1; mad.wide.u32 %rd2, %r14, 4, %rd1;
  st.global.u32 [%rd2], %r8; ret; })");
  const address out = bench.allocate(3 * 64 * 4);
  bench.what.check.shared_races_are_faults = true;  // the barrier orders the threads
  bench.run_well("k", {3, 1, 1}, {64, 1, 1}, out);
  const auto result = bench.download<u32>(out, 3 * 64);
  for (u32 i = 0; i < 3 * 64; ++i) CHECK(result[i] == 1100000 + i / 64 * 1000 + (63 - i % 64));
}

TEST_CASE("bar.red counts and combines predicates", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<6>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  setp.lt.u32 %p1, %r1, 50;
  bar.red.popc.u32 %r2, 0, %p1;
  bar.red.and.pred %p2, 0, %p1;
  bar.red.or.pred %p3, 0, %p1;
  bar.red.popc.u32 %r3, 0, !%p1;
  shl.b32 %r3, %r3, 8; add.u32 %r2, %r2, %r3;
  @%p2 add.u32 %r2, %r2, 0x10000;
  @%p3 add.u32 %r2, %r2, 0x20000;
  st.global.u32 [%rd2], %r2; ret; })");
  const address out = bench.allocate(400);
  bench.run_well("k", {}, {100, 1, 1}, out);
  for (const u32 v : bench.download<u32>(out, 100)) CHECK(v == 0x20000 + (50 << 8) + 50);
}

TEST_CASE("mbarriers complete phases", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .shared .align 8 .b8 object[8]; .shared .align 4 .b8 room[512];
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
  mov.u32 %r2, object; mov.u32 %r5, room; mad.lo.u32 %r6, %r1, 4, %r5;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [%r2], 128;
READY:
  bar.sync 0;
  st.shared.u32 [%r6], %r1;
  mbarrier.arrive.shared.b64 %rd3, [%r2];
WAIT:
  mbarrier.test_wait.shared.b64 %p2, [%r2], %rd3;
  @!%p2 bra WAIT;
  mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 0;
  xor.b32 %r3, %r1, 127; mad.lo.u32 %r3, %r3, 4, %r5;
  ld.shared.u32 %r4, [%r3];
  @!%p3 mov.u32 %r4, 9999;
  st.global.u32 [%rd2], %r4; ret; })");
  const address out = bench.allocate(512);
  bench.run_well("k", {}, {128, 1, 1}, out);
  const auto result = bench.download<u32>(out, 128);
  for (u32 i = 0; i < 128; ++i) CHECK(result[i] == 127 - i);
}

TEST_CASE("cp.async fills shared memory", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 16 .b8 room[512];
  .reg .b64 %rd<6>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mov.u32 %r2, room; mad.lo.u32 %r3, %r1, 16, %r2; mad.wide.u32 %rd3, %r1, 16, %rd1;
  cp.async.cg.shared.global [%r3], [%rd3], 16, 12;
  cp.async.commit_group; cp.async.wait_group 0;
  bar.sync 0;
  xor.b32 %r4, %r1, 31; mad.lo.u32 %r4, %r4, 16, %r2; mad.wide.u32 %rd4, %r1, 8, %rd2;
  ld.shared.v2.u32 {%r5, %r6}, [%r4+8]; st.global.v2.u32 [%rd4], {%r5, %r6}; ret; })");
  std::vector<u32> in;
  for (u32 i = 0; i < 128; ++i) in.push_back(1000 + i);
  const address a = bench.upload(in), out = bench.allocate(256);
  bench.run_well("k", {}, {32, 1, 1}, a, out);
  const auto result = bench.download<u32>(out, 64);
  for (u32 i = 0; i < 32; ++i) {
    CHECK(result[2 * i] == 1000 + (31 - i) * 4 + 2);
    CHECK(result[2 * i + 1] == 0);
  }
}

TEST_CASE("all blocks of a cooperative launch can wait for each other", "[machine]") {
  for (const unsigned threads : {1u, 3u}) {
    workbench bench(R"(
.visible .entry k(.param .u64 count, .param .u64 out) {
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;
  @%p1 bra MEET;
  mov.u32 %r2, %nctaid.x;
  atom.add.release.gpu.global.u32 %r3, [%rd1], 1;
WAIT:
  ld.acquire.gpu.global.u32 %r3, [%rd1];
  setp.lt.u32 %p2, %r3, %r2;
  @%p2 bra WAIT;
MEET:
  bar.sync 0;
  ld.relaxed.gpu.global.u32 %r4, [%rd1];
  mov.u32 %r5, %ctaid.x; mad.wide.u32 %rd3, %r5, 4, %rd2;
  st.global.u32 [%rd3], %r4; ret; })",
                    threads);
    bench.what.cooperative = true;
    const address count = bench.upload(std::vector<u32>{0}), out = bench.allocate(4 * 50);
    bench.run_well("k", {50, 1, 1}, {64, 1, 1}, count, out);
    for (const u32 v : bench.download<u32>(out, 50)) CHECK(v == 50);
    // Without the promise of residency, blocks still get their turns.
    bench.what.cooperative = false;
    REQUIRE(bench.memory.write(count, "\0\0\0\0", 4) == fault_kind::none);
    bench.run_well("k", {8, 1, 1}, {64, 1, 1}, count, out);
  }
}

TEST_CASE("a cooperative launch has the workspace that grid-wide barriers use", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd2, {%r2, %r1};
  mov.u32 %r3, 0;
  setp.eq.u64 %p, %rd2, 0;
  @%p bra NONE;
  atom.global.add.u32 %r3, [%rd2+4], 1;
  add.u32 %r3, %r3, 1;
NONE:
  red.global.max.u32 [%rd1], %r3;
  ret; })");
  const address out = bench.upload(std::vector<u32>{0});
  bench.run_well("k", {3, 1, 1}, {32, 1, 1}, out);
  CHECK(bench.download<u32>(out, 1)[0] == 0);
  bench.what.cooperative = true;
  bench.run_well("k", {3, 1, 1}, {32, 1, 1}, out);
  CHECK(bench.download<u32>(out, 1)[0] == 96);
  CHECK(bench.memory.live().size() == 1);
}

}  // namespace barrier_test

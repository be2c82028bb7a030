// Collective operations of a warp, also if its lanes arrive one after the other.
#include <bit>

#include "nogpu/machine/kernel_harness.hpp"

namespace collective_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

/// The result of `instructions`, which leave it in %d, for each of 32 lanes; %l is the lane, %v is
/// 100 + lane.
std::vector<u32> each_lane(const std::string& instructions, u32 threads = 32,
                           const std::string& target = "sm_90") {
  const std::string text = R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %l, %v, %d, %t<8>; .reg .pred %p<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %l, %laneid; mad.wide.u32 %rd2, %l, 4, %rd1; add.u32 %v, %l, 100; mov.u32 %d, 0;
)" + instructions + "\n st.global.u32 [%rd2], %d; ret; }";
  workbench bench(text, 1, target);
  const address out = bench.upload(std::vector<u32>(32, 0xdead));
  bench.run_well("k", {}, {threads, 1, 1}, out);
  return bench.download<u32>(out, 32);
}

}  // namespace

TEST_CASE("shuffles in all modes", "[machine]") {
  const auto bfly = each_lane("shfl.sync.bfly.b32 %d, %v, 3, 31, -1;");
  const auto down =
      each_lane("shfl.sync.down.b32 %d|%p1, %v, 5, 31, -1; @!%p1 add.u32 %d, %d, 1000;");
  const auto up = each_lane("shfl.sync.up.b32 %d|%p1, %v, 5, 0, -1; @!%p1 add.u32 %d, %d, 1000;");
  const auto index = each_lane("shfl.sync.idx.b32 %d, %v, 9, 31, -1;");
  // Segments of 8 lanes: c = (32 - 8) << 8 | 31.
  const auto segments = each_lane("shfl.sync.idx.b32 %d, %v, 2, 0x181f, -1;");
  const auto down8 = each_lane("shfl.sync.down.b32 %d, %v, 4, 0x181f, -1;");
  for (u32 i = 0; i < 32; ++i) {
    CHECK(bfly[i] == 100 + (i ^ 3));
    CHECK(down[i] == (i + 5 < 32 ? 105 + i : 1100 + i));
    CHECK(up[i] == (i >= 5 ? 95 + i : 1100 + i));
    CHECK(index[i] == 109);
    CHECK(segments[i] == 100 + i / 8 * 8 + 2);
    CHECK(down8[i] == (i % 8 < 4 ? 104 + i : 100 + i));
  }
}

TEST_CASE("votes, ballots, matches, reductions", "[machine]") {
  const std::string odd = "and.b32 %t1, %l, 1; setp.eq.u32 %p1, %t1, 1;";
  const auto ballot = each_lane(odd + "vote.sync.ballot.b32 %d, %p1, -1;");
  const auto all = each_lane(odd + "vote.sync.all.pred %p2, %p1, -1; selp.u32 %d, 1, 0, %p2;");
  const auto any = each_lane(odd + "vote.sync.any.pred %p2, !%p1, -1; selp.u32 %d, 1, 0, %p2;");
  const auto match = each_lane("and.b32 %t1, %l, 3; match.any.sync.b32 %d, %t1, -1;");
  const auto match_all = each_lane("match.all.sync.b32 %d|%p1, %l, -1;");
  const auto sum = each_lane("redux.sync.add.u32 %d, %l, -1;");
  const auto least = each_lane("sub.s32 %t1, 3, %l; redux.sync.min.s32 %d, %t1, -1;");
  const auto active = each_lane(odd + "@%p1 bra ODD; activemask.b32 %d; ODD:");
  const auto elected = each_lane(
      "setp.lt.u32 %p2, %l, 4; @%p2 bra END; elect.sync %d|%p1, 0xfffffff0; "
      "@%p1 add.u32 %d, %d, 100; END:");
  for (u32 i = 0; i < 32; ++i) {
    CHECK(ballot[i] == 0xaaaaaaaa);
    CHECK(all[i] == 0);
    CHECK(any[i] == 1);
    CHECK(match[i] == 0x11111111u << i % 4);
    CHECK(match_all[i] == 0);
    CHECK(sum[i] == 496);
    CHECK(static_cast<std::int32_t>(least[i]) == -28);
    if (i % 2 == 0) CHECK(active[i] == 0x55555555);
    CHECK(elected[i] == (i < 4 ? 0 : i == 4 ? 104 : 4));
  }
}

TEST_CASE("the forms without .sync of older targets are of the lanes that execute them",
          "[machine]") {
  const std::string odd = "and.b32 %t1, %l, 1; setp.eq.u32 %p1, %t1, 1;";
  const auto old = [](const std::string& instructions) {
    return each_lane(instructions, 32, "sm_60");
  };
  const auto shuffled = old("shfl.bfly.b32 %d, %v, 3, 31;");
  const auto checked = old("shfl.down.b32 %d|%p1, %v, 5, 31; @!%p1 add.u32 %d, %d, 1000;");
  const auto ballot = old("setp.lt.u32 %p2, %l, 12;" + odd +
                          "@!%p1 bra EVEN;"
                          "vote.ballot.b32 %d, %p2; EVEN:");
  const auto all =
      old("setp.lt.u32 %p2, %l, 12; @!%p2 bra END;"
          "vote.all.pred %p3, %p2; selp.u32 %d, 1, 2, %p3; END:");
  const auto uniform = old(odd + "vote.uni.pred %p3, %p1; selp.u32 %d, 1, 2, %p3;");
  for (u32 i = 0; i < 32; ++i) {
    CHECK(shuffled[i] == 100 + (i ^ 3));
    CHECK(checked[i] == (i + 5 < 32 ? 105 + i : 1100 + i));
    CHECK(ballot[i] == (i % 2 ? 0xaaau : 0u));
    CHECK(all[i] == (i < 12 ? 1u : 0u));
    CHECK(uniform[i] == 2);
  }
}

TEST_CASE("lanes that arrive separately wait for each other", "[machine]") {
  // Even lanes come by a longer way than odd ones, to different instructions.
  const auto result = each_lane(R"(
  and.b32 %t1, %l, 1; setp.eq.u32 %p1, %t1, 1;
  @%p1 bra ODD;
  mul.lo.u32 %v, %v, 2; add.u32 %v, %v, 1;
  shfl.sync.bfly.b32 %d, %v, 1, 31, -1;
  bra END;
ODD:
  shfl.sync.bfly.b32 %d, %v, 1, 31, -1;
END:)");
  for (u32 i = 0; i < 32; ++i) CHECK(result[i] == (i % 2 ? (99 + i) * 2 + 1 : 101 + i));
}

TEST_CASE("groups with masks of their own act independently", "[machine]") {
  const auto result = each_lane(R"(
  setp.lt.u32 %p1, %l, 8; selp.b32 %t1, 0xff, 0xffffff00, %p1;
  redux.sync.add.u32 %d, %l, %t1;)");
  for (u32 i = 0; i < 32; ++i) CHECK(result[i] == (i < 8 ? 28 : 468));
}

TEST_CASE("lanes that have exited are not waited for", "[machine]") {
  const auto result = each_lane(R"(
  setp.ge.u32 %p1, %l, 20; @%p1 exit;
  vote.sync.ballot.b32 %d, 1, -1;)");
  for (u32 i = 0; i < 32; ++i) CHECK(result[i] == (i < 20 ? 0xfffffu : 0xdeadu));
  // A block whose last warp is not full.
  CHECK(each_lane("vote.sync.ballot.b32 %d, 1, -1;", 5)[0] == 31);
}

TEST_CASE("a shuffle from a lane that is elsewhere gives 0 and is reported", "[machine]") {
  // Lanes 0 to 7 add up what eight lanes have in five steps, as for a whole warp.
  workbench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %l, %d, %v; .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %l, %laneid; mad.wide.u32 %rd2, %l, 4, %rd1; add.u32 %v, %l, 1;
  setp.ge.u32 %p, %l, 8; @%p bra END;
  shfl.sync.down.b32 %d, %v, 16, 31, 0xff; add.u32 %v, %v, %d;
  shfl.sync.down.b32 %d, %v, 8, 31, 0xff; add.u32 %v, %v, %d;
  shfl.sync.down.b32 %d, %v, 4, 31, 0xff; add.u32 %v, %v, %d;
  shfl.sync.down.b32 %d, %v, 2, 31, 0xff; add.u32 %v, %v, %d;
  shfl.sync.down.b32 %d, %v, 1, 31, 0xff; add.u32 %v, %v, %d;
  st.global.u32 [%rd2], %v;
END:
  ret; })");
  const address out = bench.allocate(32 * 4);
  const outcome result = bench.run_well("k", {2, 1, 1}, {32, 1, 1}, out);
  CHECK(bench.download<u32>(out, 8)[0] == 36);
  REQUIRE(result.reports.size() == 5);  // each instruction once; the last ones for lanes 4 to 7
  for (const fault& f : result.reports) CHECK(f.kind == fault_kind::mask_misuse);
  CHECK(result.reports[0].text.find("reads lane 16, which does not take part (member mask 0xff): "
                                    "hardware gives 0") != std::string::npos);
  bench.what.check.mask_misuse = false;
  CHECK(bench.run_well("k", {}, {32, 1, 1}, out).reports.empty());
  bench.what.check.mask_misuse = bench.what.check.mask_misuse_is_a_fault = true;
  const outcome faulty = bench.run("k", {}, {32, 1, 1}, out);
  REQUIRE(faulty.error);
  CHECK(faulty.error->kind == fault_kind::mask_misuse);
  CHECK(faulty.error->thread[0] == 0);
}

TEST_CASE("a shuffle from outside is reported where something is computed with it", "[machine]") {
  workbench bench(R"(
.visible .entry chosen(.param .u64 out) {  // where the lane is not inside, the own value
  .reg .b64 %rd<3>; .reg .b32 %l, %d, %v; .reg .pred %p;
  ld.param.u64 %rd1, [out]; mov.u32 %l, %laneid; mad.wide.u32 %rd2, %l, 4, %rd1;
  add.u32 %v, %l, 1; setp.lt.u32 %p, %l, 19;
  shfl.sync.down.b32 %d, %v, 1, 31, 0xfffff; selp.u32 %d, %d, %v, %p;
  st.global.u32 [%rd2], %d; ret; }
.visible .entry late() {  // in a function, and not at once
  .reg .b32 %l, %d; .reg .pred %p;
  mov.u32 %l, %laneid; setp.eq.u32 %p, %l, 0; @%p bra NEVER;
  shfl.sync.idx.b32 %d, %l, 1, 31, 0xfffffffe;
  shfl.sync.idx.b32 %d, %l, 0, 31, 0xfffffffe; add.u32 %d, %d, 1;
  setp.eq.u32 %p, %d, 1; @%p bra END;
  trap;
END: ret;
NEVER: ret; }
.visible .entry across(.param .u64 out) {  // masks that differ, at one instruction
  .reg .b64 %rd<3>; .reg .b32 %l, %d, %m; .reg .pred %p;
  ld.param.u64 %rd1, [out]; mov.u32 %l, %laneid; mad.wide.u32 %rd2, %l, 4, %rd1;
  setp.lt.u32 %p, %l, 16; selp.b32 %m, 0xffff, 0xffff0000, %p;
  shfl.sync.bfly.b32 %l, %l, 16, 31, %m; st.global.u32 [%rd2], %l; ret; })");
  const address out = bench.allocate(32 * 4);
  CHECK(bench.run_well("chosen", {}, {20, 1, 1}, out).reports.empty());
  CHECK(bench.download<u32>(out, 1)[0] == 2);
  CHECK(bench.run_well("late", {}, {32, 1, 1}).reports.size() == 1);
  const outcome across = bench.run_well("across", {}, {32, 1, 1}, out);
  REQUIRE(across.reports.size() == 1);
  CHECK(across.reports[0].text.find("reads lane 16, which takes part under another mask "
                                    "(member mask 0xffff)") != std::string::npos);
  const auto swapped = bench.download<u32>(out, 32);
  for (u32 i = 0; i < 32; ++i) CHECK(swapped[i] == (i ^ 16));
}

TEST_CASE("lanes that their mask leaves out take part and are reported", "[machine]") {
  const std::string kernel = R"(
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %l, %d;
  ld.param.u64 %rd1, [out]; mov.u32 %l, %laneid; mad.wide.u32 %rd2, %l, 4, %rd1;
  INSTRUCTION st.global.u32 [%rd2], %d; ret; })";
  const struct {
    const char* instruction;
    u32 of_lane_9;
  } collectives[] = {{"shfl.sync.idx.b32 %d, %l, 31, 31, 0xff;", 31},
                     {"vote.sync.ballot.b32 %d, 1, 0xff;", 0xffffffff},
                     {"match.any.sync.b32 %d, 5, 0xff;", 0xffffffff},
                     {"redux.sync.add.u32 %d, %l, 0xff;", 496}};
  for (const auto& each : collectives) {
    CAPTURE(each.instruction);
    std::string text = kernel;
    text.replace(text.find("INSTRUCTION"), 11, each.instruction);
    workbench bench(text);
    const address out = bench.allocate(32 * 4);
    const outcome result = bench.run_well("k", {}, {32, 1, 1}, out);
    CHECK(bench.download<u32>(out, 32)[9] == each.of_lane_9);
    REQUIRE(result.reports.size() == 1);
    CHECK(result.reports[0].thread[0] == 8);
    CHECK(result.reports[0].text.find("the member mask 0xff does not name the executing lane") !=
          std::string::npos);
    bench.what.check.mask_misuse_is_a_fault = true;
    CHECK(bench.run("k", {}, {32, 1, 1}, out).error->kind == fault_kind::mask_misuse);
  }
}

TEST_CASE("a lane that its mask leaves out is a fault where the warp is not together",
          "[machine]") {
  workbench bench(R"(
.visible .entry branch() {
  .reg .b32 %r; .reg .pred %p; mov.u32 %r, %laneid; setp.lt.u32 %p, %r, 3;
  @%p bra END;
  shfl.sync.idx.b32 %r, 1, 0, 31, 0xfffffff0;
END: bar.warp.sync -1; ret; }
.visible .entry masks() {
  .reg .b32 %r, %m; .reg .pred %p; mov.u32 %r, %laneid; setp.lt.u32 %p, %r, 3;
  selp.b32 %m, 0xf8, 7, %p;
  shfl.sync.idx.b32 %r, 1, 0, 31, %m; ret; }
.visible .entry returned() {
  .reg .b32 %r; .reg .pred %p; mov.u32 %r, %laneid; setp.lt.u32 %p, %r, 3;
  @%p bra END;
  shfl.sync.idx.b32 %r, 1, 0, 31, 0xfffffff0;
END: ret; })");
  const outcome branch = bench.run("branch", {}, {32, 1, 1});
  REQUIRE(branch.error);
  CHECK(branch.error->kind == fault_kind::illegal_instruction);
  CHECK(branch.error->thread[0] == 3);
  CHECK(bench.run("masks", {}, {32, 1, 1}).error->kind == fault_kind::illegal_instruction);
  CHECK(bench.run_well("returned", {}, {32, 1, 1}).reports.size() == 1);
}

TEST_CASE("a mask that is never met is a deadlock", "[machine]") {
  workbench bench(R"(
.visible .entry never() {
  .reg .b32 %r; .reg .pred %p; mov.u32 %r, %laneid; setp.eq.u32 %p, %r, 3;
  @%p bra ELSE;
  bar.warp.sync -1; ret;
ELSE: bar.warp.sync 0x18; ret; })");
  const auto never = bench.run("never", {}, {32, 1, 1});
  REQUIRE(never.error);
  CHECK(never.error->kind == fault_kind::barrier_divergence);
}

TEST_CASE("a spin lock between the lanes of a warp makes progress", "[machine]") {
  workbench bench(R"(
.visible .entry k(.param .u64 lock, .param .u64 counter) {
  .reg .b64 %rd<3>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %rd1, [lock]; ld.param.u64 %rd2, [counter];
SPIN:
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra SPIN;
  ld.volatile.global.u32 %r2, [%rd2]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd2], %r2;
  membar.gl;
  atom.global.exch.b32 %r3, [%rd1], 0;
  ret; })",
                  3);
  const address lock = bench.upload(std::vector<u32>{0}),
                counter = bench.upload(std::vector<u32>{0});
  bench.run_well("k", {6, 1, 1}, {64, 1, 1}, lock, counter);
  CHECK(bench.download<u32>(counter, 1)[0] == 6 * 64);
}

TEST_CASE("a shuffle, a vote and a match order no memory, and a warp barrier does", "[machine]") {
  const auto races = [](const std::string& between) {
    workbench bench(R"(
.visible .entry k(.param .u64 to) {
  .shared .align 4 .b8 room[128];
  .reg .b64 %p; .reg .b32 %r, %d, %o, %v, %x; .reg .pred %q;
  ld.param.u64 %p, [to];
  mov.u32 %r, %tid.x;
  mov.u32 %d, room;
  mad.lo.u32 %o, %r, 4, %d;
  st.shared.u32 [%o], %r;
)" + between + R"(
  xor.b32 %v, %r, 1;
  mad.lo.u32 %o, %v, 4, %d;
  ld.shared.u32 %v, [%o];
  mad.wide.u32 %p, %r, 4, %p;
  st.global.u32 [%p], %v;
  ret; })");
    const outcome result = bench.run("k", {}, {32, 1, 1}, bench.allocate(128));
    CHECK_FALSE(result.error);
    for (const fault& f : result.reports) CHECK(f.kind == fault_kind::shared_race);
    return !result.reports.empty();
  };
  CHECK(races("shfl.sync.bfly.b32 %x, %r, 1, 31, -1;"));
  CHECK(races("setp.eq.u32 %q, %r, 0; vote.sync.ballot.b32 %x, %q, -1;"));
  CHECK(races("match.any.sync.b32 %x, %r, -1;"));
  CHECK_FALSE(races("bar.warp.sync -1;"));
  CHECK_FALSE(races("shfl.sync.bfly.b32 %x, %r, 1, 31, -1; bar.warp.sync -1;"));
}

}  // namespace collective_test

// Clusters of several blocks: their shared memory, their barrier, and copies that arrive in all.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <nogpu/machine/tensor_map.hpp>

#include "nogpu/machine/kernel_harness.hpp"

namespace cluster_test {

using namespace machine_test;
namespace ptx = nogpu::ptx;

namespace {

using u32 = std::uint32_t;

/// Kernels with `out` in %rd1, and the rank of the block in %r1.
std::string kernel(const std::string& instructions, const std::string& name = "k") {
  return ".visible .entry " + name + R"((.param .u64 out, .param .u64 in) {
  .shared .align 8 .b8 object[8]; .shared .align 128 .b8 room[256];
  .reg .b64 %rd<9>; .reg .b32 %r<30>; .reg .b16 %rs<4>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
  mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, room; mov.u32 %r3, object;
)" + instructions +
         " ret; }\n";
}

const std::string synchronize = "barrier.cluster.arrive; barrier.cluster.wait;\n";

struct clustered : workbench {
  explicit clustered(const std::string& text, extent cluster, unsigned threads = 1)
      : workbench(text, threads) {
    what.cluster = cluster;
    what.explicit_cluster = true;
    what.check.shared_races_are_faults = true;
    what.check.uninitialized_reads_are_faults = true;
  }
};

/// The detail of the fault that instructions end with in a cluster of two blocks.
std::string fault_of(const std::string& instructions, fault_kind kind, u32 threads = 1) {
  clustered bench(kernel(instructions), {2, 1, 1});
  const address out = bench.upload(std::vector<u32>(1024, 0));
  const outcome done = bench.run("k", {2, 1, 1}, {threads, 1, 1}, out, out);
  REQUIRE(done.error);
  INFO(done.error->text);
  CHECK(done.error->kind == kind);
  return done.error->detail;
}

bool contains(const std::string& text, const char* part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("blocks of a cluster know their places", "[machine]") {
  clustered bench(kernel(R"(
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x;
  mad.lo.u32 %r7, %r5, %r6, %r4; mul.lo.u32 %r7, %r7, 32; cvt.u64.u32 %rd3, %r7;
  add.u64 %rd1, %rd1, %rd3;
  mov.u32 %r10, %cluster_ctaid.x; mov.u32 %r11, %cluster_ctaid.y; mov.u32 %r12, %clusterid.x;
  mov.u32 %r13, %clusterid.y; mov.u32 %r14, %nclusterid.x; mov.u32 %r15, %nclusterid.y;
  mov.u32 %r16, %cluster_nctarank; mov.pred %p1, %is_explicit_cluster;
  @%p1 add.u32 %r16, %r16, 100;
  st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
  st.global.v4.u32 [%rd1+16], {%r14, %r15, %r16, %r1};)"),
                  {2, 3, 1});
  const address out = bench.allocate(4 * 6 * 32);
  bench.run_well("k", {4, 6, 1}, {1, 1, 1}, out, out);
  const auto words = bench.download<u32>(out, 4 * 6 * 8);
  for (u32 y = 0; y < 6; ++y) {
    for (u32 x = 0; x < 4; ++x) {
      const std::vector<u32> found(words.begin() + (y * 4 + x) * 8,
                                   words.begin() + (y * 4 + x) * 8 + 8);
      CHECK(found == std::vector<u32>{x % 2, y % 3, x / 2, y / 3, 2, 2, 106, x % 2 + y % 3 * 2});
    }
  }
}

TEST_CASE("blocks read, write and add in each other's shared memory", "[machine]") {
  // Each block writes to all, and adds to block 0, by every kind of address.
  clustered bench(kernel(R"(
  mov.u32 %r9, %tid.x; setp.ne.u32 %p1, %r9, 0; @%p1 bra ready;
  st.shared.u32 [%r2+128], 0;
ready:
)" + synchronize + R"(
  setp.ge.u32 %p1, %r9, 4; @%p1 bra done;
  mapa.shared::cluster.u32 %r4, %r2, %r9;           // thread t writes to block t
  shl.b32 %r5, %r1, 2; add.u32 %r4, %r4, %r5;
  mad.lo.u32 %r6, %r1, 10, %r9; st.shared::cluster.u32 [%r4], %r6;
  getctarank.shared::cluster.u32 %r7, %r4; setp.ne.u32 %p2, %r7, %r9; @%p2 trap;
  cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd3, %rd3; mapa.u64 %rd4, %rd3, 0;
  atom.add.u32 %r8, [%rd4+128], 1;
  getctarank.u64 %r7, %rd4; setp.ne.u32 %p2, %r7, 0; @%p2 trap;
  isspacep.shared::cluster %p2, %rd4; @!%p2 trap;
  setp.eq.u32 %p3, %r1, 0;                         // its own in block 0 alone
  isspacep.shared::cta %p2, %rd4; xor.pred %p2, %p2, %p3; @%p2 trap;
done:
)" + synchronize + R"(
  setp.ne.u32 %p1, %r9, 0; @%p1 bra end;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r2];
  mapa.shared::cluster.u32 %r4, %r2, 0; ld.shared::cluster.u32 %r14, [%r4+128];
  mul.wide.u32 %rd5, %r1, 32; add.u64 %rd1, %rd1, %rd5;
  st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13}; st.global.u32 [%rd1+16], %r14;
end:
)" + synchronize),
                  {4, 1, 1});
  const address out = bench.allocate(4 * 32);
  bench.run_well("k", {4, 1, 1}, {64, 1, 1}, out, out);
  for (u32 block = 0; block < 4; ++block) {
    const auto words = bench.download<u32>(out + 32 * block, 5);
    CHECK(words == std::vector<u32>{block, 10 + block, 20 + block, 30 + block, 16});
  }
}

TEST_CASE("the barrier of a cluster has phases, and leaves out who has exited", "[machine]") {
  // Thread 0 of block 0 exits at once, thread 1 after it has arrived. The others meet three times.
  clustered bench(kernel(R"(
  mov.u32 %r9, %tid.x; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, 40, %r9;
  setp.eq.u32 %p1, %r4, 0; @%p1 exit;
  mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd1, %rd3;
  red.global.add.u32 [%rd2], 1;
  barrier.cluster.arrive.release;
  setp.eq.u32 %p1, %r4, 1; @%p1 exit;
  add.u32 %r5, %r5, 0;
  barrier.cluster.wait.acquire;
  ld.relaxed.gpu.global.u32 %r6, [%rd2];
  barrier.cluster.arrive; barrier.cluster.wait;
  red.global.add.u32 [%rd2], 1;
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.relaxed.gpu.global.u32 %r7, [%rd2];
  mad.lo.u32 %r6, %r7, 1000, %r6; st.global.u32 [%rd3], %r6;)"),
                  {3, 1, 1}, 2);
  const address out = bench.upload(std::vector<u32>(120, 0));
  const address count = bench.upload(std::vector<u32>(1, 0));
  bench.what.check.barrier_divergence = false;
  bench.run_well("k", {3, 1, 1}, {40, 1, 1}, out, count);
  const auto words = bench.download<u32>(out, 120);
  for (u32 i = 2; i < 120; ++i) CHECK(words[i] == (119 + 118) * 1000 + 119);
}

TEST_CASE("many clusters run, each for itself", "[machine]") {
  clustered bench(kernel(R"(
  st.shared.u32 [%r2], %r1;
)" + synchronize + R"(
  xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r5, %r2, %r4;
  ld.shared::cluster.u32 %r6, [%r5];
  mov.u32 %r7, %ctaid.x; mul.wide.u32 %rd3, %r7, 4; add.u64 %rd3, %rd1, %rd3;
  st.global.u32 [%rd3], %r6;
)" + synchronize),
                  {2, 1, 1}, 4);
  bench.what.limit.resident_blocks = 4;
  const address out = bench.allocate(500 * 4);
  bench.run_well("k", {500, 1, 1}, {1, 1, 1}, out, out);
  const auto words = bench.download<u32>(out, 500);
  for (u32 i = 0; i < 500; ++i) CHECK(words[i] == (i + 1) % 2);
}

TEST_CASE("mistakes with clusters are found", "[machine]") {
  CHECK(contains(fault_of("mapa.shared::cluster.u32 %r4, %r2, 2;", fault_kind::illegal_instruction),
                 "block 2 of a cluster of 2"));
  CHECK(contains(fault_of("barrier.cluster.wait;", fault_kind::illegal_instruction),
                 "at which it has not arrived"));
  CHECK(contains(
      fault_of("barrier.cluster.arrive; barrier.cluster.arrive;", fault_kind::illegal_instruction),
      "has not waited"));
  const std::string to_other = "xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r5, %r2, %r4;\n";
  CHECK(contains(fault_of(to_other + "ld.shared::cluster.u32 %r6, [%r5+4096];",
                          fault_kind::shared_out_of_bounds),
                 "of the cluster has"));
  CHECK(contains(
      fault_of(to_other + synchronize +
                   "ld.shared::cluster.u32 %r6, [%r5]; st.global.u32 [%rd1], %r6;" + synchronize,
               fault_kind::uninitialized_read),
      "byte 0 of room, of block"));
  // Block 0 ends before block 1 reads from it.
  CHECK(contains(fault_of("st.shared.u32 [%r2], 1;" + synchronize + to_other +
                              "setp.eq.u32 %p1, %r1, 0; @%p1 exit; mov.u32 %r9, 0;\n"
                              "W: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 20000; @%p2 bra W;\n"
                              "ld.shared::cluster.u32 %r6, [%r5];",
                          fault_kind::shared_out_of_bounds),
                 "block 0 of the cluster has ended"));
  // Block 1 never arrives, and waits for block 0 in another way.
  CHECK(contains(
      fault_of("mov.u32 %r9, %tid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra other;\n" + synchronize +
                   "exit;\nother: setp.eq.u32 %p2, %r9, 0; @%p2 bra alone;\n"
                   "bar.sync 1, 96; exit;\nalone: bar.sync 2, 64;",
               fault_kind::barrier_divergence, 64),
      "the barrier of the cluster waits for 128 threads; 64 arrived"));
}

TEST_CASE("a bulk copy arrives in other blocks of the cluster", "[machine]") {
  const std::string prepare = R"(
  mov.u32 %r9, 0;
  mbarrier.init.shared.b64 [%r3], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 64;
)" + synchronize;
  const std::string finish = R"(
W: mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0; @!%p1 bra W;
  ld.shared.u32 %r10, [%r2+4]; ld.shared.u32 %r11, [%r2+60];
  mov.u32 %r7, %ctaid.x; mul.wide.u32 %rd3, %r7, 8; add.u64 %rd3, %rd1, %rd3;
  st.global.v2.u32 [%rd3], {%r10, %r11};
)" + synchronize;
  const auto run = [&](const std::string& text, const auto& in) {
    clustered bench(kernel(prepare + text + finish), {4, 1, 1});
    const address from = bench.upload(in);
    const address out = bench.allocate(4 * 8);
    bench.run_well("k", {4, 1, 1}, {1, 1, 1}, out, from);
    return bench.download<u32>(out, 8);
  };
  std::vector<u32> words;
  for (u32 i = 0; i < 64; ++i) words.push_back(100 + i);
  const std::vector<u32> everywhere{101, 115, 101, 115, 101, 115, 101, 115};
  // Block 2 copies to all of them.
  CHECK(run("setp.eq.u32 %p2, %r1, 2;\n"
            "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%r2], [%rd2], 64, [%r3], 15;",
            words) == everywhere);
  // Each to its neighbor, from its own shared memory.
  CHECK(run("mov.u32 %r12, 0;\n"
            "F: shl.b32 %r13, %r12, 2; add.u32 %r14, %r2, %r13; mad.lo.u32 %r15, %r1, 1000, %r12;\n"
            "st.shared.u32 [%r14+128], %r15; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 16;\n"
            "@%p2 bra F; add.u32 %r4, %r1, 1; and.b32 %r4, %r4, 3;\n"
            "mapa.shared::cluster.u32 %r5, %r2, %r4; mapa.shared::cluster.u32 %r6, %r3, %r4;\n"
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
            "[%r5], [%r2+128], 64, [%r6];",
            words) == std::vector<u32>{3001, 3015, 1, 15, 1001, 1015, 2001, 2015});
  // A tile for blocks 0 and 3, and one for 1 and 2.
  struct alignas(64) tensor {
    unsigned char map[128] = {};
    u32 words[64];
  };
  std::vector<tensor> tensors(1);
  for (u32 i = 0; i < 64; ++i) tensors[0].words[i] = 100 + i;
  tensor_map map;
  map.mark = tensor_map::mark_of_map;
  map.rank = 2;
  map.element = ptx::type::u32;
  map.last = {7, 7};
  map.strides = {32};
  map.box = {8, 2};
  map.steps = {1, 1};
  const std::string tile =
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%r2], [%rd2, {0, %r1}], [%r3], ";
  clustered bench(kernel(prepare + "setp.eq.u32 %p2, %r1, 0; @%p2 " + tile + "9;\n" +
                         "setp.eq.u32 %p2, %r1, 1; @%p2 " + tile + "6;\n" + finish),
                  {4, 1, 1});
  const address from = bench.upload(tensors);
  map.base = from + 128;
  REQUIRE(bench.memory.write(from, &map, sizeof map) == fault_kind::none);
  const address out = bench.allocate(4 * 8);
  bench.run_well("k", {4, 1, 1}, {1, 1, 1}, out, from);
  CHECK(bench.download<u32>(out, 8) == std::vector<u32>{101, 115, 109, 123, 109, 123, 101, 115});
}

TEST_CASE("copies to blocks that there are not are refused", "[machine]") {
  const std::string start = "mbarrier.init.shared.b64 [%r3], 1;\n";
  const std::string copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  CHECK(contains(fault_of(start + copy + ".multicast::cluster [%r2], [%rd2], 64, [%r3], 5;",
                          fault_kind::illegal_instruction),
                 "a copy to block 2 of a cluster of 2"));
  CHECK(contains(fault_of(start + "xor.b32 %r4, %r1, 1; mapa.shared::cluster.u32 %r5, %r3, %r4;\n" +
                              copy + " [%r2], [%rd2], 64, [%r5];",
                          fault_kind::illegal_instruction),
                 "not in the block to which it copies"));
}

}  // namespace cluster_test

// mbarriers, step by step, as the PTX manual describes them; and the copies that they can wait for.
#include <cstdint>
#include <string>
#include <vector>

#include "nogpu/machine/kernel_harness.hpp"

namespace mbarrier_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

/// What one thread stores with `instructions`, which have the mbarrier in %r1, an address of 64
/// bytes of shared memory in %r2 and of global memory in %rd2, and put their results into %r10 on.
/// An mbarrier is initialized for `count` arrivals before.
struct steps {
  explicit steps(const std::string& instructions, u32 count = 2, u32 results = 4)
      : bench(R"(
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 count) {
  .shared .align 8 .b8 object[8]; .shared .align 16 .b8 room[64];
  .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<4>; .local .align 8 .b8 own[8];
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r3, [count];
  mov.u32 %r1, object; mov.u32 %r2, room;
  mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
  mbarrier.init.shared.b64 [%r1], %r3;
)" + instructions +
              R"(
  st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13}; ret; })"),
        values(results) {
    const address out = bench.upload(std::vector<u32>(4, 0xdead));
    std::vector<u32> in;
    for (u32 i = 0; i < 16; ++i) in.push_back(100 + i);
    const address from = bench.upload(in);
    done = bench.run("k", {}, {}, out, from, count);
    values = bench.download<u32>(out, results);
  }

  workbench bench;
  std::vector<u32> values;
  outcome done;
};

std::vector<u32> results_of(const std::string& instructions, u32 count = 2) {
  const steps all(instructions, count);
  INFO((all.done.error ? all.done.error->text : std::string()));
  CHECK(!all.done.error);
  return all.values;
}

/// The detail of the fault that the instructions end with.
std::string fault_of(const std::string& instructions, fault_kind kind, u32 count = 2) {
  const steps all(instructions, count);
  REQUIRE(all.done.error);
  INFO(all.done.error->text);
  CHECK(all.done.error->kind == kind);
  return all.done.error->detail;
}

const std::string phase_to(const std::string& reg) {
  return "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; selp.u32 " + reg + ", 1, 0, %p1;";
}

}  // namespace

TEST_CASE("an mbarrier counts arrivals down, and tells how many it lacked", "[machine]") {
  const auto pending = results_of(
      "mbarrier.arrive.shared.b64 %rd3, [%r1]; mbarrier.pending_count.b64 %r10, %rd3;"
      "mbarrier.arrive.shared.b64 %rd4, [%r1], 2; mbarrier.pending_count.b64 %r11, %rd4;" +
          phase_to("%r12") + "mbarrier.arrive.shared.b64 _, [%r1], 1;" + phase_to("%r13"),
      4);
  CHECK(pending == std::vector<u32>{4, 3, 0, 1});
  // The state of a phase that is over lets waiters pass, that of the current one does not.
  CHECK(results_of("mbarrier.arrive.shared.b64 %rd3, [%r1];"
                   "mbarrier.try_wait.shared.b64 %p1, [%r1], %rd3; selp.u32 %r10, 1, 0, %p1;"
                   "mbarrier.arrive.shared.b64 %rd4, [%r1];"
                   "mbarrier.try_wait.shared.b64 %p1, [%r1], %rd3; selp.u32 %r11, 1, 0, %p1;"
                   "mbarrier.arrive.noComplete.shared.b64 %rd5, [%r1], 1;"
                   "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd5; selp.u32 %r12, 1, 0, %p1;"
                   "mbarrier.pending_count.b64 %r13, %rd5;") == std::vector<u32>{0, 1, 0, 2});
}

TEST_CASE("an arrival that drops out is not expected in later phases", "[machine]") {
  CHECK(results_of("mbarrier.arrive_drop.shared.b64 %rd3, [%r1];"
                   "mbarrier.arrive.shared.b64 %rd3, [%r1];" +
                   phase_to("%r10") +  // the first phase is over; the second expects one arrival
                   "mbarrier.arrive.shared.b64 %rd4, [%r1];"
                   "mbarrier.pending_count.b64 %r11, %rd4;"
                   "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd4; selp.u32 %r12, 1, 0, %p1;") ==
        std::vector<u32>{1, 1, 1, 0});
}

TEST_CASE("a phase lasts until the bytes that it expects have come", "[machine]") {
  CHECK(results_of("mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r1], 96;"
                   "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 32;"
                   "mbarrier.arrive.shared.b64 %rd3, [%r1];" +
                   phase_to("%r10") + "mbarrier.complete_tx.shared.b64 [%r1], 100;" +
                   phase_to("%r11") + "mbarrier.complete_tx.shared.b64 [%r1], 28;" +
                   phase_to("%r12")) == std::vector<u32>{0, 0, 1, 0});
  // Bytes may arrive before they are expected.
  CHECK(results_of("mbarrier.complete_tx.shared.b64 [%r1], 8;"
                   "mbarrier.arrive_drop.expect_tx.shared.b64 %rd3, [%r1], 8;"
                   "mbarrier.pending_count.b64 %r10, %rd3;" +
                       phase_to("%r11"),
                   1) == std::vector<u32>{1, 1, 0, 0});
}

TEST_CASE("copies that are done arrive at an mbarrier", "[machine]") {
  // Without .noinc the arrival is one more than the mbarrier expects, with it one of those.
  CHECK(results_of("cp.async.ca.shared.global [%r2], [%rd2], 8;"
                   "cp.async.mbarrier.arrive.shared.b64 [%r1];" +
                   phase_to("%r10") + "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];" +
                   phase_to("%r11") + "mbarrier.arrive.shared.b64 %rd3, [%r1];" + phase_to("%r12") +
                   "ld.shared.u32 %r13, [%r2+4];") == std::vector<u32>{0, 0, 1, 101});
}

TEST_CASE("wrong uses of an mbarrier are faults that say why", "[machine]") {
  const auto illegal = fault_kind::illegal_instruction;
  CHECK(fault_of("", illegal, 0) == "an mbarrier expects 1 to 1048575 arrivals");
  CHECK(fault_of("", illegal, 1u << 20) == "an mbarrier expects 1 to 1048575 arrivals");
  CHECK(results_of("", (1u << 20) - 1)[0] == 0);
  CHECK(fault_of("mbarrier.arrive.shared.b64 %rd3, [%r1], 3;", illegal) ==
        "more arrivals than the mbarrier expects");
  CHECK(fault_of("mbarrier.arrive.noComplete.shared.b64 %rd3, [%r1], 2;", illegal) ==
        "an arrival with .noComplete completes the phase");
  CHECK(fault_of("mbarrier.inval.shared.b64 [%r1];"
                 "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
                 illegal) == "more arrivals than the mbarrier expects");
  CHECK(fault_of("mbarrier.inval.b64 [%rd2];", fault_kind::wrong_space) ==
        "an mbarrier must be in shared memory");
  (void)fault_of("mbarrier.inval.shared.b64 [%r1+4];", fault_kind::misaligned);
  (void)fault_of("mbarrier.inval.shared.b64 [%r1+80];", fault_kind::shared_out_of_bounds);
}

TEST_CASE("cp.async takes fewer bytes than it writes, or none", "[machine]") {
  const std::string load = " cp.async.wait_all; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r2];";
  CHECK(results_of("cp.async.cg.shared.global [%r2], [%rd2], 16;" + load) ==
        std::vector<u32>{100, 101, 102, 103});
  CHECK(results_of("mov.u32 %r4, 8; cp.async.cg.shared.global [%r2], [%rd2+16], 16, %r4;" + load) ==
        std::vector<u32>{104, 105, 0, 0});
  CHECK(results_of("cp.async.cg.shared.global [%r2], [%rd2], 16, 0;" + load) ==
        std::vector<u32>(4, 0));
  const std::string ignored =
      "setp.eq.u32 %p1, %r3, 2;"
      "cp.async.ca.shared.global [%r2], [%rd2], 8, !%p1;"
      "cp.async.ca.shared.global [%r2+8], [%rd2+8], 8, %p1;";
  CHECK(results_of(ignored + load) == std::vector<u32>{100, 101, 0, 0});
}

TEST_CASE("wrong copies are faults that say why", "[machine]") {
  CHECK(fault_of("mov.u32 %r4, 20; cp.async.cg.shared.global [%r2], [%rd2], 16, %r4;",
                 fault_kind::illegal_instruction) == "cp.async takes 20 bytes of 16");
  (void)fault_of("cp.async.ca.shared.global [%r2], [%rd2+4], 8;", fault_kind::misaligned);
  (void)fault_of("cp.async.ca.shared.global [%r2+4], [%rd2], 8;", fault_kind::misaligned);
  CHECK(fault_of("cp.async.ca.shared.global [%r2], [%rd2+64], 8;", fault_kind::out_of_bounds)
            .find("64 bytes") != std::string::npos);
  (void)fault_of("cp.async.ca.shared.global [%r2+64], [%rd2], 8;",
                 fault_kind::shared_out_of_bounds);
}

namespace {

/// A bulk copy from %rd2 to %r2, which completes on %r1.
const std::string bulk_load =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 64, [%r1];\n";
const std::string arrive_and_wait =
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 64;\n"
    "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra W;\n";

}  // namespace

TEST_CASE("a bulk copy to shared memory is done when its mbarrier is waited for", "[machine]") {
  const std::string read = "ld.shared.u32 %r10, [%r2+4]; ld.shared.u32 %r11, [%r2+60];";
  CHECK(results_of(bulk_load + arrive_and_wait + read, 1) == std::vector<u32>{101, 115, 0, 0});
  // Before that the phase is not complete, and the bytes are not there.
  CHECK(results_of("mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r1], 64;\n"
                   "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd3; selp.u32 %r10, 1, 0, %p1;\n" +
                       bulk_load +
                       "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd3; selp.u32 %r11, 1, 0, %p1;",
                   1) == std::vector<u32>{0, 1, 0, 0});
  const steps early(bulk_load + "ld.shared.u32 %r10, [%r2];", 1);
  REQUIRE(early.done.reports.size() == 1);
  CHECK(early.done.reports[0].kind == fault_kind::uninitialized_read);
  // Within shared memory; and back to global memory, when the group is waited for.
  CHECK(results_of(bulk_load + arrive_and_wait +
                       "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                       "[%r2+32], [%r2], 16, [%r1];\n"
                       "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;\n"
                       "X: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 1; @!%p1 bra X;\n"
                       "ld.shared.u32 %r10, [%r2+36];",
                   1)[0] == 101);
  CHECK(results_of(bulk_load + arrive_and_wait +
                       "cp.async.bulk.global.shared::cta.bulk_group [%rd2+32], [%r2], 16;\n"
                       "cp.async.bulk.commit_group; ld.global.u32 %r10, [%rd2+32];\n"
                       "cp.async.bulk.wait_group 0; ld.global.u32 %r11, [%rd2+32];",
                   1) == std::vector<u32>{108, 100, 0, 0});
}

TEST_CASE("bulk copies are of 16 bytes and more, and within bounds", "[machine]") {
  const std::string copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
  CHECK(fault_of("mov.u32 %r5, 24; " + copy + "[%r2], [%rd2], %r5, [%r1];",
                 fault_kind::illegal_instruction)
            .find("multiple of 16") != std::string::npos);
  fault_of(copy + "[%r2], [%rd2+8], 16, [%r1];", fault_kind::misaligned);
  fault_of(copy + "[%r2+4], [%rd2], 16, [%r1];", fault_kind::misaligned);
  fault_of(copy + "[%r2], [%rd2+16], 64, [%r1];", fault_kind::out_of_bounds);
  fault_of(copy + "[%r2+32], [%rd2], 64, [%r1];", fault_kind::shared_out_of_bounds);
  fault_of("cp.async.bulk.global.shared::cta.bulk_group [%rd2+16], [%r2], 64;",
           fault_kind::out_of_bounds);
}

}  // namespace mbarrier_test

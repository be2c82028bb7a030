// cp.async: what a thread has not waited for is not there, and whoever reads it is told.
#include <string>
#include <vector>

#include "nogpu/machine/kernel_harness.hpp"

namespace async_copies_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

struct result {
  std::vector<u32> words;  // four for each thread
  std::vector<fault> reports;
};

/// What threads find with `instructions`, which have 256 written bytes of shared memory in %r1, the
/// numbers from 100 on in %rd1, the thread in %r2, and put what they find into %r10 to %r13.
result copies(const std::string& instructions, u32 threads = 1, bool reported = true) {
  workbench bench(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 16 .b8 room[256]; .shared .align 8 .b8 object[8];
  .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, room; mov.u32 %r2, %tid.x;
  mad.wide.u32 %rd2, %r2, 16, %rd2; shl.b32 %r3, %r2, 2; add.u32 %r3, %r1, %r3;
  mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
  st.shared.u32 [%r3], 7; st.shared.u32 [%r1+128], 7;
  bar.sync 0;
)" + instructions +
                  R"(
  st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13}; ret; })");
  bench.what.check.uninitialized_reads = reported;
  std::vector<u32> numbers;
  for (u32 i = 0; i < 32; ++i) numbers.push_back(100 + i);
  const address in = bench.upload(numbers), out = bench.upload(std::vector<u32>(4 * threads));
  const outcome done = bench.run_well("k", {}, {threads, 1, 1}, in, out);
  return {bench.download<u32>(out, 4 * threads), done.reports};
}

const std::string copy = " cp.async.ca.shared.global [%r1], [%rd1], 4;";
const std::string copy_next = " cp.async.ca.shared.global [%r1+128], [%rd1+4], 4;";
const std::string commit = " cp.async.commit_group;";
const std::string read = " ld.shared.u32 %r10, [%r1];";
const std::string read_next = " ld.shared.u32 %r11, [%r1+128];";

}  // namespace

TEST_CASE("what cp.async brings is not there before its thread waits, and a read is reported",
          "[machine]") {
  for (const std::string& too_little :
       {std::string(), commit, std::string(" cp.async.wait_group 0;"),
        commit + " cp.async.wait_group 1;", " cp.async.wait_group 0;" + commit}) {
    CAPTURE(too_little);
    const result r =
        copies(copy + too_little + read + " cp.async.wait_all; ld.shared.u32 %r11, [%r1];");
    CHECK(r.words == std::vector<u32>{7, 100, 0, 0});
    REQUIRE(r.reports.size() == 1);
    CHECK(r.reports[0].kind == fault_kind::uninitialized_read);
    CHECK(r.reports[0].instruction == "ld.shared.u32 %r10, [%r1];");
    CHECK(r.reports[0].detail ==
          "byte 0 of room, which an asynchronous copy of thread (0,0,0) brings, for which that "
          "thread has not "
          "waited");
  }
  CHECK(copies(copy + read, 1, false).words[0] == 7);
  CHECK(copies(copy + read, 1, false).reports.empty());
}

TEST_CASE("a wait covers the groups that it says, and no other", "[machine]") {
  const std::string two = copy + commit + copy_next + commit;
  const result first = copies(two + " cp.async.wait_group 1;" + read + read_next);
  CHECK(first.words == std::vector<u32>{100, 7, 0, 0});
  REQUIRE(first.reports.size() == 1);
  CHECK(first.reports[0].detail.find("byte 128 of room, which an asynchronous copy") == 0);
  for (const char* enough : {" cp.async.wait_group 0;", " cp.async.wait_all;"}) {
    const result both = copies(two + enough + read + read_next);
    CHECK(both.words == std::vector<u32>{100, 101, 0, 0});
    CHECK(both.reports.empty());
  }
  const result empty_groups =
      copies(copy + commit + commit + commit + " cp.async.wait_group 2;" + read);
  CHECK(empty_groups.words[0] == 100);
  CHECK(empty_groups.reports.empty());
  const result uncommitted = copies(copy + " cp.async.wait_all;" + read);
  CHECK(uncommitted.words[0] == 100);
  CHECK(uncommitted.reports.empty());
}

TEST_CASE("each thread waits for its own copies", "[machine]") {
  const std::string by_one = "setp.eq.u32 %p1, %r2, 1; @%p1" + copy + " @%p1" + commit;
  const result other = copies(by_one + " @!%p1 cp.async.wait_all; bar.sync 0;" + read, 8);
  CHECK(other.words[0] == 7);
  CHECK(other.words[4 * 7] == 7);
  REQUIRE(other.reports.size() == 1);
  CHECK(other.reports[0].detail.find("an asynchronous copy of thread (1,0,0) brings") !=
        std::string::npos);
  const result itself = copies(by_one + " cp.async.wait_group 0; bar.sync 0;" + read, 40);
  CHECK(itself.words[0] == 100);
  CHECK(itself.words[4 * 39] == 100);
  CHECK(itself.reports.empty());
}

TEST_CASE("copies are done where an mbarrier counts them, and when their thread exits",
          "[machine]") {
  const result counted = copies("mov.u32 %r4, object; mbarrier.init.shared.b64 [%r4], 1;" + copy +
                                " cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];" + read);
  CHECK(counted.words[0] == 100);
  CHECK(counted.reports.empty());
  const result exited = copies(
      "setp.eq.u32 %p1, %r2, 1; @%p1" + copy + " @%p1 exit; bar.sync 0; bar.sync 0;" + read, 2);
  CHECK(exited.words[0] == 100);
}

TEST_CASE("cp.async reads its source as late as it writes", "[machine]") {
  const result late = copies(copy + " st.global.u32 [%rd1], 55; cp.async.wait_all;" + read);
  CHECK(late.words[0] == 55);
}

TEST_CASE("the same bytes copied to one place by many threads are no race", "[machine]") {
  const std::string wait = " cp.async.wait_all; bar.sync 0;";
  CHECK(copies(copy + wait + read, 64).reports.empty());
  const result differs = copies(
      "mad.wide.u32 %rd3, %r2, 4, %rd1; "
      "cp.async.ca.shared.global [%r1], [%rd3], 4;" +
          wait + read,
      2);
  REQUIRE(differs.reports.size() == 1);
  CHECK(differs.reports[0].kind == fault_kind::shared_race);
}

}  // namespace async_copies_test

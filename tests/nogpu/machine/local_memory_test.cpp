// Reads of a thread's own memory that it never wrote.
#include "nogpu/machine/kernel_harness.hpp"

namespace local_memory_test {

using namespace machine_test;

namespace {

using u32 = std::uint32_t;

constexpr const char* kernels = R"(
.visible .entry reads(.param .u64 out, .param .u64 offset) {
  .local .align 16 .b8 first[16];
  .local .align 16 .b8 room[32];
  .reg .b64 %rd<6>; .reg .b32 %r<6>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [offset];
  mov.u64 %rd3, room; add.u64 %rd4, %rd3, %rd2;
  st.local.v4.u32 [first], {1, 2, 3, 4};
  st.local.v2.u64 [room], {5, 6};
  st.local.u16 [room+20], 7;
  ld.local.u32 %r1, [%rd4];
  st.global.u32 [%rd1], %r1; ret; }

.visible .entry generic(.param .u64 out, .param .u64 offset) {
  .local .align 16 .b8 room[32];
  .reg .b64 %rd<6>; .reg .b32 %r<6>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [offset];
  cvta.local.u64 %rd3, room; add.u64 %rd4, %rd3, %rd2;
  st.u32 [%rd3], 5; st.u8 [%rd3+11], 5;
  ld.u32 %r1, [%rd4];
  st.global.u32 [%rd1], %r1; ret; }

.visible .entry vector(.param .u64 out) {
  .local .align 16 .b8 room[16];
  .reg .b32 %r<6>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  st.local.v2.u32 [room], {1, 2}; st.local.u32 [room+12], 4;
  ld.local.v2.u32 {%r1, %r2}, [room];
  ld.local.v4.u32 {%r1, %r2, %r3, %r4}, [room];
  add.u32 %r5, %r3, %r4; st.global.u32 [%rd1], %r5; ret; }

.visible .entry some(.param .u64 out) {
  .local .align 4 .b8 room[4];
  .reg .b64 %rd<3>; .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; shl.b32 %r1, %r1, 6; add.u32 %r2, %r2, %r1;
  setp.ne.u32 %p, %r2, 100;
  @%p st.local.u32 [room], %r2;
  ld.local.u32 %r3, [room]; st.global.u32 [%rd1], %r3; ret; }

.func (.param .b32 result) keeps(.param .align 4 .b8 pair[8], .param .b32 write) {
  .local .align 4 .b8 own[8];
  .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u32 %r1, [pair]; ld.param.u32 %r3, [write];
  setp.ne.u32 %p, %r3, 0;
  @%p st.local.u32 [own+4], %r1;
  ld.local.u32 %r4, [own+4]; add.u32 %r4, %r4, 1;
  st.param.u32 [result], %r4; ret; }

.visible .entry calls(.param .u64 out) {
  .local .align 4 .b8 before[4];
  .reg .b32 %r<6>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  st.local.u32 [before], 3;
  { .param .align 4 .b8 pair[8]; .param .b32 write; .param .b32 got;
    st.param.u32 [pair], 9; st.param.u32 [write], 1;
    call (got), keeps, (pair, write); ld.param.u32 %r1, [got]; }
  ld.local.u32 %r3, [before];
  { .param .align 4 .b8 pair[8]; .param .b32 write; .param .b32 got;
    st.param.u32 [pair], 9; st.param.u32 [write], 0;
    call (got), keeps, (pair, write); ld.param.u32 %r2, [got]; }
  st.global.u32 [%rd1], %r2; ret; }

.func (.param .b32 result) reads_through(.param .b64 from) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [from]; ld.u32 %r1, [%rd1+4]; neg.s32 %r1, %r1; st.param.u32 [result], %r1; ret; }

.visible .entry lends(.param .u64 out) {
  .local .align 4 .b8 lent[8];
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd2, [out];
  st.local.u32 [lent], 3; cvta.local.u64 %rd1, lent;
  { .param .b64 from; .param .b32 got; st.param.u64 [from], %rd1;
    call (got), reads_through, (from); ld.param.u32 %r1, [got]; }
  st.global.u32 [%rd2], %r1; ret; }

.func (.param .b32 result) has_no_result() { ret; }

.visible .entry takes_nothing() {
  .reg .b32 %r<3>;
  { .param .b32 got; call (got), has_no_result, (); ld.param.u32 %r1, [got]; }
  ret; }

.visible .entry allocates(.param .u64 out, .param .u64 offset) {
  .reg .b64 %rd<7>; .reg .b32 %r<3>;
  ld.param.u64 %rd6, [out];
  ld.param.u64 %rd1, [offset];
  stacksave.u64 %rd2; alloca.u64 %rd3, 16; st.local.v2.u64 [%rd3], {1, 2};
  ld.local.u32 %r1, [%rd3+8]; stackrestore.u64 %rd2;
  alloca.u64 %rd4, 16; st.local.u32 [%rd4], 5; add.u64 %rd5, %rd4, %rd1;
  ld.local.u32 %r2, [%rd5]; not.b32 %r2, %r2; st.global.u32 [%rd6], %r2; ret; }
)";

/// A kernel in which `use` follows a load of %a from [room], of whose bytes the first were written,
/// with %b and the predicate %p at hand.
std::string loads(const std::string& use) {
  return R"(
.visible .entry k(.param .u64 out) {
  .local .align 16 .b8 room[32]; .local .align 16 .b8 copy[16];
  .reg .b64 %rd<6>; .reg .b32 %a, %b, %c, %d; .reg .b16 %h; .reg .pred %p, %q;
  .param .b32 given;
  ld.param.u64 %rd1, [out]; mov.u32 %b, %ntid.x; setp.eq.u32 %p, %b, 1;
  st.local.u8 [room+16], 1;
  )" + use +
         "\n  ret; }";
}

std::vector<fault> reports_of(const std::string& use) {
  workbench bench(loads(use));
  const address out = bench.upload(std::vector<u32>(4, 1));
  return bench.run_well("k", {}, {}, out).reports;
}

}  // namespace

TEST_CASE("a read of local memory that was never written is reported with the variable",
          "[machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(4);
  for (const u32 written : {0u, 4u, 12u})
    CHECK(bench.run_well("reads", {}, {}, out, address{written}).reports.empty());
  const auto told = bench.run_well("reads", {}, {}, out, address{24});
  REQUIRE(told.reports.size() == 1);
  const fault& f = told.reports[0];
  CHECK(f.kind == fault_kind::uninitialized_read);
  CHECK(f.access == access_kind::read);
  CHECK(f.access_size == 4);
  CHECK(f.where == 40);  // 16 bytes of the other variable lie before
  CHECK(f.detail == "byte 24 of room");
  CHECK(f.instruction == "ld.local.u32 %r1, [%rd4];");
}

TEST_CASE("one element of a vector that was never written is enough", "[machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(4);
  const auto vector = bench.run_well("vector", {}, {}, out);
  REQUIRE(vector.reports.size() == 1);
  CHECK(vector.reports[0].access_size == 16);
  CHECK(vector.reports[0].where == 0);
  CHECK(vector.reports[0].detail == "byte 8 of room");
}

TEST_CASE("a generic address leads to what was not written in local memory, too", "[machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(4);
  CHECK(bench.run_well("generic", {}, {}, out, address{0}).reports.empty());
  const auto told = bench.run_well("generic", {}, {}, out, address{12});
  REQUIRE(told.reports.size() == 1);
  CHECK(told.reports[0].where == 12);
  CHECK(told.reports[0].detail == "byte 12 of room");
}

TEST_CASE("every thread of every block starts with local memory that it has not written",
          "[machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(4);
  const auto told = bench.run_well("some", {2, 1, 1}, {64, 1, 1}, out);
  REQUIRE(told.reports.size() == 1);
  CHECK(told.reports[0].block[0] == 1);
  CHECK(told.reports[0].thread[0] == 36);
  CHECK(bench.run_well("some", {}, {64, 1, 1}, out).reports.empty());
}

TEST_CASE("it is reported where the value has an effect", "[machine]") {
  for (const char* use : {
           "ld.local.u32 %a, [room]; st.global.u32 [%rd1], %a;",
           "ld.local.u32 %a, [room]; st.u32 [%rd1], %a;",
           "ld.local.u32 %a, [room]; setp.gt.u32 %q, %a, 3; @%q bra end; st.global.u32 [%rd1], %b; "
           "end:",
           "ld.local.u32 %a, [room]; setp.gt.u32 %q, %a, 3; @%q st.global.u32 [%rd1], %b;",
           "ld.local.u32 %a, [room]; add.u32 %c, %a, %b; st.local.u32 [copy], %c; ld.local.u32 %d, "
           "[copy];"
           "st.global.u32 [%rd1], %d;",
           "ld.local.u32 %a, [room]; mov.u32 %c, %a; st.global.u32 [%rd1], %c;",
           "ld.local.u32 %a, [room]; and.b32 %c, %a, %b; setp.eq.u32 %q, %c, 0; @%q bra end; end:",
           "ld.local.u32 %a, [room]; selp.b32 %c, %b, 1, %p; add.u32 %c, %a, %c; bra.uni on; on: "
           "st.global.u32 [%rd1], %c;",
           "ld.local.u64 %rd2, [room]; and.b64 %rd3, %rd2, %rd2; add.s64 %rd2, %rd1, %rd3; "
           "setp.gt.u64 %q, %rd2, 0; @!%q st.global.u32 [%rd2], 1;",
           "ld.local.u32 %a, [room]; red.global.add.u32 [%rd1], %a;",
           "ld.local.u32 %a, [room]; bfi.b32 %c, %a, %b, 0, 4; setp.gt.u32 %q, %c, 1;"
           "@%q st.global.u32 [%rd1], 1;",
           "ld.local.u32 %a, [room+16]; add.u32 %c, %a, %b; st.global.u32 [%rd1], %c;",
       }) {
    CAPTURE(use);
    const std::vector<fault> reports = reports_of(use);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].kind == fault_kind::uninitialized_read);
  }
}

TEST_CASE("it is not reported where the value has no effect", "[machine]") {
  for (const char* use : {
           "ld.local.u32 %a, [room];",
           "ld.local.u32 %a, [room]; add.u32 %c, %a, %b; st.local.u32 [copy], %c;",
           "ld.local.u32 %a, [room]; setp.gt.u32 %q, %a, 3; selp.b32 %c, %b, %b, %q;"
           "st.global.u32 [%rd1], %c;",
           // Nothing is done with it: an element of a vector, a load moved across a branch.
           "ld.local.v2.u32 {%a, %c}, [room]; st.global.u32 [%rd1], %b;",
           "ld.local.v2.u32 {_, %c}, [room];",
           "ld.local.u32 %a, [room]; @%p bra on; add.u32 %a, %a, 1; st.global.u32 [%rd1], %a; on:",
           "ld.local.u32 %a, [room]; mov.u32 %a, 1; st.global.u32 [%rd1], %a;",
           "ld.local.u32 %a, [room]; ld.global.v2.u32 {%b, %a}, [%rd1]; st.global.u32 [%rd1], %a;",
           "ld.local.u32 %a, [room]; add.u32 %c, %a, 1; @%p bra on; mov.u32 %d, %b; on:",
           // A selection may have the other value.
           "ld.local.u32 %a, [room]; selp.b32 %c, %b, %a, %p; st.global.u32 [%rd1], %c;",
           "ld.local.u32 %a, [room]; add.u32 %d, %a, 1; selp.b32 %c, %b, %d, %p; st.global.u32 "
           "[%rd1], %c;",
           // What lies between the members of a structure is copied and handed on.
           "ld.local.u32 %a, [room]; st.global.v2.u32 [%rd1], {%b, %a};",
           "ld.local.u32 %a, [room]; st.local.u32 [copy], %a;",
           "ld.local.u32 %a, [room]; st.param.u32 [given], %a;",
           "ld.local.u32 %a, [room+16]; st.global.u32 [%rd1], %a;",
           "ld.local.u32 %a, [room+16]; cvt.u16.u32 %h, %a; st.global.u8 [%rd1], %h;",
           // The first member of a bit field comes into bits that were never written.
           "ld.local.u32 %a, [room]; and.b32 %c, %a, -8; or.b32 %c, %c, 1; st.local.u32 [room], "
           "%c;",
           "ld.local.u32 %a, [room]; bfi.b32 %c, %b, %a, 0, 3; st.local.u32 [room], %c;",
       }) {
    CAPTURE(use);
    CHECK(reports_of(use).empty());
  }
}

TEST_CASE("a function has not written what an earlier call left on the stack", "[machine]") {
  workbench bench(kernels);
  const auto told = bench.run_well("calls", {}, {64, 1, 1}, bench.allocate(4));
  REQUIRE(told.reports.size() == 1);
  CHECK(told.reports[0].function == "keeps");
  CHECK(told.reports[0].detail == "byte 4 of own");
}

TEST_CASE("a caller's variable that a function reads is named with the caller", "[machine]") {
  workbench bench(kernels);
  const auto told = bench.run_well("lends", {}, {}, bench.allocate(4));
  REQUIRE(told.reports.size() == 1);
  CHECK(told.reports[0].function == "reads_through");
  CHECK(told.reports[0].detail == "byte 4 of lent of function lends");
}

TEST_CASE("the parameters and results of calls count as written", "[machine]") {
  workbench bench(kernels);  // compilers leave out what a program does not define there
  CHECK(bench.run_well("takes_nothing", {}, {}).reports.empty());
}

TEST_CASE("a value that nobody wrote keeps that when it is passed and returned", "[machine]") {
  constexpr const char* functions = R"(
.func (.param .b32 result) same(.param .b32 given) {
  .reg .b32 %r<2>;
  ld.param.u32 %r1, [given]; st.param.u32 [result], %r1; ret; }
.func (.reg .b32 %r1) same_in_registers(.reg .b32 %r0) { mov.u32 %r1, %r0; ret; }
.func (.param .align 4 .b8 result[8]) swapped(.param .align 4 .b8 given[8]) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [given]; ld.param.u32 %r2, [given+4];
  st.param.u32 [result], %r2; st.param.u32 [result+4], %r1; ret; }
)";
  const std::string params =
      "{ .param .b32 given; .param .b32 got; st.param.u32 [given], %a;"
      "call (got), same, (given); ld.param.u32 %a, [got]; }";
  const std::string registers = "call (%a), same_in_registers, (%a);";
  const std::string pair =
      "{ .param .align 4 .b8 given[8]; .param .align 4 .b8 got[8]; st.param.u32 [given], %a;"
      "st.param.u32 [given+4], %b; call (got), swapped, (given);"
      "ld.param.u32 %c, [got]; ld.param.u32 %a, [got+4]; }";
  const auto reports = [&](const std::string& use) {
    CAPTURE(use);
    workbench bench(functions + loads("ld.local.u32 %a, [room]; " + use));
    return bench.run_well("k", {}, {}, bench.upload(std::vector<u32>(4, 1))).reports.size();
  };
  for (const std::string& call : {params, registers, pair, params + registers + pair}) {
    CHECK(reports(call + "st.global.u32 [%rd1], %a;") == 1);
    CHECK(reports(call + "selp.b32 %a, %b, %a, %p; st.global.u32 [%rd1], %a;") == 0);
    CHECK(reports(call) == 0);
  }
  CHECK(reports(pair + "st.global.u32 [%rd1], %c;") == 0);
  // Defined values after an undefined one, in the same places.
  for (const std::string& call : {params, registers})
    CHECK(reports(call + "mov.u32 %a, 5;" + call + "st.global.u32 [%rd1], %a;") == 0);
}

TEST_CASE("what alloca gives was never written, whoever had the bytes before", "[machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(4);
  CHECK(bench.run_well("allocates", {}, {}, out, address{0}).reports.empty());
  CHECK(bench.run_well("allocates", {}, {}, out, address{8}).reports.size() == 1);
}

TEST_CASE("reads of unwritten local memory are faults or nothing where that is chosen",
          "[machine]") {
  workbench bench(kernels);
  const address out = bench.allocate(4);
  bench.what.check.uninitialized_reads_are_faults = true;
  CHECK(!bench.run("reads", {}, {}, out, address{0}).error);
  const auto ended = bench.run("reads", {}, {}, out, address{28});
  REQUIRE(ended.error);
  CHECK(ended.error->kind == fault_kind::uninitialized_read);
  CHECK(ended.reports.empty());
  bench.what.check.uninitialized_reads_are_faults = false;
  bench.what.check.uninitialized_reads = false;
  CHECK(bench.run_well("reads", {}, {}, out, address{28}).reports.empty());
}

}  // namespace local_memory_test
